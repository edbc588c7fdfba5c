"""Fragments of tool calls → ToolCalls, sans-IO. Shared by chat.py's streams and the Responses API.

Where a fragment belongs (E13-E15): by its index; without one, an id or a name begins a call and
anything else goes on with the last. Servers that give every call index 0 are told apart by a new
id with a name, or by a name that comes when the arguments so far are whole. Indices, and the last
call, are those of the fragment's choice; what begins no call goes on with one of another choice.
An index that nothing began, with no name: the call of its id, else the last one while unfinished.
Arguments come as text in pieces, as an object, as snapshots of all so far, or as pieces with the
whole once more at the end, in any spelling: read so only where it is certain, that is where
the pieces as such are no object, and the last one alone is one that all before it agree with.
A text that spells the object once more as a text is that object (E40). What comes under one id and
one name at several indices is one call where all say the same (E41).
A `{}` before or behind all pieces says nothing: proxies begin a call with it, or end it so.
Arguments that do not parse are kept as they came and never repaired (E19, S40).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from msgspec import Struct, field
from msgspec.structs import replace

from agentsh.jsontext import (
    JsonError,
    JsonObject,
    JsonValue,
    clean,
    dumps_text,
    loads_written,
)
from agentsh.messages import ToolCall, ToolCallId
from agentsh.providers.api.textgate import holds_key, mask_text, masked

CUT_AT_LIMIT = (
    "the answer was cut at the output limit in the middle of this call, so nothing was run; "
    "use smaller pieces"
)
BROKE_OFF = "the answer broke off before it was finished, so nothing of it was run"

_LONG = 19
"""Digits that are no index; int() refuses thousands of them."""

KEY_INSIDE = (
    "the arguments hold the key of the endpoint, which is never stored, so nothing was run; "
    "name the variable that holds it instead"
)

_KNOWN = frozenset(("index", "id", "type", "function"))


def read_arguments(text: str) -> tuple[JsonObject, str | None]:
    """The arguments as an object; or {} and what is wrong with the text. Empty text is {} (E17)."""
    if not text.strip():
        return {}, None
    try:
        value = loads_written(clean(text))
    except JsonError as e:
        return {}, f"the arguments are not valid JSON: {e}"
    if isinstance(value, str):
        value = _spelled_again(value)
    if not isinstance(value, dict):
        return {}, "the arguments are valid JSON but not an object"
    return value, None


def _spelled_again(text: str) -> JsonValue:
    """The object that was written as a text within the text (E40); else the text itself."""
    try:
        value = loads_written(text)
    except JsonError:
        return text
    return value if isinstance(value, dict) else text


class CallDraft(Struct, eq=False):
    """One call while it grows."""

    place: int
    choice: int = 0
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    size: int = 0
    extra: JsonObject = field(default_factory=dict)
    keys: tuple[str, ...] = ()
    _joined: str = ""
    _count: int = 0

    @property
    def text(self) -> str:
        """All pieces in a row."""
        if self._count < len(self.pieces):
            self._joined += "".join(self.pieces[self._count :])
            self._count = len(self.pieces)
        return self._joined

    @property
    def is_whole(self) -> bool:
        """There are arguments, and nothing could be added to them."""
        return self.text.rstrip().endswith(("}", '"')) and self._read()[1] is None

    def _read(self) -> tuple[JsonObject, str | None]:
        read = read_arguments(self.text)
        if read[1] is None:
            return read
        arguments = _of_last(self.pieces)
        if arguments is None and (inner := _without_empty(self.pieces)) != self.pieces:
            arguments, error = read_arguments("".join(inner))
            arguments = _of_last(inner) if error is not None else arguments
        return read if arguments is None else (arguments, None)

    def arguments(self) -> JsonObject:
        return self._read()[0]

    def add(self, piece: str) -> str:
        """Take a piece of the arguments; gives what was new in it.

        A piece that is all there was so far, once more, is a closing summary of a whole call. The
        sizes are compared first, so that this costs nothing while a call grows.
        """
        if not piece or (len(piece) == self.size and piece == self.text and self.is_whole):
            return ""
        is_snapshot = bool(self.pieces) and piece.startswith(self.pieces[-1])
        new = piece[len(self.pieces[-1]) :] if is_snapshot else piece
        self.pieces.append(piece)
        self.size += len(piece)
        return new

    def finished(self, call_id: str, trouble: str | None) -> ToolCall:
        """`trouble` says why the answer ended badly; whole arguments outlive the length limit."""
        arguments, error = self._read()
        if trouble is not None and not (trouble == CUT_AT_LIMIT and self.is_whole):
            error = trouble
        if holds_key(arguments, self.keys):
            error = KEY_INSIDE
        return ToolCall(
            id=ToolCallId(mask_text(call_id, self.keys)),
            name=mask_text(clean(self.name), self.keys),
            arguments={} if error else arguments,
            raw_arguments=mask_text(clean(self.text), self.keys) if error else None,
            arguments_error=error,
            extra=_object(masked(self.extra, self.keys)),
        )


def _of_last(pieces: list[str]) -> JsonObject | None:
    """The arguments if the last piece repeats them whole. None: that is uncertain.

    Certain: it is an object, and the pieces before it are snapshots of its text, or are it as well.
    """
    if len(pieces) < 2 or pieces[-1].lstrip()[:1] != "{":
        return None
    last = pieces[-1]
    whole, error = read_arguments(last)
    if error is not None:
        return None
    if _are_snapshots(pieces):
        return whole
    before = pieces[:-1]
    same, error = read_arguments(before[-1] if _are_snapshots(before) else "".join(before))
    return whole if error is None and same == whole else None


def _without_empty(pieces: list[str]) -> list[str]:
    """The pieces without an empty object that stands before or behind all others."""
    start = int(len(pieces) > 1 and pieces[0].strip() == "{}")
    end = len(pieces) - int(len(pieces) > start + 1 and pieces[-1].strip() == "{}")
    return pieces[start:end]


def _are_snapshots(pieces: list[str]) -> bool:
    """Each piece is all so far."""
    return len(pieces) > 1 and all(after.startswith(piece) for piece, after in pairwise(pieces))


def _told_once(drafts: list[CallDraft]) -> list[CallDraft]:
    """Each call once, where what comes under one id and name is certainly one call (E41)."""
    by_id: dict[tuple[str, str, int], list[CallDraft]] = {}
    for draft in drafts:
        alone = -1 if draft.id else draft.place
        by_id.setdefault((draft.id, draft.name, alone), []).append(draft)
    calls: list[CallDraft] = []
    for several in by_id.values():
        one = _one_of(several) if len(several) > 1 else None
        calls += several if one is None else [one]
    return sorted(calls, key=lambda draft: draft.place)


def _one_of(drafts: list[CallDraft]) -> CallDraft | None:
    """The call that all of these are, in the place of the first; None: they may be several."""
    whole = [d for d in drafts if d.is_whole]
    if not whole:
        pieces = [piece for d in drafts for piece in d.pieces]
        one = replace(drafts[0], pieces=pieces, _joined="", _count=0)
        return one if one.is_whole else None
    one = replace(whole[0], place=drafts[0].place)
    are_same = all(d.arguments() == one.arguments() for d in whole)
    return (
        one if are_same and all(d.is_whole or one.text.startswith(d.text) for d in drafts) else None
    )


def _object(value: JsonValue) -> Mapping[str, JsonValue]:
    return value if isinstance(value, Mapping) else {}


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


def _index(value: JsonValue) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, str) and value.isdecimal() and len(value) < _LONG:
        return int(value)
    return None


class CallAssembler:
    """Fragments in, calls out, in the order in which they began."""

    def __init__(self, keys: tuple[str, ...] = ()) -> None:
        self.drafts: list[CallDraft] = []
        self._keys = keys
        self._at: dict[tuple[int, int], CallDraft] = {}

    def take(self, fragment: JsonObject, choice: int = 0) -> tuple[int, str, str]:
        """Add one fragment; gives the call's place, its name so far and the new piece."""
        function = fragment.get("function")
        inner: JsonObject = function if isinstance(function, dict) else {}
        call_id = _text(fragment.get("id"))
        name = _text(inner.get("name")) or _text(fragment.get("name"))
        piece = self._piece(inner.get("arguments", fragment.get("arguments")))
        index = _index(fragment.get("index"))
        if index is None:
            index = _index(inner.get("index"))
        draft = self._draft(choice, index, call_id, name)
        if call_id and not draft.id:
            draft.id = clean(call_id)
        if name and not draft.name:
            draft.name = name
        elif name and name != draft.name and not draft.pieces:
            draft.name += name  # a name in pieces
        for key, value in fragment.items():
            if key not in _KNOWN and key not in ("name", "arguments") and value is not None:
                draft.extra[key] = value
        return draft.place, draft.name, draft.add(piece)

    @staticmethod
    def _piece(value: JsonValue) -> str:
        match value:
            case None:
                return ""
            case str():
                return value
            case _:
                return dumps_text(value)  # E16: an object; anything else fails as no object later

    def _draft(self, choice: int, index: int | None, call_id: str, name: str) -> CallDraft:
        if index is None:
            draft = self._without_index(choice, call_id, name)
        else:
            draft = self._at.get((choice, index))
            if draft is not None and self._is_other(draft, call_id, name):
                draft = None
            elif draft is None and not name:
                draft = self._begun_elsewhere(choice, index, call_id)
        if draft is None:
            draft = CallDraft(len(self.drafts), choice, keys=self._keys)
            self.drafts.append(draft)
        if index is not None:
            self._at[choice, index] = draft
        return draft

    def _begun_elsewhere(self, choice: int, index: int, call_id: str) -> CallDraft | None:
        """The call that a nameless fragment of an index without one goes on with."""
        same = [d for d in self.drafts if call_id and d.id == clean(call_id)]
        same = same or [d for (_, i), d in self._at.items() if i == index]
        if same or call_id:
            return same[-1] if same else None
        last = next((d for d in reversed(self.drafts) if d.choice == choice), None)
        return None if last is None or last.is_whole else last

    def _without_index(self, choice: int, call_id: str, name: str) -> CallDraft | None:
        if call_id:
            return next((d for d in self.drafts if d.id == call_id), None)
        own = [d for d in self.drafts if d.choice == choice] or ([] if name else self.drafts)
        if not own or (name and self._is_other(own[-1], call_id, name)):
            return None
        return own[-1]

    @staticmethod
    def _is_other(draft: CallDraft, call_id: str, name: str) -> bool:
        """Whether a fragment for this place begins another call (index 0 for each call)."""
        if not name or not draft.name:
            return False
        if call_id and draft.id:
            return clean(call_id) != draft.id
        return draft.is_whole

    def finish(self, trouble: str | None = None) -> tuple[ToolCall, ...]:
        """All calls, each with an id of its own (E15)."""
        used: set[str] = set()
        calls: list[ToolCall] = []
        for i, draft in enumerate(_told_once(self.drafts)):
            call_id = draft.id or f"call_{i}"
            n = 1
            while call_id in used:
                n += 1
                call_id = f"{draft.id or f'call_{i}'}_{n}"
            used.add(call_id)
            calls.append(draft.finished(call_id, trouble))
        return tuple(calls)


def mark(calls: tuple[ToolCall, ...], why: str) -> tuple[ToolCall, ...]:
    """The same calls, none of them fit to be run."""
    return tuple(replace(c, arguments={}, arguments_error=why) for c in calls)

"""Fragments of tool calls → ToolCalls, sans-IO. Shared by chat.py's streams and the Responses API.

Where a fragment belongs (E13-E15): by its index; without one, an id or a name begins a call and
anything else goes on with the last. Servers that give every call index 0 are told apart by a new
id with a name, or by a name that comes when the arguments so far are whole.
Arguments that do not parse are kept as they came and never repaired (E19, S40).
"""

from __future__ import annotations

from msgspec import Struct, field
from msgspec.structs import replace

from agentsh.jsontext import JsonError, JsonObject, JsonValue, clean, dumps_text, loads
from agentsh.messages import ToolCall, ToolCallId

CUT_AT_LIMIT = (
    "the answer was cut at the output limit in the middle of this call, so nothing was run; "
    "use smaller pieces"
)
BROKE_OFF = "the answer broke off before it was finished, so nothing of it was run"

_LONG = 19
"""Digits that are no index; int() refuses thousands of them."""

_KNOWN = frozenset(("index", "id", "type", "function"))


def read_arguments(text: str) -> tuple[JsonObject, str | None]:
    """The arguments as an object; or {} and what is wrong with the text. Empty text is {} (E17)."""
    if not text.strip():
        return {}, None
    try:
        value = loads(text)
    except JsonError as e:
        return {}, f"the arguments are not valid JSON: {e}"
    if not isinstance(value, dict):
        return {}, "the arguments are valid JSON but not an object"
    return value, None


class CallDraft(Struct, eq=False):
    """One call while it grows."""

    place: int
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    size: int = 0
    extra: JsonObject = field(default_factory=dict)

    @property
    def text(self) -> str:
        if len(self.pieces) > 1:
            self.pieces[:] = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""

    @property
    def is_whole(self) -> bool:
        """There are arguments, and nothing could be added to them."""
        text = self.text.strip()
        return text.endswith("}") and read_arguments(text)[1] is None

    def add(self, piece: str) -> str:
        """Take a piece of the arguments; gives what was new in it.

        A piece that is all there was so far, once more, is a closing summary of a whole call. The
        sizes are compared first, so that this costs nothing while a call grows.
        """
        if not piece or (len(piece) == self.size and piece == self.text and self.is_whole):
            return ""
        self.pieces.append(piece)
        self.size += len(piece)
        return piece

    def finished(self, call_id: str, trouble: str | None) -> ToolCall:
        """`trouble` says why the answer ended badly; whole arguments outlive the length limit."""
        text = self.text
        arguments, error = read_arguments(text)
        if trouble is not None and not (trouble == CUT_AT_LIMIT and self.is_whole):
            error = trouble
        return ToolCall(
            id=ToolCallId(call_id),
            name=clean(self.name),
            arguments={} if error else arguments,
            raw_arguments=clean(text) if error else None,
            arguments_error=error,
            extra=self.extra,
        )


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

    def __init__(self) -> None:
        self.drafts: list[CallDraft] = []
        self._at: dict[int, CallDraft] = {}

    def take(self, fragment: JsonObject) -> tuple[int, str, str]:
        """Add one fragment; gives the call's place, its name so far and the new piece."""
        function = fragment.get("function")
        inner: JsonObject = function if isinstance(function, dict) else {}
        call_id = _text(fragment.get("id"))
        name = _text(inner.get("name")) or _text(fragment.get("name"))
        piece = self._piece(inner.get("arguments", fragment.get("arguments")))
        index = _index(fragment.get("index"))
        if index is None:
            index = _index(inner.get("index"))
        draft = self._draft(index, call_id, name)
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

    def _draft(self, index: int | None, call_id: str, name: str) -> CallDraft:
        if index is None:
            draft = self._without_index(call_id, name)
        else:
            draft = self._at.get(index)
            if draft is not None and self._is_other(draft, call_id, name):
                draft = None
        if draft is None:
            draft = CallDraft(len(self.drafts))
            self.drafts.append(draft)
        if index is not None:
            self._at[index] = draft
        return draft

    def _without_index(self, call_id: str, name: str) -> CallDraft | None:
        if call_id:
            return next((d for d in self.drafts if d.id == call_id), None)
        if not self.drafts or (name and self._is_other(self.drafts[-1], call_id, name)):
            return None
        return self.drafts[-1]

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
        for i, draft in enumerate(self.drafts):
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

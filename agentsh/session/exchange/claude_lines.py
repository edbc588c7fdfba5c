"""The lines of a Claude Code file, each under the line that it follows in what that program sends.

The file's own `parentUuid` is not enough. A compaction begins a new root (`compact_boundary`), and
what follows it may hang on the summary, on the boundary, on the last line before it, or on rows
that were written meanwhile; what it keeps word for word stays where it was and is only named
(`preservedSegment`, `preservedMessages`). A prompt that was typed while the agent worked is an
attachment, sometimes without a name, sometimes only a row of the queue. A line may be lost. So:

- Each line hangs on its parent; where that is nowhere in the file, on the line before it of the
  same talk (the main one, or that of one subagent).
- Of each boundary one line carries the fold: its summary. Whatever was written after the boundary
  and would hang on the place that was folded hangs on the summary. Going back to a place above that
  stays a branch.
- Nothing is left out here and no line is its own ancestor, whatever the file holds. What was joined
  is counted.

Pure; knows nothing of messages. Read next: claude_code.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from agentsh.jsontext import JsonObject, JsonValue
from agentsh.session.exchange.foreign import count, string

_ABSORBED = "absorbed_mid_turn"


class Fold(Struct, frozen=True):
    """What a summary stands for. `kept`: lines that stay word for word, the oldest first.

    `is_end`: the summary stands for what came after the lines that are kept, not before them.
    """

    tokens: int = 0
    kept: tuple[str, ...] = ()
    is_end: bool = False


class ClaudeLine(Struct):
    """One line. `folds`: how many summaries its path has. `is_unnamed`: it had no uuid."""

    uuid: str
    position: int
    value: JsonObject
    parent: str | None = None
    fold: Fold | None = None
    folds: int = 0
    is_unnamed: bool = False

    @property
    def is_side(self) -> bool:
        """Whether it is a subagent's: no place to go on from."""
        return self.value.get("isSidechain") is True

    @property
    def talk(self) -> str | None:
        """Which talk it belongs to; None: the main one."""
        return f"side {string(self.value.get('agentId'))}" if self.is_side else None

    @property
    def is_boundary(self) -> bool:
        return self.value.get("subtype") == "compact_boundary"

    @property
    def is_summary(self) -> bool:
        return self.value.get("isCompactSummary") is True


class Arranged(Struct, frozen=True):
    """`lines`: parents before their children. `main`: the uuids of the main talk in file order."""

    lines: tuple[ClaudeLine, ...]
    main: tuple[str, ...]
    beside: tuple[JsonObject, ...]
    """Lines that have no name and say nothing: titles, snapshots, the queue."""
    joined: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)


def arrange(values: Iterable[JsonObject]) -> Arranged:
    """Every line of a file under the one that it follows."""
    return _Arranger(values).arranged()


def prompt_text(content: JsonValue) -> str:
    """The words of a prompt, given as a text or as blocks."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(string(b.get("text")) for b in blocks if isinstance(b, dict) and "text" in b)


class _Folded(Struct, frozen=True):
    """A boundary in its place: what it folds, the lines above it, the line after it."""

    position: int
    end: str | None
    above: frozenset[str]
    next: str


class _Arranger:
    def __init__(self, values: Iterable[JsonObject]) -> None:
        self._lines: dict[str, ClaudeLine] = {}
        self._beside: list[JsonObject] = []
        self._joined: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()
        self._folded: list[_Folded] = []
        given = list(values)
        queue = _Queue(given)
        self._left_out["queued prompts that were never sent"] += queue.never_sent
        for position, value in enumerate(given):
            self._take(position, queue.absorbed.get(position, value))

    def _take(self, position: int, value: JsonObject) -> None:
        uuid = string(value.get("uuid"))
        if uuid in self._lines:
            self._lines[uuid].value = value  # the later one counts, in the first one's place
        elif uuid:
            self._lines[uuid] = ClaudeLine(uuid, position, value)
        elif is_queued(value):
            uuid = f"queued {position}"
            while uuid in self._lines:
                uuid += "'"
            self._lines[uuid] = ClaudeLine(uuid, position, value, is_unnamed=True)
        else:
            self._beside.append(value)

    def arranged(self) -> Arranged:
        self._hang()
        for line in [line for line in self._lines.values() if line.is_boundary]:
            self._place_boundary(line)
        ordered = self._ordered()
        main = tuple(line.uuid for line in self._lines.values() if not line.is_side)
        return Arranged(ordered, main, tuple(self._beside), +self._joined, +self._left_out)

    # ---- parents ---------------------------------------------------------------------------------

    def _hang(self) -> None:
        """Each line on its parent, or on the line before it."""
        last: dict[str | None, str] = {}
        spliced: dict[str, str] = {}
        for line in self._lines.values():
            before = last.get(line.talk)
            if line.is_unnamed:
                line.parent = before
                if before is not None:
                    spliced[before] = line.uuid
            elif not line.is_boundary:
                parent = self._parent(line, before)
                while parent in spliced:  # a prompt that has no name stands between the two
                    parent = spliced[parent]
                line.parent = parent
            last[line.talk] = line.uuid

    def _parent(self, line: ClaudeLine, before: str | None) -> str | None:
        stated = string(line.value.get("parentUuid"))
        if stated in self._lines and stated != line.uuid:
            return stated
        if not stated:
            return before if line.is_summary else None
        if before is None:
            self._joined["lines whose parent is not in the file, as a beginning"] += 1
        else:
            self._joined["lines whose parent is not in the file, to the line before them"] += 1
        return before

    def _path(self, uuid: str | None) -> Iterator[str]:
        """From a line up to its root."""
        seen: set[str] = set()
        while uuid is not None and uuid not in seen:
            seen.add(uuid)
            yield uuid
            uuid = self._lines[uuid].parent

    # ---- compactions -----------------------------------------------------------------------------

    def _place_boundary(self, boundary: ClaudeLine) -> None:
        meta = boundary.value.get("compactMetadata")
        given = meta if isinstance(meta, dict) else {}
        kept_range, anchor = self._kept(given)
        end = kept_range[-1] if kept_range else self._logical(boundary)
        boundary.parent = self._behind_folds(end)
        summary = self._summary(boundary)
        if summary is None:
            self._left_out["compactions without a summary"] += 1
        else:
            is_end = anchor == boundary.uuid and self._is_beginning(kept_range)
            summary.parent = boundary.uuid
            summary.fold = Fold(count(given.get("preTokens")), kept_range, is_end)
        following = boundary.uuid if summary is None else summary.uuid
        above = frozenset(self._path(end)) - {end or ""}
        folded = _Folded(boundary.position, end, above, following)
        for line in self._lines.values():
            is_later = line.position > boundary.position and not line.is_side
            if not is_later or line is summary or line.is_boundary:
                continue
            if line.parent == boundary.uuid or self._hangs_on(line.parent, folded):
                line.parent = following
        self._folded.append(folded)

    def _kept(self, meta: JsonObject) -> tuple[tuple[str, ...], str]:
        """The lines that a compaction keeps, and what they are to follow."""
        segment, messages = meta.get("preservedSegment"), meta.get("preservedMessages")
        span = segment if isinstance(segment, dict) else {}
        listed = messages if isinstance(messages, dict) else {}
        given = listed.get("allUuids") or listed.get("uuids")
        names = [string(uuid) for uuid in given] if isinstance(given, list) else []
        head = string(span.get("headUuid")) or (names[0] if names else "")
        tail = string(span.get("tailUuid")) or (names[-1] if names else "")
        anchor = string(span.get("anchorUuid")) or string(listed.get("anchorUuid"))
        if not head or not tail:
            return (), anchor
        path: list[str] = []
        for uuid in self._path(tail if tail in self._lines else None):
            path.append(uuid)
            if uuid == head:
                return tuple(reversed(path)), anchor
        self._joined["compactions that keep what is not whole in the file"] += 1
        present = {uuid for uuid in (head, tail, *names) if uuid in self._lines}
        first = max((n for n, uuid in enumerate(path) if uuid in present), default=-1)
        return tuple(reversed(path[: first + 1])), anchor

    def _logical(self, boundary: ClaudeLine) -> str | None:
        """The last line that it folds, by its own word, or the one before it."""
        stated = string(boundary.value.get("logicalParentUuid"))
        if stated in self._lines and stated != boundary.uuid:
            return stated
        before = None
        for line in self._lines.values():
            if line.position >= boundary.position:
                break
            before = before if line.is_side or line.is_boundary else line.uuid
        return before

    def _summary(self, boundary: ClaudeLine) -> ClaudeLine | None:
        """The summary that belongs to it: its child, or the next one before another boundary."""
        for line in self._lines.values():
            if line.position <= boundary.position or line.is_side:
                continue
            if line.is_boundary:
                return None
            if line.is_summary:
                return line
        return None

    def _is_beginning(self, kept_range: tuple[str, ...]) -> bool:
        """Whether nothing, or a summary, stands before what is kept."""
        parent = self._lines[kept_range[0]].parent if kept_range else ""
        return parent is None or (parent in self._lines and self._lines[parent].is_summary)

    def _behind_folds(self, uuid: str | None) -> str | None:
        """That place, or the summary that stands for it by now."""
        for folded in self._folded:
            if self._hangs_on(uuid, folded):
                uuid = folded.next
        return uuid

    def _hangs_on(self, uuid: str | None, folded: _Folded) -> bool:
        """Whether a line from before the boundary is what was folded last, or hangs on it."""
        if uuid is None or folded.end is None or self._lines[uuid].position > folded.position:
            return False
        for each in self._path(uuid):
            if each in folded.above:
                return False
            if each == folded.end:
                return True
        return False

    # ---- order -----------------------------------------------------------------------------------

    def _ordered(self) -> tuple[ClaudeLine, ...]:
        """Parents first, else as in the file; a circle is cut above its first line in the file."""
        done: set[str] = set()
        ordered: list[ClaudeLine] = []
        for line in self._lines.values():
            chain: dict[str, ClaudeLine] = {}
            ancestor: ClaudeLine | None = line
            while ancestor is not None and ancestor.uuid not in done:
                chain[ancestor.uuid] = ancestor
                if ancestor.parent in chain:
                    walked = list(chain.values())
                    circle = walked[walked.index(chain[ancestor.parent]) :]
                    min(circle, key=lambda each: each.position).parent = None
                    self._joined["lines that were their own ancestors, as a beginning"] += 1
                    chain, ancestor = {}, line
                    continue
                ancestor = None if ancestor.parent is None else self._lines[ancestor.parent]
            for each in reversed(chain.values()):
                above = 0 if each.parent is None else self._lines[each.parent].folds
                each.folds = above + (each.fold is not None)
                ordered.append(each)
            done.update(chain)
        return tuple(ordered)


# ---- the queue -----------------------------------------------------------------------------------


def is_queued(value: JsonObject) -> bool:
    """Whether a line is a prompt that was typed while the agent worked."""
    given = value.get("attachment")
    return (
        value.get("type") == "attachment"
        and isinstance(given, dict)
        and given.get("type") == "queued_command"
    )


class _Queue:
    """What became of the prompts of the queue, as far as no other line tells.

    `absorbed`: rows that took a prompt into the turn that ran, as the attachment that each of them
    should have had.
    """

    def __init__(self, values: list[JsonObject]) -> None:
        self.absorbed: dict[int, JsonObject] = {}
        self.never_sent = 0
        # several prompts of the queue may have been sent as one, line by line
        said = [f"\n{text.strip()}\n" if (text := _said(value)) else "" for value in values]
        last = {text: position for position, text in enumerate(said)}
        merged = [(n, text) for n, text in enumerate(said) if text.count("\n") > 2]
        waiting: list[JsonValue] = []
        for position, value in enumerate(values):
            if value.get("type") != "queue-operation":
                continue
            content = value.get("content")
            text = prompt_text(content).strip()
            if value.get("operation") == "enqueue":
                row = f"\n{text}\n"
                is_sent = last.get(row, -1) > position or any(
                    n > position and row in whole for n, whole in merged
                )
                if text and not is_sent:
                    waiting.append(content)
                continue
            # a row without words speaks of the first one; those that were said are not here
            is_named = content in waiting
            if not waiting or (text and not is_named):
                continue
            if value.get("reason") == _ABSORBED:
                prompt = waiting.pop(waiting.index(content) if is_named else 0)
                self.absorbed[position] = _as_attachment(prompt, value)
        self.never_sent = len(waiting)


def _said(value: JsonObject) -> str:
    """The words of a line that is a prompt."""
    if is_queued(value):
        given = value["attachment"]
        return prompt_text(given.get("prompt")) if isinstance(given, dict) else ""
    message = value.get("message")
    if value.get("type") != "user" or not isinstance(message, dict):
        return ""
    return prompt_text(message.get("content"))


def _as_attachment(prompt: JsonValue, row: JsonObject) -> JsonObject:
    queued: JsonObject = {"type": "queued_command", "prompt": prompt, "commandMode": "prompt"}
    return {"type": "attachment", "timestamp": row.get("timestamp"), "attachment": queued}

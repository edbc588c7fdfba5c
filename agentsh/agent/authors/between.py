"""What a file was between two moments at which its content is known: who did which change. Pure.

Gaps, in which somebody could change the file, and writes, of which the record says what they do,
follow one another: gap, write, gap, …, gap. From the contents at both ends, the stored arguments
and the digests on record, the contents before and behind the writes are worked out as far as that
is certain. What stays dark is a stretch of several who may have done it. Read next: blame.py.
"""

from __future__ import annotations

from msgspec import Struct

from agentsh.agent.authors.calls import ABSENT, Digest, Gap, RecordedCall, Write
from agentsh.agent.authors.content import NO_CONTENT, Content
from agentsh.agent.authors.rerun import after, before


class Stretch(Struct, frozen=True):
    """From one known content to the next. `calls` and `person`: who may have done it.

    `writes`: those of the calls whose own content before or behind them is not known.
    """

    content: Content
    calls: tuple[RecordedCall, ...] = ()
    person: bool = False
    writes: tuple[Write, ...] = ()


class Between(Struct, frozen=True):
    """One more gap than writes: `gaps[i]` comes before `writes[i]`, the last one after all."""

    gaps: tuple[Gap, ...]
    writes: tuple[Write, ...] = ()

    @property
    def calls(self) -> tuple[RecordedCall, ...]:
        """All that may have changed the file, each once."""
        free = (call for gap in self.gaps for call in gap.calls)
        return tuple(dict.fromkeys((*free, *(w.call for w in self.writes if not w.is_reading))))


def stretches(first: Content | None, between: Between, last: Content) -> tuple[Stretch, ...]:
    """From `first` (None: not known) to `last`, the last stretch's content.

    A stretch to the first known content of all says who may have made it what it is.
    """
    contents = _Places(first, between, last).filled()
    result: list[Stretch] = []
    calls: dict[RecordedCall, None] = {}
    person = False
    dark: list[Write] = []
    for number, content in enumerate(contents):
        if number % 2:  # before a write, or the end
            gap = between.gaps[number // 2]
            calls.update(dict.fromkeys(gap.calls))
            person = person or gap.person
        elif number:
            write = between.writes[number // 2 - 1]
            if not write.is_reading:
                calls[write.call] = None
                if content is None or contents[number - 1] is None:
                    dark.append(write)
        if number and content is not None:
            result.append(Stretch(content, tuple(calls), person, tuple(dark)))
            calls, person, dark = {}, False, []
    return tuple(result)


class _Places:
    """The contents before the first write, between two writes, and after the last one."""

    def __init__(self, first: Content | None, between: Between, last: Content) -> None:
        self._gaps = between.gaps
        self._writes = between.writes
        count = len(between.writes)
        self._contents: list[Content | None] = [first, *[None] * (2 * count), last]
        stated = [(write.before, write.after) for write in between.writes]
        self._digests: list[Digest] = [None, *(digest for pair in stated for digest in pair), None]

    def filled(self) -> list[Content | None]:
        """As much as can be told: each pass goes through all, until one finds nothing new."""
        if self._writes:
            while self._by_digest() | self._forward() | self._backward():
                pass
        return self._contents

    def _put(self, position: int, content: Content | None) -> bool:
        """True if something is known now that was not."""
        if content is None or self._contents[position] is not None:
            return False
        stated = self._digests[position]
        if stated is not None and stated != content.digest:
            return False
        self._contents[position] = content
        return True

    def _by_digest(self) -> bool:
        """A content that is known elsewhere stood here, too."""
        missing = {
            digest
            for digest, content in zip(self._digests, self._contents, strict=True)
            if digest is not None and content is None
        }
        if not missing:
            return False
        by_digest = {ABSENT: NO_CONTENT}
        by_digest |= {content.digest: content for content in self._contents if content is not None}
        new = False
        for position, digest in enumerate(self._digests):
            if digest in by_digest:
                new = self._put(position, by_digest[digest]) or new
        return new

    def _forward(self) -> bool:
        new = False
        for number, write in enumerate(self._writes):
            position = 2 * number + 1
            new = self._across(number, position - 1, position) or new
            if self._contents[position + 1] is None:
                new = self._put(position + 1, after(write, self._contents[position])) or new
        return new

    def _backward(self) -> bool:
        new = False
        for number in reversed(range(len(self._writes))):
            position = 2 * number + 2
            new = self._across(number + 1, position + 1, position) or new
            content = self._contents[position]
            if content is not None and self._contents[position - 1] is None:
                new = self._put(position - 1, before(self._writes[number], content)) or new
        return new

    def _across(self, gap: int, start: int, end: int) -> bool:
        """Where nobody could change it, the content is what it was, unless the record denies it."""
        if self._gaps[gap].calls or self._gaps[gap].person:
            return False
        return self._put(end, self._contents[start])

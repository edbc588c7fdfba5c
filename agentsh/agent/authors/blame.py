"""Authors of the lines of one content → those of the next one. Pure.

A line that stays keeps its author. A new one has the author of whom the stretch leaves no doubt: a
call whose record holds that line and no other's does, the one who could do it, several calls of one
prompt; else nobody's name is given. Read next: tracing.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeAlias

from agentsh.agent.authors.between import Stretch
from agentsh.agent.authors.calls import BEFORE, PERSON, UNKNOWN, Author, RecordedCall, Write
from agentsh.agent.authors.content import Content
from agentsh.agent.authors.linediff import kept_lines
from agentsh.agent.authors.rerun import added_lines

_NONE = Author("unknown")
"""Of a line that is not there."""

Authors: TypeAlias = list[Author]
"""One a line."""


def begin(stretch: Stretch) -> Authors:
    """Of the first content that is known: what was there before all that is on record."""
    count = len(stretch.content.lines())
    if not stretch.calls:
        return [BEFORE] * count
    named = _by_record(stretch, stretch.content, UNKNOWN)
    return [named(line) for line in stretch.content.lines()]


def advance(before: Content, authors: Authors, stretch: Stretch) -> Authors:
    """The authors of the stretch's content."""
    if before.text == stretch.content.text:
        return authors
    author_of_rest = _of_rest(stretch)
    new = _by_record(stretch, stretch.content, author_of_rest) if stretch.writes else author_of_rest
    return _carried(before, authors, stretch.content, new)


def regained(sources: Sequence[tuple[Content, Authors]], content: Content) -> Authors:
    """What was brought back: each line by whoever wrote it, in the first source that has it.

    A line that none has is nobody's.
    """
    carried = [_carried(old, authors, content, _NONE) for old, authors in sources]
    return [
        next((author for author in each if author is not _NONE), UNKNOWN)
        for each in zip(*carried, strict=True)
    ]


def undisputed(answers: Sequence[Authors]) -> Authors:
    """What all say of the same lines; where they differ, nobody can tell."""
    first, *others = answers
    if not others:
        return first
    return [
        one if all(_same(one, other[i]) for other in others) else UNKNOWN
        for i, one in enumerate(first)
    ]


def _same(one: Author, other: Author) -> bool:
    return one.who == other.who and tuple(one.calls) == tuple(other.calls)


def _carried(
    before: Content, authors: Authors, content: Content, new: Author | Callable[[bytes], Author]
) -> Authors:
    """Lines that stay keep theirs; the others have `new`, or what it says of them."""
    result: Authors = []
    lines: list[bytes] = []
    for i, j, n in (*kept_lines(before.text, content.text), (0, content.text.count(b"\n"), 0)):
        if isinstance(new, Author):
            result += [new] * (j - len(result))
        elif j > len(result):
            lines = lines or content.lines()
            result += [new(line) for line in lines[len(result) : j]]
        result += authors[i : i + n]
    return result


def _of_rest(stretch: Stretch) -> Author:
    """Who wrote a new line, of which no call's record tells more."""
    recorded = {write.call for write in stretch.writes if added_lines(write) is not None}
    calls = tuple(call for call in stretch.calls if call not in recorded)
    return _one_of(calls, stretch.person)


def _one_of(calls: tuple[RecordedCall, ...], person: bool) -> Author:
    if not calls:
        return PERSON if person else UNKNOWN
    if person or len({(call.session, call.entry) for call in calls}) > 1:
        return UNKNOWN
    return Author("agent", calls)


def _by_record(
    stretch: Stretch, content: Content, author_of_rest: Author
) -> Callable[[bytes], Author]:
    """Lines that the record of one call has, and that stand but once."""
    counts = Counter(content.lines())
    owners: dict[bytes, list[Write]] = {}
    for write in stretch.writes:
        for line in dict.fromkeys(added_lines(write) or ()):
            owners.setdefault(line, []).append(write)
    by_call: dict[RecordedCall, Author] = {}

    def named(line: bytes) -> Author:
        writes = owners.get(line, ())
        if not line.strip() or not writes or counts[line] > 1:
            return author_of_rest
        if len(writes) > 1:
            return _one_of(tuple(write.call for write in writes), person=False)
        call = writes[0].call
        return by_call.setdefault(call, Author("agent", (call,)))

    return named

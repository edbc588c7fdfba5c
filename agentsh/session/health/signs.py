"""Cheap signs that a file is not what was written, for whoever is about to go on with it.

No proof: `verify` reads the whole file and names each bad line. Here the last part of it is held
against its own seals, and in a small file the number in the last line of ours against the count. A
file in which another program repeated or exported lines of ours is left to `verify`, which knows
their rules. Read next: verify.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from agentsh.files import open_foreign
from agentsh.session.format.entries import VERSION, Header
from agentsh.session.format.ids import short_id
from agentsh.session.format.linehead import LineStamp, read_line_stamp
from agentsh.session.format.seal import SealChain

LOOKED_AT: Final = 1 << 20
"""So many bytes of the end are looked at; a file that is no larger is looked at whole."""
_HEADER: Final = b'{"type":"session"'


def signs_of_damage(path: Path, header: Header) -> tuple[str, ...]:
    """What does not fit, in words; () where nothing was seen. Raises OSError."""
    if header.version != VERSION:
        return ()
    with open_foreign(path) as file:
        size = file.seek(0, 2)
        start = max(0, size - LOOKED_AT)
        file.seek(start)
        data = file.read(LOOKED_AT)
    lines = data.split(b"\n")
    lines = [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    is_whole = start == 0
    return tuple(_signs(lines if is_whole else lines[1:], header, is_whole=is_whole))


def _signs(lines: list[bytes], header: Header, *, is_whole: bool) -> Iterator[str]:
    short = short_id(header.id)
    marks = [
        mark if (mark := read_line_stamp(line)) and mark.session == short else None
        for line in lines
    ]
    first = next((i for i, mark in enumerate(marks) if mark is not None), None)
    if first is None or _is_rearranged(lines, first, header, is_whole=is_whole):
        return
    last = max(i for i, mark in enumerate(marks) if mark is not None)
    said = marks[last]
    if is_whole and said is not None and said.line != last:
        yield f"line {last + 1} says that it is line {said.line + 1}"
    if (broken := _broken_seal(lines, marks, is_whole=is_whole)) is not None:
        yield f"the seal of line {broken.line + 1} does not fit what stands before it"


def _is_rearranged(lines: list[bytes], first: int, header: Header, *, is_whole: bool) -> bool:
    """Whether another program may have written lines of ours again, or some of them only."""
    if any(line.startswith(_HEADER) for line in (lines[1:] if is_whole else lines)):
        return True
    is_foreign = "agentsh" not in header.extra and header.parent_session is None
    return is_foreign and _time_of(lines[first]) < header.timestamp


def _time_of(line: bytes) -> str:
    _, _, behind = line.partition(b'"timestamp":"')
    return behind.partition(b'"')[0].decode("utf-8", "replace")


def _broken_seal(
    lines: list[bytes], marks: list[LineStamp | None], *, is_whole: bool
) -> LineStamp | None:
    """The first seal that does not hold; without the file's beginning, behind the first one."""
    chain = SealChain() if is_whole else None
    for line, mark in zip(lines, marks, strict=True):
        if mark is None or mark.seal is None:
            if chain is not None:
                chain.feed(line)
        elif chain is None:
            chain = SealChain(mark.seal)
            chain.feed(line[mark.seal_end :])
        elif not chain.check_line(line, mark):
            return mark
    return None

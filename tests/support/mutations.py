"""Every single-line mutation of a session file, and what `verify` says of it.

`mutations(lines)` yields, for each line before the one with the last seal, what an accident or an
editor could do to it. `judge` scans one and says whether the damage was found and its line named.
docs/reliability.md is made of the counts (tests/reliability.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from agentsh.session.format.linehead import read_line_stamp
from agentsh.session.health.verify import Problem, verify_file
from tests.session.sealed import write_lines

KINDS: Final = ("delete", "duplicate", "swap", "insert", "edit", "blank", "halve")
_RANGE = re.compile(r"lines (\d+) to (\d+)")
_FOREIGN = (
    b'{"type":"message","id":"fade0000","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z",'
    b'"message":{"role":"user","content":"planted","timestamp":1}}'
)


class Mutation(Struct, frozen=True):
    kind: str
    line: int
    """From 1: the line that was changed, or before which one came in."""
    lines: list[bytes]


class Verdict(Struct, frozen=True):
    found: bool
    named: bool
    """A problem stands at the line or a neighbour of it, or on a range of lines that holds it."""


def last_seal(lines: list[bytes]) -> int:
    """The line (from 1) with the last seal."""
    marks = (read_line_stamp(line + b"\n") for line in lines)
    return max(i for i, m in enumerate(marks, 1) if m is not None and m.seal is not None)


def mutations(lines: list[bytes]) -> Iterator[Mutation]:
    """All of them, line by line; the header is line 1.

    The line with the last seal is left out: without it the file is one that ended earlier.
    """
    last = last_seal(lines)
    for i in range(last - 1):
        before, line, after = lines[:i], lines[i], lines[i + 1 :]
        number = i + 1
        yield Mutation("delete", number, before + after)
        yield Mutation("duplicate", number, [*before, line, line, *after])
        yield Mutation("swap", number, [*before, after[0], line, *after[1:]])
        yield Mutation("insert", number, [*before, _FOREIGN, line, *after])
        yield Mutation("edit", number, [*before, edited(line), *after])
        yield Mutation("blank", number, [*before, b"", *after])
        yield Mutation("halve", number, [*before, line[: len(line) // 2], *after])


def edited(line: bytes) -> bytes:
    """One letter of a value is another one; still JSON."""
    at = max(line.rfind(b'"text":"'), line.rfind(b'"timestamp":"20'), line.rfind(b'"cwd":"/'))
    at = line.index(b'":"', at) + 4
    old = line[at : at + 1]
    new = b"9" if old in b"0123456789" and old != b"9" else b"x" if old.isalpha() else b"1"
    return line[:at] + (new if new != old else b"y") + line[at + 1 :]


def judge(mutation: Mutation, folder: Path) -> Verdict:
    """What verify finds in it."""
    report = verify_file(write_lines(folder / "mutated.jsonl", mutation.lines))
    named = any(_names(problem, mutation.line) for problem in report.problems)
    return Verdict(not report.ok, named)


def _names(problem: Problem, line: int) -> bool:
    if abs(problem.line - line) <= 1:
        return True
    found = _RANGE.search(problem.text)
    return found is not None and int(found[1]) <= line <= int(found[2])

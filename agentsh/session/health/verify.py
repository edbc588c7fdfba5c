"""Whether a file is what was written: structure, numbers, seals, sources, balance. Read-only.

Theory. Three chains cross each line, so that one change breaks at least one of them: ids and
parents (a parent stands before its child), `ash.n` (each line of ours knows its physical number;
lines of others just use numbers up), and the seals (a digest over every byte since the seal before,
lines of others and the header included). A line of ours under a good seal is not parsed; everything
else is. A seal that fails sends us back over its lines to name the bad one.

Not damage, but a warning: what another program appended after the last seal, Pi's second copy of
all lines (P3), a repaired torn line, an open bracket, a newer version. Lines that carry another
session's stamp are copies (a fork's) and only bytes here; so are lines of this session that are
older than a header of Pi's (its export of one branch: the old id, the time of the export). Memory:
the ids and one line.
Read next: seal.py, linehead.py, salvage.py.
"""

from __future__ import annotations

import re
from array import array
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct, field

from agentsh.errors import SessionNotFoundError
from agentsh.files import open_foreign
from agentsh.session.format.codec import Unreadable, decode_header, decode_object
from agentsh.session.format.entries import VERSION, Custom, Entry, Header, SessionId
from agentsh.session.format.factcodec import PREFIX, refusal
from agentsh.session.format.ids import short_id
from agentsh.session.format.linehead import (
    LineStamp,
    RawLine,
    named_in,
    parse_line,
    read_line,
    read_line_stamp,
)
from agentsh.session.format.seal import SealChain
from agentsh.session.health.invariants import FACTS_THAT_COUNT, Brackets

_ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_TIME = re.compile(rb'"timestamp":"([^"\\]*)"')
_OURS = PREFIX.encode()


class Problem(Struct, frozen=True):
    """`line` counts from 1."""

    line: int
    kind: str
    text: str


class Report(Struct, frozen=True):
    path: Path
    session: str | None
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]
    lines: int
    version: int = VERSION

    @property
    def ok(self) -> bool:
        return not self.problems

    @property
    def is_refused(self) -> bool:
        """True where this program may look but not append: no damage, a later version's work."""
        return any(warning.kind == "version" for warning in self.warnings)


def verify_file(path: Path) -> Report:
    """Check one file. Raises SessionNotFoundError for what is no session."""
    try:
        with open_foreign(path) as file:
            return _Scan(path, file).run()
    except (OSError, ValueError) as e:
        raise SessionNotFoundError(f"cannot read {path}: {e}", path=str(path)) from e


class _Scan(Struct):
    path: Path
    file: BinaryIO
    header: Header | None = None
    has_header: bool = True
    stray: int = 0
    """A line before the header that is an object, but no header."""
    short: str = ""
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    offsets: array[int] = field(default_factory=lambda: array("Q"))
    ids: set[bytes] = field(default_factory=set)
    chain: SealChain = field(default_factory=SealChain)
    sealed_line: int = 0
    """The last line with a good or bad seal of ours; 0: none."""
    last_own: int = 0
    shift: int = 0
    """By how much the numbers of our lines are off since the last complaint."""
    again: int = 0
    """The line on which the header came a second time, while all lines after repeat (P3)."""
    copied: int = 0
    """How many lines came twice before."""
    may_be_export: bool = False
    """The header is not of our making, and no line of ours is younger than it so far."""
    is_export: bool = False
    torn: dict[int, str] = field(default_factory=dict)
    unparsed: array[int] = field(default_factory=lambda: array("Q"))
    """Lines since the last seal that were told from their ends."""
    brackets: Brackets = field(default_factory=Brackets)

    def run(self) -> Report:
        offset = 0
        number = 0
        for number, line in enumerate(self.file, 1):
            self.offsets.append(offset)
            offset += len(line)
            self._line(number, line)
        if self.header is None:
            raise SessionNotFoundError(f"{self.path} is no session file", path=str(self.path))
        self._recheck()
        self._finish(number)
        return Report(
            path=self.path,
            session=self.header.id if self.has_header else None,
            problems=tuple(sorted(self.problems, key=lambda p: p.line)),
            warnings=tuple(sorted(self.warnings, key=lambda p: p.line)),
            lines=number,
            version=self.header.version,
        )

    def _problem(self, line: int, kind: str, text: str) -> None:
        self.problems.append(Problem(line, kind, text))

    def _warn(self, line: int, kind: str, text: str) -> None:
        self.warnings.append(Problem(line, kind, text))

    # ---- one line ------------------------------------------------------------------------------

    def _line(self, number: int, line: bytes) -> None:
        if self.header is None:
            self._before_header(number, line)
            return
        raw = read_line(line)
        mark = raw.mark
        if self._repeats(number, line, raw):
            self._pass(line, mark)
            return
        if mark is None or mark.session != self.short:
            self.chain.feed(line)
            self._entry(number, line, raw, is_own=False)
            return
        if self._is_exported(number, line, mark):
            self._pass(line, mark)
            self._entry(number, line, raw, is_own=False)
            return
        self._number(number, line, mark.line)
        if mark.seal is None:
            self.chain.feed(line)
        else:
            self._seal(number, line, raw)
        self._entry(number, line, raw, is_own=True)
        self._sources(number, line)

    def _pass(self, line: bytes, mark: LineStamp | None) -> None:
        """A line that stands elsewhere, too: only bytes, but who wrote on did so from its seal."""
        self.chain.feed(line)
        if mark is not None and mark.seal is not None and mark.session == self.short:
            self.chain = SealChain(mark.seal)
            self.chain.feed(line[mark.seal_end :])

    def _is_exported(self, number: int, line: bytes, mark: LineStamp) -> bool:
        """Whether a line of this session is older than its header, which is not ours."""
        if not self.may_be_export:
            return False
        assert self.header is not None
        time = _TIME.search(line)
        if time is not None and time[1].decode("utf-8", "replace") < self.header.timestamp:
            self.is_export = True
            return True
        self.may_be_export = False
        if self.is_export:
            self.shift = number - 1 - mark.line  # it counts on from the last line that was exported
        return False

    def _before_header(self, number: int, line: bytes) -> None:
        self.chain.feed(line)
        raw = parse_line(line.removeprefix(b"\xef\xbb\xbf"), read_line_stamp(line))
        if raw.parsed is None:
            if raw.fault != "blank":
                self._problem(number, "json", f"this line before the header is {raw.fault}")
            return
        header = decode_header(raw.parsed) if raw.type == "session" else None
        if header is None or isinstance(header, Unreadable):
            if raw.mark is None and not self.problems:
                if self.stray:
                    problem = f"{self.path} is no session file"
                    raise SessionNotFoundError(problem, path=str(self.path))
                self.stray = number  # one line too many, if the header follows; else no session
                return
            # the entries are there and their header is not: damage, and the rest is checked
            self._problem(1, "header", "no header stands before the entries")
            self.has_header = False
            header = Header(SessionId(raw.mark.session if raw.mark else ""), "", "")
        if self.stray:
            self._problem(self.stray, "header", "this line stands before the header")
        self.header = header
        is_plain = "agentsh" not in header.extra and header.parent_session is None
        self.may_be_export = is_plain and _ISO.fullmatch(header.timestamp) is not None
        self.short = short_id(header.id)
        if header.version > VERSION:
            self._warn(
                number,
                "version",
                f"written by a newer version ({header.version}; this one knows {VERSION})",
            )

    def _repeats(self, number: int, line: bytes, raw: RawLine) -> bool:
        """Pi's double write: the header again, then every line again, byte for byte."""
        if raw.type == "session":
            assert self.header is not None
            if raw.id.decode("utf-8", "replace") == self.header.id:
                self._warn(number, "repeated", "the header stands here a second time")
            else:
                self._problem(number, "header", "the header of another session")
            self.again = number
            return True
        if not self.again:
            return False
        if line.rstrip(b"\n") == self._read(number - self.again + 1).rstrip(b"\n"):
            return True
        if number - self.again == self.again - 1:
            # all of it came twice; a writer that opened the file at its end goes on from there
            self.copied = self.again - 1
        self.again = 0
        return False

    def _entry(self, number: int, line: bytes, raw: RawLine, *, is_own: bool) -> None:
        """Structure: JSON, an id of its own, a parent that stands before it."""
        if raw.parsed is None and not raw.fault:
            self.unparsed.append(number)
        if raw.fault:
            if raw.fault == "blank":
                self._warn(number, "blank", "an empty line")
            else:
                self.torn[number] = raw.fault
            return
        assert self.header is not None
        if self.header.version >= 2:  # v1 has neither ids nor parents
            if not raw.id:
                self._problem(number, "entry", "an object without an id is no entry")
                return
            if raw.id in self.ids:
                self._problem(number, "id", f"the id {_show(raw.id)} has been used before")
            if raw.parent is not None and raw.parent not in self.ids:
                problem = f"its parent {_show(raw.parent)} does not stand before it"
                self._problem(number, "parent", problem)
            self.ids.add(raw.id)
        if raw.custom.startswith(_OURS):
            self._newer(number, line, raw)
        if raw.type == "compaction" or raw.custom in FACTS_THAT_COUNT:
            value = raw.parsed if raw.parsed is not None else parse_line(line).parsed
            entry = decode_object(value) if value is not None else None
            if isinstance(entry, Entry):
                self.brackets.take(number, entry, is_own=is_own)

    def _newer(self, number: int, line: bytes, raw: RawLine) -> None:
        """A fact of a later version, which forbids appending (R44)."""
        if b'"data":{"v":1,' in line and b'"required":true' not in line:
            return
        value = raw.parsed if raw.parsed is not None else parse_line(line).parsed
        entry = decode_object(value) if value is not None else None
        if isinstance(entry, Entry) and isinstance(entry.body, Custom):
            problem = refusal(entry.body)
            if problem is not None:
                self._warn(number, "version", problem)

    # ---- numbers, seals, sources ---------------------------------------------------------------

    def _number(self, number: int, line: bytes, claimed: int) -> None:
        off = number - 1 - claimed
        if off == self.copied and not self.shift:
            self.shift = off
        if off != self.shift:
            if off > 0 and line == self._read(claimed + 1):
                text = f"this line is a copy of line {claimed + 1}"
            elif off > self.shift:
                text = (
                    f"between line {self.last_own or 1} and here {_lines(off - self.shift)} came in"
                )
            else:
                text = f"before this line {_lines(self.shift - off)} missing"
            self._problem(number, "number", text)
            self.shift = off
        self.last_own = number

    def _seal(self, number: int, line: bytes, raw: RawLine) -> None:
        assert raw.mark is not None
        if not self.chain.check_line(line, raw.mark):
            self.unparsed.append(number)
            self._recheck()
            self._problem(
                number,
                "seal",
                f"lines {self.sealed_line + 1} to {number} are not as they were written:"
                " their seal does not fit",
            )
        del self.unparsed[:]
        self.sealed_line = number

    def _recheck(self) -> None:
        """Parse the lines of ours whose seal failed, or that have none yet."""
        for number in self.unparsed:
            if fault := parse_line(self._read(number)).fault:
                self._problem(number, "json", f"this line is {fault}")

    def _sources(self, number: int, line: bytes) -> None:
        for source in named_in(line):
            if source.encode() not in self.ids:
                problem = f"it names {source} as its source, which does not stand before it"
                self._problem(number, "source", problem)

    def _read(self, number: int) -> bytes:
        """A line again, in the middle of the scan."""
        if number < 1 or number > len(self.offsets):
            return b""
        here = self.file.tell()
        self.file.seek(self.offsets[number - 1])
        line = self.file.readline()
        self.file.seek(here)
        return line

    # ---- the end -------------------------------------------------------------------------------

    def _finish(self, lines: int) -> None:
        for number, fault in self.torn.items():
            if number in self.brackets.torn:
                self._warn(number, "torn", "a line that was cut off; what came after is sound")
            else:
                self._problem(number, "json", f"this line is {fault}")
        for number, text in self.brackets.problems(self.ids):
            self._problem(number, "source", text)
        for number, text in self.brackets.warnings():
            self._warn(number, "balance", text)
        assert self.header is not None
        if self.has_header and (strange := self.brackets.foreign_root(self.header)) is not None:
            self._problem(1, "header", strange)
        if 0 < self.last_own < lines:
            first = self.last_own + 1
            problem = f"lines {first} to {lines} were appended by another program and have no seal"
            self._warn(first, "foreign", problem)


def _lines(count: int) -> str:
    return "a line is" if count == 1 else f"{count} lines are"


def _show(id_: bytes) -> str:
    return id_.decode("utf-8", "replace")

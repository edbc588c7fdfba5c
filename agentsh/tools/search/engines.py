"""Who searches the bytes of files: ripgrep where it is there and can, else a Python child process.

Both are told the files by name (walking.py has chosen them) and the pattern as it was given; both
show a line in the same way (greplines.py). Each reads the pattern in its own language. Neither
reads settings of its own, ignore files or the environment's configuration. Both are children in a
group of their own which is killed on abort and when the search's time is up. Read next: grep.py.
"""

from __future__ import annotations

import base64
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal, Protocol, TypeAlias, cast

from msgspec import Struct

from agentsh.errors import ToolFailedError
from agentsh.files import is_regular, open_foreign
from agentsh.jsontext import JsonError, JsonObject, JsonValue, clean, dumps, loads_object
from agentsh.programs import find_program, plain_environment
from agentsh.tools.search.greplines import (
    SNIFF,
    GrepLine,
    Hits,
    Skipped,
    is_binary,
    shown_line,
    spellings,
)
from agentsh.tools.search.grepworker import BOOT
from agentsh.tools.search.walking import Deadline

_ROOT: Final = str(Path(__file__).resolve().parent.parent.parent.parent)
_PIECE: Final = 1 << 18
_RG_FLAGS: Final = (
    "--no-config", "--json", "--no-messages", "--no-mmap", "--no-search-zip", "--no-pre",
    "--no-multiline", "--engine=auto", "--crlf", "--regex-size-limit=64M",
    "--dfa-size-limit=64M", "--file=-",
)  # fmt: skip
_RG_HAD_ERRORS: Final = 2
"""Its exit code where a file could not be read, whatever it found in the others."""


Wrap: TypeAlias = Callable[[list[str]], list[str]]
"""What is put round the program: where something is hidden, it must not see that."""


class GrepRequest(Struct, frozen=True):
    """What to look for, and how much of it."""

    pattern: str
    literal: bool
    ignore_case: bool
    context: int


class Engine(Protocol):
    def search(self, files: Sequence[str], limit: int) -> Iterator[Hits | Skipped]:
        """Hits of these files (absolute names), at most `limit` matches of each, in any order.

        A file that cannot be read, and a binary one in which the pattern matches, is said to be
        skipped. One that is gone meanwhile is neither.
        """

    def close(self) -> None: ...


class EngineError(Exception):
    """This engine cannot do it (no such program, a pattern it does not take); the other may."""


def find_ripgrep(environ: Mapping[str, str], project: Path) -> str | None:
    """The `rg` that was installed with agentsh, else the first on PATH that is no stranger's."""
    own = Path(sys.executable).parent / "rg"
    if is_regular(own) and os.access(own, os.X_OK, effective_ids=True):
        return str(own)
    return find_program("rg", environ, project)


class Ripgrep:
    """One `rg` process for each list of files."""

    def __init__(
        self,
        program: str,
        query: GrepRequest,
        environ: Mapping[str, str],
        deadline: Deadline,
        wrap: Wrap = list,
    ) -> None:
        how = "--ignore-case" if query.ignore_case else "--case-sensitive"
        literal = ["--fixed-strings"] if query.literal else []
        self._argv = [program, *_RG_FLAGS, how, *literal, f"--context={query.context}"]
        forms = spellings(query.pattern, literal=query.literal)
        self._patterns = "".join(f"{form}\n" for form in forms).encode("utf-8", "replace")
        self._environ = plain_environment(environ, Path("/"))
        self._deadline = deadline
        self._wrap = wrap

    def search(self, files: Sequence[str], limit: int) -> Iterator[Hits | Skipped]:
        places = {os.fsencode(name): number for number, name in enumerate(files)}
        argv = self._wrap([*self._argv, f"--max-count={limit}", "--", *files])
        child = _Child(argv, self._environ, self._deadline)
        try:
            child.send(self._patterns)
            child.end_input()
            skipped: set[int] = set()
            for one in _events(child, places):
                if isinstance(one, Skipped):
                    skipped.add(one.file)
                yield one
            if child.ended() == _RG_HAD_ERRORS:
                unreadable = _unreadable(files, self._deadline)
                yield from (one for one in unreadable if one.file not in skipped)
        finally:
            child.kill()

    def close(self) -> None:
        pass


def _events(child: _Child, places: Mapping[bytes, int]) -> Iterator[Hits | Skipped]:
    lines: list[GrepLine] = []
    is_whole = False
    for raw in child.lines():
        try:
            event = loads_object(raw)
        except JsonError as e:
            raise EngineError("that is no ripgrep") from e
        data = cast("JsonObject", event.get("data") or {})
        match event.get("type"):
            case "begin":
                lines = []
            case "match" | "context" as kind:
                lines.append(_line(data, is_match=kind == "match"))
            case "end":
                name = _bytes(data["path"])
                if lines:
                    yield _judged(name, places[name], tuple(lines))
            case "summary":
                is_whole = True
            case _:
                pass
    if not is_whole:  # a pattern that it refused, or no ripgrep at all
        raise EngineError("ripgrep gave no answer")


def _line(data: JsonObject, *, is_match: bool) -> GrepLine:
    number = cast("int", data["line_number"])
    start = 0
    parts = data.get("submatches")
    if is_match and isinstance(parts, Sequence) and parts:
        start = cast("int", cast("JsonObject", parts[0])["start"])
    return GrepLine(number, is_match, shown_line(_bytes(data["lines"]), start, number))


def _bytes(value: JsonValue) -> bytes:
    """rg's text-or-bytes."""
    member = cast("dict[str, str]", value)
    text = member.get("text")
    return base64.b64decode(member["bytes"]) if text is None else text.encode("utf-8")


def _judged(name: bytes, number: int, lines: tuple[GrepLine, ...]) -> Hits | Skipped:
    try:
        with open_foreign(os.fsdecode(name), follow=False) as file:
            head = file.read(SNIFF)
    except OSError as e:
        return Skipped(number, "unreadable", e.strerror or str(e))
    return Skipped(number, "binary") if is_binary(head) else Hits(number, lines)


def _unreadable(files: Sequence[str], deadline: Deadline) -> Iterator[Skipped]:
    """Those of the files that are there and cannot be read to their end."""
    for number, name in enumerate(files):
        deadline.check()
        try:
            with open_foreign(name, follow=False, buffering=0) as file:
                while file.read(_PIECE):
                    deadline.check()
        except FileNotFoundError:
            pass
        except OSError as e:
            yield Skipped(number, "unreadable", e.strerror or str(e))


class PythonWorker:
    """One child for a whole search, started with the first list of files."""

    def __init__(
        self,
        query: GrepRequest,
        environ: Mapping[str, str],
        deadline: Deadline,
        wrap: Wrap = list,
    ) -> None:
        self._query = query
        self._environ = environ
        self._deadline = deadline
        self._wrap = wrap
        self._child: _Child | None = None
        self._is_idle = False

    def search(self, files: Sequence[str], limit: int) -> Iterator[Hits | Skipped]:
        if self._child is None:
            # isolated from PYTHON* variables; where our own modules lie, it is told
            path = [part for part in sys.path if part.startswith("/")]
            argv = [sys.executable, "-I", "-c", BOOT, _ROOT, *path]
            self._child = _Child(self._wrap(argv), self._environ, self._deadline)
        self._is_idle = False
        self._child.send(self._request(files, limit) + b"\n")
        for raw in self._child.lines():
            answer = loads_object(raw)
            if "done" in answer:
                self._is_idle = True
                return
            at = cast("int", answer["file"])
            if "skipped" in answer:
                why = cast("Literal['binary', 'unreadable']", answer["skipped"])
                yield Skipped(at, why, clean(str(answer["reason"])))
                continue
            rows = cast("list[tuple[int, bool, str]]", answer["lines"])
            lines = tuple(
                GrepLine(number, is_match, clean(text)) for number, is_match, text in rows
            )
            yield Hits(at, lines)
        raise ToolFailedError("the search process ended early (out of memory?)")

    def _request(self, files: Sequence[str], limit: int) -> bytes:
        query = self._query
        return dumps(
            {
                "pattern": query.pattern,
                "literal": query.literal,
                "ignore_case": query.ignore_case,
                "context": query.context,
                "limit": limit,
                # bytes as characters: a name may be no UTF-8, and JSON is
                "files": [os.fsencode(name).decode("latin-1") for name in files],
            }
        )

    def close(self) -> None:
        if self._child is not None:
            if self._is_idle:
                self._child.finish()
            self._child.kill()
            self._child = None


class _Child:
    """A process in a group of its own: lines out, killed on abort and at the deadline."""

    def __init__(self, argv: list[str], environ: Mapping[str, str], deadline: Deadline) -> None:
        self._deadline = deadline
        try:
            self._popen = subprocess.Popen(
                argv,
                env=dict(environ),
                cwd="/",
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                bufsize=0,
            )
        except (OSError, ValueError) as e:
            raise EngineError(str(e)) from e
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        self._in = self._popen.stdin
        self._out = self._popen.stdout
        self._parts: list[bytes] = []
        """The beginning of a line that is still coming."""

    def send(self, data: bytes) -> None:
        """All of it; the child reads its input before it answers."""
        view = memoryview(data)
        ready = select.poll()
        ready.register(self._in, select.POLLOUT)
        try:
            while view:
                self._deadline.check()
                if ready.poll(100):
                    view = view[os.write(self._in.fileno(), view[: select.PIPE_BUF]) :]
        except BrokenPipeError:
            pass  # it has ended; its missing answer tells

    def end_input(self) -> None:
        with suppress(OSError):
            self._in.close()

    def lines(self) -> Iterator[bytes]:
        """What it writes, line by line, up to its end. Raises ToolError at abort and deadline."""
        with self._deadline.abort.calling(self._stop):
            while piece := self._read():
                *whole, unfinished = piece.split(b"\n")
                for line in whole:
                    yield b"".join((*self._parts, line))
                    self._parts.clear()
                self._parts.append(unfinished)
        self._deadline.check()  # the end may be our own killing

    def _read(self) -> bytes:
        ready = select.poll()
        ready.register(self._out, select.POLLIN)
        while True:
            self._deadline.check()
            if ready.poll(100):
                return os.read(self._out.fileno(), _PIECE)

    def _stop(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._popen.pid, signal.SIGKILL)

    def finish(self) -> None:
        """Let it end by itself: it waits for input."""
        self.end_input()
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(1.0)

    def ended(self) -> int:
        """Its exit code, once its output has ended. Raises ToolError at abort and deadline."""
        while True:
            self._deadline.check()
            with suppress(subprocess.TimeoutExpired):
                return self._popen.wait(0.1)

    def kill(self) -> None:
        """End it and reap it."""
        if self._popen.poll() is None:
            self._stop()
        self.end_input()
        self._out.close()
        self._popen.wait()

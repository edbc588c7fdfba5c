"""The grep tool: lines that match a pattern, in the files that walking.py covers, in its order.

Files are searched in growing portions, so that a pattern which hits everywhere ends early, and what
is held in memory is a few results, whatever there is. The pattern goes to ripgrep as it is; where
ripgrep is missing or does not take it, Python's `re` searches, and the result says so. Lines are
shown as they are; making them safe for a terminal is the ui's. Read next: engines.py.
"""

from __future__ import annotations

import os
import re
from bisect import insort
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agentsh.errors import InvalidArgumentsError, ToolFailedError
from agentsh.files import real
from agentsh.jsontext import JsonObject
from agentsh.messages import Text, ToolSchema
from agentsh.tools import schemas
from agentsh.tools.arguments import check_arguments
from agentsh.tools.base import Effect, ToolContext, ToolOutcome
from agentsh.tools.files.truncate import bytes_words
from agentsh.tools.search.engines import (
    Engine,
    EngineError,
    GrepRequest,
    PythonWorker,
    Ripgrep,
    find_ripgrep,
)
from agentsh.tools.search.globs import GlobError, PathGlob
from agentsh.tools.search.greplines import MAX_SEARCHED_FILE, GrepLine, Hits, Skipped
from agentsh.tools.search.grepworker import compiled
from agentsh.tools.search.searching import (
    SearchRoot,
    elsewhere,
    escaped,
    file_size,
    glob_below,
    left_out,
    not_read,
    note_on,
    number,
    place_of,
    result,
    touched,
)
from agentsh.tools.search.walking import Deadline, Tally, Walk

_LIMIT: Final = 100
MAX_CONTEXT: Final = 50
_PORTIONS: Final = (64, 256, 1024)
_LAST_PORTION: Final = 4096
_MAX_NAMES: Final = 500_000
"""Bytes of file names for one process; the system's limit is 2 MB with the environment."""


class GrepTool(Struct, frozen=True):
    """`grep`. `ripgrep` finds the program to use; None from it means to do without."""

    ripgrep: Callable[[Mapping[str, str], Path], str | None] = find_ripgrep
    schema: ToolSchema = schemas.GREP
    effect: Effect = Effect.READ

    def check(self, arguments: JsonObject) -> JsonObject:
        return check_arguments(self.schema, arguments)

    def touches(self, arguments: JsonObject, cwd: Path, home: Path) -> tuple[Path, ...]:
        return touched(arguments, cwd, home)

    def expect(self, arguments: JsonObject, context: ToolContext) -> Mapping[str, str] | None:
        return None

    def run(self, arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        query = GrepRequest(
            str(arguments["pattern"]),
            literal=arguments.get("literal") is True,
            ignore_case=arguments.get("ignoreCase") is True,
            context=min(number(arguments, "context", 0), MAX_CONTEXT),
        )
        if "\n" in query.pattern:
            raise _bad(query, "a line is searched by itself, so a pattern holds no line break")
        root = place_of(arguments, context)
        limit = number(arguments, "limit", _LIMIT)
        search = _Search(root, _wanted(arguments, root, context), context)
        engine = _Engines(query, self.ripgrep(context.environ, context.cwd), context, search)
        try:
            hits = _gather(search, engine, limit)
        finally:
            engine.close()
        notes = engine.notes if hits else [*_misread(arguments, query, root), *engine.notes]
        return _outcome(hits, search, query, limit, notes)


def _bad(query: GrepRequest, why: object) -> ToolFailedError:
    return ToolFailedError(
        f"bad pattern {query.pattern!r}: {why}. To search for it as plain text, set literal."
    )


def _misread(arguments: JsonObject, query: GrepRequest, root: SearchRoot) -> list[str]:
    """What may be meant otherwise than it is read, of a search that found nothing (T21)."""
    notes = elsewhere(str(arguments.get("glob", "")).removeprefix("!"), root)
    if r"\|" in query.pattern and not query.literal:
        notes.append(r"\| is the sign itself here; one or the other is a|b")
    return notes


def _wanted(arguments: JsonObject, root: SearchRoot, context: ToolContext) -> Callable[[str], bool]:
    """Which files the glob lets pass, by path below the search's folder."""
    glob = arguments.get("glob")
    if not isinstance(glob, str) or not glob:
        return lambda _path: True
    excludes = glob.startswith("!")
    try:
        parsed = PathGlob(glob_below(glob.removeprefix("!"), root, context.home))
    except GlobError as e:
        raise InvalidArgumentsError(f"grep: bad glob {glob!r}: {e}") from e
    prefix = root.prefix

    def passes(path: str) -> bool:
        return (parsed.matches(path) or parsed.matches(prefix + path)) is not excludes

    return passes


class _Search:
    """The files of one call, in order."""

    def __init__(
        self, root: SearchRoot, is_wanted: Callable[[str], bool], context: ToolContext
    ) -> None:
        self.place = root
        self.deadline = Deadline(context.abort)
        self.too_large = Tally()
        self.unreadable = Tally()
        self.binary = Tally()
        """Files that match and are no text."""
        self.searched = 0
        self.walk: Walk | None = None
        if root.is_folder:
            self.walk = Walk(root.path, real(context.cwd), self.deadline, context.hidden)
        self._wanted = is_wanted

    def files(self) -> Iterator[tuple[str, str]]:
        """(absolute name, name as results show it)"""
        if self.walk is None:
            yield from self._sized(str(self.place.path), self.place.name)
            return
        base = str(self.place.path).rstrip("/")
        for walked in self.walk:
            if walked.kind == "file" and self._wanted(walked.path):
                shown = self.place.prefix + escaped(walked.path)
                yield from self._sized(f"{base}/{walked.path}", shown)

    def _sized(self, name: str, shown: str) -> Iterator[tuple[str, str]]:
        try:
            size = file_size(name)
        except OSError as e:
            self.unreadable.add(shown, e.strerror or str(e))
            return
        if size is None:
            return
        if size > MAX_SEARCHED_FILE:
            self.too_large.add(shown)
            return
        self.searched += 1
        yield name, shown

    def skip(self, shown: str, skipped: Skipped) -> None:
        """Put down a file that an engine could not search. Raises ToolFailedError: the only one."""
        if skipped.why == "binary":
            self.binary.add(shown)
            return
        if self.walk is None:
            raise ToolFailedError(f"{shown} could not be read: {skipped.reason}")
        self.searched -= 1
        self.unreadable.add(shown, skipped.reason)

    def notes(self) -> list[str]:
        """What was not searched though it was to be."""
        notes = [] if self.walk is None else not_read(self.walk, self.place)
        notes += note_on(self.unreadable, "file could not be read", "files could not be read")
        notes += note_on(
            self.binary,
            "binary file matches and is not shown",
            "binary files match and are not shown",
        )
        size = bytes_words(MAX_SEARCHED_FILE)
        return notes + note_on(
            self.too_large,
            f"file of more than {size} was not searched, use bash for it",
            f"files of more than {size} were not searched, use bash for them",
        )


class _Engines:
    """ripgrep for as long as it can, Python from then on."""

    def __init__(
        self, query: GrepRequest, program: str | None, context: ToolContext, search: _Search
    ) -> None:
        self._query = query
        wrap, start = context.hiding, search.place.path
        is_own = any(start.is_relative_to(each) for each in context.hidden)
        if wrap is None or (is_own and not start.is_relative_to(real(context.cwd))):
            wrap = list  # an output that a result named: no command can exchange that
        self._python = PythonWorker(query, context.environ, search.deadline, wrap)
        self._engine: Engine = self._python
        self.notes: list[str] = []
        """What a person should know of how it was searched."""
        if program is not None:
            self._engine = Ripgrep(program, query, context.environ, search.deadline, wrap)
        else:
            self._go_on_with_python("ripgrep is not installed")

    def hits(self, files: list[str], need: int) -> tuple[list[Hits], list[Skipped]]:
        """Hits by file, as many from the first on as hold `need` matches, and what was skipped."""
        try:
            return _first(self._engine.search(files, need), need)
        except EngineError as e:
            if self._engine is self._python:
                raise ToolFailedError(f"the search could not be started: {e}") from e
            self._go_on_with_python("ripgrep does not take this pattern")
            return self.hits(files, need)

    def _go_on_with_python(self, why: str) -> None:
        query = self._query
        try:
            compiled(query.pattern, literal=query.literal, ignore_case=query.ignore_case)
        except (re.error, OverflowError, RecursionError) as e:
            raise _bad(query, e) from e
        self._engine = self._python
        self.notes.append(f"{why}; searched with Python's re")

    def close(self) -> None:
        self._python.close()


def _first(results: Iterator[Hits | Skipped], need: int) -> tuple[list[Hits], list[Skipped]]:
    first_hits: list[Hits] = []
    skipped: list[Skipped] = []
    total = 0
    for hit in results:
        if isinstance(hit, Skipped):
            insort(skipped, hit, key=lambda s: s.file)
            continue
        insort(first_hits, hit, key=lambda h: h.file)
        total += hit.matches
        while total - first_hits[-1].matches >= need:
            total -= first_hits.pop().matches
    return first_hits, skipped


def _gather(search: _Search, engine: _Engines, limit: int) -> list[tuple[str, Hits]]:
    """(shown name, hits) in order, with one match more than the limit where there are more."""
    gathered: list[tuple[str, Hits]] = []
    need = limit + 1
    for portion in _portions(search.files()):
        hits, skipped = engine.hits([name for name, _ in portion], need)
        for one in skipped:
            search.skip(portion[one.file][1], one)
        gathered += [(portion[hit.file][1], hit) for hit in hits]
        need -= sum(hit.matches for hit in hits)
        if need <= 0:
            break
    if not search.searched:
        engine.hits([os.devnull], 1)  # a bad pattern is one where there is nothing to search, too
    return gathered


def _portions(files: Iterator[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    sizes = iter(_PORTIONS)
    carried: list[tuple[str, str]] = []
    while True:
        room = max(0, next(sizes, _LAST_PORTION) - len(carried))
        portion = carried + list(islice(files, room))
        carried = []
        while sum(len(name) for name, _ in portion) > _MAX_NAMES:
            half = len(portion) // 2
            portion, carried = portion[:half], portion[half:] + carried
        if not portion:
            return
        yield portion


def _outcome(
    hits: list[tuple[str, Hits]],
    search: _Search,
    query: GrepRequest,
    limit: int,
    notes: list[str],
) -> ToolOutcome:
    notes = [*notes, *search.notes()]
    if not hits:
        return _nothing(search, query, notes)
    lines, is_more = _rendered(hits, query.context, limit)
    if is_more:
        notes.append(
            f"{limit} matches shown, there are more: raise limit, or narrow with path or glob"
        )
    return result(lines, notes, "narrow with path, glob or a stricter pattern")


def _nothing(search: _Search, query: GrepRequest, notes: list[str]) -> ToolOutcome:
    files = f"{search.searched} file{'' if search.searched == 1 else 's'} searched"
    sentence = f"No matches for {query.pattern!r} in {search.place.name} ({files})."
    if search.walk is not None:
        notes = [*left_out(search.walk, search.place), *notes]
    return ToolOutcome((Text("\n".join([sentence, *(f"[{note}]" for note in notes)])),))


def _rendered(
    hits_by_file: list[tuple[str, Hits]], context: int, limit: int
) -> tuple[list[str], bool]:
    """The result's lines, and whether there are more matches than the limit."""
    out: list[str] = []
    left = limit
    for name, hits in hits_by_file:
        last = 0
        for line in _limited(hits.lines, left, context):
            if context and out and line.number != last + 1:
                out.append("--")
            last = line.number
            left -= line.is_match
            mark = ":" if line.is_match else "-"
            out.append(f"{name}{mark}{line.number}{mark} {line.text}")
    return out, sum(hits.matches for _, hits in hits_by_file) > limit


def _limited(lines: Sequence[GrepLine], left: int, context: int) -> Iterator[GrepLine]:
    """The lines up to the last match that is still within the limit, and those after it."""
    upto: int | None = None
    for line in lines:
        if left:
            if line.is_match:
                left -= 1
                upto = line.number + context if not left else None
            yield line
        elif upto is not None and line.number <= upto:
            yield replace(line, is_match=False)

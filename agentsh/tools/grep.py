"""The grep tool: lines that match a pattern, in the files that walking.py covers, in its order.

Files are searched in growing portions, so that a pattern which hits everywhere ends early, and what
is held in memory is a few results, whatever there is. The same call on the same tree gives the same
text, with ripgrep or without (tests/tools/test_grep_engines.py). Lines are shown as they are;
making them safe for a terminal is the ui's. Read next: engines.py.
"""

from __future__ import annotations

import re
from bisect import insort
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agentsh.errors import InvalidArgumentsError, ToolFailedError
from agentsh.jsontext import JsonObject
from agentsh.messages import Text, ToolSchema
from agentsh.tools import schemas
from agentsh.tools.arguments import check_arguments
from agentsh.tools.base import Effect, ToolContext, ToolOutcome
from agentsh.tools.engines import (
    Engine,
    EngineError,
    PythonWorker,
    Query,
    Ripgrep,
    find_ripgrep,
)
from agentsh.tools.globs import GlobError, PathGlob
from agentsh.tools.greplines import MAX_FILE, Hits, Line
from agentsh.tools.grepworker import tree_of
from agentsh.tools.pattern import needs_python
from agentsh.tools.pattern_forms import python_forms
from agentsh.tools.pattern_parser import PatternError
from agentsh.tools.searching import (
    Place,
    escaped,
    file_size,
    left_out,
    number,
    place_of,
    result,
    touched,
)
from agentsh.tools.truncate import bytes_words
from agentsh.tools.walking import Deadline, Walk

LIMIT: Final = 100
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
        query = Query(
            str(arguments["pattern"]),
            literal=arguments.get("literal") is True,
            ignore_case=arguments.get("ignoreCase") is True,
            context=min(number(arguments, "context", 0), MAX_CONTEXT),
        )
        _check_pattern(query)
        place = place_of(arguments, context)
        limit = number(arguments, "limit", LIMIT)
        search = _Search(place, _wanted(arguments, place), context)
        engine = _Engines(query, self.ripgrep(context.environ, context.cwd), context, search)
        try:
            found = _gather(search, engine, limit)
        finally:
            engine.close()
        return _outcome(found, search, query, limit)


def _check_pattern(query: Query) -> None:
    """Raises ToolFailedError for a pattern that is none."""
    try:
        node = tree_of(query.pattern, literal=query.literal, ignore_case=query.ignore_case)
        if needs_python(node):
            python_forms(node)
    except (PatternError, re.error) as e:
        raise ToolFailedError(
            f"bad pattern {query.pattern!r}: {e}. To search for it as plain text, set literal."
        ) from e


def _wanted(arguments: JsonObject, place: Place) -> Callable[[str], bool]:
    """Which files the glob lets pass, by path below the search's folder."""
    glob = arguments.get("glob")
    if not isinstance(glob, str) or not glob:
        return lambda _path: True
    excludes = glob.startswith("!")
    try:
        parsed = PathGlob(glob.removeprefix("!"))
    except GlobError as e:
        raise InvalidArgumentsError(f"grep: bad glob {glob!r}: {e}") from e
    prefix = place.prefix

    def passes(path: str) -> bool:
        return (parsed.matches(path) or parsed.matches(prefix + path)) is not excludes

    return passes


class _Search:
    """The files of one call, in order."""

    def __init__(self, place: Place, wanted: Callable[[str], bool], context: ToolContext) -> None:
        self.place = place
        self.deadline = Deadline(context.abort)
        self.too_large = 0
        self.searched = 0
        self.walk: Walk | None = None
        if place.is_folder:
            self.walk = Walk(place.path, context.cwd.resolve(), self.deadline)
        self._wanted = wanted

    def files(self) -> Iterator[tuple[str, str]]:
        """(absolute name, name as results show it)"""
        if self.walk is None:
            yield from self._sized(str(self.place.path), self.place.name)
            return
        base = str(self.place.path).rstrip("/")
        for found in self.walk:
            if found.kind == "file" and self._wanted(found.path):
                shown = self.place.prefix + escaped(found.path)
                yield from self._sized(f"{base}/{found.path}", shown)

    def _sized(self, name: str, shown: str) -> Iterator[tuple[str, str]]:
        size = file_size(name)
        if size is None:
            return
        if size > MAX_FILE:
            self.too_large += 1
            return
        self.searched += 1
        yield name, shown


class _Engines:
    """ripgrep for as long as it can, Python from then on."""

    def __init__(
        self, query: Query, program: str | None, context: ToolContext, search: _Search
    ) -> None:
        self._python = PythonWorker(query, context.environ, search.deadline)
        self._engine: Engine = self._python
        if program is not None:
            with suppress(EngineError):  # some patterns need Python's engine
                self._engine = Ripgrep(program, query, context.environ, search.deadline)

    def hits(self, files: list[str], need: int) -> list[Hits]:
        """Hits by file, as many from the first on as hold `need` matches."""
        try:
            return _first(self._engine.search(files, need), need)
        except EngineError as e:
            if self._engine is self._python:
                raise ToolFailedError(f"the search could not be started: {e}") from e
            self._engine = self._python
            return self.hits(files, need)

    def close(self) -> None:
        self._python.close()


def _first(hits: Iterator[Hits], need: int) -> list[Hits]:
    kept: list[Hits] = []
    total = 0
    for hit in hits:
        insort(kept, hit, key=lambda h: h.file)
        total += hit.matches
        while total - kept[-1].matches >= need:
            total -= kept.pop().matches
    return kept


def _gather(search: _Search, engine: _Engines, limit: int) -> list[tuple[str, Hits]]:
    """(shown name, hits) in order, with one match more than the limit where there are more."""
    found: list[tuple[str, Hits]] = []
    need = limit + 1
    for portion in _portions(search.files()):
        hits = engine.hits([name for name, _ in portion], need)
        found += [(portion[hit.file][1], hit) for hit in hits]
        need -= sum(hit.matches for hit in hits)
        if need <= 0:
            break
    return found


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
    found: list[tuple[str, Hits]], search: _Search, query: Query, limit: int
) -> ToolOutcome:
    notes: list[str] = []
    if search.too_large:
        notes.append(
            f"{search.too_large} files of more than {bytes_words(MAX_FILE)} were not searched;"
            " use bash for them"
        )
    if not found:
        return _nothing(search, query, notes)
    lines, is_more = _rendered(found, query.context, limit)
    if is_more:
        notes.append(
            f"{limit} matches shown, there are more: raise limit, or narrow with path or glob"
        )
    return result(lines, notes, "narrow with path, glob or a stricter pattern")


def _nothing(search: _Search, query: Query, notes: list[str]) -> ToolOutcome:
    files = f"{search.searched} file{'' if search.searched == 1 else 's'} searched"
    words = f"No matches for {query.pattern!r} in {search.place.name} ({files})."
    if search.walk is not None:
        notes = [left_out(search.walk), *notes]
    return ToolOutcome((Text("\n".join([words, *(f"[{note}]" for note in notes)])),))


def _rendered(found: list[tuple[str, Hits]], context: int, limit: int) -> tuple[list[str], bool]:
    """The result's lines, and whether there are more matches than the limit."""
    out: list[str] = []
    left = limit
    for name, hits in found:
        last = 0
        for line in _limited(hits.lines, left, context):
            if context and out and line.number != last + 1:
                out.append("--")
            last = line.number
            left -= line.is_match
            mark = ":" if line.is_match else "-"
            out.append(f"{name}{mark}{line.number}{mark} {line.text}")
    return out, sum(hits.matches for _, hits in found) > limit


def _limited(lines: Sequence[Line], left: int, context: int) -> Iterator[Line]:
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

"""The find tool: names that a glob fits, in the folders that walking.py covers, in its order.

It looks at names only: files, folders (shown with a `/` at the end) and links, which it does not
follow. Without a slash in the glob the name counts, with one the path. Read next: globs.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Final

from msgspec import Struct

from agentsh.errors import InvalidArgumentsError, ToolFailedError
from agentsh.jsontext import JsonObject
from agentsh.messages import Text, ToolSchema
from agentsh.tools import schemas
from agentsh.tools.arguments import check_arguments
from agentsh.tools.base import Effect, ToolContext, ToolOutcome
from agentsh.tools.globs import GlobError, PathGlob
from agentsh.tools.searching import (
    Place,
    escaped,
    left_out,
    number,
    place_of,
    result,
    touched,
)
from agentsh.tools.walking import Deadline, Walk

LIMIT: Final = 1000


class FindTool(Struct, frozen=True):
    """`find`."""

    schema: ToolSchema = schemas.FIND
    effect: Effect = Effect.READ

    def check(self, arguments: JsonObject) -> JsonObject:
        return check_arguments(self.schema, arguments)

    def touches(self, arguments: JsonObject, cwd: Path, home: Path) -> tuple[Path, ...]:
        return touched(arguments, cwd, home)

    def expect(self, arguments: JsonObject, context: ToolContext) -> Mapping[str, str] | None:
        return None

    def run(self, arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        pattern = str(arguments["pattern"])
        try:
            glob = PathGlob(pattern.removesuffix("/"))
        except GlobError as e:
            raise InvalidArgumentsError(f"find: bad glob {pattern!r}: {e}") from e
        place = place_of(arguments, context)
        if not place.is_folder:
            raise ToolFailedError(f"{place.name} is a file, not a folder")
        limit = number(arguments, "limit", LIMIT)
        walk = Walk(place.path, context.cwd.resolve(), Deadline(context.abort))
        only_folders = pattern.endswith("/")
        found = list(islice(_names(walk, place, glob, only_folders=only_folders), limit + 1))
        if not found:
            words = f"No files in {place.name} match {pattern!r}.\n[{left_out(walk)}]"
            return ToolOutcome((Text(words),))
        notes = []
        if len(found) > limit:
            notes.append(f"{limit} paths shown, there are more: raise limit, or narrow the glob")
        return result(found[:limit], notes, "narrow the glob, or name a folder with path")


def _names(walk: Walk, place: Place, glob: PathGlob, *, only_folders: bool) -> Iterator[str]:
    for found in walk:
        if only_folders and found.kind != "folder":
            continue
        if glob.matches(found.path) or glob.matches(place.prefix + found.path):
            mark = "/" if found.kind == "folder" else ""
            yield f"{place.prefix}{escaped(found.path)}{mark}"

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
from agentsh.files import real
from agentsh.jsontext import JsonObject
from agentsh.messages import Text, ToolSchema
from agentsh.tools import schemas
from agentsh.tools.arguments import check_arguments
from agentsh.tools.base import Effect, ToolContext, ToolOutcome
from agentsh.tools.search.globs import GlobError, PathGlob
from agentsh.tools.search.searching import (
    SearchRoot,
    elsewhere,
    escaped,
    glob_below,
    left_out,
    not_read,
    number,
    place_of,
    result,
    touched,
)
from agentsh.tools.search.walking import Deadline, Walk

_LIMIT: Final = 1000


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
        root = place_of(arguments, context)
        below = glob_below(pattern, root, context.home)
        try:
            glob = PathGlob(below.removesuffix("/"))
        except GlobError as e:
            raise InvalidArgumentsError(f"find: bad glob {pattern!r}: {e}") from e
        if not root.is_folder:
            raise ToolFailedError(f"{root.name} is a file, not a folder")
        limit = number(arguments, "limit", _LIMIT)
        walk = Walk(root.path, real(context.cwd), Deadline(context.abort), context.hidden)
        only_folders = pattern.endswith("/")
        names = list(islice(_names(walk, root, glob, only_folders=only_folders), limit + 1))
        if not names:
            notes = [*elsewhere(pattern, root), *left_out(walk, root), *not_read(walk, root)]
            lines = [f"No files in {root.name} match {pattern!r}.", *(f"[{n}]" for n in notes)]
            return ToolOutcome((Text("\n".join(lines)),))
        notes = not_read(walk, root)
        if len(names) > limit:
            notes.append(f"{limit} paths shown, there are more: raise limit, or narrow the glob")
        return result(names[:limit], notes, "narrow the glob, or name a folder with path")


def _names(walk: Walk, root: SearchRoot, glob: PathGlob, *, only_folders: bool) -> Iterator[str]:
    for walked in walk:
        if only_folders and walked.kind != "folder":
            continue
        if glob.matches(walked.path) or glob.matches(root.prefix + walked.path):
            mark = "/" if walked.kind == "folder" else ""
            yield f"{root.prefix}{escaped(walked.path)}{mark}"

"""The ls tool: what is in one folder, all of it, sorted by code point; folders end in `/`.

It shows dotfiles, `.git` and ignored entries too: it is for seeing what is there. A link to a
folder counts as one. It reads names and kinds, no contents.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from agentsh.errors import ToolFailedError
from agentsh.jsontext import JsonObject
from agentsh.messages import Text, ToolSchema
from agentsh.tools import schemas
from agentsh.tools.arguments import check_arguments
from agentsh.tools.base import Effect, ToolContext, ToolOutcome
from agentsh.tools.files import anchored
from agentsh.tools.files.paths import failure
from agentsh.tools.search.searching import escaped, number, place_of, result, touched

_LIMIT: Final = 500


class LsTool(Struct, frozen=True):
    """`ls`."""

    schema: ToolSchema = schemas.LS
    effect: Effect = Effect.READ

    def check(self, arguments: JsonObject) -> JsonObject:
        return check_arguments(self.schema, arguments)

    def touches(self, arguments: JsonObject, cwd: Path, home: Path) -> tuple[Path, ...]:
        return touched(arguments, cwd, home)

    def expect(self, arguments: JsonObject, context: ToolContext) -> Mapping[str, str] | None:
        return None

    def run(self, arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        root = place_of(arguments, context)
        if not root.is_folder:
            raise ToolFailedError(f"{root.name} is a file, not a folder")
        limit = number(arguments, "limit", _LIMIT)
        try:
            with anchored.looking_into(root.path) as scan:
                entries = sorted((entry.name, _is_folder(entry)) for entry in scan)
        except OSError as e:
            raise failure(root.name, e) from e
        if not entries:
            return ToolOutcome((Text("(empty folder)"),))
        lines = [escaped(name) + ("/" if is_folder else "") for name, is_folder in entries[:limit]]
        notes = []
        if len(entries) > limit:
            notes.append(f"{limit} of {len(entries)} names shown: raise limit to see more")
        return result(lines, notes, "use find with a glob")


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False

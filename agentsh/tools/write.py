"""The write tool: a file's whole content. Parents are made; the write is whole or did not happen.

A file that changed since this session last read or wrote it is not overwritten (T16): the model
would destroy what it has never seen. A file that the session never saw may be replaced, for that
is what was asked. Read next: atomic.py, ledger.py.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from agentsh.errors import ToolAbortedError, ToolFailedError
from agentsh.jsontext import JsonObject, clean
from agentsh.messages import Text, ToolSchema
from agentsh.tools import schemas
from agentsh.tools.arguments import check_arguments
from agentsh.tools.atomic import write_atomic
from agentsh.tools.base import Effect, ToolContext, ToolOutcome
from agentsh.tools.diff import diff_texts
from agentsh.tools.ledger import fact_of
from agentsh.tools.paths import failure, read_whole, real, resolve, shown, stat_regular

_DIFF_LIMIT = 2_000_000


class WriteTool(Struct, frozen=True):
    """`write`."""

    schema: ToolSchema = schemas.WRITE
    effect: Effect = Effect.WRITE

    def check(self, arguments: JsonObject) -> JsonObject:
        return check_arguments(self.schema, arguments)

    def touches(self, arguments: JsonObject, cwd: Path, home: Path) -> tuple[Path, ...]:
        return (real(resolve(str(arguments["path"]), cwd, home)),)

    def expect(self, arguments: JsonObject, context: ToolContext) -> Mapping[str, str] | None:
        place = real(resolve(str(arguments["path"]), context.cwd, context.home))
        return {str(place): hashlib.sha256(_bytes(arguments)).hexdigest()}

    def preview(self, arguments: JsonObject, cwd: Path, home: Path) -> str | None:
        """The difference that the call would make, to be shown before it is approved."""
        path = resolve(str(arguments["path"]), cwd, home)
        return diff_texts(_text_before(path), str(arguments["content"]), shown(path, cwd)).numbered

    def run(self, arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        path = resolve(str(arguments["path"]), context.cwd, context.home)
        name = shown(path, context.cwd)
        place = str(real(path))
        if context.abort.is_set:
            raise ToolAbortedError("stopped by the user; nothing was written")
        try:
            is_there = path.exists()
        except OSError as e:  # a name that is too long for a file
            raise failure(name, e) from e
        if is_there:
            stat_regular(path, name)
        if context.ledger.change(place) == "changed":
            raise ToolFailedError(
                f"{name} has changed since it was last read; nothing was written."
                " Read it again, then write."
            )
        data = _bytes(arguments)
        written = write_atomic(path, data, name)
        digest = hashlib.sha256(data).hexdigest()
        context.ledger.remember(place, digest, written.stat)
        lines = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
        words = (
            f"{'Created' if written.created else 'Wrote'} {name}: {len(data)} bytes, {lines} lines"
        )
        if written.other_names:
            words += (
                f"\n[{written.other_names} other hard links of this file keep the old content.]"
            )
        details: JsonObject = {"ash": fact_of(place, digest, len(data))}
        return ToolOutcome((Text(words),), details=details)


def _bytes(arguments: JsonObject) -> bytes:
    return clean(str(arguments["content"])).encode("utf-8")


def _text_before(path: Path) -> str:
    try:
        data, _ = read_whole(path, str(path), _DIFF_LIMIT)
    except ToolFailedError:
        return ""
    return data.decode("utf-8", "replace")

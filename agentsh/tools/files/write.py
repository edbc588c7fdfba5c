"""The write tool: a file's whole content. Parents are made; the write is whole or did not happen.

A file that changed since this session last read or wrote it is not overwritten (T16): the model
would destroy what it has never seen. A file that the session never saw may be replaced, for that
is what was asked. Read next: atomic.py, ledger.py.
"""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from agentsh.errors import ToolAbortedError, ToolFailedError
from agentsh.files import is_there, real
from agentsh.jsontext import JsonObject, clean
from agentsh.messages import OWN_DETAILS, Text, ToolSchema
from agentsh.tools import schemas
from agentsh.tools.arguments import check_arguments
from agentsh.tools.base import EditorTexts, Effect, Rewritten, ToolContext, ToolOutcome
from agentsh.tools.files import anchored
from agentsh.tools.files.atomic import write_atomic
from agentsh.tools.files.diff import diff_texts
from agentsh.tools.files.paths import (
    UNSAVED,
    failure,
    judged,
    open_for_tool,
    read_whole,
    resolve_target,
    shown,
    what_it_is,
)
from agentsh.tools.ledger import fact_of

_DIFF_LIMIT = 2_000_000


class WriteTool(Struct, frozen=True):
    """`write`."""

    schema: ToolSchema = schemas.WRITE
    effect: Effect = Effect.WRITE

    def check(self, arguments: JsonObject) -> JsonObject:
        return check_arguments(self.schema, arguments)

    def touches(self, arguments: JsonObject, cwd: Path, home: Path) -> tuple[Path, ...]:
        return (real(resolve_target(str(arguments["path"]), cwd, home)),)

    def expect(self, arguments: JsonObject, context: ToolContext) -> Mapping[str, str] | None:
        path = judged(resolve_target(str(arguments["path"]), context.cwd, context.home), context)
        if context.unsaved(path) is not None:
            return None  # the disk stays as it is
        return {str(path): hashlib.sha256(_bytes(arguments)).hexdigest()}

    def preview(
        self, arguments: JsonObject, cwd: Path, home: Path, editor_texts: EditorTexts | None = None
    ) -> str | None:
        """The difference that the call would make, to be shown before it is approved."""
        path = resolve_target(str(arguments["path"]), cwd, home)
        unsaved = None if editor_texts is None else editor_texts.unsaved(real(path))
        before = _text_before(path) if unsaved is None else unsaved
        return diff_texts(before, str(arguments["content"]), shown(path, cwd)).numbered

    def rewritten(
        self,
        arguments: JsonObject,
        cwd: Path,
        home: Path,
        most: int,
        editor_texts: EditorTexts | None = None,
    ) -> Rewritten | None:
        path = real(resolve_target(str(arguments["path"]), cwd, home))
        after = clean(str(arguments["content"]))
        before = None if editor_texts is None else editor_texts.unsaved(path)
        if before is None and is_there(path):
            try:
                data, _ = read_whole(open_for_tool(path, str(path)), str(path), most)
            except ToolFailedError:
                return None
            before = data.decode("utf-8", "replace")
        return Rewritten(path, before, after) if len(before or "") + len(after) <= most else None

    def run(self, arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        path = resolve_target(str(arguments["path"]), context.cwd, context.home)
        name = shown(path, context.cwd)
        target = judged(path, context)
        place = str(target)
        if context.abort.is_set:
            raise ToolAbortedError("stopped by the user; nothing was written")
        try:
            status = anchored.status_of(target)
        except OSError as e:  # a name that is too long for a file
            raise failure(name, e) from e
        if status is not None and not stat.S_ISREG(status.st_mode):
            raise ToolFailedError(f"{name} is {what_it_is(status.st_mode)}, not a regular file")
        if (
            context.editor_texts is not None
            and (text := context.editor_texts.unsaved(target)) is not None
        ):
            return _put(target, name, text, clean(str(arguments["content"])), context.editor_texts)
        if context.ledger.change(place) == "changed":
            raise ToolFailedError(
                f"{name} has changed since it was last read; nothing was written."
                " Read it again, then write."
            )
        data = _bytes(arguments)
        before = "" if status is None else _text_before(target)
        written = write_atomic(target, data, name, cwd=context.cwd)
        digest = hashlib.sha256(data).hexdigest()
        context.ledger.remember(place, digest, written.stat)
        lines = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
        made = "Created" if written.created else "Wrote"
        text = f"{made} {name}: {len(data)} bytes, {lines} line{'' if lines == 1 else 's'}"
        if written.other_names:
            text += f"\n[{written.other_names} other hard links of this file keep the old content.]"
        details: JsonObject = {OWN_DETAILS: fact_of(place, digest, len(data))}
        if before:  # people see what it stands in the place of
            details["diff"] = diff_texts(before, data.decode("utf-8"), name).numbered
        return ToolOutcome((Text(text),), details=details)


def _put(target: Path, name: str, before: str, after: str, texts: EditorTexts) -> ToolOutcome:
    """The same in the editor, which has text of the file that is not saved."""
    if texts.change(target, before) != "same":
        raise ToolFailedError(
            f"{name} has unsaved text in the user's editor that was not read; nothing was written."
            " Read it, then write."
        )
    texts.put(target, after)
    details: JsonObject = {
        "diff": diff_texts(before, after, name).numbered,
        OWN_DETAILS: {"unsaved": True},
    }
    return ToolOutcome(
        (Text(f"Wrote {name}: {len(after)} characters\n[{UNSAVED}]"),), details=details
    )


def _bytes(arguments: JsonObject) -> bytes:
    return clean(str(arguments["content"])).encode("utf-8")


def _text_before(path: Path) -> str:
    try:
        data, _ = read_whole(open_for_tool(path, str(path)), str(path), _DIFF_LIMIT)
    except ToolFailedError:
        return ""
    return data.decode("utf-8", "replace")

"""The edit tool: replace passages of a file and leave every other byte as it is.

The file is decoded so that each byte comes back as it was: UTF-8 with undecodable bytes carried
along, UTF-16 where a byte order mark says so; a mark is set aside and put back. All passages are
located in the file before the call (match.py); none is written unless all are found. On a file that
changed since it was read an edit that still fits is done, and the result says so (T16b).
Read next: match.py, nearest.py, atomic.py.
"""

from __future__ import annotations

import codecs
import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from agentsh.errors import ToolAbortedError, ToolError, ToolFailedError
from agentsh.files import real
from agentsh.jsontext import JsonObject, clean
from agentsh.messages import OWN_DETAILS, Text, ToolSchema
from agentsh.tools import schemas
from agentsh.tools.arguments import check_arguments
from agentsh.tools.base import EditorTexts, Effect, Rewritten, ToolContext, ToolOutcome
from agentsh.tools.files.atomic import write_atomic
from agentsh.tools.files.diff import Diff, diff_texts
from agentsh.tools.files.editshapes import with_edits
from agentsh.tools.files.match import Ambiguous, Edit, NotFound, Overlap, apply, locate
from agentsh.tools.files.nearest import nearest
from agentsh.tools.files.paths import (
    UNSAVED,
    judged,
    open_judged,
    read_whole,
    resolve_existing,
    shown,
)
from agentsh.tools.ledger import fact_of

_MAX_FILE = 32 * 1024 * 1024
_MAX_RESULT_DIFF = 6000

_MARKS = (
    (codecs.BOM_UTF8, "utf-8", "surrogateescape"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "surrogatepass"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "surrogatepass"),
)


class _Plan(Struct, frozen=True):
    """An edit as it will be written."""

    place: Path
    """The real path."""
    name: str
    before: bytes
    stat: os.stat_result
    after: bytes
    diff: Diff
    is_unsaved: bool = False
    """The text is the editor's, and goes back there."""


class EditTool(Struct, frozen=True):
    """`edit`."""

    schema: ToolSchema = schemas.EDIT
    effect: Effect = Effect.WRITE

    def check(self, arguments: JsonObject) -> JsonObject:
        """Other shapes of the replacements are taken too (editshapes.py)."""
        return check_arguments(self.schema, with_edits(arguments))

    def touches(self, arguments: JsonObject, cwd: Path, home: Path) -> tuple[Path, ...]:
        return (real(resolve_existing(str(arguments["path"]), cwd, home)),)

    def expect(self, arguments: JsonObject, context: ToolContext) -> Mapping[str, str] | None:
        try:
            plan = _plan(arguments, context.cwd, context.home, context)
        except ToolError:
            return None
        if plan.is_unsaved:
            return None  # the disk stays as it is
        return {str(plan.place): hashlib.sha256(plan.after).hexdigest()}

    def preview(
        self, arguments: JsonObject, cwd: Path, home: Path, editor_texts: EditorTexts | None = None
    ) -> str | None:
        """The difference that the call would make, to be shown before it is approved."""
        try:
            return _plan(arguments, cwd, home, editor_texts=editor_texts).diff.numbered
        except ToolError:
            return None

    def rewritten(
        self,
        arguments: JsonObject,
        cwd: Path,
        home: Path,
        most: int,
        editor_texts: EditorTexts | None = None,
    ) -> Rewritten | None:
        try:
            plan = _plan(arguments, cwd, home, editor_texts=editor_texts)
        except ToolError:
            return None
        if len(plan.before) + len(plan.after) > most:
            return None
        before, after = (clean(decode_file(data)[1]) for data in (plan.before, plan.after))
        return Rewritten(plan.place, before, after)

    def run(self, arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        plan = _plan(arguments, context.cwd, context.home, context)
        if context.editor_texts is not None and plan.is_unsaved:
            return _put(plan, context, context.editor_texts)
        path = str(plan.place)
        digest = hashlib.sha256(plan.after).hexdigest()
        digest_before = context.ledger.known(path)
        foreign = (
            digest_before is not None and digest_before != hashlib.sha256(plan.before).hexdigest()
        )
        if context.abort.is_set:
            raise ToolAbortedError("stopped by the user; nothing was written")
        written = write_atomic(
            plan.place, plan.after, plan.name, cwd=context.cwd, unchanged=plan.stat
        )
        context.ledger.remember(path, digest, written.stat)
        details: JsonObject = {
            "diff": plan.diff.numbered,
            "firstChangedLine": plan.diff.first_line,
            "patch": plan.diff.patch,
            OWN_DETAILS: fact_of(path, digest, len(plan.after)),
        }
        return ToolOutcome((Text(_words(plan, foreign, written.other_names)),), details=details)


def _put(plan: _Plan, context: ToolContext, editor_texts: EditorTexts) -> ToolOutcome:
    """The same in the editor, which has text of the file that is not saved."""
    change = editor_texts.change(plan.place, plan.before.decode("utf-8", "replace"))
    was_read = change == "changed" or context.ledger.known(str(plan.place)) is not None
    foreign = change != "same" and was_read
    if context.abort.is_set:
        raise ToolAbortedError("stopped by the user; nothing was written")
    editor_texts.put(plan.place, plan.after.decode("utf-8", "replace"))
    details: JsonObject = {
        "diff": plan.diff.numbered,
        "firstChangedLine": plan.diff.first_line,
        "patch": plan.diff.patch,
        OWN_DETAILS: {"unsaved": True},
    }
    words = _words(plan, foreign, 0) + f"\n[{UNSAVED}]"
    return ToolOutcome((Text(words),), details=details)


def _words(plan: _Plan, foreign: bool, other_names: int) -> str:
    diff = plan.diff
    notes = []
    if foreign:
        notes.append("The file had been changed since it was last read; the edit still fitted.")
    if other_names:
        notes.append(f"{other_names} other hard links of this file keep the old content.")
    changed = diff.numbered
    if len(changed) > _MAX_RESULT_DIFF:
        changed = changed[:_MAX_RESULT_DIFF].rpartition("\n")[0] + "\n… (cut)"
    tail = "".join(f"\n[{note}]" for note in notes)
    return f"Edited {plan.name} (+{diff.added} -{diff.removed} lines):\n{changed}{tail}"


def _plan(
    arguments: JsonObject,
    cwd: Path,
    home: Path,
    context: ToolContext | None = None,
    editor_texts: EditorTexts | None = None,
) -> _Plan:
    """Read the file and work out what it will be. Raises ToolFailedError."""
    path = resolve_existing(str(arguments["path"]), cwd, home)
    name = shown(path, cwd)
    edits = _edits(arguments)
    empty = next((i for i, edit in enumerate(edits) if not edit.old), None)
    if empty is not None and not os.path.lexists(path):
        raise ToolFailedError(f"no such file: {name}; use write to make it")
    target = real(path) if context is None else judged(path, context)
    before, stat = read_whole(open_judged(target, name), name, _MAX_FILE)
    editor_texts = editor_texts if context is None else context.editor_texts
    unsaved = None if editor_texts is None else editor_texts.unsaved(target)
    before = before if unsaved is None else unsaved.encode("utf-8", "replace")
    mark, text, encoding, errors = decode_file(before)
    if empty is not None:
        raise ToolFailedError(_nothing_named(name, text, _which(len(edits), empty)))
    after = _applied(name, text, edits)
    if after == text:
        raise ToolFailedError(
            f"nothing would change in {name}: newText is what already stands there"
        )
    data = mark + after.encode(encoding, errors)
    diff = diff_texts(_plain(text), _plain(after), name)
    return _Plan(target, name, before, stat, data, diff, unsaved is not None)


def _applied(name: str, text: str, edits: Sequence[Edit]) -> str:
    """The text with all of them. Raises ToolFailedError."""
    match locate(text, edits):
        case NotFound(index):
            raise ToolFailedError(_not_found(name, text, edits, index))
        case Ambiguous(index, lines, is_exact):
            raise ToolFailedError(_ambiguous(name, lines, is_exact, len(edits), index))
        case Overlap(first, second):
            raise ToolFailedError(
                f"edits[{first}] and edits[{second}] overlap in {name}; nothing was written."
                " Make one edit of them."
            )
        case tuple() as regions:
            return apply(text, regions)


def decode_file(data: bytes) -> tuple[bytes, str, str, str]:
    """(mark, text, encoding, error handling); mark + text encoded so gives the bytes again."""
    for mark, encoding, errors in _MARKS:
        if data.startswith(mark):
            try:
                text = data[len(mark) :].decode(encoding, errors)
            except UnicodeDecodeError:
                continue  # half a character of UTF-16: take it as bytes
            return mark, text, encoding, errors
    return b"", data.decode("utf-8", "surrogateescape"), "utf-8", "surrogateescape"


def _plain(text: str) -> str:
    """Fit for a record: what is no UTF-8 as U+FFFD, line endings as "\\n"."""
    return clean(text).replace("\r\n", "\n")


def _edits(arguments: JsonObject) -> list[Edit]:
    items = arguments["edits"]
    assert isinstance(items, Sequence)
    return [
        Edit(clean(str(item["oldText"])), clean(str(item["newText"])))
        for item in items
        if isinstance(item, Mapping)
    ]


def _which(count: int, index: int) -> str:
    return "oldText" if count == 1 else f"edits[{index}].oldText"


def _nothing_named(name: str, text: str, which: str) -> str:
    """An empty oldText. Only of a file that is empty may the words leave it at that."""
    if not text:
        return f"{name} is empty, so there is nothing to replace; use write to fill it"
    count = text.count("\n") + (not text.endswith("\n"))
    return (
        f"{which} is empty, but {name} is not: it has {count} line{'s' if count != 1 else ''};"
        " nothing was written. oldText must be the exact text to replace: read the file and take it"
        " from there. To add lines, give the line before them as oldText, and that line with the"
        " new ones as newText. (write is for a file that is empty or new.)"
    )


def _not_found(name: str, text: str, edits: Sequence[Edit], index: int) -> str:
    edit = edits[index]
    lines = [f"{_which(len(edits), index)} was not found in {name}; nothing was written."]
    closest = nearest(text, edit.old)
    if closest is None:
        lines.append("Nothing in the file is like it. Read the file again.")
    else:
        lines += [f"Most like it, line {closest.first}:", clean(closest.shown)]
        lines += [f"Difference: {difference}" for difference in closest.differences]
    if len(edit.new.strip()) > 10 and edit.new in text:
        line = text.count("\n", 0, text.find(edit.new)) + 1
        lines.append(f"newText already stands at line {line}: the edit may have been made before.")
    return "\n".join(lines)


def _ambiguous(name: str, lines: tuple[int, ...], is_exact: bool, count: int, index: int) -> str:
    listed = ", ".join(map(str, lines[:20])) + (", …" if len(lines) > 20 else "")
    kind = "stands" if is_exact else "has look-alikes (no exact hit)"
    return (
        f"{_which(count, index)} {kind} in {len(lines)} places of {name}: lines {listed};"
        " nothing was written. Give more of the lines around it, so that it is unique."
    )

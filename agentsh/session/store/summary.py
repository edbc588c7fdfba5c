"""What a list shows of a session file, without decoding it: a fold over its lines.

The fold goes forward and can be taken up where it stopped (catalog.py), or it looks from the end
for the one thing that `-c` needs. Lines are told apart by how they begin (Pi's and our own key
order); only a line that begins otherwise is parsed. "Updated" is the time of the last
*conversation* entry: a label, a rename, a repair with its old times, or the file's own mtime never
reorder a list (R65). It writes nothing and keeps nothing. Read next: catalog.py, store.py.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from agentsh.errors import SessionNotFoundError
from agentsh.files import open_foreign
from agentsh.jsontext import JsonError, JsonObject, JsonValue
from agentsh.messages import typed_prompt
from agentsh.session.file.scan import Opening, read_opening
from agentsh.session.format.entries import Custom
from agentsh.session.format.factcodec import decode_fact, name_of
from agentsh.session.format.facts import Titled
from agentsh.session.format.junk import loads_record
from agentsh.session.format.linehead import beginnings, envelope_of, match_head
from agentsh.session.format.lines import backward_lines

_MAX_PROMPT = 500
# a file whose header does not come within so many bytes is no session (long folder names: P1)
_HEAD_BYTES = 64 * 1024
_FIRST_BYTES = 4096

_CONVERSATION = frozenset({"message", "custom_message", "compaction", "branch_summary"})
# Pi puts the id of a custom entry last, so these begin in another way than the rest
_CUSTOM = beginnings("custom")
_SILENT = beginnings("custom", "label")
_TITLED = name_of(Titled).encode()


class Summary(Struct, frozen=True):
    """One session as a list shows it. `bytes` and `lines` count the whole lines that are in it.

    `name` is the person's own, `title` the automatic one.
    """

    id: str
    cwd: str
    created: str
    version: int
    parent: str | None = None
    name: str | None = None
    prompt: str | None = None
    updated: str = ""
    messages: int = 0
    bytes: int = 0
    lines: int = 0
    title: str | None = None

    @property
    def shown_name(self) -> str | None:
        """The person's own always wins."""
        return self.name or self.title

    @property
    def shown_title(self) -> str | None:
        """The automatic title, if lists show it as the name."""
        return None if self.name else self.title


class LineKind(Struct, frozen=True):
    """What a line is, as far as a list must know."""

    type: str
    id: str = ""
    time: str = ""
    role: str = ""

    @property
    def is_conversation(self) -> bool:
        return self.type in _CONVERSATION and self.role != "system"


_NOTHING = LineKind("")


class RestartedError(Exception):
    """The header came a second time (Pi's double write, P3): only a fold from zero can tell."""


def line_kind(line: bytes) -> LineKind:
    """Tell a line by its beginning, else by parsing it. Never raises."""
    if line.startswith(_SILENT):
        return _NOTHING
    head = match_head(line)
    # a torn or altered line mostly lacks its end: it is no entry
    if head is not None and line.rstrip().endswith(b"}"):
        type_, id_, time, role = head.group("type", "id", "time", "role")
        if type_ != b"message" or role is not None:
            return LineKind(type_.decode(), id_.decode(), time.decode(), (role or b"").decode())
    return _parsed_kind(line)


def _parsed_kind(line: bytes) -> LineKind:
    value = _object(line)
    if value is None:
        return _NOTHING
    said = envelope_of(value)
    if said.type == "message" and not said.role:
        return _NOTHING
    return LineKind(said.type, said.id, said.time, said.role)


def _object(line: bytes) -> JsonObject | None:
    try:
        return loads_record(line)
    except JsonError:
        return None


def _string(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


def read_header(path: Path) -> Summary | None:
    """The header's part of a summary; None for what is no session. Raises OSError."""
    with open_foreign(path, buffering=0) as file:
        head = file.read(_FIRST_BYTES)
        opening = _opening(head, path)
        if opening is None and len(head) == _FIRST_BYTES:
            opening = _opening(head + file.read(_HEAD_BYTES), path)
    if opening is None:
        return None
    header = opening.header
    return Summary(
        id=header.id,
        cwd=header.cwd,
        created=header.timestamp,
        version=header.version,
        parent=header.parent_session,
        updated=header.timestamp,
        bytes=opening.end,
        lines=opening.lines,
    )


def _opening(head: bytes, path: Path) -> Opening | None:
    try:
        return read_opening(lambda start, end: head[start:end], len(head), str(path))
    except SessionNotFoundError:
        return None


def summarize(path: Path) -> Summary | None:
    """Fold a whole file; None for what is no session. Raises OSError."""
    header = read_header(path)
    if header is None:
        return None
    seen: set[str] = set()
    with open_foreign(path) as file:
        file.seek(header.bytes)
        return _fold(file, header, seen, restarts=True)


def catch_up(path: Path, before: Summary) -> Summary:
    """Go on where `before` stopped. Raises OSError, RestartedError where that cannot be done."""
    with open_foreign(path) as file:
        file.seek(before.bytes)
        return _fold(file, before, set(), restarts=False)


def _fold(file: BinaryIO, start: Summary, seen: set[str], *, restarts: bool) -> Summary:
    name, prompt, updated = start.name, start.prompt, start.updated
    messages, size, lines = start.messages, start.bytes, start.lines
    title = start.title
    for line in file:
        if line.startswith(_CUSTOM) and _may_be_title(line):
            title = _title(line) or title
        kind = line_kind(line)
        match kind.type:
            case "message":
                if kind.id and kind.id in seen:
                    continue
                seen.add(kind.id)
                messages += kind.role != "system"
                if prompt is None and kind.role == "user":
                    prompt = _prompt(line)
            case "session_info":
                value = _object(line)
                name = _string(value.get("name")) or None if value is not None else name
            case "session" if not restarts:
                raise RestartedError
            case _:
                pass
        if kind.is_conversation and kind.time:
            updated = kind.time
        if line.endswith(b"\n"):
            size += len(line)
            lines += 1
    return replace(
        start,
        name=name,
        prompt=prompt,
        updated=updated,
        messages=messages,
        bytes=size,
        lines=lines,
        title=title,
    )


def _may_be_title(line: bytes) -> bool:
    """Whether a line begins as our titles do: the name of the fact comes soon."""
    head = match_head(line)
    return head is not None and head["custom"] == _TITLED


def _title(line: bytes) -> str | None:
    value = _object(line) or {}
    fact = decode_fact(Custom(_string(value.get("customType")), value.get("data")))
    return fact.title if isinstance(fact, Titled) else None


def _prompt(line: bytes) -> str | None:
    """The text of a user's message, bounded."""
    value = _object(line)
    message = value.get("message") if value is not None else None
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        texts = (_string(b.get("text")) for b in content if isinstance(b, dict))
        content = "\n".join(t for t in texts if t)
    text = typed_prompt(_string(content).strip())
    return text[:_MAX_PROMPT] or None


def last_conversation(path: Path) -> str | None:
    """The time of the last conversation entry, looked for from the end. Raises OSError."""
    with open_foreign(path) as file:
        fd = file.fileno()
        size = os.fstat(fd).st_size
        for line in backward_lines(lambda start, end: os.pread(fd, end - start, start), size):
            kind = line_kind(line.data)
            if kind.is_conversation and kind.time:
                return kind.time
    return None

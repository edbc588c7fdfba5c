"""One session's record as events: states of the files, calls that may have changed some, turns.

In the order of the file, whatever branch they stand on: files have one past, however many branches
a conversation has. A call of ours is known by its start, one of another program by its result; an
edit or write that failed changed nothing. The file is read once, from its beginning to its end, and
nothing else is. Read next: timeline.py.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct

from agentsh.agent.authors.calls import (
    ABSENT,
    Digest,
    Nothing,
    RecordedCall,
    Replaced,
    Whole,
    Write,
)
from agentsh.errors import InvalidArgumentsError
from agentsh.jsontext import JsonError, JsonObject, JsonValue, clean, loads_object
from agentsh.messages import (
    AssistantMessage,
    Text,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    typed_prompt,
)
from agentsh.session.format.codec import decode_line
from agentsh.session.format.decoding import collecting_paused
from agentsh.session.format.entries import Custom, Entry, EntryId, MessageBody
from agentsh.session.format.factcodec import decode_fact, names_of
from agentsh.session.format.facts import Checkpoint, Opened, ToolStarted, TurnEnded, TurnStarted
from agentsh.session.format.linehead import match_head
from agentsh.session.store.reader import SessionReader
from agentsh.tools.files.edit import EditTool
from agentsh.tools.files.paths import resolve

_MATTERS: Final = re.compile(
    b"|".join(
        [
            *(f'"{name}"'.encode() for name in names_of(Checkpoint, ToolStarted)),
            *(f'"{name}"'.encode() for name in names_of(TurnStarted, Opened)),
            rb'"toolCall"|"toolResult"|"role":\s*"user"',
        ]
    )
).search
"""What a line must hold to be looked into."""
_READING: Final = frozenset(("read", "grep", "find", "ls"))
"""Tools of other programs, by name, that change no files."""


class Stood(Struct, frozen=True):
    """The files were so. `target`: for files that were brought back, the entry of the state that
    was wanted, where the tree shows it."""

    state: Checkpoint
    target: EntryId | None = None


class CallBegan(Struct, frozen=True):
    """A call starts; `write` where its record says what it does to one file."""

    call: RecordedCall
    write: Write | None = None


class CallEnded(Struct, frozen=True):
    """The call is over, and so is what it started."""

    call: RecordedCall


class Turned(Struct, frozen=True):
    """A turn begins or ends, a process opens the file: what was before it is over."""

    is_new_process: bool = False


What: TypeAlias = Stood | CallBegan | CallEnded | Turned


class Event(Struct, frozen=True):
    """`entry` and `time` tell an event again that was copied into another file."""

    entry: EntryId
    time: str
    what: What


class Witness(Struct, frozen=True):
    """What one session has on record of files. `is_removed`: a person took the session away."""

    session: str
    created: str
    events: tuple[Event, ...]
    is_removed: bool = False


StateWanted: TypeAlias = Callable[[EntryId], EntryId | None]
"""The checkpoint of files that were brought back → that of the state that was wanted."""


def read_witness(
    source: SessionReader, state_wanted: StateWanted, *, is_removed: bool = False
) -> Witness:
    """Of an open session file, which is read once."""
    header = source.opening.header
    with collecting_paused():
        events = tuple(_Reader(source, state_wanted).events())
    return Witness(header.id, header.timestamp, events, is_removed)


class _Reader:
    def __init__(self, source: SessionReader, state_wanted: StateWanted) -> None:
        self._session = source.opening.header.id
        self._root = os.path.realpath(source.opening.header.cwd)
        self._wanted = state_wanted
        self._parents: dict[str, str | None] = {}
        self._entries = list(self._look(source))
        self._results: dict[EntryId, Entry] = {}
        """Of calls of ours, by their start."""
        self._asked: dict[str, tuple[Entry, ToolCall]] = {}
        """The last call of each id, up to where one reads."""
        self._prompts: dict[str, tuple[EntryId, str] | None] = {}

    def _look(self, source: SessionReader) -> Iterator[Entry]:
        """The entries that matter; of the others no more than the parent."""
        for line in source.lines():
            head = match_head(line.data)
            if head is not None:
                parent = head["parent"]
                self._parents[head["id"].decode()] = None if parent is None else parent.decode()
                if not _MATTERS(line.data):
                    continue
            entry = decode_line(line.data)
            if isinstance(entry, Entry):
                self._parents[entry.id] = entry.parent
                if isinstance(entry.body, Custom | MessageBody):
                    yield entry

    def events(self) -> Iterator[Event]:
        for entry in self._entries:
            if isinstance(entry.body, MessageBody):
                self._learn(entry, entry.body)
        begun: dict[EntryId, RecordedCall] = {}
        for entry in self._entries:
            for what in self._of(entry, begun):
                yield Event(entry.id, entry.time, what)

    def _learn(self, entry: Entry, body: MessageBody) -> None:
        match body.message:
            case UserMessage(content):
                text = "\n".join(block.text for block in content if isinstance(block, Text))
                self._prompts[entry.id] = (entry.id, _first_line(typed_prompt(text)))
            case ToolResultMessage() if entry.stamp is not None:
                for source in entry.stamp.sources[1:]:
                    self._results[source] = entry
            case _:
                pass

    def _of(self, entry: Entry, begun: dict[EntryId, RecordedCall]) -> Iterator[What]:
        match entry.body:
            case Custom():
                yield from self._of_fact(entry, decode_fact(entry.body), begun)
            case MessageBody(AssistantMessage() as message):
                for block in message.content:
                    if isinstance(block, ToolCall):
                        self._asked[block.id] = (entry, block)
            case MessageBody(ToolResultMessage() as result):
                yield from self._of_reading(entry, result)
                sources = () if entry.stamp is None else entry.stamp.sources[1:]
                for source in sources:
                    if (call := begun.pop(source, None)) is not None and not _goes_on(result):
                        yield CallEnded(call)
                if entry.stamp is None:
                    yield from self._of_stranger(result)
            case MessageBody(UserMessage()) if entry.stamp is None:
                yield Turned()
            case _:
                return

    def _of_fact(
        self, entry: Entry, fact: object, begun: dict[EntryId, RecordedCall]
    ) -> Iterator[What]:
        match fact:
            case Checkpoint():
                yield Stood(fact, self._wanted(entry.id) if fact.when == "restored" else None)
            case TurnStarted() | TurnEnded():
                yield Turned()
            case Opened():
                yield Turned(is_new_process=True)
            case ToolStarted() if fact.effect != "read":
                done = self._results.get(entry.id)
                result = done.body.message if done and isinstance(done.body, MessageBody) else None
                if not isinstance(result, ToolResultMessage):
                    result = None
                asked = self._asked.get(fact.call_id)
                arguments = _arguments(fact.arguments, asked)
                call = self._call(entry, fact.call_id, fact.name, arguments)
                if fact.effect == "write" and result is not None and result.is_error:
                    return  # nothing was written
                begun[entry.id] = call
                yield CallBegan(call, self._write(call, fact, arguments, result))
            case _:
                return

    def _of_reading(self, entry: Entry, result: ToolResultMessage) -> Iterator[What]:
        """What a file was when it was read."""
        if result.tool_name != "read" or result.is_error or not isinstance(result.details, dict):
            return
        ours = result.details.get("ash")
        file = ours.get("file") if isinstance(ours, dict) else None
        path, digest = (file.get("path"), file.get("sha256")) if isinstance(file, dict) else (0, 0)
        if isinstance(path, str) and isinstance(digest, str) and path.startswith("/"):
            call = self._call(entry, result.tool_call_id, "read", {})
            seen = Nothing(_whole(result, digest))
            yield CallBegan(call, Write(call, self._name(path), seen, digest, digest))
            yield CallEnded(call)

    def _of_stranger(self, result: ToolResultMessage) -> Iterator[What]:
        """A call of another program: between what it was asked in and its result."""
        asked = self._asked.get(result.tool_call_id)
        if result.tool_name in _READING or asked is None:
            return
        entry, block = asked
        call = self._call(entry, block.id, block.name, block.arguments)
        write = None
        if block.name in ("edit", "write"):
            if result.is_error:
                return
            change = _change(block.name, block.arguments, result.details)
            path = self._place(block.arguments.get("path"))
            if change is not None and path is not None:
                write = Write(call, self._name(path), change)
        yield CallBegan(call, write)
        yield CallEnded(call)

    def _write(
        self,
        call: RecordedCall,
        fact: ToolStarted,
        arguments: JsonObject,
        result: ToolResultMessage | None,
    ) -> Write | None:
        """None: what it did is not on record, or not whether it did it."""
        if result is None or fact.name not in ("edit", "write") or len(fact.pre_images) != 1:
            return None
        image = fact.pre_images[0]
        path, digest = image.get("path"), image.get("sha256")
        change = _change(fact.name, arguments, result.details)
        if change is None or not isinstance(path, str) or not path.startswith("/"):
            return None
        before: Digest = digest if isinstance(digest, str) else None
        if digest is None and image.get("size") == 0:
            before = ABSENT
        after = next((e.get("sha256") for e in fact.expected if e.get("path") == path), None)
        return Write(
            call, self._name(path), change, before, after if isinstance(after, str) else None
        )

    def _place(self, path: JsonValue) -> str | None:
        """The real path that a call's words name."""
        try:
            named = resolve(str(path), Path(self._root), Path.home())
        except InvalidArgumentsError:
            return None
        return os.path.realpath(named)

    def _name(self, path: str) -> str:
        """As states name it: relative to the folder where it lies in it."""
        return os.path.relpath(path, self._root) if path.startswith(f"{self._root}/") else path

    def _call(self, entry: Entry, name: str, tool: str, arguments: JsonObject) -> RecordedCall:
        prompt, text = self._prompt(entry.id) or (entry.id, "")
        command = arguments.get("command")
        return RecordedCall(
            session=self._session,
            entry=prompt,
            prompt=text,
            id=name,
            tool=tool,
            command=command if isinstance(command, str) else "",
            time=entry.time,
        )

    def _prompt(self, entry: EntryId) -> tuple[EntryId, str] | None:
        """The nearest prompt above."""
        walked: dict[str, None] = {}  # a damaged file may lead in a circle
        ancestor: str | None = entry
        while ancestor is not None and ancestor not in self._prompts and ancestor not in walked:
            walked[ancestor] = None
            ancestor = self._parents.get(ancestor)
        prompt = None if ancestor is None else self._prompts.get(ancestor)
        self._prompts.update(dict.fromkeys(walked, prompt))
        return prompt


def _whole(result: ToolResultMessage, digest: str) -> bytes | None:
    """The bytes that were read, where the result holds all of them."""
    text = "".join(block.text for block in result.content if isinstance(block, Text))
    data = text.encode("utf-8", "surrogateescape")
    for each in (data, data + b"\n", b""):
        if hashlib.sha256(each).hexdigest() == digest:
            return each
    return None


def _goes_on(result: ToolResultMessage) -> bool:
    """Whether something that the call started still runs, and may change files."""
    details = result.details
    if not isinstance(details, dict):
        return False
    ours = details.get("ash")
    return "job" in details or (isinstance(ours, dict) and ours.get("left") is True)


def _change(name: str, arguments: JsonObject, details: JsonValue) -> Replaced | Whole | None:
    """What an edit or write does, by its arguments; None: they are not whole."""
    if name == "write":
        content = arguments.get("content")
        return Whole(clean(content).encode("utf-8")) if isinstance(content, str) else None
    try:
        edits = EditTool().check(arguments)["edits"]
    except InvalidArgumentsError:
        return None
    pairs = [e for e in edits if isinstance(e, dict)] if isinstance(edits, list) else []
    patch = details.get("patch") if isinstance(details, dict) else None
    return Replaced(
        tuple((clean(str(e["oldText"])), clean(str(e["newText"]))) for e in pairs),
        patch if isinstance(patch, str) else "",
    )


def _arguments(stored: str, asked: tuple[Entry, ToolCall] | None) -> JsonObject:
    """Those that ran; long ones stand with the call only."""
    try:
        return loads_object(stored)
    except JsonError:
        return {} if asked is None else asked[1].arguments


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.split("\n") if line.strip()), "")

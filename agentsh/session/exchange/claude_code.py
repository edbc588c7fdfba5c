"""A session file of Claude Code → `Foreign`. Pure; lines that do not fit are counted, never fatal.

claude_lines.py puts the lines in order, each under the one that it follows; here they become
messages. Three things are told otherwise than in a session of ours: an answer is one line a block,
with one message id; results of parallel calls hang on the block that asked, so that one step looks
like branches; a summary is a user's message. They become one message, one chain, one compaction.
What that program writes in the user's name is no prompt: rows of its own commands are kept and not
sent, its notes and a person's shell lines are sent and not counted as prompts. Signatures and
redacted thinking mean something to one server only and are left out. Read next: foreign.py.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import (
    AssistantBlock,
    AssistantMessage,
    Image,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolCallId,
    ToolResultMessage,
    UserBlock,
    UserMessage,
)
from agentsh.session.exchange.claude_lines import Arranged, ClaudeLine, Fold, arrange, is_queued
from agentsh.session.exchange.foreign import (
    Foreign,
    ForeignEntry,
    apart,
    count,
    iso,
    millis,
    string,
    usage,
)
from agentsh.session.format.entries import (
    Body,
    BranchSummary,
    Compaction,
    Custom,
    CustomMessage,
    EntryId,
    MessageBody,
)

_STOPS: dict[str, StopReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "toolUse",
    "max_tokens": "length",
}
_SYNTHETIC = "<synthetic>"
# rows that that program writes about its own commands; the prompt of a command is a row of its own
_COMMAND = re.compile(
    r"\s*<(?:command-(?:name|message|args)|local-command-(?:stdout|stderr|caveat))>"
)
# what a model was told in the user's name and nobody asked
_NOTE = re.compile(
    r"\s*(?:<(?:bash-(?:input|stdout|stderr)|task-notification|system-reminder)\b[^>]*>"
    r"|\[Request interrupted by user)"
)
# such notes, whole, in front of what a person asked in the same row
_NOTES_BEFORE = re.compile(r"\s*(?:<system-reminder\b[^>]*>.*?</system-reminder>\s*)+", re.DOTALL)
_TITLES = {"summary": "summary", "ai-title": "aiTitle", "custom-title": "customTitle"}


class _Node(Struct):
    """One entry to be; an answer grows as its lines come."""

    name: str
    parent: str | None
    time: str
    folds: int
    body: Body | None = None
    message_id: str = ""
    value: JsonObject = field(default_factory=dict)
    blocks: list[AssistantBlock] = field(default_factory=list)
    tail: str | None = None
    """The last result of its calls so far: what follows the answer follows that."""
    answer: str = ""
    """Of a result: the answer that asked."""


def is_claude(value: JsonObject) -> bool:
    """Whether a line can only be one of those."""
    return isinstance(value.get("uuid"), str) and "parentUuid" in value and "type" in value


def read_claude(lines: Iterable[JsonObject]) -> Foreign:
    """What that program would go on with, and everything beside it. Takes lines in any order."""
    arranged = arrange(lines)
    reader = _Reader(arranged)
    for value in arranged.beside:
        reader.take_beside(value)
    for line in arranged.lines:
        reader.take(line)
    return reader.foreign()


class _Reader:
    def __init__(self, arranged: Arranged) -> None:
        self._arranged = arranged
        self._nodes: dict[str, _Node] = {}
        self._alias: dict[str, str | None] = {}
        """Each line's uuid → the node that stands for it."""
        self._made: dict[str, None] = {}
        """The lines that are a node themselves, or part of one."""
        self._answers: dict[str, _Node] = {}
        """Answers by call id."""
        self._titles: dict[str, str] = {}
        self._dropped: Counter[str] = Counter(arranged.left_out)

    def take_beside(self, value: JsonObject) -> None:
        """A line that has no name."""
        kind = string(value.get("type"))
        if kind in _TITLES:
            self._titles[kind] = string(value.get(_TITLES[kind])) or self._titles.get(kind, "")
        elif kind != "queue-operation":
            self._dropped["lines beside the conversation"] += 1

    def take(self, line: ClaudeLine) -> None:
        parent = self._place(line.parent)
        match string(line.value.get("type")):
            case "user":
                self._user(line, parent)
            case "assistant":
                self._assistant(line, parent)
            case _ if is_queued(line.value):
                self._queued(line, parent)
            case kind:
                if not line.is_boundary:
                    self._dropped[f"{kind or 'other'} lines"] += 1
                self._alias[line.uuid] = parent

    def _place(self, uuid: str | None) -> str | None:
        """The node that a child of that line hangs on."""
        node = self._nodes.get(self._alias.get(uuid or "") or "")
        if node is None:
            return None
        return self._nodes.get(node.answer, node).tail or node.name

    def _add(self, node: _Node, uuid: str) -> None:
        self._nodes[node.name] = node
        self._alias[uuid] = node.name
        self._made[uuid] = None

    def _said(self, line: ClaudeLine, parent: str | None, body: Body) -> None:
        time = iso(line.value.get("timestamp"))
        self._add(_Node(line.uuid, parent, time, line.folds, body), line.uuid)

    def _queued(self, line: ClaudeLine, parent: str | None) -> None:
        """A prompt that came while the agent worked, or what a task of its own had to say."""
        given = line.value.get("attachment")
        prompt = given.get("prompt") if isinstance(given, dict) else None
        said = tuple(_user_blocks(_as_blocks(prompt)))
        if not said:
            self._alias[line.uuid] = parent
            return
        is_typed = isinstance(given, dict) and given.get("commandMode", "prompt") == "prompt"
        time = millis(iso(line.value.get("timestamp")))
        body = (
            MessageBody(UserMessage(said, time))
            if is_typed
            else CustomMessage("claude-code.queued", said, display=False)
        )
        self._said(line, parent, body)

    def _user(self, line: ClaudeLine, parent: str | None) -> None:
        message = line.value.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        blocks = _as_blocks(content)
        for number, block in enumerate(blocks):
            if isinstance(block, dict) and block.get("type") == "tool_result":
                parent = self._result(line, f"{line.uuid}/{number}", parent, block)
        notes, said = _notes_apart(tuple(_user_blocks(blocks)))
        if notes and said and line.value.get("isMeta") is not True:
            name = f"{line.uuid}/note"
            note = CustomMessage("claude-code.note", notes)
            time = iso(line.value.get("timestamp"))
            self._add(_Node(name, parent, time, line.folds, note), line.uuid)
            parent = name
        else:
            said = (*notes, *said)
        if said:
            self._said(line, parent, self._spoken(line, parent, said))
        else:
            self._alias.setdefault(line.uuid, parent)

    def _spoken(self, line: ClaudeLine, parent: str | None, said: tuple[UserBlock, ...]) -> Body:
        """The body of a row in the user's name: a summary, a note, a command or a prompt."""
        text = "\n".join(b.text for b in said if isinstance(b, Text))
        if line.is_summary:
            return self._summary(line.fold or Fold(), parent, text)
        if _COMMAND.match(text):
            return Custom("claude-code.command", {"text": text})
        if line.value.get("isMeta") is True:
            return CustomMessage("claude-code.meta", said, display=False)
        if _NOTE.match(text):
            return CustomMessage("claude-code.note", said)
        return MessageBody(UserMessage(said, millis(iso(line.value.get("timestamp")))))

    def _summary(self, fold: Fold, parent: str | None, text: str) -> Body:
        """`first_kept` is the foreign name, as is `from_id`; importing.py knows the ids."""
        if fold.is_end:
            return BranchSummary(text, parent or "root")
        kept_entries = (self._alias[uuid] for uuid in fold.kept if uuid in self._made)
        first = next(kept_entries, None)
        return Compaction(text, None if first is None else EntryId(first), fold.tokens)

    def _result(self, line: ClaudeLine, name: str, parent: str | None, block: JsonObject) -> str:
        """Hangs on the answer that asked, behind the results that came before; its name."""
        call = string(block.get("tool_use_id"))
        content = block.get("content")
        answer = self._answers.get(call)
        tool = ""
        if answer is not None:
            calls = [b for b in answer.blocks if isinstance(b, ToolCall) and b.id == call]
            tool = calls[0].name if calls else ""
            if answer.folds != line.folds:
                answer = None  # a summary stands between: it stays behind that
            else:
                parent = answer.tail or answer.name
        time = iso(line.value.get("timestamp"))
        body = ToolResultMessage(
            ToolCallId(call),
            tool,
            tuple(_user_blocks(_as_blocks(content))),
            block.get("is_error") is True,
            timestamp=millis(time),
        )
        node = _Node(name, parent, time, line.folds, MessageBody(body))
        self._add(node, line.uuid)
        if answer is not None:
            answer.tail, node.answer = name, answer.name
        return name

    def _assistant(self, line: ClaudeLine, parent: str | None) -> None:
        message = line.value.get("message")
        if not isinstance(message, dict):
            self._alias[line.uuid] = parent
            return
        node = self._same_answer(parent, string(message.get("id")))
        if node is None:
            node = _Node(line.uuid, parent, iso(line.value.get("timestamp")), line.folds)
            node.message_id = string(message.get("id"))
        self._add(node, line.uuid)
        node.value = line.value
        for block in _assistant_blocks(message.get("content"), self._dropped):
            node.blocks.append(block)
            if isinstance(block, ToolCall):
                self._answers[block.id] = node

    def _same_answer(self, parent: str | None, message_id: str) -> _Node | None:
        """The answer that this line goes on with, maybe behind results that came in between."""
        node = self._nodes.get(parent or "")
        if node is None:
            return None
        answer = self._nodes.get(node.answer, node)
        return answer if message_id and answer.message_id == message_id else None

    def _leaf(self) -> str | None:
        """The last line of the main talk that says something; of a subagent's file the last one."""
        for uuid in reversed(self._arranged.main):
            if uuid in self._made:
                return self._place(uuid)
        return None if self._arranged.main else self._place(next(reversed(self._made), None))

    def foreign(self) -> Foreign:
        lines = (line.value for line in self._arranged.lines)
        first = next((value for value in lines if value.get("sessionId")), {})
        title = next(
            (
                self._titles[k]
                for k in ("custom-title", "ai-title", "summary")
                if self._titles.get(k)
            ),
            None,
        )
        entries = tuple(
            ForeignEntry(n.name, n.parent, n.time, n.body or _answer(n))
            for n in self._nodes.values()
        )
        return Foreign(
            "claude-code",
            string(first.get("sessionId")),
            string(first.get("cwd")),
            entries[0].time if entries else "",
            title,
            entries,
            self._leaf(),
            +self._dropped,
            self._arranged.joined,
        )


def _answer(node: _Node) -> Body:
    message = node.value["message"]
    assert isinstance(message, dict)
    has_calls = any(isinstance(b, ToolCall) for b in node.blocks)
    stop = _STOPS.get(string(message.get("stop_reason")), "toolUse" if has_calls else "stop")
    failed = node.value.get("isApiErrorMessage") is True
    given = message.get("usage")
    counted = given if isinstance(given, dict) else {}
    texts = "".join(b.text for b in node.blocks if isinstance(b, Text))
    return MessageBody(
        AssistantMessage(
            apart(node.blocks),
            api="anthropic-messages",
            provider="anthropic",
            # what that program says itself, in a model's place, names no model to go on with
            model="" if message.get("model") == _SYNTHETIC else string(message.get("model")),
            usage=usage(
                fresh=count(counted.get("input_tokens")),
                output=count(counted.get("output_tokens")),
                read=count(counted.get("cache_read_input_tokens")),
                written=count(counted.get("cache_creation_input_tokens")),
            ),
            stop_reason="error" if failed else stop,
            timestamp=millis(node.time),
            error_message=texts if failed else None,
            response_id=string(message.get("id")) or None,
        )
    )


def _notes_apart(
    said: tuple[UserBlock, ...],
) -> tuple[tuple[UserBlock, ...], tuple[UserBlock, ...]]:
    """The notes that a row begins with, and the rest of it: what a person asked."""
    for number, block in enumerate(said):
        match = _NOTES_BEFORE.match(block.text) if isinstance(block, Text) else None
        if not isinstance(block, Text) or match is None:
            return said[:number], said[number:]
        prompt = block.text[match.end() :]
        if prompt:
            return (*said[:number], Text(match[0])), (Text(prompt), *said[number + 1 :])
    return said, ()


def _as_blocks(content: JsonValue) -> list[JsonValue]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def _user_blocks(blocks: Iterable[JsonValue]) -> Iterator[UserBlock]:
    for block in blocks:
        match block:
            case {"type": "text", "text": str(text)} if text:
                yield Text(text)
            case {
                "type": "image",
                "source": {"type": "base64", "media_type": str(m), "data": str(d)},
            }:
                yield Image(d, m)
            case {"type": "image" | "document"}:
                yield Text("[an attachment that is not in the file]")
            case _:
                continue


def _assistant_blocks(content: JsonValue, dropped: Counter[str]) -> Iterator[AssistantBlock]:
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    for block in content if isinstance(content, list) else ():
        match block:
            case {"type": "text", "text": str(text)}:
                yield Text(text)
            case {"type": "thinking", "thinking": str(thinking)}:
                dropped["encrypted reasoning"] += "signature" in block
                if thinking.strip():
                    yield Thinking(thinking)
            case {"type": "redacted_thinking"}:
                dropped["encrypted reasoning"] += 1
            case {"type": "tool_use", "id": str(id_), "name": str(name), "input": dict(given)}:
                yield ToolCall(ToolCallId(id_), name, given)
            case _:
                dropped["other blocks of answers"] += 1

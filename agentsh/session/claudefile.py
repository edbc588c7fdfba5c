"""A session file of Claude Code → `Foreign`. Pure; lines that do not fit are counted, never fatal.

Each line names itself (`uuid`) and its parent, so a file is a tree, with subagents as roots of
their own. Three things are told otherwise than here: an answer is one line a block, with one
message id; results of parallel calls hang on the block that asked, so that one step looks like
branches; a compaction is a new root (`compact_boundary`) with the summary as a user's message. They
become one message, one chain, one compaction. Signatures and redacted thinking mean something to
one server only and are left out. Read next: foreign.py.
"""

from __future__ import annotations

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
from agentsh.session.entries import Body, Compaction, CustomMessage, MessageBody
from agentsh.session.foreign import Foreign, ForeignEntry, count, iso, millis, string, usage

_STOPS: dict[str, StopReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "toolUse",
    "max_tokens": "length",
}
_TITLES = {"summary": "summary", "ai-title": "aiTitle", "custom-title": "customTitle"}


class _Node(Struct):
    """One entry to be; an answer grows as its lines come."""

    name: str
    parent: str | None
    time: str
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
    reader = _Reader()
    for value in lines:
        reader.take(value)
    return reader.foreign()


class _Reader:
    def __init__(self) -> None:
        self._nodes: dict[str, _Node] = {}
        self._alias: dict[str, str | None] = {}
        """Each line's uuid → the node that stands for it."""
        self._answers: dict[str, _Node] = {}
        """Answers by call id."""
        self._tokens = 0
        self._titles: dict[str, str] = {}
        self._dropped: Counter[str] = Counter()
        self._first: JsonObject = {}
        self._is_side = False
        """The line is of a subagent: no place to go on from."""
        self._last: str | None = None

    def take(self, value: JsonObject) -> None:
        kind = string(value.get("type"))
        if kind in _TITLES:
            self._titles[kind] = string(value.get(_TITLES[kind])) or self._titles.get(kind, "")
            return
        name = string(value.get("uuid"))
        if not name or name in self._alias:
            self._dropped["lines beside the conversation"] += not name
            return
        if value.get("sessionId") and not self._first:
            self._first = value
        parent = self._place(value.get("parentUuid"))
        self._is_side = value.get("isSidechain") is True
        match kind:
            case "user":
                self._user(name, parent, value)
            case "assistant":
                self._assistant(name, parent, value)
            case _:
                self._beside(name, parent, value)

    def _place(self, uuid: JsonValue) -> str | None:
        """The node that a child of that line hangs on."""
        node = self._nodes.get(self._alias.get(string(uuid)) or "")
        if node is None:
            return None
        return self._nodes.get(node.answer, node).tail or node.name

    def _add(self, node: _Node, uuid: str) -> None:
        self._nodes[node.name] = node
        self._alias[uuid] = node.name
        if not self._is_side:
            self._last = node.name

    def _beside(self, name: str, parent: str | None, value: JsonObject) -> None:
        """What is no message: its children hang on what was before it."""
        if value.get("subtype") == "compact_boundary":
            parent = self._place(value.get("logicalParentUuid")) or self._last
            given = value.get("compactMetadata")
            self._tokens = count(given.get("preTokens")) if isinstance(given, dict) else 0
        else:
            self._dropped[f"{string(value.get('type')) or 'other'} lines"] += 1
        self._alias[name] = parent

    def _user(self, name: str, parent: str | None, value: JsonObject) -> None:
        message = value.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        time = iso(value.get("timestamp"))
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        for number, block in enumerate(blocks):
            if isinstance(block, dict) and block.get("type") == "tool_result":
                parent = self._result(f"{name}/{number}", parent, time, block, name)
        said = tuple(_user_blocks(blocks))
        if not said:
            self._alias.setdefault(name, parent)
            return
        body: Body = MessageBody(UserMessage(said, millis(time)))
        if value.get("isCompactSummary") is True:
            text = "\n".join(b.text for b in said if isinstance(b, Text))
            body = Compaction(text, None, self._tokens)
        elif value.get("isMeta") is True:
            body = CustomMessage("claude-code.meta", said, display=False)
        self._add(_Node(name, parent, time, body), name)

    def _result(
        self, name: str, parent: str | None, time: str, block: JsonObject, uuid: str
    ) -> str:
        """Hangs on the answer that asked, behind the results that came before; its name."""
        call = string(block.get("tool_use_id"))
        content = block.get("content")
        given = content if isinstance(content, list) else [{"type": "text", "text": content}]
        answer = self._answers.get(call)
        tool = ""
        if answer is not None:
            calls = [b for b in answer.blocks if isinstance(b, ToolCall) and b.id == call]
            tool = calls[0].name if calls else ""
            parent = answer.tail or answer.name
        body = ToolResultMessage(
            ToolCallId(call),
            tool,
            tuple(_user_blocks(given)),
            block.get("is_error") is True,
            timestamp=millis(time),
        )
        node = _Node(name, parent, time, MessageBody(body))
        self._add(node, uuid)
        if answer is not None:
            answer.tail, node.answer = name, answer.name
        return name

    def _assistant(self, name: str, parent: str | None, value: JsonObject) -> None:
        message = value.get("message")
        if not isinstance(message, dict):
            self._alias[name] = parent
            return
        node = self._same_answer(parent, string(message.get("id")))
        if node is None:
            node = _Node(name, parent, iso(value.get("timestamp")))
            node.message_id = string(message.get("id"))
            self._add(node, name)
        self._alias[name] = node.name
        node.value = value
        for block in _assistant_blocks(message.get("content"), self._dropped):
            node.blocks.append(block)
            if isinstance(block, ToolCall):
                self._answers[block.id] = node

    def _same_answer(self, parent: str | None, message_id: str) -> _Node | None:
        """The answer that this line goes on with, maybe behind results that came in between."""
        at = self._nodes.get(parent or "")
        if at is None:
            return None
        answer = self._nodes.get(at.answer, at)
        return answer if message_id and answer.message_id == message_id else None

    def foreign(self) -> Foreign:
        first = self._first
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
            self._last,
            +self._dropped,
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
            tuple(node.blocks),
            api="anthropic-messages",
            provider="anthropic",
            model=string(message.get("model")),
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

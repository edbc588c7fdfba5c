"""A rollout file of Codex → `Foreign`. Pure; lines that do not fit are counted, never fatal.

A file is one list: items of the Responses API (`response_item`), or, in old files, the bare items.
What the model said until something answers it is one message here. A rollback takes back the last
turns: what follows is a branch. Encrypted reasoning means something to one server only and is left
out, as are that program's own instructions and its notes of folder and shell, which would be wrong
here. Read next: foreign.py.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress

from msgspec.structs import replace

from agentsh.jsontext import JsonError, JsonObject, JsonValue, loads
from agentsh.messages import (
    AssistantBlock,
    AssistantMessage,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolCallId,
    ToolResultMessage,
    Usage,
    UserBlock,
    UserMessage,
)
from agentsh.session.entries import (
    Body,
    Compaction,
    MessageBody,
    ModelChange,
    ThinkingLevelChange,
)
from agentsh.session.foreign import (
    Foreign,
    ForeignEntry,
    count,
    data_image,
    iso,
    millis,
    string,
    usage,
)

_CONTEXT = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|permissions instructions|turn_aborted)>"
    r"|# AGENTS\.md instructions for )"
)
_FAILED = re.compile(
    r"\s*(?:Exit code: (?!0\b)\d+|.{0,200}^Process exited with code (?!0\b))", re.S | re.M
)
_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "web_search_call"})
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output"})


def is_codex(value: JsonObject) -> bool:
    """Whether the first line of a file can only be one of those."""
    if value.get("type") == "session_meta":
        return isinstance(value.get("payload"), dict)
    is_old = "type" not in value and isinstance(value.get("id"), str)
    return is_old and "timestamp" in value and ("instructions" in value or "git" in value)


def read_codex(lines: Iterable[JsonObject]) -> Foreign:
    reader = _Reader()
    for value in lines:
        reader.take(value)
    return reader.foreign()


class _Reader:
    def __init__(self) -> None:
        self._entries: list[ForeignEntry] = []
        self._at: str | None = None
        self._blocks: list[AssistantBlock] = []
        """Of the answer that is not finished yet."""
        self._time = ""
        self._model = ""
        self._level = ""
        self._usage = Usage()
        self._tools: dict[str, str] = {}
        self._prompts: list[str] = []
        """The prompts of the path, by name."""
        self._meta: JsonObject = {}
        self._dropped: Counter[str] = Counter()

    def take(self, value: JsonObject) -> None:
        self._time = iso(value.get("timestamp"), self._time)
        payload = value.get("payload")
        inner = payload if isinstance(payload, dict) else {}
        match value.get("type"):
            case "session_meta":
                self._meta = self._meta or inner
            case "response_item":
                self._item(inner)
            case "turn_context":
                self._settings(string(inner.get("model")), string(inner.get("effort")))
            case "compacted":
                self._add(Compaction(_summary(inner), None, 0))
                self._prompts.clear()
            case "event_msg":
                self._event(inner)
            case None if "id" in value and not self._meta:
                self._meta = value
            case str() if payload is None:
                self._item(value)
            case _:
                self._dropped["lines beside the conversation"] += 1

    # ---- items ---------------------------------------------------------------------------------

    def _item(self, item: JsonObject) -> None:
        match item.get("type"):
            case "message":
                self._message(item)
            case "reasoning":
                self._dropped["encrypted reasoning"] += bool(item.get("encrypted_content"))
                text = "\n".join(b.text for b in _texts(item.get("summary")) if b.text)
                text = text or "\n".join(b.text for b in _texts(item.get("content")) if b.text)
                if text:
                    self._blocks.append(Thinking(text))
            case str(kind) if kind in _CALLS:
                call = _call(item, len(self._entries) + len(self._blocks))
                self._tools[call.id] = call.name
                self._blocks.append(call)
                if kind == "web_search_call":  # it ran over there and has no output here
                    self._blocks.pop()
                    self._dropped["searches that ran elsewhere"] += 1
            case str(kind) if kind in _OUTPUTS:
                self._output(item)
            case kind:
                self._dropped[f"{string(kind) or 'other'} items"] += 1

    def _message(self, item: JsonObject) -> None:
        blocks = tuple(_blocks(item.get("content")))
        text = "".join(b.text for b in blocks if isinstance(b, Text))
        match item.get("role"):
            case "assistant":
                self._blocks += [b for b in blocks if isinstance(b, Text)]
            case "user" if _CONTEXT.match(text):
                self._dropped["instructions and notes of the other program"] += 1
            case "user" if blocks:
                name = self._add(MessageBody(UserMessage(blocks, millis(self._time))))
                self._prompts.append(name)
            case _:
                self._dropped["instructions and notes of the other program"] += 1

    def _output(self, item: JsonObject) -> None:
        call = string(item.get("call_id"))
        content, failed = _result(item.get("output"))
        tool = self._tools.get(call, "")
        self._add(
            MessageBody(
                ToolResultMessage(
                    ToolCallId(call), tool, content, failed, timestamp=millis(self._time)
                )
            )
        )

    def _event(self, event: JsonObject) -> None:
        match event:
            case {"type": "token_count", "info": {"last_token_usage": dict(last)}}:
                cached = count(last.get("cached_input_tokens"))
                self._count(
                    usage(
                        fresh=max(0, count(last.get("input_tokens")) - cached),
                        output=count(last.get("output_tokens")),
                        read=cached,
                        reasoning=count(last.get("reasoning_output_tokens")),
                    )
                )
            case {"type": "thread_rolled_back", "num_turns": int(turns)} if turns > 0:
                self._roll_back(turns)
            case _:
                return  # they say again what the items say

    # ---- the tree ------------------------------------------------------------------------------

    def _add(self, body: Body) -> str:
        self._finish()
        return self._push(body)

    def _push(self, body: Body) -> str:
        name = f"{len(self._entries)}"
        self._entries.append(ForeignEntry(name, self._at, self._time, body))
        self._at = name
        return name

    def _finish(self) -> None:
        """What the model said is a message once something follows."""
        if not self._blocks:
            return
        blocks, self._blocks = tuple(self._blocks), []
        stop: StopReason = "toolUse" if any(isinstance(b, ToolCall) for b in blocks) else "stop"
        message = AssistantMessage(
            blocks,
            api="openai-responses",
            provider=string(self._meta.get("model_provider")) or "openai",
            model=self._model or "unknown",
            usage=self._usage,
            stop_reason=stop,
            timestamp=millis(self._time),
        )
        self._usage = Usage()
        self._push(MessageBody(message))

    def _count(self, counted: Usage) -> None:
        """Tokens are told after the answer, be it finished here or not."""
        if self._blocks:
            self._usage = counted
            return
        for number in range(len(self._entries) - 1, -1, -1):
            entry = self._entries[number]
            if isinstance(entry.body, MessageBody) and isinstance(
                entry.body.message, AssistantMessage
            ):
                body = MessageBody(replace(entry.body.message, usage=counted))
                self._entries[number] = replace(entry, body=body)
                return

    def _settings(self, model: str, level: str) -> None:
        self._finish()
        provider = string(self._meta.get("model_provider")) or "openai"
        if model and model != self._model:
            self._model = model
            self._push(ModelChange(provider, model))
        if level and level != self._level:
            self._level = level
            self._push(ThinkingLevelChange(level))

    def _roll_back(self, turns: int) -> None:
        self._finish()
        taken = self._prompts[-turns:]
        if not taken:
            return
        del self._prompts[-turns:]
        self._at = self._entries[int(taken[0])].parent

    def foreign(self) -> Foreign:
        self._finish()
        meta = self._meta
        entries = tuple(self._entries)
        time = iso(meta.get("timestamp")) or (entries[0].time if entries else "")
        return Foreign(
            "codex",
            string(meta.get("id")),
            string(meta.get("cwd")),
            time,
            None,
            entries,
            self._at,
            +self._dropped,
        )


def _texts(value: JsonValue) -> Iterator[Text]:
    for block in value if isinstance(value, list) else ():
        if isinstance(block, dict) and isinstance(block.get("text"), str):
            yield Text(string(block["text"]))


def _blocks(content: JsonValue) -> Iterator[UserBlock]:
    if isinstance(content, str):
        content = [{"type": "input_text", "text": content}]
    for block in content if isinstance(content, list) else ():
        match block:
            case {"text": str(text)} if text:
                yield Text(text)
            case {"type": "input_image", "image_url": str(url)}:
                yield data_image(url)
            case _:
                continue


def _call(item: JsonObject, number: int) -> ToolCall:
    call = ToolCallId(string(item.get("call_id")) or string(item.get("id")) or f"call_{number}")
    match item:
        case {"type": "local_shell_call", "action": {"command": list(command)}}:
            return ToolCall(call, "shell", {"command": command})
        case {"type": "custom_tool_call"}:
            return ToolCall(call, string(item.get("name")), {"input": string(item.get("input"))})
        case _:
            raw = string(item.get("arguments"))
            try:
                arguments = loads(raw)
            except JsonError:
                arguments = None
            if isinstance(arguments, dict):
                return ToolCall(call, string(item.get("name")), arguments)
            return ToolCall(
                call, string(item.get("name")), {}, raw, "the arguments are no JSON object"
            )


def _result(output: JsonValue) -> tuple[tuple[UserBlock, ...], bool]:
    """Content, and whether it failed."""
    failed = False
    if isinstance(output, str) and output.startswith("{"):
        with suppress(JsonError):
            output = loads(output)
    if isinstance(output, dict):
        metadata = output.get("metadata")
        code = metadata.get("exit_code") if isinstance(metadata, dict) else 0
        failed = code not in (0, None) or output.get("success") is False
        output = output.get("output", output.get("content"))
    if isinstance(output, list):
        return tuple(_blocks(output)), failed
    text = string(output)
    return (Text(text),) if text else (), failed or _FAILED.match(text) is not None


def _summary(payload: JsonObject) -> str:
    if message := string(payload.get("message")):
        return message
    kept = payload.get("replacement_history")
    parts = []
    for item in kept if isinstance(kept, list) else ():
        if isinstance(item, dict) and item.get("type") == "message":
            text = "".join(b.text for b in _blocks(item.get("content")) if isinstance(b, Text))
            if text and not _CONTEXT.match(text):
                parts.append(f"[{string(item.get('role'))}] {text}")
    return "\n\n".join(parts) or "(what came before was kept in an encrypted form)"

"""A rollout file of Codex → `Foreign`. Pure; lines that do not fit are counted, never fatal.

A file is one list: items of the Responses API (`response_item`), or, in old files, the bare items.
What the model said until something answers it is one message here, with a blank line between its
texts. A rollback takes back the last turns: what follows is a branch. A compaction puts a summary
and a list of messages, or the person's own prompts, in the place of all before it. Encrypted
reasoning means something to one server only and is left out, as are that program's own instructions
and its notes of folder and shell, which would be wrong here. Of a file without items, what its
events tell is taken. Read next: foreign.py, codex_events.py.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TypeAlias

from msgspec.structs import replace

from agentsh.jsontext import DEEPEST_FOREIGN, JsonError, JsonObject, JsonValue, loads
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
from agentsh.session.exchange.codex_events import told
from agentsh.session.exchange.foreign import (
    Foreign,
    ForeignEntry,
    apart,
    count,
    data_image,
    iso,
    millis,
    string,
    usage,
)
from agentsh.session.format.entries import (
    Body,
    Compaction,
    MessageBody,
    ModelChange,
    ThinkingLevelChange,
)

_CONTEXT = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|permissions instructions|turn_aborted)>"
    r"|# AGENTS\.md instructions for )"
)
_FAILED = re.compile(
    r"\s*(?:Exit code: (?!0\b)\d+|.{0,200}^Process exited with code (?!0\b))", re.S | re.M
)
_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "web_search_call"})
_NONE = Usage()
_Kept: TypeAlias = UserMessage | AssistantMessage
# 20,000 tokens, as that program counts them
_KEPT_PROMPTS = 80_000
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
        """The prompts of the path since the last compaction, by name."""
        self._said: list[_Kept] = []
        """What a compaction that names nothing keeps: the prompts of the path."""
        self._told: list[tuple[str, JsonObject]] | None = []
        """By events, with the time, as long as no item came."""
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
                self._compacted(inner)
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
        self._told = None
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
                message = UserMessage(blocks, millis(self._time))
                self._prompts.append(self._add(MessageBody(message)))
                self._said.append(message)
            case _:
                self._dropped["instructions and notes of the other program"] += 1

    def _compacted(self, payload: JsonObject) -> None:
        """Go on from the summary and the messages that it puts in the place of all before it.

        A compaction that names none keeps the person's prompts, the newest first.
        """
        self._finish()
        replacement = _replacement(payload, millis(self._time))
        self._said = list(_newest(self._said) if replacement is None else replacement)
        self._add(Compaction(_summary(payload), None, 0, retained_tail=tuple(self._said) or None))
        self._prompts.clear()

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
            case _ if self._told is not None:
                self._told += [(self._time, item) for item in told(event)]
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
        blocks, self._blocks = apart(self._blocks), []
        provider = string(self._meta.get("model_provider")) or "openai"
        time = millis(self._time)
        message = _assistant(blocks, provider, self._model or "unknown", time, self._usage)
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
        del self._said[-len(taken) :]
        self._at = self._entries[int(taken[0])].parent

    def foreign(self) -> Foreign:
        for time, item in self._told or ():
            self._time = time
            self._message(item)
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
                arguments = loads(raw, deepest=DEEPEST_FOREIGN)
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
    """The words of a compaction; a server may have kept what came before in a form of its own."""
    return string(payload.get("message")) or "(what came before was kept in an encrypted form)"


def _replacement(payload: JsonObject, time: int) -> tuple[_Kept, ...] | None:
    """The messages that a compaction puts in the place of all before it, where it says so.

    Its summary stands among them as a prompt; that one is told once.
    """
    given = payload.get("replacement_history")
    if not isinstance(given, list):
        return None
    summary = string(payload.get("message")).strip()
    messages: list[_Kept] = []
    for item in given:
        if not isinstance(item, dict) or item.get("type") != "message":
            continue
        blocks = tuple(_blocks(item.get("content")))
        text = "\n".join(b.text for b in blocks if isinstance(b, Text))
        if not blocks or _CONTEXT.match(text) or (summary and text.strip() == summary):
            continue
        match item.get("role"):
            case "user":
                messages.append(UserMessage(blocks, time))
            case "assistant":
                texts = tuple(b for b in blocks if isinstance(b, Text))
                messages.append(_assistant(texts, "openai", "", time))
            case _:
                continue
    return tuple(messages)


def _newest(messages: Iterable[_Kept], budget: int = _KEPT_PROMPTS) -> tuple[_Kept, ...]:
    """The last prompts that fit, in their order."""
    prompts = [message for message in messages if isinstance(message, UserMessage)]
    newest: list[_Kept] = []
    for message in reversed(prompts):
        budget -= sum(len(b.text) for b in message.content if isinstance(b, Text))
        if budget < 0:
            break
        newest.append(message)
    return tuple(reversed(newest))


def _assistant(
    blocks: tuple[AssistantBlock, ...], provider: str, model: str, time: int, counted: Usage = _NONE
) -> AssistantMessage:
    stop: StopReason = "toolUse" if any(isinstance(b, ToolCall) for b in blocks) else "stop"
    return AssistantMessage(
        blocks,
        api="openai-responses",
        provider=provider,
        model=model,
        usage=counted,
        stop_reason=stop,
        timestamp=time,
    )

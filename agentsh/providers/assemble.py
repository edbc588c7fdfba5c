"""Chunks of a chat completion → StreamEvents and the final AssistantMessage, sans-IO.

The theory. Servers agree on the happy path and on nothing else, so nothing here is required of a
chunk: `choices` may be empty, missing or null, `delta` null (E06), usage may come anywhere, with
the finish or after it. What an answer *is* decides how it ended, not its finish reason (E18):
  calls, any reason but a limit or a fault      toolUse
  a reason, or [DONE], and anything at all      whole
  neither a reason nor [DONE]                   cut: StreamProtocolError, nothing of it counts (E11)
  nothing at all                                EmptyAnswerError
Invariants: blocks stay in the order of arrival; the texts of all events together are the texts of
the message; a raised ProviderError leaves `partial()` usable. Speed matters (20,000 chunks a
message): a text chunk costs a few look-ups, and events are made per read, not per chunk.
Read next: chat.py (the way out), http.py (who feeds this).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentsh.errors import EmptyAnswerError, StreamProtocolError
from agentsh.jsontext import JsonObject, JsonValue, clean
from agentsh.messages import AssistantBlock, AssistantMessage, StopReason, Text, Thinking, Usage
from agentsh.providers.base import Finished, StreamEvent, TextDelta, ThinkingDelta, ToolCallDelta
from agentsh.providers.calls import BROKE_OFF, CUT_AT_LIMIT, CallAssembler
from agentsh.providers.failures import Source, error_in_stream, refusal_by_filter
from agentsh.providers.reasoning import REASONING_FIELDS, DetailsMerger, text_of_details
from agentsh.providers.usage import read_usage

_LIMIT: Final = frozenset(("length", "max_tokens", "model_length", "max_output_tokens"))
_FILTERED: Final = frozenset(
    ("content_filter", "safety", "recitation", "blocklist", "prohibited_content", "sensitive")
)
_FAILED: Final = frozenset(
    ("error", "network_error", "insufficient_system_resource", "abort", "cancelled")
)
_ERROR_MEMBERS: Final = ("error", "errors", "detail", "message")


class ChatAssembler:
    """Feed it parsed chunks; take the events; finish it once."""

    def __init__(self, source: Source, *, provider: str, model: str) -> None:
        self._source = source
        self._provider = provider
        self._model = model
        self._blocks: list[tuple[str, list[str]]] = []  # (kind or reasoning field, pieces)
        self._kind = ""
        self._pieces: list[str] = []
        self._fresh = 0  # pieces of the current block that were told already
        self._events: list[StreamEvent] = []
        self._calls = CallAssembler()
        self._details = DetailsMerger()
        self._field: str | None = None
        self._reason: str | None = None
        self._usage: Usage | None = None
        self._id: str | None = None

    # ---- in ---------------------------------------------------------------------------------

    def feed(self, chunk: JsonValue) -> None:
        """Take one chunk, or a whole completion that was not streamed. Raises ProviderError."""
        if not isinstance(chunk, dict):
            raise error_in_stream(self._source, chunk)
        choices = chunk.get("choices")
        if not choices or not isinstance(choices, list):
            self._without_choices(chunk)
            return
        if chunk.get("error"):
            raise error_in_stream(self._source, chunk)
        if self._id is None and isinstance(found := chunk.get("id"), str) and found:
            self._id = clean(found)
        if (usage := chunk.get("usage")) is not None:
            self._take_usage(usage)
        choice = choices[0]
        if isinstance(choice, dict):
            self._choice(choice)

    def _without_choices(self, chunk: JsonObject) -> None:
        """Usage, filter preambles and keep-alives; and errors, which look the same (E07)."""
        if any(chunk.get(name) for name in _ERROR_MEMBERS) or chunk.get("object") == "error":
            raise error_in_stream(self._source, chunk)
        self._take_usage(chunk.get("usage"))
        groq = chunk.get("x_groq")
        if isinstance(groq, dict):
            self._take_usage(groq.get("usage"))

    def _take_usage(self, value: JsonValue) -> None:
        self._usage = read_usage(value) or self._usage

    def _choice(self, choice: JsonObject) -> None:
        delta = choice.get("delta")
        if delta is None and isinstance(choice.get("message"), dict):
            delta = choice["message"]
        if isinstance(delta, dict):
            content = delta.get("content")
            if content and isinstance(content, str) and len(delta) == 1:
                self._say("text", content)  # nearly all chunks are this
            else:
                self._delta(delta)
        elif isinstance(legacy := choice.get("text"), str) and legacy:
            self._say("text", legacy)
        if (reason := choice.get("finish_reason")) and isinstance(reason, str):
            self._reason = reason
        if choice.get("usage") is not None:
            self._take_usage(choice["usage"])
        if choice.get("error"):
            raise error_in_stream(self._source, choice)

    def _delta(self, delta: JsonObject) -> None:
        self._reasoning(delta)
        content = delta.get("content")
        if isinstance(content, str):
            if content:
                self._say("text", content)
        elif isinstance(content, list):
            self._parts(content)
        if (refusal := delta.get("refusal")) and isinstance(refusal, str):
            self._say("text", refusal)
        calls = delta.get("tool_calls")
        if isinstance(calls, list):
            for fragment in calls:
                if isinstance(fragment, dict):
                    self._call(fragment)
        elif isinstance(calls, dict):
            self._call(calls)
        if isinstance(legacy := delta.get("function_call"), dict):
            self._call({"index": 0, "function": legacy})

    def _call(self, fragment: JsonObject) -> None:
        self._turn_to("")
        self._events.append(ToolCallDelta(*self._calls.take(fragment)))

    def _reasoning(self, delta: JsonObject) -> None:
        """The text once, under the first name it came in, whatever other names repeat it (E29)."""
        for name in (self._field, *REASONING_FIELDS) if self._field else REASONING_FIELDS:
            if (text := delta.get(name)) and isinstance(text, str):
                self._field = self._field or name
                self._say(name, text)
                break
        else:
            name = ""
        details = delta.get("reasoning_details")
        if isinstance(details, list) and details:
            self._details.add(details)
            if not name and (text := text_of_details(details)):
                self._say(self._field or "reasoning_details", text)

    def _parts(self, parts: list[JsonValue]) -> None:
        """Content as a list (Mistral): text parts, and thinking parts that hold text parts."""
        for part in parts:
            if not isinstance(part, dict):
                continue
            if isinstance(text := part.get("text"), str) and text:
                self._say("text", text)
            elif isinstance(inner := part.get("thinking"), str) and inner:
                self._say("thinking_parts", inner)
            elif isinstance(inner, list):
                for piece in inner:
                    if isinstance(piece, dict) and isinstance(text := piece.get("text"), str):
                        self._say("thinking_parts", text)

    def _say(self, kind: str, piece: str) -> None:
        if kind != self._kind:
            self._turn_to(kind)
        self._pieces.append(piece)

    def _turn_to(self, kind: str) -> None:
        """Begin a block of another kind; "" only ends the current one."""
        self._flush()
        self._kind = kind
        self._pieces = []
        self._fresh = 0
        if kind:
            self._blocks.append((kind, self._pieces))

    # ---- out --------------------------------------------------------------------------------

    def _flush(self) -> None:
        if self._fresh == len(self._pieces):
            return
        text = "".join(self._pieces[self._fresh :])
        self._fresh = len(self._pieces)
        self._events.append(TextDelta(text) if self._kind == "text" else ThinkingDelta(text))

    def take(self) -> list[StreamEvent]:
        """The events since the last time; neighbours of one kind are one event."""
        self._flush()
        events, self._events = self._events, []
        return events

    @property
    def has_anything(self) -> bool:
        return bool(self._blocks or self._calls.drafts or self._details)

    @property
    def has_reason(self) -> bool:
        return self._reason is not None

    def finish(self, *, done: bool) -> Finished:
        """The end of the body; `done` says whether [DONE] came. Raises ProviderError."""
        reason = (self._reason or "").lower()
        if reason in _FAILED:
            raise error_in_stream(self._source, {"message": f"the server stopped: {self._reason}"})
        if reason in _FILTERED:
            raise refusal_by_filter(self._source, reason)
        if not reason and not done:
            raise StreamProtocolError(
                f"{self._source.endpoint}: the answer broke off before it was finished",
                endpoint=self._source.endpoint,
                retryable=True,
            )
        if not self.has_anything:
            raise EmptyAnswerError(
                f"{self._source.endpoint}: the answer was empty (no text, no call)",
                endpoint=self._source.endpoint,
            )
        stop: StopReason = "toolUse" if self._calls.drafts else "stop"
        if reason in _LIMIT:
            stop = "length"
        trouble = CUT_AT_LIMIT if stop == "length" else None
        return Finished(self._message(stop, trouble), usage_known=self._usage is not None)

    def partial(self, stop: StopReason, error: str | None = None) -> AssistantMessage:
        """What had come when it was aborted or broke: kept, marked, and not to be run."""
        return self._message(stop, BROKE_OFF, error)

    def _message(
        self, stop: StopReason, trouble: str | None, error: str | None = None
    ) -> AssistantMessage:
        blocks: list[AssistantBlock] = []
        for kind, pieces in self._blocks:
            text = clean("".join(pieces))
            if kind == "text":
                blocks.append(Text(text))
            else:
                blocks.append(Thinking(text, signature=kind))
        if details := self._details.merged():
            self._attach(blocks, details)
        blocks.extend(self._calls.finish(trouble))
        return AssistantMessage(
            content=tuple(blocks),
            api="openai-completions",
            provider=self._provider,
            model=self._model,
            usage=self._usage or Usage(),
            stop_reason=stop,
            error_message=error,
            response_id=self._id,
            raw_stop_reason=self._reason,
        )

    @staticmethod
    def _attach(blocks: list[AssistantBlock], details: list[JsonValue]) -> None:
        """Put the details where chat.py finds them again: on the first thinking block."""
        extra: Mapping[str, JsonValue] = {"reasoning_details": details}
        for i, block in enumerate(blocks):
            if isinstance(block, Thinking):
                blocks[i] = Thinking(block.thinking, signature=block.signature, extra=extra)
                return
        blocks.insert(0, Thinking("", signature="reasoning_details", extra=extra))

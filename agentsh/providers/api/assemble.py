"""Chunks of a chat completion → StreamEvents and the final AssistantMessage, sans-IO.

The theory. Servers agree on the happy path and on nothing else, so nothing here is required of a
chunk: `choices` may be empty, missing or null, `delta` null (E06), usage may come anywhere, with
the finish or after it. One answer was asked for, so several choices are its parts (E36: proxies put
the text into the first and each call into one of its own); of their ends the one that is no good
end counts. Finish reasons that end an answer are a closed set; any other is a fault that is shown.
Among the ends, what an answer *is* decides, not the reason (E18):
  calls, any end but a limit                    toolUse
  an end, or [DONE], and words                  whole
  neither a reason nor [DONE]                   cut: StreamProtocolError, nothing of it counts (E11)
  no word and no call: nothing, blanks, thoughts EmptyAnswerError
Invariants: blocks stay in the order of arrival; the texts of all events together are the texts of
the message; a raised ProviderError leaves `partial()` usable. Speed matters (20,000 chunks a
message): a text chunk costs a few look-ups, and events are made per read, not per chunk.
Read next: chat.py (the way out), http.py (who feeds this).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from agentsh.errors import EmptyAnswerError, StreamProtocolError
from agentsh.jsontext import JsonObject, JsonValue, clean
from agentsh.messages import AssistantBlock, AssistantMessage, StopReason, Text, Thinking, Usage
from agentsh.providers.api.calls import BROKE_OFF, CUT_AT_LIMIT, CallAssembler
from agentsh.providers.api.echoes import BLOCKS, Echoes, is_about_thoughts
from agentsh.providers.api.reasoning import REASONING_FIELDS, DetailsMerger, text_of_details
from agentsh.providers.api.textgate import TextGate, mask_text, masked
from agentsh.providers.api.thinktags import ThinkTags
from agentsh.providers.base import Finished, StreamEvent, TextDelta, ThinkingDelta, ToolCallDelta
from agentsh.providers.usage import read_usage
from agentsh.providers.wire.failures import (
    ErrorSource,
    error_in_stream,
    refusal_by_filter,
    stopped_by_fault,
)

_UNSEEN: Final = dict.fromkeys(
    (0xAD, 0xFEFF, *range(0x200B, 0x2010), *range(0x2060, 0x2070), *range(0xFE00, 0xFE10))
)
"""Characters without a width: alone they are no words."""
_ENDS: Final = frozenset(
    (
        *("stop", "stop_sequence", "stop_token", "stopped", "eos", "eos_token", "end", "end_turn"),
        *("end_of_turn", "complete", "completed", "finish", "finished", "done", "success"),
        *("tool_calls", "tool_call", "tool_use", "tool", "function_call", "function_calls"),
    )
)
_LIMIT: Final = frozenset(
    (
        *("length", "max_tokens", "model_length", "max_output_tokens", "max_length"),
        *("max_completion_tokens", "token_limit", "model_context_window_exceeded"),
    )
)
_FILTERED: Final = frozenset(
    (
        *("content_filter", "content_filtered", "safety", "recitation", "blocklist"),
        *("prohibited_content", "sensitive", "refusal", "guardrail_intervened"),
    )
)
TAGGED: Final = "tagged"
"""The kind of thoughts that came inside the text."""
_ERROR_MEMBERS: Final = ("error", "errors", "detail", "message")


class ChatAssembler:
    """Feed it parsed chunks; take the events; finish it once."""

    def __init__(self, source: ErrorSource, *, provider: str, model: str, asked: int = 1) -> None:
        """`asked`: how many answers; of several only the first is read."""
        self._source = source
        self._asked = asked
        self._provider = provider
        self._model = model
        self._blocks: list[tuple[str, list[str]]] = []  # (kind or reasoning field, texts)
        self._open = ""  # the kind of the block that grows
        self._kind = ""
        self._pieces: list[str] = []  # of the current kind, as they came since the last look
        self._gate = TextGate(source.keys)
        self._tags = ThinkTags()
        self._events: list[StreamEvent] = []
        self._calls = CallAssembler(source.keys)
        self._details = DetailsMerger()
        self._echoes = Echoes()
        self._field: str | None = None
        self._ends: dict[int, str | None] = {}
        """By choice, of those that said something: its finish reason."""
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
        if self._id is None and isinstance(id_ := chunk.get("id"), str) and id_:
            self._id = mask_text(clean(id_), self._source.keys)
        if (usage := chunk.get("usage")) is not None:
            self._take_usage(usage)
        for position, choice in enumerate(choices):
            if isinstance(choice, dict):
                index = choice.get("index")
                number = index if type(index) is int else position
                if self._asked == 1 or not number:
                    self._choice(choice, number)

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

    def _choice(self, choice: JsonObject, number: int) -> None:
        delta = choice.get("delta")
        if delta is None and isinstance(choice.get("message"), dict):
            delta = choice["message"]
        if isinstance(delta, dict):
            content = delta.get("content")
            if content and isinstance(content, str) and len(delta) == 1:
                self._say("text", content)  # nearly all chunks are this
            else:
                self._delta(delta, number)
            if number not in self._ends and any(v for k, v in delta.items() if k != "role"):
                self._ends[number] = None
        elif isinstance(legacy := choice.get("text"), str) and legacy:
            self._say("text", legacy)
        if (reason := choice.get("finish_reason")) and isinstance(reason, str):
            self._ends[number] = reason
        if choice.get("usage") is not None:
            self._take_usage(choice["usage"])
        if choice.get("error"):
            raise error_in_stream(self._source, choice)

    def _delta(self, delta: JsonObject, choice: int) -> None:
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
                    self._call(fragment, choice)
        elif isinstance(calls, dict):
            self._call(calls, choice)
        if isinstance(legacy := delta.get("function_call"), dict):
            self._call({"index": 0, "function": legacy}, choice)

    def _call(self, fragment: JsonObject, choice: int) -> None:
        self._turn_to("")
        self._events.append(ToolCallDelta(*self._calls.take(fragment, choice)))

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
        for member, value in delta.items():
            if value and is_about_thoughts(member):
                text = self._echoes.add(member, value)
                if text and not name:
                    self._say(self._field or BLOCKS, text)

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
        """Begin a run of another kind; "" only ends the current one."""
        self._flush()
        self._pass_on(self._gate.end(), is_end=True)
        self._kind = kind
        self._open = ""

    # ---- out --------------------------------------------------------------------------------

    def _flush(self) -> None:
        if self._pieces:
            text = "".join(self._pieces)
            self._pieces.clear()
            self._pass_on(self._gate.feed(text), is_end=False)

    def _pass_on(self, text: str, *, is_end: bool) -> None:
        """What came through the gate, told and kept; thoughts inside the text are thoughts."""
        if self._kind != "text":
            self._put(self._kind, text)
            return
        parts = self._tags.feed(text)
        for kind, part in (*parts, *(self._tags.end() if is_end else ())):
            self._put("text" if kind == "text" else TAGGED, part)

    def _put(self, kind: str, text: str) -> None:
        if not text:
            return
        if kind != self._open:
            self._blocks.append((kind, []))
            self._open = kind
        self._blocks[-1][1].append(text)
        event_type = TextDelta if kind == "text" else ThinkingDelta
        last = self._events[-1] if self._events else None
        if type(last) is event_type:
            self._events[-1] = event_type(last.text + text)
        else:
            self._events.append(event_type(text))

    def take(self) -> list[StreamEvent]:
        """The events since the last time; neighbours of one kind are one event."""
        self._flush()
        events, self._events = self._events, []
        return events

    @property
    def has_anything(self) -> bool:
        return bool(
            self._blocks or self._pieces or self._calls.drafts or self._details or self._echoes
        )

    @property
    def has_reason(self) -> bool:
        return bool(self._ends) and None not in self._ends.values()

    @property
    def has_usage(self) -> bool:
        return self._usage is not None

    @property
    def _reason(self) -> str | None:
        """That of the answer: of its parts the last, or one that is no good end."""
        reasons = [reason for reason in self._ends.values() if reason]
        bad = (reason for reason in reasons if _plain(reason) not in _ENDS)
        return next(bad, reasons[-1] if reasons else None)

    def finish(self, *, done: bool) -> Finished:
        """The end of the body; `done` says whether [DONE] came. Raises ProviderError."""
        self._turn_to("")
        reason = _plain(self._reason or "")
        if reason in _FILTERED:
            raise refusal_by_filter(self._source, reason)
        if reason and reason not in _ENDS and reason not in _LIMIT:
            raise stopped_by_fault(self._source, self._reason or reason)
        if not reason and not done:
            raise StreamProtocolError(
                f"{self._source.endpoint}: the answer broke off before it was finished",
                endpoint=self._source.endpoint,
                retryable=True,
            )
        if reason not in _LIMIT or not self.has_anything:
            check_said(self._source, self._says_something(), has_anything=self.has_anything)
        stop: StopReason = "toolUse" if self._calls.drafts else "stop"
        if reason in _LIMIT:
            stop = "length"
        trouble = CUT_AT_LIMIT if stop == "length" else None
        return Finished(self._message(stop, trouble), usage_known=self._usage is not None)

    def _says_something(self) -> bool:
        is_said = any(k == "text" and is_visible("".join(t)) for k, t in self._blocks)
        return is_said or bool(self._calls.drafts)

    def partial(self, stop: StopReason, error: str | None = None) -> AssistantMessage:
        """What had come when it was aborted or broke: kept, marked, and not to be run."""
        self._turn_to("")
        return self._message(stop, BROKE_OFF, error)

    def _message(
        self, stop: StopReason, trouble: str | None, error: str | None = None
    ) -> AssistantMessage:
        blocks: list[AssistantBlock] = []
        for kind, pieces in self._blocks:
            text = "".join(pieces)
            if kind == "text":
                blocks.append(Text(text))
            else:
                blocks.append(Thinking(text, signature=None if kind == TAGGED else kind))
        extra = self._echoes.members()
        if details := self._details.merged():
            extra["reasoning_details"] = details
        if extra:
            self._attach(blocks, masked(extra, self._source.keys))
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
    def _attach(blocks: list[AssistantBlock], extra: JsonValue) -> None:
        """Put the members where chat.py finds them again: on the first thinking block."""
        assert isinstance(extra, Mapping)
        for i, block in enumerate(blocks):
            if isinstance(block, Thinking):
                blocks[i] = Thinking(block.thinking, signature=block.signature, extra=extra)
                return
        blocks.insert(0, Thinking("", signature="reasoning_details", extra=extra))


def _plain(reason: str) -> str:
    """`TOOL-CALLS`, `FinishReason.STOP`, `finish_reason_stop` in one spelling."""
    word = re.sub(r"[^a-z0-9:]+", "_", reason.lower()).strip("_")
    return word.removeprefix("finishreason_").removeprefix("finish_reason_")


def is_visible(text: str) -> bool:
    """Whether there is anything in it to be seen: no blank, no zero-width character."""
    seen = text.translate(_UNSEEN)
    return bool(seen) and not seen.isspace()


def check_said(source: ErrorSource, is_said: bool, *, has_anything: bool) -> None:
    """Raise EmptyAnswerError where an answer has no word and no call."""
    if is_said:
        return
    why = "only thoughts or blanks" if has_anything else "no text, no call"
    raise EmptyAnswerError(
        f"{source.endpoint}: the answer was empty ({why})", endpoint=source.endpoint
    )

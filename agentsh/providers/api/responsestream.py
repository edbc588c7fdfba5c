"""Events of the Responses API → StreamEvents and the final AssistantMessage, sans-IO.

Items are known by their place in the output, since some servers leave ids out or change them
between events. What was streamed is taken from the deltas, what was not from the closed item or
from the whole response at the end, never from both. A response that ends as incomplete was cut by
its limit. Read next: assemble.py, the same for chat completions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct, field

from agentsh.errors import StreamProtocolError
from agentsh.jsontext import JsonObject, JsonValue, clean, dumps_text
from agentsh.messages import AssistantBlock, AssistantMessage, StopReason, Text, Thinking, Usage
from agentsh.providers.api.assemble import check_said, is_visible
from agentsh.providers.api.calls import BROKE_OFF, CUT_AT_LIMIT, CallDraft
from agentsh.providers.api.textgate import TextGate, masked
from agentsh.providers.base import (
    RESPONSES,
    Finished,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
)
from agentsh.providers.usage import read_usage
from agentsh.providers.wire.failures import (
    ErrorSource,
    error_in_stream,
    refusal_by_filter,
    stopped_by_fault,
)

_LIMIT: Final = frozenset(("", "max_output_tokens", "max_tokens", "length"))


class _Item(Struct, eq=False):
    """One output item while it grows."""

    kind: str
    gate: TextGate
    pieces: list[str] = field(default_factory=list)
    call: CallDraft | None = None
    whole: JsonObject | None = None
    """A reasoning item as the server closed it."""

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class ResponsesAssembler:
    """Feed it parsed events; take the StreamEvents; finish it once."""

    def __init__(self, source: ErrorSource, *, provider: str, model: str) -> None:
        self._source = source
        self._provider = provider
        self._model = model
        self._items: dict[str, _Item] = {}
        self._calls = 0
        self._events: list[StreamEvent] = []
        self._status: str | None = None
        self._why = ""
        self._usage: Usage | None = None
        self._id: str | None = None

    @property
    def has_anything(self) -> bool:
        return any(i.pieces or i.call or i.whole for i in self._items.values())

    @property
    def has_reason(self) -> bool:
        return self._status is not None

    @property
    def has_usage(self) -> bool:
        return self._usage is not None

    def feed(self, chunk: JsonValue) -> None:
        """Take one event, or a whole response that was not streamed. Raises ProviderError."""
        if not isinstance(chunk, dict):
            raise error_in_stream(self._source, chunk)
        kind = chunk.get("type")
        response = chunk.get("response")
        if chunk.get("object") == "response":
            self._whole(chunk)
        elif kind == "error" or (kind is None and chunk.get("error")):
            raise error_in_stream(self._source, chunk)
        elif isinstance(response, dict):
            self._response(str(kind), response)
        elif isinstance(kind, str):
            self._event(kind, chunk)

    def take(self) -> list[StreamEvent]:
        events, self._events = self._events, []
        return events

    def _response(self, kind: str, response: JsonObject) -> None:
        self._note_id(response)
        match kind:
            case "response.completed" | "response.incomplete":
                self._whole(response)
            case "response.failed":
                raise error_in_stream(self._source, response.get("error") or "the response failed")
            case _:
                pass  # created, queued, in progress

    def _note_id(self, response: JsonObject) -> None:
        if isinstance(id_ := response.get("id"), str):
            self._id = clean(id_)

    def _whole(self, response: JsonObject) -> None:
        self._note_id(response)
        if response.get("status") == "failed":
            raise error_in_stream(self._source, response.get("error") or "the response failed")
        output = response.get("output")
        if isinstance(output, list):
            for position, item in enumerate(output):
                if isinstance(item, dict):
                    self._done({"output_index": position, "item": item})
        self._usage = read_usage(response.get("usage")) or self._usage
        self._status = str(response.get("status") or "completed")
        details = response.get("incomplete_details")
        if isinstance(details, dict):
            self._why = str(details.get("reason") or "")

    def _event(self, kind: str, event: JsonObject) -> None:
        match kind:
            case "response.output_item.added":
                self._added(event)
            case "response.output_item.done":
                self._done(event)
            case "response.output_text.delta" | "response.refusal.delta":
                self._grow(event, "message")
            case (
                "response.reasoning_summary_text.delta"
                | "response.reasoning_text.delta"
                | "response.reasoning_summary.delta"
            ):
                self._grow(event, "reasoning")
            case "response.reasoning_summary_part.added":
                item = self._items.get(self._key(event))
                if item is not None and item.pieces:
                    self._grow({**event, "delta": "\n\n"}, "reasoning")
            case "response.function_call_arguments.delta":
                self._grow_call(event)
            case _:
                pass

    @staticmethod
    def _key(event: JsonObject) -> str:
        index = event.get("output_index")
        return str(index) if isinstance(index, int) else str(event.get("item_id") or "")

    def _grow(self, event: JsonObject, kind: str) -> None:
        delta = event.get("delta")
        if not isinstance(delta, str) or not delta:
            return
        item = self._items.setdefault(self._key(event), self._item(kind))
        self._keep(item, item.gate.feed(delta))

    def _item(self, kind: str, call: CallDraft | None = None) -> _Item:
        return _Item(kind, TextGate(self._source.keys), call=call)

    def _keep(self, item: _Item, text: str) -> None:
        if text:
            item.pieces.append(text)
            self._events.append(TextDelta(text) if item.kind == "message" else ThinkingDelta(text))

    def _added(self, event: JsonObject) -> None:
        item = event.get("item")
        if not isinstance(item, dict):
            return
        key = self._key(event)
        if key in self._items:
            return
        kind = str(item.get("type"))
        if kind == "function_call":
            self._items[key] = self._item(kind, self._draft(item))
        elif kind in ("message", "reasoning"):
            self._items[key] = self._item(kind)

    def _draft(self, item: JsonObject) -> CallDraft:
        call_id = item.get("call_id") or item.get("id")
        item_id = item.get("id")
        name = item.get("name")
        draft = CallDraft(
            self._calls,
            id=clean(call_id) if isinstance(call_id, str) else "",
            name=name if isinstance(name, str) else "",
            keys=self._source.keys,
        )
        self._calls += 1
        if draft.id and isinstance(item_id, str) and item_id and item_id != draft.id:
            draft.id = f"{draft.id}|{clean(item_id)}"
        self._events.append(ToolCallDelta(draft.place, draft.name, ""))
        return draft

    def _grow_call(self, event: JsonObject) -> None:
        item = self._items.get(self._key(event))
        delta = event.get("delta")
        if item is None or item.call is None or not isinstance(delta, str):
            return
        if new := item.call.add(delta):
            self._events.append(ToolCallDelta(item.call.place, item.call.name, new))

    def _done(self, event: JsonObject) -> None:
        """A closed item: what was not streamed is taken from it."""
        whole = event.get("item")
        if not isinstance(whole, dict):
            return
        self._added(event)
        item = self._items.get(self._key(event))
        if item is None:
            return
        if item.call is not None:
            arguments = whole.get("arguments")
            if isinstance(arguments, str) and not item.call.pieces:
                self._grow_call({**event, "delta": arguments})
        elif item.kind == "message" and not item.pieces:
            self._grow({**event, "delta": _text_of(whole.get("content"))}, "message")
        elif item.kind == "reasoning":
            item.whole = whole
            if not item.pieces:
                text = _text_of(whole.get("summary")) or _text_of(whole.get("content"))
                self._grow({**event, "delta": text}, "reasoning")

    # ---- the message ------------------------------------------------------------------------

    def finish(self, *, done: bool) -> Finished:
        """The end of the body. Raises ProviderError."""
        self._end_items()
        if self._status is None and not done:
            raise StreamProtocolError(
                f"{self._source.endpoint}: the answer broke off before it was finished",
                endpoint=self._source.endpoint,
                retryable=True,
            )
        if self._why == "content_filter":
            raise refusal_by_filter(self._source, self._why)
        if self._status == "incomplete" and self._why not in _LIMIT:
            raise stopped_by_fault(self._source, self._why)
        if self._status not in (None, "completed", "incomplete"):
            raise stopped_by_fault(self._source, self._status or "")
        if self._status != "incomplete" or not self.has_anything:
            is_said = any(i.kind == "message" and is_visible(i.text) for i in self._items.values())
            check_said(self._source, is_said or bool(self._calls), has_anything=self.has_anything)
        stop: StopReason = "toolUse" if self._calls else "stop"
        trouble = None
        if self._status == "incomplete":
            stop, trouble = "length", CUT_AT_LIMIT
        return Finished(self._message(stop, trouble), usage_known=self._usage is not None)

    def _end_items(self) -> None:
        for item in self._items.values():
            self._keep(item, item.gate.end())

    def partial(self, stop: StopReason, error: str | None = None) -> AssistantMessage:
        self._end_items()
        return self._message(stop, BROKE_OFF, error)

    def _message(
        self, stop: StopReason, trouble: str | None, error: str | None = None
    ) -> AssistantMessage:
        blocks: list[AssistantBlock] = []
        for item in self._items.values():
            if item.call is not None:
                blocks.append(
                    item.call.finished(item.call.id or f"call_{item.call.place}", trouble)
                )
            elif item.kind == "message":
                blocks.append(Text(item.text))
            elif item.whole is not None or item.pieces:
                whole = masked(item.whole, self._source.keys)
                signature = dumps_text(whole) if whole is not None else None
                blocks.append(Thinking(item.text, signature=signature))
        return AssistantMessage(
            content=tuple(blocks),
            api=RESPONSES,
            provider=self._provider,
            model=self._model,
            usage=self._usage or Usage(),
            stop_reason=stop,
            error_message=error,
            response_id=self._id,
            raw_stop_reason=self._why or self._status,
        )


def _text_of(parts: JsonValue) -> str:
    if not isinstance(parts, Sequence) or isinstance(parts, str):
        return ""
    texts = (p.get("text") or p.get("refusal") for p in parts if isinstance(p, dict))
    return "\n\n".join(t for t in texts if isinstance(t, str))

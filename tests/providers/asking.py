"""A provider against an endpoint, and what came of one request."""

from __future__ import annotations

from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.errors import ProviderError
from agentsh.messages import AssistantMessage, Text, UserMessage
from agentsh.providers.base import Finished, Provider, Request, StreamEvent
from agentsh.providers.http import HttpProvider, ProviderSettings
from agentsh.providers.wire.wire import Limits

QUICK = Limits(connect=2.0, idle=5.0, events=5.0)


OPENED: list[HttpProvider] = []
"""Closed by conftest.py when the test is over."""


def provider_for(base_url: str, **members: object) -> HttpProvider:
    settings = ProviderSettings(base_url, name="test", limits=QUICK)
    provider = HttpProvider(replace(settings, **members))
    OPENED.append(provider)
    return provider


def request_to(provider: Provider, text: str = "Hi.", model: str = "m") -> Request:
    messages = (UserMessage((Text(text),)),)
    return Request(model, "Be good.", messages, shape=provider.shape(model))


def ask(
    provider: Provider, text: str = "Hi.", abort: Abort | None = None
) -> tuple[list[StreamEvent], AssistantMessage]:
    """The events and the final message. Raises ProviderError."""
    request = request_to(provider, text)
    events = list(provider.stream(provider.body(request), request, abort or Abort()))
    last = events[-1]
    assert isinstance(last, Finished)
    assert not any(isinstance(e, Finished) for e in events[:-1])
    return events, last.message


def failure(provider: Provider) -> ProviderError:
    """The error of a request that must fail."""
    try:
        _, message = ask(provider)
    except ProviderError as e:
        return e
    raise AssertionError(f"it answered: {message}")

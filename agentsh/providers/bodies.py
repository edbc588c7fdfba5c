"""Request → bytes, whichever API its shape names. Pure; no client is loaded for it (replay).

Read next: chat.py, responses.py.
"""

from __future__ import annotations

from typing import Final

from agentsh.jsontext import JsonObject
from agentsh.providers import chat, responses
from agentsh.providers.base import Request

RESPONSES: Final = responses.API


def encode_body(request: Request) -> bytes:
    """The exact bytes to send."""
    if request.shape.api == RESPONSES:
        return responses.encode_body(request)
    return chat.encode_body(request)


def wire_messages(request: Request) -> list[JsonObject]:
    """The messages as chat completions spell them, system message first: for people and scripts."""
    return chat.wire_messages(request)

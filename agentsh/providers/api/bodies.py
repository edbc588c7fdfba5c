"""Request → bytes, whichever API its shape names. Pure; no client is loaded for it (replay).

Read next: chat.py, responses.py.
"""

from __future__ import annotations

from agentsh.providers.api.chat import encode_chat
from agentsh.providers.base import RESPONSES, Request


def encode_body(request: Request) -> bytes:
    """The exact bytes to send."""
    if request.shape.api == RESPONSES:
        from agentsh.providers.api.responses import encode_responses

        return encode_responses(request)
    return encode_chat(request)

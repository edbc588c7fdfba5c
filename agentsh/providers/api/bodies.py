"""Request → bytes, whichever API its shape names; how much text it has.

Pure; no client is loaded for it (replay). Read next: chat.py, responses.py.
"""

from __future__ import annotations

from agentsh.messages import Image, Text, Thinking, ToolCall
from agentsh.providers.api.chat import encode_chat
from agentsh.providers.base import RESPONSES, Request


def encode_body(request: Request) -> bytes:
    """The exact bytes to send."""
    if request.shape.api == RESPONSES:
        from agentsh.providers.api.responses import encode_responses

        return encode_responses(request)
    return encode_chat(request)


def text_size(request: Request) -> int:
    """Characters of text that the model is to read; images are no characters."""
    size = len(request.system)
    for message in request.messages:
        for block in message.content:
            match block:
                case Text():
                    size += len(block.text)
                case Thinking() | Image():
                    pass
                case ToolCall():
                    size += len(block.name) + len(str(block.arguments))
    return size

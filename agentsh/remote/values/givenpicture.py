"""A picture that a program gives as base64 → one that may be sent. Pure.

It stands alone because protocols give pictures in shapes of their own, and all are judged alike.
Read next: images.py.
"""

from __future__ import annotations

import base64
import binascii

from agentsh.errors import UsageError
from agentsh.images import Picture, Unusable, inspect
from agentsh.messages import Image


def given_picture(data: str, name: str) -> Image:
    """Its kind is what its bytes say. Raises UsageError, which calls it by that name."""
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as e:
        raise UsageError(f"{name} is no base64: {e}") from e
    match inspect(raw):
        case Picture(mime_type):
            return Image(data, mime_type)
        case Unusable(mime_type, reason):
            raise UsageError(f"{name} ({mime_type}) cannot be sent: {reason}")
        case None:
            raise UsageError(f"{name} is no picture of a kind that can be sent")

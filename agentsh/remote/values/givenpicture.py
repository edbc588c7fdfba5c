"""A picture that a program gives as base64 → one that may be sent. Pure.

It stands alone because protocols give pictures in shapes of their own, and all are judged alike.
Read next: images.py.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final

from agentsh.errors import UsageError
from agentsh.images import Picture, Unusable, inspect
from agentsh.messages import Image

_DATA_URL: Final = re.compile(r"data:[^,]{0,200};base64,")


def given_picture(data: str, name: str) -> Image:
    """Its kind is what its bytes say. Raises UsageError, which calls it by that name.

    `data`: base64, or a `data:` URL of it, as browsers give a picture.
    """
    text = _DATA_URL.sub("", data, count=1)
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as e:
        raise UsageError(f"{name} is no base64: {e}") from e
    match inspect(raw):
        case Picture(mime_type):
            return Image(text, mime_type)
        case Unusable(mime_type, reason):
            raise UsageError(f"{name} ({mime_type}) cannot be sent: {reason}")
        case None:
            raise UsageError(f"{name} is no picture of a kind that can be sent")

"""Is a stored image fit to be sent? Asked for every request, on the sent copy (S37).

The judgement is images.py's; this adds the base64 in which a block holds its bytes. The mime type
of what goes out is what the bytes are, whatever was claimed. Read next: outbound.py.
"""

from __future__ import annotations

import base64
import binascii

from agentsh.images import MAX_BYTES, MAX_SIDE, Picture, Unusable, inspect
from agentsh.messages import Image


def usable(image: Image, max_bytes: int = MAX_BYTES, max_side: int = MAX_SIDE) -> Image | str:
    """The image with its true mime type, or why it cannot be sent."""
    try:
        data = base64.b64decode(image.data, validate=True)
    except (binascii.Error, ValueError):
        return "its data is no base64"
    match inspect(data, max_bytes, max_side):
        case Picture(mime_type):
            return Image(image.data, mime_type)
        case Unusable(_, reason):
            return reason
        case None:
            return "it is no PNG, JPEG, GIF or WebP"

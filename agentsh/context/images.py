"""Which stored images may be sent? Asked for every request, on the sent copy (S37).

The judgement of one is images.py's; this adds the base64 in which a block holds its bytes. The mime
type of what goes out is what the bytes are, whatever was claimed. Of many, the oldest are left out
where an endpoint takes no more (E35). It stands alone because the judgement takes bytes and a block
holds text. Pure. Read next: outbound.py.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Final

from agentsh.images import MAX_IMAGE_BYTES, MAX_SIDE, Picture, Unusable, inspect
from agentsh.messages import Image

_MANY: Final = 8
"""Pictures; of fewer, each one counts more than a cached beginning."""


def usable(image: Image, max_bytes: int = MAX_IMAGE_BYTES, max_side: int = MAX_SIDE) -> Image | str:
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


def oldest_to_drop(sizes: Sequence[int], most: int | None, room: int | None) -> int:
    """How many of the oldest pictures are not sent, so that the rest keeps both bounds.

    `sizes` are given oldest first. Where many pictures pass a bound, a quarter of it is freed, so
    that the next ones find room and the beginning of the next requests stays what it was (N08). The
    newest is sent if it fits alone.
    """
    count = len(sizes) if most is None else most
    space = sum(sizes) if room is None else room
    first = total = 0
    for newest, size in enumerate(sizes):
        total += size
        if newest + 1 - first <= count and total <= space:
            continue
        fits_alone = count > 0 and size <= space
        last = newest if fits_alone else newest + 1
        freed = 4 if newest + 1 - first >= _MANY else 1 << 60
        while first < last and (
            newest + 1 - first > count - count // freed or total > space - space // freed
        ):
            total -= sizes[first]
            first += 1
    return first

"""Is an image fit to be sent? Judged by its bytes, without decoding the picture (S37).

One bad image in the history would make every later request fail, so each is checked again for every
request, on the sent copy. PNG is walked chunk by chunk with its checksums; JPEG, GIF and WebP are
judged by their frame and end. The mime type is what the bytes are, whatever was claimed. Nothing is
resized in here.
"""

from __future__ import annotations

import base64
import binascii
import struct
import zlib

from msgspec import Struct

from agentsh.messages import Image

MAX_BYTES = 5 * 1024 * 1024
MAX_SIDE = 8000
_START_OF_FRAME = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


class Facts(Struct, frozen=True):
    mime_type: str
    width: int
    height: int


class UnusableImageError(ValueError):
    """Why an image cannot be sent, in words for the model."""


def usable(image: Image, max_bytes: int = MAX_BYTES, max_side: int = MAX_SIDE) -> Image | str:
    """The image with its true mime type, or why it cannot be sent."""
    try:
        data = base64.b64decode(image.data, validate=True)
    except (binascii.Error, ValueError):
        return "its data is no base64"
    if len(data) > max_bytes:
        return f"it has {len(data)} bytes, more than the {max_bytes} that may be sent"
    try:
        facts = image_facts(data)
    except (UnusableImageError, struct.error, IndexError, zlib.error) as e:
        return str(e) if isinstance(e, UnusableImageError) else "the file is cut or damaged"
    if max(facts.width, facts.height) > max_side:
        return f"it is {facts.width}×{facts.height} pixels, more than {max_side} on a side"
    if min(facts.width, facts.height) < 1:
        return "it has no pixels"
    return Image(image.data, facts.mime_type)


def image_facts(data: bytes) -> Facts:
    """Type and size from the bytes. Raises UnusableImageError, struct.error or IndexError."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return _png(data)
    if data.startswith(b"\xff\xd8\xff"):
        return _jpeg(data)
    if data[:6] in (b"GIF87a", b"GIF89a"):
        return _gif(data)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return _webp(data)
    raise UnusableImageError("it is no png, jpeg, gif or webp")


def _png(data: bytes) -> Facts:
    at, size, packed, last = 8, None, bytearray(), b""
    while at < len(data) and last != b"IEND":
        (length,) = struct.unpack_from(">I", data, at)
        last, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        (checksum,) = struct.unpack_from(">I", data, at + 8 + length)
        if zlib.crc32(last + body) != checksum:
            raise UnusableImageError("the png is damaged")
        if last == b"IHDR":
            size = struct.unpack_from(">II", body)
        elif last == b"IDAT" and len(packed) < 4096:
            packed += body
        at += 12 + length
    if size is None or last != b"IEND" or not packed:
        raise UnusableImageError("the png is not complete")
    zlib.decompressobj().decompress(bytes(packed), 4096)  # the beginning is enough: raises if junk
    return Facts("image/png", *size)


def _jpeg(data: bytes) -> Facts:
    if b"\xff\xd9" not in data[-512:]:
        raise UnusableImageError("the jpeg is not complete")
    at = 2
    while True:
        if data[at] != 0xFF:
            raise UnusableImageError("the jpeg is damaged")
        marker = data[at + 1]
        if marker == 0xFF:  # fill byte before a marker
            at += 1
            continue
        if marker in _START_OF_FRAME:
            height, width = struct.unpack_from(">HH", data, at + 5)
            return Facts("image/jpeg", width, height)
        if marker == 0xD9 or marker == 0xDA:
            raise UnusableImageError("the jpeg has no frame")
        at += 2 + struct.unpack_from(">H", data, at + 2)[0]


def _gif(data: bytes) -> Facts:
    if len(data) < 20 or b"\x3b" not in data[-512:]:
        raise UnusableImageError("the gif is not complete")
    return Facts("image/gif", *struct.unpack_from("<HH", data, 6))


def _webp(data: bytes) -> Facts:
    (length,) = struct.unpack_from("<I", data, 4)
    if len(data) < length + 8:
        raise UnusableImageError("the webp is not complete")
    kind = data[12:16]
    if kind == b"VP8X":
        width = int.from_bytes(data[24:27], "little") + 1
        height = int.from_bytes(data[27:30], "little") + 1
    elif kind == b"VP8L":
        if data[20] != 0x2F:
            raise UnusableImageError("the webp is damaged")
        (bits,) = struct.unpack_from("<I", data, 21)
        width, height = (bits & 0x3FFF) + 1, ((bits >> 14) & 0x3FFF) + 1
    elif kind == b"VP8 ":
        if data[23:26] != b"\x9d\x01\x2a":
            raise UnusableImageError("the webp is damaged")
        width, height = (n & 0x3FFF for n in struct.unpack_from("<HH", data, 26))
    else:
        raise UnusableImageError("the webp is of an unknown kind")
    return Facts("image/webp", width, height)

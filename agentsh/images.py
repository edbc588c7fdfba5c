"""What a picture's bytes really are: kind, size, and whether they are whole. Pure.

A bad picture in the history blocks every later request (S37), so it is looked at before it becomes
a block (tools/files/read.py) and again whenever it is sent (context/images.py): png (chunks,
checksums, inflated data), jpeg (segments to the end mark), gif (blocks to the trailer), webp
(chunks). The file's name plays no part. Nothing is scaled: without an image library a picture that
is too large is named in words and not sent (docs/adr/0017).
"""

from __future__ import annotations

import struct
import zlib
from typing import Final

from msgspec import Struct

MAX_SIDE: Final = 8000
"""Pixels; the smallest limit among the endpoints that name one."""
MAX_IMAGE_BYTES: Final = 3_932_160
"""5 MB once it is base64."""

_PNG = b"\x89PNG\r\n\x1a\n"
_PIECE = 1 << 20
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


class Picture(Struct, frozen=True):
    """A sound picture that may be sent."""

    mime_type: str
    width: int
    height: int


class Unusable(Struct, frozen=True):
    """A picture that must not be sent, and why."""

    mime_type: str
    reason: str


def sniff(head: bytes) -> str | None:
    """The mime type that the first twelve bytes claim; None: no picture of the four kinds."""
    if head.startswith(_PNG):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head[:6] in (b"GIF87a", b"GIF89a"):
        return "image/gif"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return None


def inspect(
    data: bytes,
    max_bytes: int = MAX_IMAGE_BYTES,
    max_side: int = MAX_SIDE,
    *,
    size: int | None = None,
) -> Picture | Unusable | None:
    """Judge a file's bytes. None: they do not even claim to be a picture.

    `size`: how many bytes the file has, where `data` may be only its beginning.
    """
    mime = sniff(data)
    if mime is None:
        return None
    size = max(size or 0, len(data))
    if size > max_bytes:
        return Unusable(mime, f"it has {size} bytes, at most {max_bytes} can be sent")
    measure = {
        "image/png": _png,
        "image/jpeg": _jpeg,
        "image/gif": _gif,
        "image/webp": _webp,
    }[mime]
    try:
        width, height = measure(data)
    except (ValueError, struct.error, IndexError, zlib.error) as e:
        return Unusable(mime, f"it is damaged ({e})")
    if not width or not height:
        return Unusable(mime, "it has no pixels")
    if max(width, height) > max_side:
        return Unusable(mime, f"it has {width} x {height} pixels, at most {max_side} a side")
    return Picture(mime, width, height)


def without_broken_extras(data: bytes) -> bytes:
    """A png without the chunks that no decoder needs and whose checksum is wrong; else the same.

    Where the chunks cannot be told apart the bytes stay as they are.
    """
    if not data.startswith(_PNG):
        return data
    chunks = [_PNG]
    offset = len(_PNG)
    while offset + 12 <= len(data):
        (size,) = struct.unpack_from(">I", data, offset)
        end = offset + 12 + size
        chunk = data[offset:end]
        is_sound = zlib.crc32(chunk[4:-4]) == int.from_bytes(chunk[-4:], "big")
        if end > len(data) or not (is_sound or chunk[4:5].islower()):
            return data
        if is_sound:
            chunks.append(chunk)
        if chunk[4:8] == b"IEND":
            return b"".join(chunks)
        offset = end
    return data


def _png(data: bytes) -> tuple[int, int]:
    header: bytes | None = None
    packed: list[bytes] = []
    offset = len(_PNG)
    while True:
        (size,) = struct.unpack_from(">I", data, offset)
        kind, body = data[offset + 4 : offset + 8], data[offset + 8 : offset + 8 + size]
        (checksum,) = struct.unpack_from(">I", data, offset + 8 + size)
        if zlib.crc32(kind + body) != checksum:
            raise ValueError(f"checksum of chunk {kind!r}")
        if header is None and kind != b"IHDR":
            raise ValueError("no header")
        if kind == b"IHDR":
            header = body
        elif kind == b"IDAT":
            packed.append(body)
        elif kind == b"IEND":
            break
        offset += 12 + size
    assert header is not None
    width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", header)
    row = 1 + (width * depth * _CHANNELS.get(colour, 1) + 7) // 8
    if max(width, height) <= MAX_SIDE:
        _check_inflated(b"".join(packed), None if interlaced else row * height)
    return width, height


def _check_inflated(packed: bytes, expected: int | None) -> None:
    """Inflate in pieces, so that a picture that unpacks to gigabytes costs no memory."""
    stream = zlib.decompressobj()
    total = 0
    while not stream.eof:
        piece = stream.decompress(packed, _PIECE)
        packed = stream.unconsumed_tail
        total += len(piece)
        if not piece and not packed:
            raise ValueError("its data end early")
        if expected is not None and total > expected:
            raise ValueError("its data are longer than its size says")
    if expected is not None and total != expected:
        raise ValueError("its data are shorter than its size says")


def _jpeg(data: bytes) -> tuple[int, int]:
    size: tuple[int, int] | None = None
    offset = 2
    while True:
        if data[offset] != 0xFF:
            raise ValueError(f"no marker at byte {offset}")
        marker = data[offset + 1]
        if marker == 0xFF:  # fill byte
            offset += 1
            continue
        if marker == 0x01 or 0xD0 <= marker <= 0xD8:
            offset += 2
            continue
        (length,) = struct.unpack_from(">H", data, offset + 2)
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", data, offset + 5)
            size = width, height
        if marker == 0xDA:
            break
        offset += 2 + length
    if size is None:
        raise ValueError("no frame header")
    if data.find(b"\xff\xd9", offset) < 0:
        raise ValueError("its data end early")
    return size


def _gif(data: bytes) -> tuple[int, int]:
    width, height, flags = struct.unpack_from("<HHB", data, 6)
    offset = 13 + _palette(flags)
    images = 0
    while data[offset] != 0x3B:
        if data[offset] == 0x21:
            offset = _skip_blocks(data, offset + 2)
        elif data[offset] == 0x2C:
            images += 1
            offset = _skip_blocks(data, offset + 11 + _palette(data[offset + 9]))
        else:
            raise ValueError(f"no block at byte {offset}")
    if not images:
        raise ValueError("no image in it")
    return width, height


def _palette(flags: int) -> int:
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _skip_blocks(data: bytes, offset: int) -> int:
    while data[offset]:
        offset += data[offset] + 1
    return offset + 1


def _webp(data: bytes) -> tuple[int, int]:
    (length,) = struct.unpack_from("<I", data, 4)
    if length + 8 > len(data):
        raise ValueError("its data end early")
    size: tuple[int, int] | None = None
    has_pixels = False
    offset = 12
    while offset < length + 8:
        kind = data[offset : offset + 4]
        (chunk,) = struct.unpack_from("<I", data, offset + 4)
        body = data[offset + 8 : offset + 8 + chunk]
        if len(body) < chunk:
            raise ValueError("its data end early")
        has_pixels = has_pixels or kind in (b"VP8 ", b"VP8L", b"ANMF")
        size = size or _webp_size(kind, body)
        offset += 8 + chunk + chunk % 2
    if size is None or not has_pixels:
        raise ValueError("no image in it")
    return size


def _webp_size(kind: bytes, body: bytes) -> tuple[int, int] | None:
    if kind == b"VP8X":
        return 1 + int.from_bytes(body[4:7], "little"), 1 + int.from_bytes(body[7:10], "little")
    if kind == b"VP8L":
        if body[0] != 0x2F:
            raise ValueError("no lossless signature")
        (bits,) = struct.unpack_from("<I", body, 1)
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 ":
        if body[3:6] != b"\x9d\x01\x2a":
            raise ValueError("no key frame")
        width, height = struct.unpack_from("<HH", body, 6)
        return width & 0x3FFF, height & 0x3FFF
    return None

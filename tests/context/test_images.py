"""Images are judged by their bytes."""

from __future__ import annotations

import base64
import struct
import zlib

import pytest

from agentsh.context.images import usable
from agentsh.messages import Image
from tests.context.made import PNG


def png(width: int = 8, height: int = 8, *, packed: bytes | None = None, end: bool = True) -> bytes:
    def part(kind: bytes, data: bytes) -> bytes:
        checksum = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + checksum

    rows = zlib.compress(b"\0" * 200) if packed is None else packed
    head = part(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + part(b"IDAT", rows) + (part(b"IEND", b"") if end else b"")


def jpeg(width: int = 8, height: int = 8) -> bytes:
    frame = b"\xff\xc0" + struct.pack(">HBHH", 11, 8, height, width) + b"\x01\x11\x00"
    return b"\xff\xd8\xff\xe0\x00\x04ab\xff" + frame + b"\xff\xda\x00\x02data\xff\xd9"


def gif(width: int = 8, height: int = 8) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0" * 12 + b"\x3b"


def webp(kind: bytes = b"VP8X", width: int = 8, height: int = 8) -> bytes:
    if kind == b"VP8X":
        body = b"\0" * 4 + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    elif kind == b"VP8L":
        body = b"\x2f" + ((width - 1) | (height - 1) << 14).to_bytes(4, "little") + b"\0" * 5
    else:
        body = b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width, height)
    chunk = kind + struct.pack("<I", len(body)) + body
    return b"RIFF" + struct.pack("<I", len(chunk) + 4) + b"WEBP" + chunk


def image(data: bytes, mime: str = "image/png") -> Image:
    return Image(base64.b64encode(data).decode(), mime)


SOUND = [
    (png(), "image/png"),
    (jpeg(), "image/jpeg"),
    (gif(), "image/gif"),
    (webp(), "image/webp"),
    (webp(b"VP8L"), "image/webp"),
    (webp(b"VP8 "), "image/webp"),
]


@pytest.mark.parametrize(("data", "mime"), SOUND)
def test_a_sound_image_goes_out_as_what_it_is_whatever_was_claimed(data: bytes, mime: str) -> None:
    assert usable(image(data, "image/claimed")) == image(data, mime)


def test_a_real_png_is_sound() -> None:
    assert usable(Image(PNG, "image/png")) == Image(PNG, "image/png")


@pytest.mark.parametrize(("data", "mime"), SOUND)
def test_no_image_survives_being_cut(data: bytes, mime: str) -> None:
    for size in range(0, len(data) - 2, 3):
        assert isinstance(usable(image(data[:size], mime)), str), size


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + bytes(range(200)) * 3,
        png().replace(b"IDAT", b"IDAX"),
        png(packed=b"junk, not deflated"),
        png(end=False),
        b"\xff\xd8\xff\xda\x00\x02\xff\xd9",
        b"\xff\xd8\xff\xe0\x00\x02zz\xff\xd9",
        b"RIFF\x10\0\0\0WEBPjunk" + b"\0" * 40,
        b"RIFF\x10\0\0\0WEBPVP8L" + b"\0" * 40,
        b"RIFF\x10\0\0\0WEBPVP8 " + b"\0" * 40,
        b"%PDF-1.4",
        b"",
    ],
)
def test_junk_is_no_image(data: bytes) -> None:
    assert isinstance(usable(image(data)), str)


def test_what_is_no_base64_is_no_image() -> None:
    assert "base64" in str(usable(Image("!!!", "image/png")))
    assert "base64" in str(usable(Image("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABý", "image/png")))


@pytest.mark.parametrize("make", [png, jpeg, gif])
def test_too_many_pixels_or_none_are_not_sent(make: object) -> None:
    assert callable(make)
    assert "9000×300 pixels" in str(usable(image(make(9000, 300))))
    assert "no pixels" in str(usable(image(make(0, 3))))


def test_too_many_bytes_are_not_sent() -> None:
    assert "bytes" in str(usable(image(png()), max_bytes=10))


def test_a_fill_byte_before_a_marker_is_no_damage() -> None:
    data = jpeg().replace(b"ab\xff\xff\xc0", b"ab\xff\xff\xff\xc0")
    assert usable(image(data)) == image(data, "image/jpeg")

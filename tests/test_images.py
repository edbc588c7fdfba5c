from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.images import Picture, Unusable, inspect
from tests.support.pictures import JPEG, gif, png, webp

GOOD = {"png": png(5, 7), "jpeg": JPEG, "gif": gif(5, 7), "webp": webp(5, 7)}


def test_each_kind_is_measured() -> None:
    assert inspect(png(5, 7)) == Picture("image/png", 5, 7)
    assert inspect(JPEG) == Picture("image/jpeg", 9, 8)
    assert inspect(gif(5, 7)) == Picture("image/gif", 5, 7)
    assert inspect(webp(5, 7)) == Picture("image/webp", 5, 7)


@pytest.mark.parametrize("kind", GOOD)
def test_a_picture_cut_anywhere_is_not_sent(kind: str) -> None:
    data = GOOD[kind]
    for size in range(len(data)):
        assert not isinstance(inspect(data[:size]), Picture), size


@given(st.sampled_from(sorted(GOOD)), st.binary(max_size=60))
def test_junk_behind_a_good_beginning_never_raises(kind: str, junk: bytes) -> None:
    inspect(GOOD[kind][:12] + junk)


def test_what_is_no_picture_is_nothing() -> None:
    assert inspect(b"") is None
    assert inspect(b"text") is None


def test_too_many_pixels_and_none_are_unusable() -> None:
    assert isinstance(inspect(png(8001, 1)), Unusable)
    assert isinstance(inspect(gif(0, 7)), Unusable)


def riff(*chunks: tuple[bytes, bytes]) -> bytes:
    body = b"WEBP"
    for kind, data in chunks:
        body += kind + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)
    return b"RIFF" + struct.pack("<I", len(body)) + body


LOSSY = (b"VP8 ", b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 5, 7))
EXTENDED = (b"VP8X", b"\0\0\0\0" + (4).to_bytes(3, "little") + (6).to_bytes(3, "little"))


@pytest.mark.parametrize("chunks", [(LOSSY,), (EXTENDED, LOSSY), ((b"ICCP", b"x"), LOSSY)])
def test_every_form_of_webp_is_measured(chunks: tuple[tuple[bytes, bytes], ...]) -> None:
    assert inspect(riff(*chunks)) == Picture("image/webp", 5, 7)


@pytest.mark.parametrize("before", [b"\xff", b"\xff\x01", b"\xff\xd0"])
def test_what_may_stand_before_a_marker_of_a_jpeg_is_passed(before: bytes) -> None:
    assert inspect(JPEG[:20] + before + JPEG[20:]) == inspect(JPEG)


def test_a_png_holds_as_many_bytes_as_its_size_says() -> None:
    data = png(5, 7).split(b"IDAT")[1]
    for width, height, reason in ((5, 6, "longer"), (5, 8, "shorter")):
        head = png(width, height).split(b"IDAT")[0]
        # the length stands before the kind, and belongs to the data
        head = head[:-4] + png(5, 7).split(b"IDAT")[0][-4:]
        found = inspect(head + b"IDAT" + data)

        assert isinstance(found, Unusable)
        assert f"its data are {reason} than its size says" in found.reason


BROKEN = {
    "no image in it": riff(EXTENDED),
    "no key frame": riff((b"VP8 ", b"\0" * 10)),
    "no lossless signature": riff((b"VP8L", b"\0" * 8)),
    "no frame header": b"\xff\xd8\xff\xda\x00\x02\xff\xd9",
    "no header": b"\x89PNG\r\n\x1a\n" + png(5, 7)[-12:],
}


@pytest.mark.parametrize("reason", BROKEN)
def test_a_picture_without_what_makes_it_one_says_what_is_missing(reason: str) -> None:
    found = inspect(BROKEN[reason])

    assert isinstance(found, Unusable)
    assert reason in found.reason


def test_a_gif_without_an_image_is_unusable() -> None:
    found = inspect(gif(5, 7)[:19] + b"\x3b")

    assert isinstance(found, Unusable)
    assert "no image in it" in found.reason

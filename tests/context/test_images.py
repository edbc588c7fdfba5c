"""Stored images are judged again by their bytes, each time they are sent."""

from __future__ import annotations

import base64

import pytest

from agentsh.context.images import usable
from agentsh.messages import Image
from tests.support.pictures import JPEG, gif, png, webp


def image(data: bytes, mime: str = "image/png") -> Image:
    return Image(base64.b64encode(data).decode(), mime)


SOUND = [
    (png(5, 7), "image/png"),
    (JPEG, "image/jpeg"),
    (gif(5, 7), "image/gif"),
    (webp(5, 7), "image/webp"),
]


@pytest.mark.parametrize(("data", "mime"), SOUND)
def test_a_sound_image_goes_out_as_what_it_is_whatever_was_claimed(data: bytes, mime: str) -> None:
    assert usable(image(data, "image/claimed")) == image(data, mime)


@pytest.mark.parametrize(("data", "mime"), SOUND)
def test_no_image_survives_being_cut(data: bytes, mime: str) -> None:
    for size in range(0, len(data) - 2, 3):
        assert isinstance(usable(image(data[:size], mime)), str), size


@pytest.mark.parametrize("data", [b"%PDF-1.4", b"", b"\x89PNG\r\n\x1a\n" + bytes(300)])
def test_junk_is_no_image(data: bytes) -> None:
    assert isinstance(usable(image(data)), str)


def test_what_is_no_base64_is_no_image() -> None:
    assert "base64" in str(usable(Image("!!!", "image/png")))
    assert "base64" in str(usable(Image("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABý", "image/png")))


def test_the_limits_are_the_callers() -> None:
    assert "10 can be sent" in str(usable(image(png(5, 7)), max_bytes=10))
    assert "6 a side" in str(usable(image(png(5, 7)), max_side=6))

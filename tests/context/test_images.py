"""Stored images are judged again by their bytes, each time they are sent."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.context.images import oldest_to_drop, usable
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


SIZES = st.lists(st.integers(1, 100), max_size=40)
BOUND = st.none() | st.integers(0, 300)


@given(SIZES, BOUND, BOUND)
def test_what_is_not_left_out_keeps_both_bounds(
    sizes: list[int], most: int | None, room: int | None
) -> None:
    kept = sizes[oldest_to_drop(sizes, most, room) :]

    assert most is None or len(kept) <= most
    assert room is None or sum(kept) <= room


@given(SIZES, BOUND, BOUND, st.integers(1, 100))
def test_the_newest_picture_is_sent_where_it_fits_alone_and_none_is_left_out_needlessly(
    sizes: list[int], most: int | None, room: int | None, newest: int
) -> None:
    sizes = [*sizes, newest]
    fits_alone = (most is None or most > 0) and (room is None or newest <= room)
    fit_all = (most is None or len(sizes) <= most) and (room is None or sum(sizes) <= room)
    gone = oldest_to_drop(sizes, most, room)

    assert (gone < len(sizes)) == fits_alone
    assert not (fit_all and gone)


@given(SIZES, SIZES, BOUND, BOUND)
def test_a_picture_that_was_left_out_stays_so_when_others_come(
    sizes: list[int], later: list[int], most: int | None, room: int | None
) -> None:
    assert oldest_to_drop(sizes, most, room) <= oldest_to_drop([*sizes, *later], most, room)

"""A refusal of pictures becomes a bound on them, in whatever words; what is about else does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.providers.wire.failures import Sent
from agentsh.providers.wire.imagelimits import PictureLimits, picture_limits
from agentsh.providers.wire.overflow import Refusal, judge

EIGHT = (7_000_000,) * 8


def limits(
    words: str, status: int = 400, pictures: tuple[int, ...] = EIGHT, characters: int = 40_000
) -> PictureLimits:
    return picture_limits(words, status, characters, pictures)


def first(words: str, status: int = 400) -> tuple[str, int]:
    return limits(words, status)[0]


@pytest.mark.parametrize(
    "words",
    [
        "Too many images in request: 8, maximum is 5",
        "Too many images provided. This model supports up to 5 images",
        "At most 5 image(s) may be provided in one request.",
        "messages: Too much media: 0 document pages + 8 images > 5",
        "messages.7.content.2: the number of images is 8 but max 5",
        "最多允许 5 张图片",
        "Es sind höchstens 5 Bilder erlaubt, 8 wurden gesendet",
        "画像は最大5枚です",
    ],
)
def test_a_count_below_that_of_the_pictures_is_the_count_that_is_kept(words: str) -> None:
    assert first(words) == ("max_images", 5)


@pytest.mark.parametrize(
    "words",
    [
        "image exceeds max allowed size for many-image requests: 2000 pixels",
        "At least one of the image dimensions exceed max allowed size: 2000 pixels",
        "image is 3000x500 pixels, the maximum is 2000",
        "image of 9000x4000 exceeds 2000x2000",
    ],
)
def test_pixels_are_a_side(words: str) -> None:
    assert first(words) == ("max_image_side", 2000)


@pytest.mark.parametrize(
    "words",
    [
        "messages.60.content.2.image.source.base64: image exceeds 4 MB maximum: 5242880 bytes"
        " > 4000000 bytes",
        "Image size too large: max 4MB",
        "image exceeds 4,000,000 bytes",
        "the image is larger than 4000.0 KB",
    ],
)
def test_bytes_of_one_picture_are_its_size(words: str) -> None:
    assert first(words) == ("max_image_bytes", 3_000_000)


def test_bytes_of_the_request_leave_to_the_pictures_what_the_text_does_not_take() -> None:
    words = "request body too large: the limit is 32 MB"

    assert first(words) == ("max_images_size", 28_000_000 - 40_000)
    assert first("total size of images exceeds 32 MB")[0] == "max_images_size"
    assert first("Request exceeds 32 MB", 413)[0] == "max_images_size"


@pytest.mark.parametrize(
    ("words", "status", "name"),
    [
        ("Request Entity Too Large", 413, "max_images_size"),
        ("", 413, "max_images_size"),
        ("PayloadTooLargeError: request entity too large", 400, "max_images_size"),
        ("request entity too large", 500, "max_images_size"),
        ("too many images", 400, "max_images"),
        ("image too large", 400, "max_image_bytes"),
        ("image too large", 413, "max_image_bytes"),
    ],
)
def test_without_a_number_less_of_the_same_is_tried(words: str, status: int, name: str) -> None:
    found = limits(words, status)

    assert found[0][0] == name
    assert {"max_images": 8, "max_images_size": sum(EIGHT), "max_image_bytes": 5_250_000}[
        name
    ] > found[0][1]


@pytest.mark.parametrize(
    "words",
    [
        "This model does not support image inputs",
        "image_url is only supported by certain models",
        "The image must be larger than 10 pixels (minimum 10)",
        "Invalid image at index 1",
        "unsupported image format",
        "the prompt of 90000 tokens exceeds 32768; images have tokens, too",
        "temperature must be at most 2",
        "tools: at most 5 are allowed",
    ],
)
def test_what_is_not_about_a_limit_of_pictures_bounds_none(words: str) -> None:
    assert limits(words) == ()


def test_a_body_of_text_that_is_too_large_is_a_prompt_that_is_too_long() -> None:
    refused = Refusal("Request Entity Too Large", frozenset(), (), 413)

    assert judge(refused, Sent(100_000, 400_000, None, (9_000,)), None).subject == "prompt"
    assert judge(refused, Sent(100_000, 400_000, None, (900_000,)), None).subject == "images"
    assert judge(refused, Sent(100_000, 400_000), None).subject == "prompt"


@given(
    st.text(max_size=200), st.sampled_from([400, 413, 422, 500]), st.lists(st.integers(0, 10**8))
)
def test_no_words_are_too_odd_and_every_guess_is_below_what_was_sent(
    words: str, status: int, sizes: list[int]
) -> None:
    pictures = tuple(sizes) or (1,)
    for name, limit in limits(f"image too many {words}", status, pictures):
        assert limit >= 0
        if name == "max_images":
            assert limit < len(pictures)

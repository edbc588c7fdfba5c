from __future__ import annotations

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

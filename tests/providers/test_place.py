from __future__ import annotations

import pytest

from agentsh.providers.place import read_place


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        ("http://h:1/v1", "http://h:1/v1/models"),
        ("http://h:1/v1/", "http://h:1/v1/models"),
        ("HTTP://h", "http://h/models"),
        ("https://h:443/v1/chat/completions", "https://h/v1/models"),
        ("https://h/openai/v1?api-version=1", "https://h/openai/v1/models?api-version=1"),
        (" http://[::1]:8080/v1 ", "http://[::1]:8080/v1/models"),
        ("http://key@h/v1", "http://h/v1/models"),
    ],
)
def test_an_address_is_made_of_the_base_url(base_url: str, url: str) -> None:
    assert read_place(base_url).url("/models") == url


def test_userinfo_is_a_key_and_is_not_shown() -> None:
    place = read_place("http://me:se%3Acret@h:1/v1?x=1")

    assert (place.password, place.shown, place.authority) == ("se:cret", "http://h:1/v1", "h:1")

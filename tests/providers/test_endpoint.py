from __future__ import annotations

import pytest

from agentsh.providers.endpoint import read_endpoint


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
    assert read_endpoint(base_url).url("/models") == url


def test_userinfo_is_a_key_and_is_not_shown() -> None:
    place = read_endpoint("http://me:se%3Acret@h:1/v1?x=1")

    assert (place.password, place.shown, place.authority) == ("se:cret", "http://h:1/v1", "h:1")


@pytest.mark.parametrize(
    ("base_url", "keys"),
    [
        ("http://h/v1", ()),
        ("http://h/v1?api-version=2024&deployment=x", ()),
        ("http://me:se%3Acret@h/v1", ("se:cret", "se%3Acret")),
        ("http://secret@h/v1?key=a+b&subscription-key=c", ("secret", "a b", "a+b", "c")),
        ("http://h/v1?x=1&token=&sig=s", ("s",)),
    ],
)
def test_l17_what_of_an_address_is_a_key(base_url: str, keys: tuple[str, ...]) -> None:
    assert read_endpoint(base_url).keys == keys


@pytest.mark.parametrize(
    ("host", "near"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("[::1]", True),
        ("192.168.1.9", True),
        ("10.0.0.3", True),
        ("100.64.0.1", True),
        ("gpu-box", True),
        ("gpu.local", True),
        ("api.openai.com", False),
        ("8.8.8.8", False),
        ("[2606:4700::1]", False),
    ],
)
def test_a_host_is_near_where_only_its_own_network_knows_it(host: str, near: bool) -> None:
    assert read_endpoint(f"http://{host}:8080/v1").is_near is near


@pytest.mark.parametrize(
    ("base_url", "first"),
    [
        ("http://h:1", "http://h:1/v1"),
        ("http://h:1/openai", "http://h:1/openai/v1"),
        ("https://key@h/v1?x=1", "https://h/api/v1"),
        ("https://h/api/v1", "https://h/v1"),
    ],
)
def test_another_base_url_of_the_host_is_never_the_same_one(base_url: str, first: str) -> None:
    place = read_endpoint(base_url)

    assert place.others[0] == first
    assert place.shown not in place.others


def test_a_hint_names_what_was_asked_and_what_would_work_unless_the_version_is_there() -> None:
    hint = read_endpoint("http://h:1").doubt("POST http://h:1/chat/completions")

    assert hint is not None
    assert hint.startswith("POST http://h:1/chat/completions was asked")
    assert "http://h:1/v1?" in hint
    assert read_endpoint("http://h:1/v1").doubt("POST x") is None


@pytest.mark.parametrize(
    ("path", "likelier"),
    [
        ("/v1/v1", "/v1"),
        ("/v1/v1/v1", "/v1"),
        ("/api/v1/v1", "/api/v1"),
        ("/api/v1/api/v1", "/api/v1"),
        ("/v1/completions", "/v1"),
        ("/v1/chat", "/v1"),
        ("/v1/messages", "/v1"),
    ],
)
def test_e38_a_base_url_that_goes_on_after_its_end_is_named_with_the_likelier_one(
    path: str, likelier: str
) -> None:
    place = read_endpoint(f"http://h:1{path}")
    hint = place.doubt(f"POST http://h:1{path}/chat/completions")

    assert place.others[0] == f"http://h:1{likelier}"
    assert hint is not None
    assert hint.startswith(f"POST http://h:1{path}/chat/completions was asked")
    assert f"is it http://h:1{likelier}?" in hint


@pytest.mark.parametrize("path", ["/v1", "/v1beta/openai", "/client/v4/accounts/1/ai/v1"])
def test_e38_a_base_url_with_a_version_is_not_doubted(path: str) -> None:
    assert read_endpoint(f"http://h:1{path}").doubt("POST x") is None

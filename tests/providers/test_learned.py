from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import pytest

from agentsh.errors import ContextOverflowError, RequestRejectedError
from agentsh.providers.learned import Memory
from tests.providers.asking import provider_for

URL = "http://127.0.0.1:9/v1"


def test_what_was_learned_outlives_the_process(tmp_path: Path) -> None:
    path = tmp_path / "state" / "learned.json"
    Memory(path).learn_shape(URL, "m", {"token_field": "max_completion_tokens"})
    Memory(path).learn_shape(URL, "m", {"stream_usage": False})
    Memory(path).learn_window(URL, "m", 4096)
    Memory(path).learn_window(URL, "other", 99)
    known = Memory(path)

    assert known.shape_change(URL, "m") == {
        "token_field": "max_completion_tokens",
        "stream_usage": False,
    }
    assert (known.window(URL, "m"), known.window(URL, "other")) == (4096, 99)
    assert (known.window(URL, "new"), known.shape_change("http://x", "m")) == (None, {})


def test_the_file_is_for_its_owner_and_no_draft_is_left(tmp_path: Path) -> None:
    path = tmp_path / "state" / "learned.json"
    Memory(path).learn_window(URL, "m", 4096)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [p.name for p in path.parent.iterdir()] == ["learned.json"]


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"endpoints":7}', b"\xff"])
def test_a_damaged_file_is_as_if_nothing_was_learned(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "learned.json"
    path.write_bytes(damage)
    memory = Memory(path)

    assert memory.shape_change(URL, "m") == {}
    memory.learn_window(URL, "m", 7)
    assert Memory(path).window(URL, "m") == 7


def test_what_cannot_be_kept_is_said_and_no_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    memory = Memory(tmp_path / "file" / "learned.json")
    memory.learn_window(URL, "m", 7)

    assert memory.window(URL, "m") == 7
    assert "not kept" in str(memory.trouble)


def test_old_endpoints_make_room_for_new_ones(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "learned.json")
    for port in range(250):
        memory.learn_window(f"http://127.0.0.1:{port}/v1", "m", 512)

    assert memory.window("http://127.0.0.1:0/v1", "m") is None
    assert memory.window("http://127.0.0.1:249/v1", "m") == 512


def test_two_processes_do_not_forget_for_each_other(tmp_path: Path) -> None:
    one, two = Memory(tmp_path / "x.json"), Memory(tmp_path / "x.json")
    one.learn_window(URL, "a", 1000)
    two.learn_window(URL, "b", 2000)

    assert Memory(tmp_path / "x.json").window(URL, "a") == 1000


# ---- a provider that learns ------------------------------------------------------------------

WORDS = "Unrecognized request argument supplied: max_tokens"


def test_a_provider_sends_the_learned_shape_from_then_on(tmp_path: Path) -> None:
    path = tmp_path / "learned.json"
    provider = provider_for(URL, memory=path)
    error = RequestRejectedError(WORDS, words=WORDS, status=400)
    learned = provider.learn("m", provider.shape("m"), error)

    assert learned is not None
    assert learned.token_field == "max_completion_tokens"
    assert provider.shape("m") == learned
    assert provider_for(URL, memory=path).shape("m") == learned
    assert provider.shape("other").token_field == "max_tokens"


def test_a_server_that_refuses_both_spellings_ends_the_learning() -> None:
    provider = provider_for(URL)
    error = RequestRejectedError(WORDS, words=WORDS, status=400)
    other = WORDS.replace("max_tokens", "max_completion_tokens")
    first = provider.shape("m")
    second = provider.learn("m", first, error)
    assert second is not None

    assert provider.learn("m", second, RequestRejectedError(other, words=other, status=400)) is None


def test_the_settings_win_over_what_was_learned() -> None:
    provider = provider_for(URL, shape={"token_field": "max_tokens"})
    provider.learn("m", provider.shape("m"), RequestRejectedError(WORDS, words=WORDS, status=400))

    assert provider.shape("m").token_field == "max_tokens"


def test_an_overflow_teaches_the_window(tmp_path: Path) -> None:
    provider = provider_for(URL, memory=tmp_path / "x.json")
    error = ContextOverflowError("too long", status=400)
    error.window = 8192

    assert provider.learn("gpt-4o", provider.shape("gpt-4o"), error) is None
    assert provider.model_info("gpt-4o").context_window == 8192
    assert provider.model_info("gpt-4o").source == "learned"
    assert provider.model_info("gpt-4.1").context_window == 1_047_576


def test_a_full_disk_costs_what_is_new_and_not_what_was_learned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "learned.json"
    Memory(place).learn_window("e", "m", 4096)
    before = place.read_bytes()
    memory = Memory(place)

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", _full)
        memory.learn_window("e", "other", 8192)

    assert place.read_bytes() == before
    assert "No space" in (memory.trouble or "")
    assert Memory(place).window("e", "m") == 4096


def _full(*_: object) -> int:
    raise OSError(28, "No space left on device")


def test_e42_items_of_reasoning_that_were_refused_are_tried_again_by_the_next_process(
    tmp_path: Path,
) -> None:
    path = tmp_path / "learned.json"
    provider = provider_for(URL, api="responses", memory=path)
    words = "The encrypted content gAAA could not be verified."
    error = RequestRejectedError("x", words=words, status=400)

    learned = provider.learn("m", provider.shape("m"), error)

    assert learned is not None
    assert (learned.reasoning_echo, provider.shape("m")) == ("never", learned)
    assert provider_for(URL, api="responses", memory=path).shape("m").reasoning_echo == "auto"


def test_e42_what_one_api_taught_is_no_news_of_the_other(tmp_path: Path) -> None:
    path = tmp_path / "learned.json"
    chat = provider_for(URL, memory=path)
    error = RequestRejectedError("x", words="reasoning_content is not allowed", status=400)

    learned = chat.learn("m", chat.shape("m"), error)

    assert learned is not None
    assert (learned.reasoning_echo, chat.shape("m").reasoning_echo) == ("never", "never")
    assert provider_for(URL, api="responses", memory=path).shape("m").reasoning_echo == "auto"


def test_l29_a_list_of_any_length_is_one_write_and_keeps_what_was_learned(tmp_path: Path) -> None:
    path = tmp_path / "learned.json"
    Memory(path).learn_window(URL, "m", 7)
    listed = {f"model-{number}": number + 1 for number in range(50_000)}
    began = time.monotonic()
    Memory(path).learn_listed(URL, {"x" * 20_000_000: 5, **listed})

    assert time.monotonic() - began < 5
    known = Memory(path)
    assert (known.window(URL, "m"), known.window(URL, "model-9")) == (7, 10)
    assert known.trouble is None
    assert path.stat().st_size < 1 << 20

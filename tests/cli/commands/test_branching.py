"""`ask`, `retry`, `pick`, `fold`: what is refused is said, and writes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import Talk, agentsh, make_talk
from tests.support.endpoint import calls, serve, text


@pytest.fixture
def talk(tmp_path: Path) -> Talk:
    """alpha, beta; gamma on a branch beside beta, where the leaf is."""
    talk = make_talk(tmp_path, "alpha", "beta")
    assert agentsh("checkout", talk.id, talk.ids["answer to alpha"]).code == 0
    return talk


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("ask", "LAST", "  "), 2, "there is no question"),
        (("retry", "LAST", "alpha"), 4, "is no answer of a model"),
        (("retry", "LAST", "none-such"), 3, "none-such"),
        (("pick", "LAST", "answer to alpha"), 4, "is on this path already"),
        (("pick", "LAST", "beta", "the nest"), 2, "a focus goes with --summary"),
        (("pick", "LAST", "beta", "--files", "--from", "LAST"), 2, "exclude each other"),
        (("pick", "LAST", "none-such"), 3, "none-such"),
        (("fold", "LAST", "alpha"), 4, "is on the path, which is never folded"),
        (("fold", "LAST", "beta", "--undo"), 4, "is not folded"),
    ],
)
def test_what_cannot_be_done_is_said_and_writes_nothing(
    talk: Talk, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], code: int, said: str
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("AGENTSH_MODEL", "m")
    before = talk.path.read_bytes()

    ended = agentsh(*(talk.id if w == "LAST" else talk.ids.get(w, w) for w in words))

    assert (ended.code, said in ended.err) == (code, True), ended
    assert talk.path.read_bytes() == before


def test_before_the_first_answer_there_is_nothing_to_ask_again(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert agentsh("checkout", talk.id, "root").code == 0

    ended = agentsh("retry", talk.id, "-m", "m")

    assert (ended.code, "no answer on this path" in ended.err) == (3, True), ended


@pytest.mark.parametrize(
    "words",
    [
        ("retry", "LAST", "answer to alpha", "--tools", "none-such"),
        ("run", "--session", "LAST", "--at", "alpha", "--tools", "none-such", "go on"),
        ("run", "--session", "LAST", "--at", "alpha", "  "),
    ],
)
def test_where_no_turn_can_be_had_the_leaf_stays(
    talk: Talk, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("AGENTSH_MODEL", "m")
    before = talk.path.read_bytes()

    ended = agentsh(*(talk.id if w == "LAST" else talk.ids.get(w, w) for w in words))

    assert ended.code == 2, ended
    assert talk.path.read_bytes() == before


def test_a_branch_is_folded_once_and_shown_again_from_within(talk: Talk) -> None:
    beta, within = talk.ids["beta"], talk.ids["answer to beta"]
    assert agentsh("fold", talk.id, beta).code == 0
    again = agentsh("fold", talk.id, beta)
    assert (again.code, "folded already" in again.err) == (4, True)
    assert "folded: 2 entries" in agentsh("tree", talk.id, "--plain").out

    assert agentsh("fold", talk.id, within, "--undo").code == 0

    assert "folded" not in agentsh("tree", talk.id, "--plain").out
    assert agentsh("verify", talk.id).code == 0


def test_an_aside_without_a_word_is_no_answer(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    wishes = calls(("c1", "bash", {"command": "touch made"}))
    with serve(wishes, text("It is grey.")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        silent = agentsh("ask", talk.id, "Which colour?", "-m", "m")
        answered = agentsh("ask", talk.id, "Which colour?", "-m", "m")

    assert (silent.code, silent.out) == (1, "")
    assert "may not: ask it as a prompt" in silent.err
    assert (answered.code, answered.out) == (0, "It is grey.\n")

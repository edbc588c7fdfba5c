"""`agentsh hide`, `unhide`: the model is told less, the file only grows, the rest shows all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentsh.session.file.session import open_session
from tests.cli.program import Talk, agentsh, make_talk


@pytest.fixture
def talk(tmp_path: Path) -> Talk:
    return make_talk(tmp_path, "alpha", "beta")


def value(*words: str) -> Any:
    ended = agentsh(*words, "--json")
    assert ended.code == 0, ended
    return ended.json()


def sent(talk: Talk, *more: str) -> list[str]:
    """What the model would be sent."""
    found = value("show", talk.id, "--view", "model", *more)["messages"]
    return [message["content"] for message in found if message["role"] != "system"]


def test_what_is_hidden_is_not_sent_and_shown_again_it_is(talk: Talk) -> None:
    before = talk.path.read_bytes()

    made = value("hide", talk.id, talk.ids["beta"], talk.ids["answer to alpha"])

    assert sent(talk) == ["alpha", "answer to beta"]
    assert made["session"] == talk.id
    assert made["entry"] == made["entries"][-1] == json.loads(last_line(talk))["id"]
    assert len(made["entries"]) == 2
    assert value("unhide", talk.id, talk.ids["beta"])["entries"] != []
    assert sent(talk) == ["alpha", "beta", "answer to beta"]
    assert talk.path.read_bytes().startswith(before)
    assert agentsh("verify", talk.id).code == 0


def last_line(talk: Talk) -> bytes:
    return talk.path.read_bytes().rstrip(b"\n").split(b"\n")[-1]


def test_leaf_is_what_was_said_last_also_behind_an_edit(talk: Talk) -> None:
    agentsh("hide", talk.id, "leaf")
    assert sent(talk) == ["alpha", "answer to alpha", "beta"]
    agentsh("unhide", talk.id, "leaf")
    assert sent(talk)[-1] == "answer to beta"


def test_a_text_stands_in_its_place(talk: Talk) -> None:
    assert agentsh("hide", talk.id, talk.ids["alpha"], "--with", "alpha, said better").code == 0
    assert sent(talk)[0] == "alpha, said better"


def test_every_view_but_the_models_shows_what_is_hidden(talk: Talk, tmp_path: Path) -> None:
    target = talk.ids["answer to alpha"]
    agentsh("hide", talk.id, target)

    tree = value("tree", talk.id)
    assert [e["id"] for e in tree["entries"] if e.get("hidden")] == [target]
    assert "(hidden) ~~answer to alpha~~" in agentsh("tree", talk.id).out
    for view in ("chat", "trace", "raw"):
        assert "answer to alpha" in agentsh("show", talk.id, "--view", view, "--json").out, view
    assert [hit["entry"] for hit in value("search", '"answer to alpha"')] == [target]
    agentsh("export", talk.id, "--to", str(tmp_path / "o.md"))
    assert "answer to alpha" in (tmp_path / "o.md").read_text()


def test_on_another_branch_it_is_not_hidden(talk: Talk) -> None:
    agentsh("hide", talk.id, talk.ids["answer to alpha"])
    agentsh("checkout", talk.id, talk.ids["answer to alpha"])

    assert sent(talk) == ["alpha", "answer to alpha"]
    assert "hidden" not in agentsh("tree", talk.id).out


@pytest.mark.parametrize("words", [("zzzzzzzz",), ("root",), ("leaf", "zzzzzzzz")])
@pytest.mark.parametrize("command", ["hide", "unhide"])
def test_what_is_not_there_is_exit_3(talk: Talk, command: str, words: tuple[str, ...]) -> None:
    before = talk.path.read_bytes()
    assert agentsh(command, talk.id, *words).code == 3
    assert talk.path.read_bytes() == before


def test_what_makes_no_sense_is_refused_and_nothing_is_written(talk: Talk) -> None:
    agentsh("checkout", talk.id, talk.ids["answer to alpha"])
    before = talk.path.read_bytes()

    for words in (
        ("hide", talk.id, talk.ids["beta"]),  # of another branch
        ("hide", talk.id, talk.ids["alpha"], talk.ids["beta"]),
        ("unhide", talk.id, talk.ids["alpha"]),  # not hidden
    ):
        ended = agentsh(*words)
        assert (ended.code, ended.out) == (4, "")
        assert ended.err
    assert agentsh("hide", talk.id, talk.ids["alpha"], "--with", " ").code == 2
    assert talk.path.read_bytes() == before


def test_while_another_writes_it_is_refused(talk: Talk) -> None:
    with open_session(talk.path, write=True):
        assert agentsh("hide", talk.id, talk.ids["alpha"]).code == 4
        assert agentsh("unhide", talk.id, talk.ids["alpha"]).code == 4

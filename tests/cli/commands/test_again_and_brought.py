"""`retry` and `pick` that do what they are for: an answer once more, what another branch found."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Talk, agentsh, make_talk
from tests.cli.working import Project
from tests.support.endpoint import Endpoint, calls, serve, status, stream, text


@pytest.fixture
def talk(tmp_path: Path) -> Talk:
    """alpha, beta; the leaf is the answer to alpha, and beta a branch of its own."""
    talk = make_talk(tmp_path, "alpha", "beta")
    assert agentsh("checkout", talk.id, talk.ids["answer to alpha"]).code == 0
    return talk


@pytest.fixture
def asks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with serve(text("a newer word")) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        monkeypatch.setenv("AGENTSH_MODEL", "m")
        yield endpoint


def chat(talk: Talk) -> list[str]:
    """What was said on the path."""
    shown: Any = agentsh("show", talk.id, "--json").json()
    return [message["text"] for message in shown["messages"]]


def raw(talk: Talk) -> list[Any]:
    shown: Any = agentsh("show", talk.id, "--view", "raw", "--json").json()
    return list(shown["entries"])


# ---- retry ---------------------------------------------------------------------------------------


def test_the_new_answer_stands_beside_the_old_one_and_both_are_printed(
    talk: Talk, asks: Endpoint
) -> None:
    again = agentsh("retry", talk.id)

    assert again.code == 0, again.err
    old, new = again.out.splitlines()
    assert old.startswith(talk.ids["answer to alpha"])
    assert "answer to alpha" in old
    assert "a newer word" in new
    assert chat(talk) == ["alpha", "a newer word"]
    tree = agentsh("tree", talk.id, "--plain").out
    assert "answer to alpha" in tree  # it stays


def test_an_older_answer_may_be_named_and_what_stands_before_it_is_asked(
    talk: Talk, asks: Endpoint
) -> None:
    assert agentsh("checkout", talk.id, talk.ids["answer to beta"]).code == 0

    again = agentsh("retry", talk.id, talk.ids["answer to alpha"], "--json")

    value: Any = again.json()
    assert value["session"] == talk.id
    [body] = asks.bodies
    said = [m["content"] for m in body["messages"] if m["role"] != "system"]  # type: ignore[union-attr,index,call-overload]
    assert said == ["alpha"]
    assert chat(talk) == ["alpha", "a newer word"]


def test_an_answer_that_fails_again_is_exit_1_and_says_why(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(status(400, {"error": {"message": "no herons here"}})) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        again = agentsh("retry", talk.id, "-m", "m", "--json")

    assert again.code == 1
    assert "no herons here" in again.err
    assert agentsh("verify", talk.id).code == 0


def test_a_retry_that_is_stopped_ends_as_the_signal_says(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = stream({"content": "slow"}, 30.0)
    with serve(slow) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        stopping = threading.Thread(target=interrupt_once_asked, args=(endpoint,))
        stopping.start()
        again = agentsh("retry", talk.id, "-m", "m")
        stopping.join()

    assert again.code == 130
    assert "aborted" in agentsh("show", talk.id, "--view", "trace").out


def interrupt_once_asked(endpoint: Endpoint) -> None:
    until = time.monotonic() + 20
    while not endpoint.requests and time.monotonic() < until:
        time.sleep(0.02)
    time.sleep(0.2)
    os.kill(os.getpid(), signal.SIGINT)


# ---- pick ----------------------------------------------------------------------------------------


def test_the_text_of_another_branch_comes_to_the_leaf_under_its_name(talk: Talk) -> None:
    there = talk.ids["answer to beta"]

    picked = agentsh("pick", talk.id, there, "--json")

    value: Any = picked.json()
    assert picked.code == 0, picked.err
    [made] = [entry for entry in raw(talk) if entry["id"] == value["entry"]]
    assert "answer to beta" in str(made["content"])
    assert agentsh("verify", talk.id).code == 0


def test_what_another_session_found_is_brought_from_there(talk: Talk, tmp_path: Path) -> None:
    other = make_talk(tmp_path, "gamma")
    before = other.path.read_bytes()

    picked = agentsh("pick", talk.id, other.ids["answer to gamma"], "--from", other.id, "--json")

    value: Any = picked.json()
    [made] = [entry for entry in raw(talk) if entry["id"] == value["entry"]]
    assert "answer to gamma" in str(made["content"])
    assert other.path.read_bytes() == before


def test_a_summary_is_asked_for_with_its_focus(talk: Talk, asks: Endpoint) -> None:
    there = talk.ids["answer to beta"]

    picked = agentsh("pick", talk.id, there, "mind the nest", "--summary", "--json")

    assert picked.code == 0, picked.err
    value: Any = picked.json()
    [request] = asks.requests
    assert b"mind the nest" in request.raw
    assert b"answer to beta" in request.raw
    [made] = [entry for entry in raw(talk) if entry["id"] == value["entry"]]
    assert "a newer word" in made["summary"]


def test_a_summary_of_another_session_is_asked_for_and_that_one_stays(
    talk: Talk, asks: Endpoint, tmp_path: Path
) -> None:
    other = make_talk(tmp_path, "gamma")
    before = other.path.read_bytes()

    picked = agentsh(
        "pick", talk.id, other.ids["answer to gamma"], "--from", other.id, "--summary", "--json"
    )

    assert picked.code == 0, picked.err
    assert b"answer to gamma" in asks.requests[0].raw
    assert other.path.read_bytes() == before


def test_a_summary_that_is_stopped_brings_nothing(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(stream({"content": "slow"}, 30.0)) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        stopping = threading.Thread(target=interrupt_once_asked, args=(endpoint,))
        stopping.start()
        picked = agentsh("pick", talk.id, talk.ids["answer to beta"], "--summary", "-m", "m")
        stopping.join()

    assert picked.code != 0
    assert [entry for entry in raw(talk) if entry["type"] == "branch_summary"] == []


def branched(project: Project) -> str:
    """A branch that wrote `new.txt`, and this path without it; the answer of that branch."""
    write = calls(("c1", "write", {"path": "new.txt", "content": "n"}))
    with serve(text("begun"), write, text("written there"), text("another way")) as endpoint:
        project.monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        project.run("--approve", "all", "begin")
        place = project.leaf()
        project.run("--approve", "all", "-c", "write")
        shown: Any = agentsh("show", "last", "--view", "raw", "--json", cwd=project.tree).json()
        [there] = [e["id"] for e in shown["entries"] if "written there" in str(e.get("message"))]
        agentsh("checkout", "last", place, "--files", cwd=project.tree)
        project.run("--approve", "all", "-c", "on")
    return str(there)


def test_with_files_the_changes_of_that_branch_come_too_and_are_told(project: Project) -> None:
    there = branched(project)
    assert project.files() == {}

    picked = agentsh("pick", "last", there, "--files", cwd=project.tree)

    assert picked.code == 0, picked.err
    assert "created: new.txt" in picked.err
    assert project.files() == {"new.txt": "n"}


def test_files_that_do_not_fit_leave_all_as_it_is(project: Project) -> None:
    there = branched(project)
    project.put("new.txt", "mine")
    before = project.leaf()

    picked = agentsh("pick", "last", there, "--files", cwd=project.tree)

    assert picked.code == 4
    assert "new.txt" in picked.err
    assert project.files() == {"new.txt": "mine"}
    assert project.leaf() == before

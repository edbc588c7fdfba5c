"""The four views of one file, as values and as text."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentsh.messages import Text, UserMessage
from agentsh.session.file.session import open_session
from agentsh.session.format.entries import MessageBody
from tests.cli.program import Talk, agentsh, make_talk


@pytest.fixture
def talk(tmp_path: Path) -> Talk:
    return make_talk(tmp_path, "alpha", "beta")


def test_chat_is_what_was_said_on_the_path(talk: Talk) -> None:
    texts = ["alpha", "answer to alpha", "beta", "answer to beta"]

    shown = agentsh("show", talk.id, "--json").json()
    text = agentsh("show", talk.id).out

    assert isinstance(shown, dict)
    assert [(m["entry"], m["text"]) for m in shown["messages"]] == [
        (talk.ids[text], text) for text in texts
    ]
    assert text == "> alpha\n\nanswer to alpha\n\n> beta\n\nanswer to beta\n"


def test_model_is_the_messages_of_the_next_request(talk: Talk) -> None:
    shown = agentsh("show", talk.id, "--view", "model", "--json").json()

    assert isinstance(shown, dict)
    assert [(m["role"], m["content"]) for m in shown["messages"]] == [
        ("user", "alpha"),
        ("assistant", "answer to alpha"),
        ("user", "beta"),
        ("assistant", "answer to beta"),
    ]


def test_at_shows_the_path_to_another_entry(talk: Talk) -> None:
    at = talk.ids["answer to alpha"]

    for view in ("chat", "model"):
        shown = agentsh("show", talk.id, "--view", view, "--at", at, "--json").json()
        assert isinstance(shown, dict)
        assert shown["leaf"] == at
        assert "beta" not in json.dumps(shown)


def test_raw_is_each_line_as_parsed(talk: Talk) -> None:
    header, *entries = [json.loads(line) for line in talk.path.read_text().splitlines()]

    shown = agentsh("show", talk.id, "--view", "raw", "--json").json()

    assert shown == {
        "session": talk.id,
        "leaf": entries[-1]["id"],
        "header": header,
        "entries": entries,
    }
    assert agentsh("show", talk.id, "--view", "raw").out.encode() == talk.path.read_bytes()


def test_trace_names_every_entry_of_the_path(talk: Talk) -> None:
    shown = agentsh("show", talk.id, "--view", "trace", "--json").json()

    assert isinstance(shown, dict)
    assert [e["type"] for e in shown["events"]] == [
        "session",
        "user",
        "assistant",
        "user",
        "assistant",
    ]


@pytest.mark.parametrize("view", ["chat", "trace", "model", "raw"])
def test_foreign_text_cannot_act_on_the_terminal(tmp_path: Path, view: str) -> None:
    talk = make_talk(tmp_path, "\x1b]52;c;ZXZpbA==\x07\x1b[5n hello \x9b5n \u202e")

    shown = agentsh("show", talk.id, "--view", view).out

    assert "hello" in shown
    assert [c for c in shown if c != "\n" and not c.isprintable()] == []


def test_a_wrong_view_is_wrong_use(talk: Talk) -> None:
    assert agentsh("show", talk.id, "--view", "nope").code == 2
    assert agentsh("show", talk.id, "--follow", "--json").code == 2


def test_follow_shows_what_another_process_appends_after_an_empty_line(talk: Talk) -> None:
    command = [sys.executable, "-m", "agentsh", "show", talk.id, "--follow"]
    follower = subprocess.Popen(command, stdout=subprocess.PIPE, env=dict(os.environ))
    assert follower.stdout is not None
    try:
        for _ in range(7):
            follower.stdout.readline()
        with open_session(talk.path, write=True) as writer:
            writer.append(MessageBody(UserMessage((Text("from the other"),), 3)))
            writer.barrier()
            assert follower.stdout.readline() == b"\n"
            assert follower.stdout.readline() == b"> from the other\n"
    finally:
        follower.kill()
        follower.wait()
        follower.stdout.close()


def test_a_closed_pipe_ends_quietly(tmp_path: Path) -> None:
    talk = make_talk(tmp_path, *(f"prompt {n} " + "x" * 2000 for n in range(100)))
    command = [sys.executable, "-m", "agentsh", "show", talk.id]
    shown = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert shown.stdout is not None
    assert shown.stderr is not None
    shown.stdout.read(10)
    shown.stdout.close()
    began = time.monotonic()
    with shown.stderr:
        assert shown.stderr.read() == b""
    shown.wait()
    assert time.monotonic() - began < 20


def test_repair_writes_a_sound_file_beside_the_bad_one(talk: Talk, tmp_path: Path) -> None:
    rows = talk.path.read_bytes().split(b"\n")
    rows.insert(3, b"not json at all")
    talk.path.write_bytes(b"\n".join(rows))
    before = talk.path.read_bytes()
    to = tmp_path / "new/sound.jsonl"

    done = agentsh("repair", talk.id, "--to", str(to))

    assert (done.code, done.out) == (0, f"{to}\n")
    assert "line 4" in done.err
    assert talk.path.read_bytes() == before
    assert agentsh("verify", str(to)).code == 0
    assert agentsh("show", str(to)).out == agentsh("show", talk.id).out
    assert agentsh("repair", talk.id, "--to", str(to)).code == 4

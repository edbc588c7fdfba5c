"""`show --timed` and `--follow`: a session as it happened, and as it goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from agentsh.messages import Text, UserMessage
from agentsh.session.file.session import open_session
from agentsh.session.format.entries import MessageBody
from tests.cli.program import agentsh, make_talk


def test_what_is_appended_is_followed_until_the_person_stops_it(tmp_path: Path) -> None:
    talk = make_talk(tmp_path, "herons")
    following = subprocess.Popen(
        [sys.executable, "-m", "agentsh", "show", talk.id, "--follow"],
        cwd=tmp_path,
        env=dict(os.environ),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert following.stdout is not None
    with following:
        seen = ""
        while "answer to herons" not in seen:
            seen += following.stdout.readline()
        with open_session(talk.path, write=True) as session:
            session.append(MessageBody(UserMessage((Text("and storks"),), 3)))
            session.barrier()
        while "and storks" not in seen:
            seen += following.stdout.readline()
        following.send_signal(signal.SIGINT)
        assert following.wait(20) == 130
    assert seen.count("answer to herons") == 1


def test_a_session_that_is_gone_is_followed_no_longer(tmp_path: Path) -> None:
    talk = make_talk(tmp_path, "herons")
    following = subprocess.Popen(
        [sys.executable, "-m", "agentsh", "show", talk.id, "--follow"],
        cwd=tmp_path,
        env=dict(os.environ),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert following.stdout is not None
    assert following.stderr is not None
    with following:
        while "answer to herons" not in following.stdout.readline():
            continue
        talk.path.unlink()
        assert following.wait(20) == 3
        assert "is gone" in following.stderr.read()


def test_as_it_happened_is_what_was_said_in_its_order(tmp_path: Path) -> None:
    talk = make_talk(tmp_path, "herons", "storks")
    began = time.monotonic()

    shown = agentsh("show", talk.id, "--timed", "1000")

    assert time.monotonic() - began < 10
    assert shown.code == 0, shown.err
    said = [word for word in shown.out.split() if word in ("herons", "storks")]
    assert said == ["herons", "herons", "storks", "storks"]

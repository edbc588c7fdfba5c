"""Two processes on one session, 500 turns each: no line lost, mixed or out of place (R63)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from agentsh.messages import AssistantMessage, UserMessage
from agentsh.session.file.session import new_session, open_session
from agentsh.session.format.entries import Header, MessageBody, SessionId
from agentsh.session.health.verify import verify_file
from agentsh.views.describe import message_text
from tests.session.builders import user

_WRITER = Path(__file__).parents[1] / "support" / "racing_writer.py"
TURNS = 500


def race(path: Path, turns: int) -> dict[str, int]:
    """Let two processes write; how often each was refused."""
    header = Header(SessionId("01890000-0000-7000-8000-0000000000aa"), "2026-01-01T00:00:00Z", "/")
    with new_session(path, header) as session:
        session.append(MessageBody(user("the beginning")))
    children = {
        name: subprocess.Popen(
            [sys.executable, str(_WRITER), str(path), name, str(turns), str(seed)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for seed, name in enumerate(("anna", "bert"))
    }
    refused = {}
    for name, child in children.items():
        out, err = child.communicate()
        assert child.returncode == 0, err
        refused[name] = int(out)
    return refused


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_r63_two_writers_lose_no_line_and_mix_none(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"

    refused = race(path, TURNS)

    assert sum(refused.values()) > 0, "they never met: this proves nothing"
    report = verify_file(path)
    assert report.ok, report.problems
    assert not report.warnings, report.warnings
    for line in path.read_bytes().splitlines():
        json.loads(line)  # each is whole
    with open_session(path, write=False) as session:
        path_ids = {entry.id for entry in session.branch().entries}
        assert path_ids == set(session.tree), "a branch that nobody asked for"
        said: dict[str, list[int]] = {"anna": [], "bert": []}
        before = None
        for entry in session.branch().entries:
            match entry.body:
                case MessageBody(UserMessage() as message) if " asks " in message_text(message):
                    before = message_text(message)
                    name, _, number = before.split()
                    said[name].append(int(number))
                case MessageBody(AssistantMessage() as message):
                    assert before is not None
                    assert message_text(message) == before.replace("asks", "is told")
                case _:
                    pass
    assert said == {"anna": list(range(1, TURNS + 1)), "bert": list(range(1, TURNS + 1))}

"""`agentsh tree` at a terminal: what is decided in the navigator is done by the commands."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.cli.program import agentsh, make_talk
from tests.cli.working import Project
from tests.support.endpoint import serve, text
from tests.support.terminal import ENTER, pty_terminal

FILL = "word " * 120


def test_x_hides_and_c_sums_up_what_is_before(project: Project) -> None:
    talk = make_talk(project.tree, f"alpha {FILL}", "beta", "gamma")
    hidden = talk.ids["answer to beta"]
    words = [sys.executable, "-m", "agentsh", "tree", talk.id]
    with serve(text("SUMMARY of herons")) as endpoint:
        env = {
            **os.environ,
            "PYTHONPATH": str(Path(__file__).resolve().parents[3]),
            "OPENAI_BASE_URL": endpoint.base_url,
            "AGENTSH_MODEL": "m",
        }
        with pty_terminal(words, env=env, cwd=project.tree, columns=60) as terminal:
            terminal.wait("answer to gamma")
            terminal.send(f"/answer to beta{ENTER}")
            terminal.wait("agent: answer to beta")
            terminal.send("x")
            terminal.wait("hidden from the model")
            terminal.send(f"/gamma{ENTER}c")
            terminal.wait("one request")
            assert endpoint.requests == []
            terminal.send("y")
            assert terminal.ends() == 0
        (request,) = endpoint.requests

    assert "answer to beta" not in str(request.body["messages"])
    shown = agentsh("tree", talk.id, "--json").json()
    assert isinstance(shown, dict)
    assert [e["id"] for e in shown["entries"] if e.get("hidden")] == [hidden]
    sent = agentsh("show", talk.id, "--view", "model", "--json").json()
    assert isinstance(sent, dict)
    said = [m["content"] for m in sent["messages"] if m["role"] != "system"]
    assert "SUMMARY of herons" in said[0]
    assert said[1:] == ["gamma", "answer to gamma"]
    assert agentsh("verify", talk.id).code == 0


def test_z_puts_a_dead_branch_away_and_b_brings_what_it_says(project: Project) -> None:
    talk = make_talk(project.tree, "alpha", "beta")
    assert agentsh("checkout", talk.id, talk.ids["answer to alpha"]).code == 0
    words = [sys.executable, "-m", "agentsh", "tree", talk.id]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[3])}
    with pty_terminal(words, env=env, cwd=project.tree, columns=60) as terminal:
        terminal.wait("answer to beta")
        terminal.send(f"/beta{ENTER}z")
        terminal.wait("folded: 2 entries")
        terminal.send("z")
        terminal.wait("unfolded")
        terminal.send("z")
        terminal.wait("folded; the filter")
        terminal.send("b")
        assert terminal.ends() == 0

    assert "folded: 2 entries" in agentsh("tree", talk.id, "--plain").out
    sent = agentsh("show", talk.id, "--view", "model", "--json").json()
    assert isinstance(sent, dict)
    said = [str(m["content"]) for m in sent["messages"] if m["role"] != "system"]
    assert said[:2] == ["alpha", "answer to alpha"]
    assert "beta" in said[2]
    assert len(said) == 3
    assert agentsh("verify", talk.id).code == 0

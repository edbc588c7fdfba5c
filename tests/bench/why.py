"""`agentsh why` of a file of 5,000 lines with 300 states, against `git blame` of the same history.

Each state is a turn of a session: an edit, a command, or both, in a place or all over the file; and
a commit of a repository in the folder, with the same content.
"""

from __future__ import annotations

import os
import random
import subprocess
from functools import partial
from pathlib import Path

from agentsh.files import real
from agentsh.jsontext import JsonObject
from agentsh.session.store.store import Store
from agentsh.tools.undo.checkpointer import Checkpointer
from tests.agent.builders import make_agent, quick, run
from tests.agent.files.desk import Grown
from tests.bench.measure import Program, agentsh, alternately, environment, launch, table, workplace
from tests.support.scripted import Call

LINES = 5_000
STATES = 300
NAME = "long.txt"
_GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@localhost", "-c", "gc.auto=0")


def main() -> None:
    with workplace() as root:
        tree, home = real(root) / "project", real(root) / "home"
        tree.mkdir()
        _live(tree, home / "agentsh")
        why = Program(
            [*agentsh(), "why", NAME, "--json"],
            environment(home, AGENTSH_HOME=str(home / "agentsh")),
        )
        blame = Program(["git", "blame", NAME], environment(home))
        start = Program([*agentsh(), "sessions"], environment(home))
        runs = alternately(
            {
                "git blame": partial(launch, blame, tree),
                "agentsh why": partial(launch, why, tree),
                "agentsh sessions": partial(launch, start, tree),
            }
        )
        for what in ("wall", "cpu"):
            table(f"{LINES} lines, {STATES} states: {what}, ms", runs, what, against="git blame")


def _live(tree: Path, home: Path) -> None:
    """The turns, each with its commit."""
    dice = random.Random(7)
    place = tree / NAME
    place.write_text("".join(f"line {number} of the beginning\n" for number in range(LINES)))
    _git(tree, "init", "-q")
    _commit(tree)
    provider = Grown()
    session = Store(home / "sessions", around=quick()).create(str(tree))
    checkpointer = Checkpointer(tree, home / "checkpoints", os.environ)
    agent = make_agent(
        session, provider, tree, open_checkpointer=lambda: checkpointer, verified=False
    )
    for turn in range(STATES):
        lines = place.read_text().split("\n")[:-1]
        at = dice.randrange(len(lines) - 10)
        old = "\n".join(lines[at : at + 3]) + "\n"
        new = "\n".join((*lines[at : at + 1], f"edit {turn} one", f"edit {turn} two")) + "\n"
        edit: JsonObject = {"path": NAME, "edits": [{"oldText": old, "newText": new}]}
        step = [Call(f"e{turn}", "edit", edit)]
        if turn % 3 == 0:
            ends = f"1s/.*/first {turn}/; $s/.*/last {turn}/"
            step.append(Call(f"b{turn}", "bash", {"command": f"sed -i '{ends}' {NAME}"}))
        provider.script = [*provider.script, tuple(step), "done"]
        run(agent, f"turn {turn}")
        _commit(tree)
    session.close()


def _git(tree: Path, *words: str) -> None:
    subprocess.run([*_GIT, *words], cwd=tree, check=True, capture_output=True)


def _commit(tree: Path) -> None:
    _git(tree, "add", NAME)
    _git(tree, "commit", "-q", "-m", "a state")


if __name__ == "__main__":
    main()

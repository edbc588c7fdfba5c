"""Where git's HEAD goes during a turn is on record: each commit that it was at."""

from __future__ import annotations

import subprocess
from pathlib import Path

from agentsh.session.format.facts import HeadMoved, TurnEnded, TurnStarted
from tests.agent.builders import facts, make_agent, path_of, run, start_session
from tests.support.scripted import Call, ScriptedProvider

COMMIT = "git -c user.name=a -c user.email=a@localhost commit -q --allow-empty -m"


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def bash(name: str, command: str) -> tuple[Call]:
    return (Call(name, "bash", {"command": command}),)


def test_every_commit_that_a_turn_makes_is_on_record(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    provider = ScriptedProvider(
        bash("a", f"{COMMIT} one && {COMMIT} two"),
        bash("b", "git status"),
        bash("c", f"git checkout -q -b side && {COMMIT} three"),
        "done",
    )
    agent = make_agent(start_session(tmp_path), provider, tmp_path)
    run(agent)

    three, two, one = git(tmp_path, "log", "--format=%H").split()
    kinds = TurnStarted | HeadMoved | TurnEnded
    told = [fact for fact in facts(path_of(agent.session)) if isinstance(fact, kinds)]
    assert told[:3] == [
        TurnStarted(1, None, "main"),
        HeadMoved(two, "main", (one,)),
        HeadMoved(three, "side", (two,)),
    ]
    assert isinstance(told[3], TurnEnded)
    assert (told[3].commit, told[3].branch) == (three, "side")
    assert len(told) == 4


def test_where_git_keeps_no_log_each_command_still_says_where_head_is(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "config", "core.logAllRefUpdates", "false")
    provider = ScriptedProvider(bash("a", f"{COMMIT} one"), bash("b", f"{COMMIT} two"), "done")
    agent = make_agent(start_session(tmp_path), provider, tmp_path)
    run(agent)

    two, one = git(tmp_path, "log", "--format=%H").split()
    moves = [fact for fact in facts(path_of(agent.session)) if isinstance(fact, HeadMoved)]
    assert moves == [HeadMoved(one, "main"), HeadMoved(two, "main")]

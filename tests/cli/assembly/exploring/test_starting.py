"""How an exploration is put together of its options and the settings."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.endpoint import Endpoint, serve
from tests.support.exploring import PROMPT, REAL, AtOnce, agentsh, git, run

pytestmark = REAL


def test_settings_say_what_no_option_does(project: Path, tmp_path: Path) -> None:
    (project / "lib").mkdir()
    (project / "lib" / "a").write_text("lent")
    (project / ".env").write_text("brought\n")
    (project / ".git" / "info" / "exclude").write_text("/lib\n/.venv\n.env\n/made\n")
    (project / ".venv").mkdir()
    (project / ".venv" / "x").write_text("")
    work = tmp_path / "work"
    work.mkdir()
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text(
        "[endpoint]\nmax_requests = 1\n"
        '[explore]\nparallel = 3\nwith = [".env", "none.txt"]\nshare = ["lib", ".venv", "no"]\n'
        f'setup = "touch made"\nworkspaces = "{work}"\n'
    )
    counting = AtOnce()

    with serve(counting.reply) as endpoint:
        check = "test -f made && grep -q brought .env && grep -q lent lib/a"
        done = run(project, endpoint, "--check", check, "--keep", "--output", "json", PROMPT)
        value = json.loads(done.stdout)

        assert value["limits"]["parallel"] == 3
        assert [row["check"]["exit"] for row in value["branches"]] == [0, 0, 0]
        assert counting.most == 1
        assert [row["changed"] for row in value["branches"]] == [[], [], []]
        assert b".venv" not in done.stderr
        name = value["exploration"]
        kept = work / "agentsh-explore" / name
        assert value["branches"][2]["workspace"] == str(kept / "3" / "work")
        assert run(project, endpoint, "clean").returncode == 0
        assert not (kept / "3" / "work").exists()
        assert run(project, endpoint, "rm", name, "--yes").returncode == 0
        assert not kept.exists()

        (home / "config.toml").write_text('[explore]\nworkspaces = "none"\n')
        refused = run(project, endpoint, PROMPT)
        assert refused.returncode == 2
        assert b"explore.workspaces none: there is no such folder" in refused.stderr


def test_the_root_of_a_branch_says_whose_it_is(project: Path, endpoint: Endpoint) -> None:
    value = json.loads(run(project, endpoint, "-n", "2", "--output", "json", PROMPT).stdout)
    session = json.loads(run(project, endpoint, "pick", "1", "--json").stdout)["session"]
    deeper = run(project, endpoint, "--session", session, "-n", "1", "--output", "json", PROMPT)

    [row] = json.loads(deeper.stdout)["branches"]
    roots = [
        json.loads(Path(each["path"]).read_text().splitlines()[1])["data"]
        for each in (*value["branches"], row)
    ]
    assert [root["origin"] for root in roots] == ["explore"] * 3
    assert [root["explore"]["n"] for root in roots] == [1, 2, 1]
    assert roots[1]["explore"]["exploration"] == value["exploration"]
    assert roots[1]["explore"]["base"] == value["base"]["commit"]
    assert [root["depth"] for root in roots] == [1, 1, 1]


def test_a_task_with_a_base_begins_at_that_revision(project: Path, endpoint: Endpoint) -> None:
    first = git(project, "rev-parse", "HEAD").strip()
    (project / "a.txt").write_text("two\n")
    (project / "new.txt").write_text("later\n")
    (project / "run.sh").write_text("#!/bin/sh\n")
    (project / "run.sh").chmod(0o755)
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "second")
    (project / "a.txt").write_text("three\n")
    before = git(project, "status", "--porcelain")
    check = (
        f'test "$(git rev-parse HEAD)" = {first} && grep -q one a.txt && test ! -e new.txt'
        ' && test "$(git status --porcelain)" = "?? answer.txt"'
    )
    tasks = project.parent / "tasks.jsonl"
    rows = [
        {"prompt": "a", "base": "HEAD~1", "check": check},
        {"prompt": "b", "base": "master", "check": "test -x run.sh && grep -q two a.txt"},
        {"prompt": "c", "check": "grep -q three a.txt"},
    ]
    git(project, "branch", "-M", "master")
    tasks.write_text("".join(json.dumps(row) + "\n" for row in rows))

    done = run(project, endpoint, "--tasks", str(tasks), "--output", "json")

    branches = json.loads(done.stdout)["branches"]
    assert [row["check"] and row["check"]["exit"] for row in branches] == [0, 0, 0], done.stdout
    assert [[each["path"] for each in row["changed"]] for row in branches] == [["answer.txt"]] * 3
    assert git(project, "status", "--porcelain") == before
    tasks.write_text('{"prompt": "a"}\n{"prompt": "b", "base": "nowhere"}\n')
    refused = run(project, endpoint, "--tasks", str(tasks))
    assert refused.returncode == 2
    assert b"tasks.jsonl:2: there is no revision 'nowhere'" in refused.stderr


def test_a_base_of_a_revision_is_made_again_for_a_resume(project: Path, endpoint: Endpoint) -> None:
    (project / "a.txt").write_text("two\n")
    git(project, "commit", "-q", "-a", "-m", "second")
    tasks = project.parent / "tasks.jsonl"
    check = 'grep -q one a.txt && test -z "$(git status --porcelain -uno)"'
    rows = [{"prompt": "a", "base": "HEAD~1", "check": check}] * 2
    tasks.write_text("".join(json.dumps(row) + "\n" for row in rows))
    held = ("--tasks", str(tasks), "--token-limit", "1")
    assert run(project, endpoint, *held, "-j", "1").returncode == 6
    assert run(project, endpoint, "clean").returncode == 0

    done = run(project, endpoint, "resume", "--token-limit", "1000000", "--output", "json")

    rows = json.loads(done.stdout)["branches"]
    assert [row["check"] and row["check"]["exit"] for row in rows] == [0, 0], done.stdout


def test_files_as_recorded_at_an_entry(project: Path, endpoint: Endpoint) -> None:
    (project / ".git" / "info" / "exclude").write_text("/ignored\n")
    (project / "ignored").write_text("now")
    agentsh(project, endpoint, "run", PROMPT)
    assert (project / "answer.txt").read_text() == "colour 1\n"
    (project / "answer.txt").write_text("by hand\n")
    (project / "later.txt").write_text("later\n")
    check = "cat seen.txt ignored; ls; git status --porcelain"
    setup = ("--setup", "cp answer.txt seen.txt || true")  # as it is before the branch writes it
    common = ("-c", "-n", "1", *setup, "--check", check, "--with", "ignored", "--output", "json")

    now = run(project, endpoint, *common, PROMPT)
    then = run(project, endpoint, *common, "--at", "root", "--files", PROMPT)
    after = run(project, endpoint, *common, "--at", "leaf", "--files", PROMPT)

    outputs = [json.loads(each.stdout)["branches"][0]["check"]["output"] for each in (now, after)]
    assert "by hand" in outputs[0]
    assert "later" in outputs[0]
    assert "colour 1" in outputs[1]
    assert "later.txt" not in outputs[1]
    assert "now" in outputs[1]
    [row] = json.loads(then.stdout)["branches"]
    assert [each["kind"] for each in row["changed"]] == ["create"]
    assert run(project, endpoint, "--files", PROMPT).returncode == 2
    fresh = project.parent / "home2"
    (fresh).mkdir()
    (fresh / "config.toml").write_text("[undo]\nenabled = false\n")
    assert agentsh(project, endpoint, "run", PROMPT, home=fresh).returncode == 0
    refused = run(project, endpoint, "-c", "--at", "leaf", "--files", PROMPT, home=fresh)
    assert refused.returncode == 4
    assert b"no state of the files" in refused.stderr

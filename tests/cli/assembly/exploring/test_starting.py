"""How an exploration is put together of its options and the settings."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.endpoint import Endpoint, serve
from tests.support.exploring import PROMPT, REAL, AtOnce, run

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

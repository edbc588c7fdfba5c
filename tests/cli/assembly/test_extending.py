"""The user's own tools and hooks in whole runs; the examples of docs/extending.md are run."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from tests.cli.program import agentsh
from tests.cli.working import Project, results
from tests.support.endpoint import serve, text
from tests.tools.extend.test_commandturn import until

PAGE = Path(__file__).resolve().parents[3] / "docs/extending.md"


def example(title: str, kind: str) -> str:
    """The code block of that kind below that heading of the page."""
    section = PAGE.read_text("utf-8").split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]
    found = re.search(rf"```{kind}\n(.*?)```", section, re.DOTALL)
    assert found is not None, (title, kind)
    return found[1]


def test_a_command_of_the_settings_is_a_tool(project: Project) -> None:
    project.settings(example("A command as a tool", "toml"))
    project.put("CHANGELOG.md", "# 2.0\nnew wings\n# 1.0\nfirst feather\n")

    with project.answering((("c1", "changes", {"release": "2.0"}),)) as endpoint:
        ended = project.run("go")

    assert ended.code == 0
    assert results(endpoint) == ["new wings"]
    tools = endpoint.requests[0].body["tools"]
    assert isinstance(tools, list)
    assert tools[-1]["function"]["name"] == "changes"


def test_what_the_model_gives_such_a_command_is_no_shell_text(project: Project) -> None:
    project.settings(example("A command as a tool", "toml"))
    project.put("CHANGELOG.md", "# 1\nx\n")

    with project.answering((("c1", "changes", {"release": '"; touch out; $(touch out)'}),)):
        project.run("go")

    assert not (project.tree / "out").exists()


def test_a_command_hook_refuses_a_call_and_adds_a_note_to_another(project: Project) -> None:
    project.settings(example("A command before and after every call", "toml"))

    with project.answering(
        (("c1", "bash", {"command": "echo x; git push origin main; touch pushed"}),),
        (("c2", "write", {"path": "a.json", "content": "{"}),),
        (("c3", "write", {"path": "a.json", "content": "{}"}),),
    ) as endpoint:
        ended = project.run("--approve", "all", "go")

    refused, broken, fine = results(endpoint)
    assert ended.code == 0
    assert "pushing is done by people" in refused
    assert not (project.tree / "pushed").exists()
    assert "Expecting property name" in broken
    assert "Expecting" not in fine


def test_a_plugin_of_an_entry_point_brings_a_tool_and_a_guard(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    (site / "workhours-1.dist-info").mkdir(parents=True)
    (site / "workhours.py").write_text(example("A plugin in Python", "python"))
    (site / "workhours-1.dist-info/METADATA").write_text("Name: workhours\nVersion: 1\n")
    points = example("A plugin in Python", "toml").splitlines()[1]
    (site / "workhours-1.dist-info/entry_points.txt").write_text(
        "[agentsh.tools]\n" + points.replace('"', "") + "\n"
    )
    monkeypatch.syspath_prepend(str(site))
    try:
        project.settings('[tools]\nplugins = ["workhours"]\n')
        with project.answering(
            (("c1", "wordcount", {"path": "a.txt"}),),
            (("c2", "write", {"path": "frozen/x", "content": "x"}),),
        ) as endpoint:
            project.put("a.txt", "two words")
            ended = project.run("go")
    finally:
        sys.modules.pop("workhours", None)

    assert ended.code == 0, ended.err
    assert results(endpoint)[0] == "a.txt: 2 words"
    assert "refused by plugin workhours: frozen/ is not changed by hand" in results(endpoint)[1]
    assert not (project.tree / "frozen").exists()


def test_a_wrong_tool_of_the_settings_is_exit_2_with_its_place(project: Project) -> None:
    project.settings('[tools.command.x]\ndescription = "d"\nrun = "true"\neffect = "magic"\n')

    with project.answering() as endpoint:
        ended = project.run("go")

    assert ended.code == 2
    assert "config.toml:1" in ended.err
    assert "tools.command.x: effect must be" in ended.err
    assert endpoint.requests == []


def test_of_a_project_they_count_only_once_it_is_trusted(project: Project) -> None:
    tool = '[tools.command.own]\nrun = "true"\ndescription = "d"\n'
    project.put(".agentsh/config.toml", f'[hooks]\nbefore_tool = "touch hooked"\n{tool}')

    for words, hooked in ((), False), (("--trust",), True):
        with project.answering((("c1", "ls", {}),)) as endpoint:
            ended = project.run(*words, "go")
        tools = endpoint.requests[0].body["tools"]
        assert isinstance(tools, list)
        assert ended.code == 0
        assert (project.tree / "hooked").exists() == hooked
        assert ("own" in [t["function"]["name"] for t in tools]) == hooked
        assert ("is not trusted" in ended.err) == (not hooked)


def test_a_guard_of_the_user_stays_when_a_trusted_project_has_one(project: Project) -> None:
    project.settings("[hooks]\nbefore_tool = 'echo no; exit 1'\n")
    project.put(".agentsh/config.toml", "[hooks]\nbefore_tool = 'true'\n")

    with project.answering((("c1", "ls", {}),)) as endpoint:
        project.run("--trust", "go")

    assert results(endpoint) == ["ls was refused by plugin [hooks] before_tool: no"]


def test_where_nothing_is_named_nothing_of_it_is_loaded(project: Project) -> None:
    names = ("pluggy", "agentsh.tools.extend.plugins", "agentsh.tools.extend.commandhook")
    kept = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    try:
        with project.answering():
            assert project.run("go").code == 0
        assert [name for name in names if name in sys.modules] == []
    finally:
        sys.modules.update(kept)


def test_config_shows_them(project: Project) -> None:
    project.settings("[hooks]\nbefore_tool = 'true'\n[undo]\nenabled = false\n")

    shown = agentsh("config", cwd=project.tree).out

    assert re.search(r'hooks.before_tool +\["true"\] +\S*config.toml:2', shown)
    assert re.search(r"undo.enabled +false", shown)


def test_the_commands_around_a_turn_add_to_a_prompt_refuse_it_and_ask_again(
    project: Project,
) -> None:
    project.settings(example("A command around a turn", "toml"))
    project.put("check.sh", 'test -e fixed && exit 0; touch fixed; echo "the check fails"; exit 1')

    with project.answering((("c1", "bash", {"command": "touch p"}),)) as endpoint:
        blocked = project.run("go")
        refused = project.run("BEGIN RSA PRIVATE KEY")
    assert (blocked.code, refused.code) == (6, 6)
    assert "that is a key" in refused.err
    assert len(endpoint.requests) == 1
    assert until(lambda: (project.tree / "waits.txt").exists())
    assert (project.tree / "waits.txt").read_text() == "agentsh waits: bash touch p\n"

    with serve(text("one"), text("two")) as endpoint:
        project.monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        ended = project.run("go", "--no-tools")
    assert (ended.code, ended.out) == (0, "one\ntwo\n")
    assert "the check fails" in json.dumps(endpoint.requests[1].body)

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agentsh.cli.assembly.safety import is_wide, order_files
from agentsh.jsontext import JsonObject
from agentsh.settings import (
    EndpointSettings,
    HookSettings,
    ServerSettings,
    Settings,
    ToolSettings,
)
from agentsh.tools.shell import jobs
from tests.cli.program import agentsh
from tests.cli.working import Project, results
from tests.tools.shell.test_sandbox import needs_bwrap

ROOT = Path(__file__).resolve().parents[3]


def test_a_sandbox_that_is_missing_is_exit_2_before_anything_is_opened_or_asked(
    project: Project, tmp_path: Path
) -> None:
    project.monkeypatch.setenv("PATH", str(tmp_path))

    with project.answering((("c1", "bash", {"command": "touch x"}),)) as endpoint:
        ended = project.run("--sandbox", "--approve", "all", "go")

    assert ended.code == 2
    assert "bubblewrap" in ended.err
    assert endpoint.requests == endpoint.listings == []
    assert not project.home.exists()
    assert project.files() == {}


def test_an_edit_of_agentshs_own_files_inside_the_project_asks(project: Project) -> None:
    home = project.tree / "state"
    project.monkeypatch.setenv("AGENTSH_HOME", str(home))
    home.mkdir()

    for path in ("state/config.toml", ".agentsh/config.toml", ".git/config"):
        with project.answering((("c1", "write", {"path": path, "content": "x"}),)):
            ended = project.run("go")
        assert ended.code == 6
        assert path in ended.err
        assert not (project.tree / path).exists()


def test_undo_leaves_sessions_that_lie_in_the_project_as_they_are(project: Project) -> None:
    home = project.tree / "state"
    project.monkeypatch.setenv("AGENTSH_HOME", str(home))
    project.put(".gitignore", "!state/\n")
    project.turn("first", "echo 1 > a")
    place = project.prompt("first")
    project.turn("second", "echo 2 > b", more=("-c",))
    session = next(home.rglob("*.jsonl"))
    before = session.read_bytes()

    ended = agentsh("checkout", "last", place, "--files", cwd=project.tree)

    assert ended.code == 0
    assert session.read_bytes().startswith(before)
    assert not (project.tree / "a").exists()
    assert not (project.tree / "b").exists()


def test_jobs_of_a_killed_agentsh_are_named_at_the_next_start_and_can_be_ended(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    nap = f"600.{os.getpid()}"
    job: JsonObject = {"command": f"sleep {nap}", "background": True}
    slow: JsonObject = {"command": "sleep 30"}
    with project.answering((("c1", "bash", job),), (("c2", "bash", slow),)) as endpoint:
        command = [sys.executable, "-m", "agentsh", "run", "-m", "m", "--approve", "all", "go"]
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        running = subprocess.Popen(command, cwd=project.tree, env=env, start_new_session=True)
        _wait(lambda: len(endpoint.requests) == 2 and _sleeping(nap) and _sleeping("30"))
        os.kill(running.pid, signal.SIGKILL)
        running.wait()
    number = _sleeping(nap)[0]
    try:
        with project.answering((("c3", "jobs", {"action": "end", "id": number}),)) as endpoint:
            ended = project.run("-c", "go on")
        assert f"still running since an earlier start: job {number}: sleep {nap}" in ended.err
        assert results(endpoint)[-1] == f"Job {number} was ended."
        assert _sleeping(nap) == []
    finally:
        jobs._adopted.clear()
        for left in (*_sleeping(nap), *_sleeping("30")):
            os.kill(left, signal.SIGKILL)


def _sleeping(seconds: str) -> list[int]:
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if place.read_bytes() == f"sleep\0{seconds}\0".encode():
                found.append(int(place.parent.name))
        except OSError:
            continue
    return found


def _wait(claim: Callable[[], object]) -> None:
    until = time.monotonic() + 20
    while not claim():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_files_that_the_settings_run_give_orders_and_only_those_in_the_project(
    tmp_path: Path,
) -> None:
    cwd = tmp_path / "project"
    (cwd / "bin").mkdir(parents=True)
    for name in ("bin/check.sh", "guard.py", "key", "other"):
        (cwd / name).write_text("")
    settings = Settings(
        hooks=HookSettings(
            before_tool=("bin/check.sh --fast; true",), after_tool=("python3 'guard.py' /bin/sh",)
        ),
        endpoint=EndpointSettings(api_key_command="cat<key"),
        tools=ToolSettings(command={"x": {"run": "./missing"}}),
    )

    named = {str(path.relative_to(cwd)) for path in order_files(settings, cwd)}
    assert named == {"bin/check.sh", "guard.py", "key", "bin/sh", "missing"}


@pytest.mark.parametrize(
    "command",
    [
        "tools/hook.sh",
        "sh $PWD/tools/hook.sh",
        'sh "${PWD}"/tools/hook.sh',
        "sh ~/project/tools/hook.sh",
        "sh $HOME/project/tools/hook.sh",
        "cd tools && ./hook.sh",
        "x=`tools/hook.sh`",
        "echo $(tools/hook.sh)",
        'sh "$(git rev-parse --show-toplevel)/tools/hook.sh"',
        "{ tools/hook.sh,x; }",
        "make -C tools -f hook.sh",
    ],
)
def test_a_file_is_known_however_a_command_of_the_settings_spells_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    hook = tmp_path / "project/tools/hook.sh"
    hook.parent.mkdir(parents=True)
    hook.write_text("")
    settings = Settings(hooks=HookSettings(after_tool=(command,)))

    assert hook in order_files(settings, tmp_path / "project")
    hook.unlink()
    assert hook in order_files(settings, tmp_path / "project")


def test_a_module_and_what_servers_and_other_endpoints_run_give_orders_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    cwd = tmp_path / "project"
    (cwd / "tools/check").mkdir(parents=True)
    named = ("tools/hook.py", "tools/check/__main__.py", "key.sh", "serve.py", "tools/more.js")
    for name in (*named, "other"):
        (cwd / name).write_text("")
    server = ServerSettings(
        name="s", command="node", args=("~/project/serve.py",), cwd="tools",
        env={"NODE_OPTIONS": "--require ./more.js"},
    )  # fmt: skip
    settings = Settings(
        hooks=HookSettings(before_tool=("python3 -m tools.hook", "python3 -m tools.check")),
        endpoints={"other": EndpointSettings(api_key_command="sh ./key.sh")},
        servers={"s": server},
    )

    orders = {str(path.relative_to(cwd)) for path in order_files(settings, cwd)}
    assert orders >= {*named, "tools/hook/__main__.py", "tools/check.py"}
    assert not {"other", "tools/check", "tools"} & orders


@pytest.mark.parametrize("word", ["x" * 300, "y/" * 1500], ids=["long name", "long path"])
def test_a_word_of_a_command_that_no_file_can_be_called_is_no_file(
    tmp_path: Path, word: str
) -> None:
    settings = Settings(hooks=HookSettings(before_tool=(f"echo {word}",)))

    assert order_files(settings, tmp_path) == ()


def test_the_home_and_what_is_above_it_is_wide(tmp_path: Path) -> None:
    home = tmp_path / "home"

    assert is_wide(home, home)
    assert is_wide(Path("/"), home)
    assert not is_wide(home / "project", home)


@pytest.fixture
def installed(project: Project) -> Path:
    """A Python of the project's own that has our packages; its folder of packages."""
    own = project.tree / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(own)], check=True)
    packages = next(own.glob("lib/python3*/site-packages"))
    lines = "\n".join([str(ROOT), *(part for part in sys.path if part.endswith("-packages"))])
    (packages / "ours.pth").write_text(f"{lines}\n")
    return packages


@pytest.mark.slow
@pytest.mark.parametrize("is_sandboxed", [False, pytest.param(True, marks=needs_bwrap)])
def test_what_a_model_writes_where_agentsh_is_installed_is_not_run_by_the_next_start(
    project: Project, installed: Path, is_sandboxed: bool
) -> None:
    planted, marker = installed / "x.pth", project.tree.parent / "ran"
    text = f"import os; open({str(marker)!r}, 'w')\n"
    command = f"printf '%s' {shlex.quote(text)} > {planted}; mv .venv x; echo over"
    call: tuple[str, str, JsonObject] = ("c1", "write", {"path": str(planted), "content": text})
    options = []
    if is_sandboxed:
        call, options = ("c1", "bash", {"command": command}), ["--sandbox"]

    ends = []
    for script in ((call,), ()):
        with project.answering(*([script] if script else [])) as endpoint:
            argv = [str(project.tree / ".venv/bin/python"), "-P", "-m", "agentsh", "run", *options]
            environ = {**os.environ, "OPENAI_BASE_URL": endpoint.base_url, "AGENTSH_MODEL": "m"}
            done = subprocess.run(
                [*argv, "go"], cwd=project.tree, env=environ, capture_output=True, check=False
            )
            ends.append(done.returncode)

    assert ends == ([0, 0] if is_sandboxed else [6, 0])
    assert not planted.exists()


@needs_bwrap
def test_a_program_that_a_hook_finds_in_the_project_is_not_exchanged_in_the_sandbox(
    project: Project,
) -> None:
    marker = project.tree.parent / "ran"
    tool = project.put(".venv/bin/mylint", "#!/bin/sh\n")
    tool.chmod(0o755)
    project.put("state/config.toml", '[hooks]\nafter_tool = "mylint ."\n')
    project.monkeypatch.setenv("AGENTSH_HOME", str(project.tree / "state"))
    project.monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    command = f"echo 'touch {marker}' >> .venv/bin/mylint; mv .venv x; echo over > other"

    with project.answering((("c1", "bash", {"command": command}),)):
        ended = project.run("--sandbox", "go")

    assert ended.code == 0
    assert (project.tree / "other").exists()
    assert tool.read_text() == "#!/bin/sh\n"
    assert not marker.exists()

"""What a command loads. Counted in modules, which are exact, and not in milliseconds.

.ci/run repeats it with the interpreter of a venv that holds nothing but what runs
(AGENTSH_RUNTIME_PYTHON). In a venv with the dev extra click is there, and a library may load a
command line of its own with it: so click is blocked.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.endpoint import serve, text

ROOT = Path(__file__).resolve().parent.parent
PYTHON = os.environ.get("AGENTSH_RUNTIME_PYTHON", sys.executable)

HEAVY = {"asyncio", "httpx", "httpcore", "prompt_toolkit", "rich", "pydantic", "tomllib", "sqlite3"}
RUN_MODULES = 360
TOOLS = ("bash", "edit", "find", "grep", "jobs", "ls", "read", "write")
UNUSED_BY_A_WORD = {f"agentsh.tools.{name}" for name in (*TOOLS, "background", "process")} | {
    f"agentsh.tools.{name}" for name in ("keeper", "plugins", "sandbox", "shadow")
}
NOTHING = HEAVY | {"typer", "orjson", "json", "re", "pathlib"}

# ends with the names of all loaded modules on stderr, whatever the command did
_RUNNER = """
import atexit, os, sys
sys.modules["click"] = None
names = lambda: ",".join(name for name, module in sys.modules.items() if module)
atexit.register(lambda: os.write(2, ("\\n\\x00" + names()).encode()))
from agentsh.__main__ import main
main()
"""


def loaded(*words: str, environ: dict[str, str] | None = None) -> set[str]:
    """The modules that a command has loaded when it ends."""
    done = subprocess.run(
        [PYTHON, "-c", _RUNNER, *words],
        env=_environ(environ or {}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    return set(done.stderr.decode().rpartition("\x00")[2].split(","))


def _environ(more: dict[str, str]) -> dict[str, str]:
    """Ours, without what makes coverage start in children: it would be counted, too."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    return {**kept, **more}


def bare() -> set[str]:
    done = subprocess.run(
        [PYTHON, "-c", "import sys; print(','.join(sys.modules))"],
        env=_environ({}),
        capture_output=True,
        check=True,
        timeout=60,
    )
    return set(done.stdout.decode().strip().split(","))


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session that another program wrote."""
    stamp = "2026-11-28T10:00:00.000Z"
    lines = [
        {"type": "session", "version": 3, "id": "s-1", "timestamp": stamp, "cwd": str(tmp_path)},
        {
            "type": "message",
            "id": "a0000001",
            "parentId": None,
            "timestamp": stamp,
            "message": {"role": "user", "content": "hello", "timestamp": 1},
        },
    ]
    path = tmp_path / "some.jsonl"
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    return path


def test_version_loads_nothing() -> None:
    modules = loaded("--version")

    assert modules & NOTHING == set()
    assert modules - bare() <= {"agentsh", "agentsh.__main__", "__future__", "atexit", "click"}


@pytest.mark.parametrize(
    "words",
    [["--help"], ["run", "--help"], ["sessions"], ["config"], ["help", "privacy"], ["help", "man"]],
)
def test_help_and_lists_load_nothing_heavy(words: list[str]) -> None:
    assert loaded(*words) & (HEAVY - {"sqlite3"}) == set()


def test_a_list_that_the_index_knows_loads_nothing_that_it_can_do_without(
    tmp_path: Path, clean_environment: Path
) -> None:
    from tests.cli.commands import agentsh, make_talk

    for prompt in ("one", "two"):
        make_talk(tmp_path, prompt)
    agentsh("sessions", "--all")

    modules = loaded("sessions", "--all") - bare()

    assert modules & {"typer", "msgspec", "orjson", "json", "pathlib", "typing", "hashlib"} == set()
    assert {name for name in modules if name.startswith("agentsh.")} == {
        *(f"agentsh.{name}" for name in ("__main__", "cli", "errors", "session", "ui")),
        *(f"agentsh.cli.{name}" for name in ("app", "listing", "output", "plain", "roots")),
        *(f"agentsh.session.{name}" for name in ("folders", "known")),
        "agentsh.ui.sanitize",
    }


@pytest.mark.parametrize("view", ["chat", "trace", "model", "raw"])
def test_show_loads_nothing_heavy(session: Path, view: str) -> None:
    assert loaded("show", str(session), "--view", view) & HEAVY == set()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_loads_nothing_heavy(session: Path, shell: str) -> None:
    line = f"agentsh show {session} --at "
    environ = {
        "_AGENTSH_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": "\n".join(line.split(" ")),
        "COMP_CWORD": "4",
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }

    assert loaded(environ=environ) & HEAVY == set()


@pytest.mark.parametrize("form", ["md", "html", "jsonl"])
def test_export_loads_nothing_heavy(session: Path, tmp_path: Path, form: str) -> None:
    assert loaded("export", str(session), "--to", str(tmp_path / f"out.{form}")) & HEAVY == set()


def test_import_loads_nothing_heavy(session: Path) -> None:
    assert loaded("import", str(session)) & HEAVY == set()


def test_fork_loads_nothing_heavy(session: Path) -> None:
    assert loaded("fork", str(session)) & HEAVY == set()


def test_tree_as_text_loads_nothing_heavy(session: Path) -> None:
    assert loaded("tree", "--plain", str(session)) & HEAVY == set()


def test_run_loads_no_screen_and_no_loop() -> None:
    with serve(text("hello")) as endpoint:
        environ = {"OPENAI_BASE_URL": endpoint.base_url, "AGENTSH_MODEL": "m"}
        modules = loaded("run", "say it", environ=environ)

    assert (
        modules & {"rich", "prompt_toolkit", "asyncio", "pydantic", "sqlite3", "tomllib", "typer"}
        == set()
    )
    assert modules & UNUSED_BY_A_WORD == set()
    assert len(modules - bare()) <= RUN_MODULES, sorted(modules - bare())


@pytest.mark.skipif("AGENTSH_RUNTIME_PYTHON" not in os.environ, reason="counts need a bare venv")
@pytest.mark.parametrize(
    ("words", "most"), [(["--version"], 5), (["--help"], 145), (["sessions"], 60)]
)
def test_a_command_loads_no_more_modules_than_it_did(words: list[str], most: int) -> None:
    modules = loaded(*words) - bare()

    assert len(modules) <= most, sorted(modules)

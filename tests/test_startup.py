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
from tests.support.mcpservers import faulty

ROOT = Path(__file__).resolve().parent.parent
PYTHON = os.environ.get("AGENTSH_RUNTIME_PYTHON", sys.executable)

HEAVY = {
    *("asyncio", "httpx", "httpcore", "prompt_toolkit", "rich", "pydantic", "tomllib", "sqlite3"),
    *("detect_secrets", "requests", "fastjsonschema", "acp"),
}
LISTING_MODULES = 70  # ours; the list is the store's rows, no longer a reader of its own
RUN_MODULES = 393  # 47 of them are httpx and what it loads; one says where git's HEAD stood
EXPLORE_MODULES = 309  # of the one that runs branches; each of them is a process of its own
SERVERS_MODULES = 9  # that a run loads more where the settings name servers, and calls none
SKILL_MODULES = 6  # which skills there are, what a prompt becomes, which turn comes next
RPC_MODULES = 30  # more than those of a run with one word: the protocol and its host
UNUSED_BY_A_WORD = {
    *(f"agentsh.tools.files.{name}" for name in ("edit", "read", "write")),
    *(f"agentsh.tools.search.{name}" for name in ("find", "grep", "ls")),
    *(
        f"agentsh.tools.shell.{name}"
        for name in ("bash", "jobs", "leftovers", "process", "sandbox")
    ),
    *(f"agentsh.tools.undo.{name}" for name in ("checkpointer", "shadow")),
    "agentsh.tools.extend.plugins",
    *(f"agentsh.agent.{name}" for name in ("asides", "summaries", "treeactions")),
    "agentsh.agent.files.rewinding",
    "agentsh.agent.structured.answers",
    "agentsh.context.summaries",
    *(f"agentsh.tools.approval.{name}" for name in ("dangers", "programs")),
    *(f"agentsh.providers.wire.{name}" for name in ("explanation", "imagelimits", "overflow")),
    *(f"agentsh.providers.api.{name}" for name in ("responses", "responsestream")),
    "agentsh.session.exchange.fork",
    "agentsh.session.file.converted",
    *("encodings.idna", "html", "queue", "secrets"),
}
NOTHING = HEAVY | {"typer", "orjson", "json", "re", "pathlib"}

# ends with the names of all loaded modules on stderr, whatever the command did
_RUNNER = """
import atexit, os, sys
names = lambda: ",".join(name for name, module in sys.modules.items() if module)
atexit.register(lambda: os.write(2, ("\\n\\x00" + names()).encode()))
from agentsh.__main__ import main
main()
"""


UNASKED = {
    *("detect_secrets", "requests", "wcwidth", "typing_extensions"),
    *("certifi", "idna", "anyio", "httpx._main"),
}
"""Of libraries that are installed, or that a library of ours looks for."""


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
    """Ours, without what makes children load more: coverage, and the check of each request."""
    more_loading = ("COVERAGE_", "AGENTSH_DEBUG_")
    kept = {n: value for n, value in os.environ.items() if not n.startswith(more_loading)}
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
    from tests.cli.program import agentsh, make_talk

    for prompt in ("one", "two"):
        make_talk(tmp_path, prompt)
    agentsh("sessions", "--all")

    modules = loaded("sessions", "--all") - bare()

    assert modules & ((HEAVY - {"sqlite3"}) | {"typer", "platformdirs"}) == set()
    ours = {name for name in modules if name.startswith("agentsh.")}
    rooms = ("agentsh.agent", "agentsh.context", "agentsh.providers", "agentsh.tools")
    assert {name for name in ours if name.startswith(rooms)} == set()
    assert len(ours) <= LISTING_MODULES, sorted(ours)


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
    modules = loaded("export", str(session), "--to", str(tmp_path / f"out.{form}"))

    assert modules & (HEAVY - {"detect_secrets", "requests"}) == set()


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
    assert modules & UNASKED == set()
    assert modules & UNUSED_BY_A_WORD == set()
    assert len(modules - bare()) <= RUN_MODULES + SKILL_MODULES, sorted(modules - bare())


def test_an_unchanged_skill_loads_no_yaml_and_one_that_changed_does(
    tmp_path: Path, clean_environment: Path
) -> None:
    skill = clean_environment / "agentsh/skills/heron/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\ndescription: care for herons\n---\n")
    with serve(*(text("hello") for _ in range(3))) as endpoint:
        environ = {"OPENAI_BASE_URL": endpoint.base_url, "AGENTSH_MODEL": "m"}
        first = loaded("run", "say it", environ=environ)
        second = loaded("run", "say it", environ=environ)
        skill.write_text("---\ndescription: cure for herons\n---\n")
        third = loaded("run", "say it", environ=environ)

    assert [("yaml" in modules) for modules in (first, second, third)] == [True, False, True]


def test_an_exploration_loads_no_screen_and_no_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clean_environment: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with serve(text("hello")) as endpoint:
        environ = {"OPENAI_BASE_URL": endpoint.base_url, "AGENTSH_MODEL": "m"}
        modules = loaded("explore", "-n", "1", "say it", environ=environ)
        shown = loaded("explore", "show")

    assert (modules | shown) & ((HEAVY - {"sqlite3"}) | {"typer"}) == set()
    assert len(modules - bare()) <= EXPLORE_MODULES, sorted(modules - bare())


def has_extra() -> bool:
    asked = "import importlib.util as util; raise SystemExit(util.find_spec('mcp') is None)"
    return subprocess.run([PYTHON, "-c", asked], check=False, timeout=60).returncode == 0


def test_servers_without_the_extra_are_exit_2_with_the_line_that_brings_it(
    tmp_path: Path, clean_environment: Path
) -> None:
    settings = clean_environment / "agentsh" / "config.toml"
    settings.parent.mkdir()
    settings.write_text(faulty(tmp_path / "birds").table())
    blocked = f"import importlib.util\nimportlib.util.find_spec = lambda name: None\n{_RUNNER}"
    words = [PYTHON, "-c", blocked, "run", "hi"]
    environ = _environ({"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "AGENTSH_MODEL": "m"})

    done = subprocess.run(
        words, env=environ, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )

    assert done.returncode == 2
    assert b"pip install 'agentsh[mcp]'" in done.stderr


@pytest.mark.skipif(not has_extra(), reason="the extra is not in this venv")
def test_a_run_whose_servers_are_known_loads_no_client_and_starts_nothing(
    tmp_path: Path, clean_environment: Path
) -> None:
    birds = [faulty(tmp_path / name) for name in ("one", "two", "three")]
    tables = "".join(each.table(each.folder.name) for each in birds)
    settings = clean_environment / "agentsh" / "config.toml"
    settings.parent.mkdir()
    settings.write_text(tables)
    with serve(text("hello")) as endpoint:
        environ = {"OPENAI_BASE_URL": endpoint.base_url, "AGENTSH_MODEL": "m"}
        first = loaded("run", "say it", environ=environ)
        second = loaded("run", "say it", environ=environ)
        settings.write_text("[mcp]\ntimeout = 5\n")
        without = loaded("run", "say it", environ=environ)

    client = {"mcp", "mcp_types", "pydantic", "asyncio", "httpx2"}
    assert first >= client
    assert second & client == set()
    assert [len(each.pids()) for each in birds] == [1, 1, 1]
    assert len(second - without) <= SERVERS_MODULES, sorted(second - without)


def test_rpc_loads_what_a_run_does_and_its_protocol(clean_environment: Path) -> None:
    # nobody listens there: until the first prompt nothing is asked
    environ = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "AGENTSH_MODEL": "m"}

    modules = loaded("rpc", environ=environ)

    assert modules & ((HEAVY - {"httpx", "httpcore"}) | {"typer", "wcwidth"}) == set()
    assert modules & UNUSED_BY_A_WORD == set()
    assert not [name for name in modules if name.startswith("agentsh.ui")]
    assert len(modules - bare()) <= RUN_MODULES + RPC_MODULES, sorted(modules - bare())


def imported(line: str) -> set[str]:
    """The modules that are loaded after a line of a script."""
    code = f"{line}\nimport sys\nprint(','.join(sys.modules))"
    done = subprocess.run(
        [PYTHON, "-c", code], env=_environ({}), capture_output=True, check=True, timeout=60
    )
    return set(done.stdout.decode().strip().split(",")) - bare()


def test_a_script_loads_no_more_than_a_run() -> None:
    assert imported("import agentsh") == {"agentsh"}
    modules = imported("from agentsh import Session")

    of_a_run = {"httpx", "httpcore"}
    assert modules & (HEAVY - of_a_run | UNUSED_BY_A_WORD | {"typer", "click"}) == set()
    assert len(modules) <= RUN_MODULES, sorted(modules)


@pytest.mark.skipif("AGENTSH_RUNTIME_PYTHON" not in os.environ, reason="counts need a bare venv")
@pytest.mark.parametrize(
    ("words", "most"), [(["--version"], 5), (["--help"], 193), (["sessions"], 162)]
)
def test_a_command_loads_no_more_modules_than_it_did(words: list[str], most: int) -> None:
    modules = loaded(*words) - bare()

    assert len(modules) <= most, sorted(modules)

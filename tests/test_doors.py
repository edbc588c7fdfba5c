"""One door for files that are not ours, one for programs that we start: who else opens or starts is
named here with the reason (`agentsh/files.py`, `agentsh/programs.py`)."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.support.prose import ROOT, SOURCE, name_of, tree_of

_READING = {"read_text", "read_bytes"}
_COPYING = {"copy", "copy2", "copyfile", "copytree", "move"}
_STARTING = {"Popen", "run", "call", "check_call", "check_output"}
_REPLACING = ("exec", "spawn", "posix_spawn", "system", "popen", "fork")

_OURS = "made by agentsh, in a private folder of its own"
_NEW = "made anew, under a name that nobody had"
_OWN_DEVICE = "/dev/null"
_PROC = "the kernel's, of /proc"
_COPY = "of what was looked at, link for link; pipes and devices are none"

OPENED = {
    "agentsh/files.py: os.open": "the door",
    "agentsh/files.py: read_text": _PROC,
    "agentsh/session/file/disk.py: os.open": "the door of sessions' own files",
    "agentsh/tools/files/anchored.py: os.open": "the door of the model's files",
    "agentsh/cli/app.py: os.open": _OWN_DEVICE,
    "agentsh/cli/setup/standard_streams.py: os.open": _OWN_DEVICE,
    "agentsh/providers/local/llamaserver.py: os.open": _OWN_DEVICE,
    "agentsh/remote/stdio/streams.py: os.open": _OWN_DEVICE,
    "agentsh/explore/away/onray.py: open": _OWN_DEVICE,
    "agentsh/cli/assembly/exploring/engines.py: read_bytes": _PROC,
    "agentsh/session/health/evidence.py: read_text": _PROC,
    "agentsh/tools/shell/groups.py: read_bytes": _PROC,
    "agentsh/tools/shell/unixsockets.py: read_bytes": _PROC,
    "agentsh/cli/assembly/exploring/wishes.py: read_text": "a person names it; may be a pipe",
    "agentsh/cli/commands/help_.py: read_text": "a page of the package",
    "agentsh/cli/lookup/touching.py: open": "a descriptor from the door",
    "agentsh/session/exchange/unwrapping.py: .open": _NEW,
    "agentsh/session/exchange/unwrapping.py: gzip.open": "a file from the door",
    "agentsh/session/store/archive.py: zstd.open": "a file from the door, or a descriptor",
    "agentsh/session/store/database.py: sqlite3.connect": "looked at through the door before",
    "agentsh/session/store/overlay.py: os.open": "a folder",
    "agentsh/session/store/trash.py: shutil.copytree": _COPY,
    "agentsh/ui/input/drafts.py: os.open": _NEW,
    "agentsh/ui/input/external_editor.py: os.open": _NEW,
    "agentsh/cli/assembly/exploring/tidying.py: shutil.move": _OURS,
    "agentsh/explore/away/arrivals.py: os.open": _OURS,
    "agentsh/explore/away/machine.py: .open": _OURS,
    "agentsh/explore/away/onray.py: .open": _OURS,
    "agentsh/explore/away/packing.py: tarfile.open": _OURS,
    "agentsh/explore/away/shipping.py: .open": _OURS,
    "agentsh/explore/away/shipping.py: read_text": _OURS,
    "agentsh/explore/log/folder.py: os.open": _OURS,
    "agentsh/explore/running/checking.py: read_bytes": _OURS,
    "agentsh/explore/running/local.py: .open": _OURS,
    "agentsh/explore/workspace/basing.py: read_bytes": _OURS,
    "agentsh/explore/workspace/basing.py: shutil.copytree": _OURS,
    "agentsh/explore/workspace/capture.py: shutil.copy2": _OURS,
    "agentsh/explore/workspace/earlier.py: shutil.copy2": _OURS,
    "agentsh/explore/workspace/private_git.py: .open": _OURS,
    "agentsh/explore/workspace/basing.py: shutil.copy2": _COPY,
    "agentsh/explore/workspace/copying.py: os.open": "never waits, follows no link, or is new",
    "agentsh/explore/workspace/copying.py: shutil.copy2": _COPY,
    "agentsh/explore/workspace/copying.py: shutil.copytree": _COPY,
    "agentsh/explore/workspace/private_git.py: shutil.copy2": _COPY,
    "agentsh/explore/workspace/private_git.py: shutil.copytree": _COPY,
}

_FOUND = "found by `find_program`, with the environment of `programs.py`"
_SELF = "this Python with agentsh, which takes no module from the folder (-P, -I)"
_SHELL = "a shell; what it runs was agreed to"

STARTED = {
    "agentsh/cli/assembly/exploring/beside.py": _SELF,
    "agentsh/cli/assembly/exploring/visiting.py": _SELF,
    "agentsh/explore/running/local.py": _SELF,
    "agentsh/providers/local/local.py": _SELF,
    "agentsh/cli/setup/keys.py": _SHELL,
    "agentsh/tools/extend/commandturn.py": _SHELL,
    "agentsh/tools/shell/process.py": _SHELL,
    "agentsh/tools/mcp/wire/child.py": "what a person wrote into the settings",
    "agentsh/explore/workspace/view.py": _FOUND,
    "agentsh/tools/search/engines.py": _FOUND,
    "agentsh/tools/shell/sandbox.py": _FOUND,
    "agentsh/tools/undo/restoring.py": _FOUND,
    "agentsh/tools/undo/shadow.py": _FOUND,
    "agentsh/ui/input/attachments.py": _FOUND,
    "agentsh/ui/input/external_editor.py": _FOUND,
}


def opened(tree: ast.Module) -> Iterator[str]:
    """The calls that open a file by its name, or copy one."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Name("open")):
                yield "open"
            case ast.Call(ast.Attribute(ast.Name(module), attr)) if (module, attr) in {
                ("os", "open"), ("sqlite3", "connect"), ("tarfile", "open"), ("gzip", "open"),
                ("zstd", "open"), ("io", "open"),
            } or (module == "shutil" and attr in _COPYING):  # fmt: skip
                yield f"{module}.{attr}"
            case ast.Call(ast.Attribute(_, attr)) if attr in _READING:
                yield attr
            case ast.Call(ast.Attribute(_, "open"), args=[ast.Constant(str())]):
                yield ".open"
            case _:
                pass


def started(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """The calls that start a program, and whether each says which environment it gets."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Attribute(ast.Name("subprocess"), attr)) if attr in _STARTING:
                yield attr, any(k.arg == "env" for k in node.keywords)
            case ast.Call(ast.Attribute(ast.Name("os" | "pty"), attr)) if attr.startswith(
                _REPLACING
            ):
                yield attr, False
            case _:
                pass


def test_files_that_are_not_ours_are_opened_at_the_door() -> None:
    found = {f"{name_of(path)}: {call}" for path in SOURCE for call in opened(tree_of(path))}

    assert found == set(OPENED), "agentsh/files.py opens what is not ours, bounded, without a wait"


def test_a_program_is_started_by_its_absolute_name_in_an_environment_that_was_chosen() -> None:
    calls = {name_of(path): [*started(tree_of(path))] for path in SOURCE}

    assert {name for name, each in calls.items() if each} == set(STARTED), (
        "agentsh/programs.py says which program a name means"
    )
    assert {name for name, each in calls.items() if not all(has for _, has in each)} == set()
    by_name = {name for name, why in STARTED.items() if why == _FOUND}
    assert [name for name in by_name if not asks_the_door(name)] == []


def asks_the_door(name: str) -> bool:
    """Whether its package asks for programs and for environments there, itself or one beside it."""
    texts = [p.read_text("utf-8") for p in (ROOT / name).parent.glob("*.py")]
    return any("find_program" in text for text in texts)


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("x = open('a')", ["open"]),
        ("x = Path('a').read_text('utf-8')", ["read_text"]),
        ("with path.open('rb') as f: pass", [".open"]),
        ("fd = os.open(path, flags)", ["os.open"]),
        ("shutil.copy2(a, b)", ["shutil.copy2"]),
        ("SessionLog.open(path, disk=disk)", []),
        ("read_foreign(path, 10)", []),
    ],
)
def test_a_file_that_is_opened_is_seen(text: str, calls: list[str]) -> None:
    assert list(opened(ast.parse(text))) == calls


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("subprocess.run(['git'])", [("run", False)]),
        ("subprocess.Popen(argv, env=environ)", [("Popen", True)]),
        ("os.execv(path, argv)", [("execv", False)]),
        ("os.system('ls')", [("system", False)]),
    ],
)
def test_a_program_that_is_started_is_seen(text: str, calls: list[tuple[str, bool]]) -> None:
    assert list(started(ast.parse(text))) == calls

"""In the sandbox a job can exchange a folder for a link while a search looks; nothing is told."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.errors import ToolError
from agentsh.jsontext import JsonObject
from agentsh.tools.base import Tool, ToolContext
from agentsh.tools.search.engines import (
    Engine,
    GrepRequest,
    PythonWorker,
    Ripgrep,
    find_ripgrep,
)
from agentsh.tools.search.find import FindTool
from agentsh.tools.search.grep import GrepTool
from agentsh.tools.search.ls import LsTool
from agentsh.tools.search.walking import Deadline, Walk
from agentsh.tools.shell.sandbox import open_sandbox
from tests.support.tooling import Bench, text_of
from tests.tools.shell.test_sandbox import needs_bwrap

QUERY = GrepRequest("token", literal=True, ignore_case=False, context=0)
FLIPPING = """
import ctypes
exchange = ctypes.CDLL(None).renameat2
print("ready", flush=True)
while True:
    exchange(-100, b"d", -100, b"e", 2)
"""


@pytest.fixture
def hidden(bench: Bench) -> Path:
    """A folder that nobody is to see, and a link to it in the project, in the place of a folder."""
    folder = bench.home / "own"
    folder.mkdir()
    (folder / "zz-hidden").write_text("token\n")
    (bench.cwd / "d").symlink_to(folder)
    return folder


def context_of(bench: Bench, hidden: Path) -> ToolContext:
    sandbox = open_sandbox(bench.context().environ, bench.cwd, (hidden,))
    return replace(bench.context(), hidden=(hidden,), sandbox=sandbox, hiding=sandbox.hiding)


def test_a_folder_that_became_a_link_is_not_walked(bench: Bench, hidden: Path) -> None:
    walk = Walk(bench.cwd / "d", bench.cwd, Deadline(Abort()), (hidden,))

    assert [each.path for each in walk] == []
    assert walk.unreadable.count == 1


@needs_bwrap
@pytest.mark.parametrize("engine", ["ripgrep", "python"])
def test_a_file_behind_such_a_link_is_not_searched(bench: Bench, hidden: Path, engine: str) -> None:
    context, deadline = context_of(bench, hidden), Deadline(Abort())
    assert context.hiding is not None
    program = find_ripgrep(context.environ, bench.cwd)
    searcher: Engine = PythonWorker(QUERY, context.environ, deadline, context.hiding)
    if engine == "ripgrep":
        assert program is not None
        searcher = Ripgrep(program, QUERY, context.environ, deadline, context.hiding)
    (bench.cwd / "plain").write_text("token\n")
    try:
        files = [str(bench.cwd / "d/zz-hidden"), str(bench.cwd / "plain")]
        hits = [hit.file for hit in searcher.search(files, 9) if not hasattr(hit, "reason")]
    finally:
        searcher.close()

    assert hits == [1]


@pytest.fixture
def flipping(bench: Bench, hidden: Path) -> Iterator[None]:
    """`d` is a folder and a link to the hidden one in turn."""
    (bench.cwd / "e").mkdir()
    (bench.cwd / "e/zz-plain").write_text("plain\n")
    argv = [sys.executable, "-c", FLIPPING]
    with subprocess.Popen(argv, cwd=bench.cwd, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        yield
        child.kill()


@needs_bwrap
@pytest.mark.skipif(sys.platform != "linux", reason="renameat2 is Linux's")
@pytest.mark.usefixtures("flipping")
@pytest.mark.parametrize(
    ("tool", "arguments", "times"),
    [
        (LsTool(), {"path": "d"}, 150),
        (FindTool(), {"pattern": "zz*"}, 150),
        (FindTool(), {"pattern": "zz*", "path": "d"}, 150),
        (GrepTool(), {"pattern": "token"}, 20),
        (GrepTool(), {"pattern": "token", "path": "d"}, 20),
    ],
)
def test_nothing_hidden_is_told_whenever_it_is_exchanged(
    bench: Bench, hidden: Path, tool: Tool, arguments: JsonObject, times: int
) -> None:
    context = context_of(bench, hidden)
    for _ in range(times):
        try:
            text = text_of(tool.run(tool.check(arguments), context))
        except ToolError as e:
            text = str(e)
        assert "zz-hidden" not in text


@needs_bwrap
def test_an_output_that_a_result_named_is_searched_all_the_same(bench: Bench, hidden: Path) -> None:
    output = hidden / "bash-1.log"
    output.write_text("token\n")
    context = replace(context_of(bench, hidden), output_dir=hidden)

    text = text_of(GrepTool().run({"pattern": "token", "path": str(output)}, context))

    assert "1: token" in text

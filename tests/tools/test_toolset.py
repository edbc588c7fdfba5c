from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

import pytest

from agentsh.errors import InvalidArgumentsError, UsageError
from agentsh.tools.base import Effect
from agentsh.tools.toolset import Toolset, own_tools
from tests.support.tooling import Bench

CONTRACT = {
    "read": {"path", "offset", "limit"},
    "write": {"path", "content"},
    "edit": {"path", "edits"},
    "bash": {"command", "timeout"},
    "grep": {"pattern", "path", "glob", "ignoreCase", "literal", "context", "limit"},
    "find": {"pattern", "path", "limit"},
    "ls": {"path", "limit"},
}
EFFECTS = {
    "read": Effect.READ,
    "write": Effect.WRITE,
    "edit": Effect.WRITE,
    "bash": Effect.EXEC,
    "grep": Effect.READ,
    "find": Effect.READ,
    "ls": Effect.READ,
    "jobs": Effect.READ,
}


def names(toolset: Toolset) -> list[str]:
    return [schema.name for schema in toolset.schemas()]


def test_all_tools_are_offered_with_the_names_of_the_contract() -> None:
    offered = {schema.name: schema for schema in Toolset.offering().schemas()}

    for name, arguments in CONTRACT.items():
        properties = offered[name].parameters["properties"]
        assert isinstance(properties, Mapping)
        assert arguments <= set(properties)
        assert offered[name].description
    assert {tool.schema.name: tool.effect for tool in own_tools()} == EFFECTS


def test_the_choice_narrows_and_keeps_the_order() -> None:
    assert names(Toolset.offering("grep, read")) == ["read", "grep"]
    assert names(Toolset.offering(none=True)) == []
    assert names(Toolset.offering("read", none=True)) == []


@pytest.mark.parametrize("choice", ["read,teleport", "", ","])
def test_a_choice_of_no_tool_or_an_unknown_one_is_wrong_use(choice: str) -> None:
    with pytest.raises(UsageError, match="the tools are: read, write"):
        Toolset.offering(choice)


def test_a_call_of_an_unknown_tool_is_told_what_there_is() -> None:
    with pytest.raises(InvalidArgumentsError, match="no tool 'teleport'; the tools are: read"):
        Toolset.offering("read").find("teleport")
    with pytest.raises(InvalidArgumentsError, match="the tools are: none"):
        Toolset.offering(none=True).find("read")
    assert Toolset.offering().find("ls").schema.name == "ls"


def test_offering_tools_loads_no_plugin_machinery_and_starts_nothing() -> None:
    code = (
        "import sys; from agentsh.tools.toolset import Toolset; Toolset.offering();"
        "print([m for m in ('pluggy', 'importlib.metadata', 'asyncio', 'httpx', 'tempfile',"
        " 'unicodedata') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)

    # paths.py compares names as people see them, which is what unicodedata is for
    assert done.stdout.strip() in ("[]", "['unicodedata']")


@pytest.mark.parametrize("name", ["grep", "find", "ls"])
def test_a_search_touches_the_real_path_that_it_names(bench: Bench, name: str) -> None:
    tool = Toolset.offering().find(name)
    bench.file("src/a")
    (bench.cwd / "link").symlink_to("src")
    arguments = tool.check({"pattern": "a", "path": "@link"})

    assert tool.touches(arguments, bench.cwd, bench.home) == ((bench.cwd / "src").resolve(),)
    assert tool.touches({}, bench.cwd, bench.home) == (bench.cwd.resolve(),)
    assert tool.expect(arguments, bench.context()) is None

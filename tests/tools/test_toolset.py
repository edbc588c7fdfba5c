from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

import pytest

from agentsh.cli.assembly.tools import own_tools
from agentsh.errors import InvalidArgumentsError, UsageError
from agentsh.tools import schemas
from agentsh.tools.base import Effect
from agentsh.tools.toolset import Toolset
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


def offering(names: str | None = None, *, none: bool = False) -> Toolset:
    return Toolset.offering(own_tools(), names, none=none)


def names(toolset: Toolset) -> list[str]:
    return [schema.name for schema in toolset.schemas()]


def test_all_tools_are_offered_with_the_names_of_the_contract() -> None:
    offered = {schema.name: schema for schema in offering().schemas()}

    for name, arguments in CONTRACT.items():
        properties = offered[name].parameters["properties"]
        assert isinstance(properties, Mapping)
        assert arguments <= set(properties)
        assert offered[name].description
    assert {offer.name: offer.load().effect for offer in own_tools()} == EFFECTS
    assert tuple(offer.load().schema for offer in own_tools()) == schemas.OWN


def test_the_choice_narrows_and_keeps_the_order() -> None:
    assert names(offering("grep, read")) == ["read", "grep"]
    assert names(offering(none=True)) == []
    assert names(offering("read", none=True)) == []


@pytest.mark.parametrize("choice", ["read,teleport", "", ","])
def test_a_choice_of_no_tool_or_an_unknown_one_is_wrong_use(choice: str) -> None:
    with pytest.raises(UsageError, match="the tools are: read, write"):
        offering(choice)


def test_a_call_of_an_unknown_tool_is_told_what_there_is() -> None:
    with pytest.raises(InvalidArgumentsError, match="no tool 'teleport'; the tools are: read"):
        offering("read").find("teleport")
    with pytest.raises(InvalidArgumentsError, match="the tools are: none"):
        offering(none=True).find("read")
    assert offering().find("ls").schema.name == "ls"


def test_offering_tools_loads_no_body_and_no_plugin_machinery() -> None:
    code = (
        "import sys; from agentsh.tools.toolset import Toolset;"
        "from agentsh.cli.assembly.tools import own_tools; Toolset.offering(own_tools());"
        "print([m for m in ('pluggy', 'importlib.metadata', 'asyncio', 'httpx', 'tempfile',"
        " 'subprocess', 'agentsh.tools.shell.bash',"
        " 'agentsh.tools.files.read') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)

    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["grep", "find", "ls"])
def test_a_search_touches_the_real_path_that_it_names(bench: Bench, name: str) -> None:
    tool = offering().find(name)
    bench.file("src/a")
    (bench.cwd / "link").symlink_to("src")
    arguments = tool.check({"pattern": "a", "path": "@link"})

    assert tool.touches(arguments, bench.cwd, bench.home) == ((bench.cwd / "src").resolve(),)
    assert tool.touches({}, bench.cwd, bench.home) == (bench.cwd.resolve(),)
    assert tool.expect(arguments, bench.context()) is None

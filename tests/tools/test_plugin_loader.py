from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentsh.errors import ToolDeniedError
from agentsh.tools.extend.plugins import hooked
from agentsh.tools.plugin_loader import collect, hookimpl, load_plugins
from agentsh.tools.search.ls import LsTool
from agentsh.tools.toolset import offered
from tests.support.tooling import Bench

SOURCE = """
from agentsh.jsontext import JsonObject
from agentsh.tools.search.ls import LsTool
from agentsh.tools.plugin_loader import hookimpl
from msgspec.structs import replace

@hookimpl
def agentsh_tools():
    return [LsTool(schema=replace(LsTool().schema, name="dir"))]

@hookimpl
def agentsh_before_tool(tool):
    return "not here" if tool == "ls" else None

@hookimpl
def agentsh_after_tool(tool, outcome):
    return "seen" if not outcome.is_error else None
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed packages with two entry points, one of which cannot be loaded."""
    info = tmp_path / "tickets-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tickets\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[agentsh.tools]\ntickets = tickets_plugin\nbroken = broken_plugin\n"
    )
    (tmp_path / "tickets_plugin.py").write_text(SOURCE)
    (tmp_path / "broken_plugin.py").write_text("raise SystemExit('no')\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("tickets_plugin", None)


def test_an_installed_plugin_is_loaded_only_if_it_is_named(installed: Path, bench: Bench) -> None:
    assert load_plugins([], ["ls"]).tools == ()
    assert "tickets_plugin" not in sys.modules

    plugins = load_plugins(["tickets"], ["ls"])

    assert [tool.schema.name for tool in plugins.tools] == ["dir"]
    assert plugins.notices == ()
    bench.file("a")
    offers = [offered(tool) for tool in (*plugins.tools, LsTool())]
    tool, ls = (offer.load() for offer in hooked(offers, plugins.hooks))
    assert bench.text(tool) == "a[plugin tickets: seen]"
    with pytest.raises(ToolDeniedError, match="plugin tickets: not here"):
        bench.text(ls)


def test_what_is_missing_or_broken_is_a_notice(installed: Path) -> None:
    plugins = load_plugins(["broken", "nowhere", "tickets"], [])

    assert [tool.schema.name for tool in plugins.tools] == ["dir"]
    assert "plugin broken could not be loaded: SystemExit: no" in plugins.notices[0]
    assert "plugin nowhere is not installed; installed are: broken, tickets" in plugins.notices[1]


def test_a_plugin_whose_functions_do_not_fit_is_left_out() -> None:
    plugin = types.ModuleType("odd")

    @hookimpl
    def agentsh_before_tool(nonsense: str) -> None:
        raise AssertionError(nonsense)

    vars(plugin)["agentsh_before_tool"] = agentsh_before_tool
    plugins = collect([("odd", plugin)], [])

    assert plugins.hooks == ()
    assert "plugin odd could not be used: PluginValidationError" in plugins.notices[0]

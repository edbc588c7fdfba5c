from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest
from msgspec import Struct, field

from agentsh.errors import InvalidArgumentsError, ToolDeniedError, ToolFailedError
from agentsh.jsontext import JsonObject
from agentsh.messages import Text, ToolSchema
from agentsh.tools.base import Effect, Tool, ToolContext, ToolOutcome
from agentsh.tools.extend.plugins import accepted, hooked
from agentsh.tools.toolset import offered
from tests.support.tooling import Bench, text_of


class Echo(Struct):
    """A tool as a user may write it; `fails` names the method that raises `error`."""

    name: str = "echo"
    fails: str = ""
    error: BaseException = field(default_factory=lambda: ZeroDivisionError("oops"))
    effect: Effect = Effect.READ
    result: object = None
    parameters: JsonObject = field(default_factory=lambda: {"type": "object", "properties": {}})

    @property
    def schema(self) -> ToolSchema:
        self._at("schema")
        return ToolSchema(self.name, "Says it.", self.parameters)

    def _at(self, method: str) -> None:
        if self.fails == method:
            raise self.error

    def check(self, arguments: JsonObject) -> JsonObject:
        self._at("check")
        return arguments

    def touches(self, arguments: JsonObject, cwd: Path, home: Path) -> tuple[Path, ...]:
        self._at("touches")
        return ()

    def expect(self, arguments: JsonObject, context: ToolContext) -> Mapping[str, str] | None:
        self._at("expect")
        return None

    def run(self, arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        self._at("run")
        return cast("ToolOutcome", self.result or ToolOutcome((Text("echoed"),)))


def guarded(tool: Tool) -> Tool:
    (found,) = accepted([("mine", tool)], ()).tools
    return found


def call(tool: Tool, bench: Bench) -> ToolOutcome:
    checked = tool.check({})
    tool.touches(checked, bench.cwd, bench.home)
    tool.expect(checked, bench.context())
    return tool.run(checked, bench.context())


def test_a_plugins_tool_does_what_it_does(bench: Bench) -> None:
    assert text_of(call(guarded(Echo()), bench)) == "echoed"


@pytest.mark.parametrize("method", ["check", "touches", "expect", "run"])
@pytest.mark.parametrize("error", [ZeroDivisionError("oops"), SystemExit(1)])
def test_whatever_it_raises_becomes_a_result_that_names_it(
    bench: Bench, method: str, error: BaseException
) -> None:
    with pytest.raises(ToolFailedError, match=r"echo \(plugin mine\) failed: (Zero|System)"):
        call(guarded(Echo(fails=method, error=error)), bench)


def nested(depth: int) -> JsonObject:
    value: JsonObject = {}
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.parametrize("depth", [100, 200, 260, 100_000])
def test_what_is_nested_too_deep_to_be_stored_is_a_result_that_says_so(
    bench: Bench, depth: int
) -> None:
    outcome = ToolOutcome((Text("x"),), details=nested(depth))
    with pytest.raises(ToolFailedError, match=r"echo.* its details cannot be kept: "):
        call(guarded(Echo(result=outcome)), bench)
    with pytest.raises(ToolFailedError, match=r"echo.* what check returned cannot be kept: "):
        guarded(Echo()).check(nested(depth))

    found = accepted([("mine", Echo(parameters=nested(depth)))], ())
    assert found.tools == ()
    assert "plugin mine: the tool 'echo' was left out: its schema cannot" in found.notices[0]


def test_what_is_nested_and_can_be_stored_passes_as_it_is(bench: Bench) -> None:
    outcome = ToolOutcome((Text("x"),), details=nested(99))

    assert call(guarded(Echo(result=outcome, parameters=nested(99))), bench) == outcome


@pytest.mark.parametrize("value", [{"a": float("nan")}, {"a": {1, 2}}, {1: 2}])
def test_what_is_no_json_is_a_result_that_says_so(bench: Bench, value: object) -> None:
    outcome = ToolOutcome((Text("x"),), details=cast("JsonObject", value))
    with pytest.raises(ToolFailedError, match="its details cannot be kept: "):
        call(guarded(Echo(result=outcome)), bench)
    assert accepted([("mine", Echo(parameters=cast("JsonObject", value)))], ()).tools == ()


def test_a_tool_error_of_its_own_passes_as_it_is(bench: Bench) -> None:
    error = InvalidArgumentsError("no such ticket")

    with pytest.raises(InvalidArgumentsError, match="no such ticket"):
        call(guarded(Echo(fails="check", error=error)), bench)


def test_a_result_of_another_type_is_a_failure(bench: Bench) -> None:
    with pytest.raises(ToolFailedError, match="run returned str"):
        call(guarded(Echo(result="text")), bench)


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        (Echo(name="read"), "its name is taken"),
        (Echo(name="no name"), "plain name"),
        (Echo(fails="schema"), "ZeroDivisionError: oops"),
        (object(), "AttributeError"),
        (Echo(effect=cast("Effect", "dance")), "dance"),
    ],
)
def test_a_tool_that_cannot_be_offered_is_left_out_with_a_notice(tool: Tool, words: str) -> None:
    plugins = accepted([("mine", tool), ("mine", Echo())], taken=["read"])

    assert [t.schema.name for t in plugins.tools] == ["echo"]
    assert len(plugins.notices) == 1
    assert "plugin mine" in plugins.notices[0]
    assert words in plugins.notices[0]


class Watch(Struct):
    refusal: str | None = None
    note: str | None = None
    error: Exception | None = None
    seen: list[tuple[str, bool]] = field(default_factory=list)

    def before(self, tool: str, arguments: JsonObject, context: ToolContext) -> str | None:
        if self.error and self.refusal:
            raise self.error
        return self.refusal

    def after(self, tool: str, arguments: JsonObject, outcome: ToolOutcome) -> str | None:
        self.seen.append((tool, outcome.is_error))
        if self.error:
            raise self.error
        return self.note


def watched(watch: Watch, tool: Tool | None = None) -> Tool:
    return hooked([offered(tool or Echo())], (("guard", watch),))[0].load()


def test_a_hook_sees_each_call_and_may_add_a_note(bench: Bench) -> None:
    watch = Watch(note="well done")

    assert text_of(call(watched(watch), bench)) == "echoed[plugin guard: well done]"
    assert watch.seen == [("echo", False)]


def test_a_hook_may_refuse_a_call_before_anything_is_done(bench: Bench) -> None:
    with pytest.raises(ToolDeniedError, match="refused by plugin guard: not on Fridays"):
        call(watched(Watch(refusal="not on Fridays"), Echo(fails="run")), bench)


def test_a_hook_that_fails_before_a_call_refuses_it(bench: Bench) -> None:
    watch = Watch(refusal="x", error=KeyError("k"))

    with pytest.raises(ToolDeniedError, match="its check failed: KeyError"):
        call(watched(watch), bench)


def test_a_hook_that_fails_after_a_call_leaves_the_result(bench: Bench) -> None:
    text = text_of(call(watched(Watch(error=KeyError("k"))), bench))

    assert text == "echoed[plugin guard: its hook failed: KeyError: 'k']"


def test_a_hook_is_told_of_failed_calls_too(bench: Bench) -> None:
    watch = Watch()
    failing = Echo(fails="run", error=ToolFailedError("no"))

    with pytest.raises(ToolFailedError):
        call(watched(watch, failing), bench)
    assert watch.seen == [("echo", True)]


def test_without_hooks_tools_stay_as_they_are() -> None:
    offer = offered(Echo())

    assert hooked([offer], ()) == (offer,)

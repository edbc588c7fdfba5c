"""Functions are tools: schema, arguments, results, errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, Optional, TypedDict

import pytest

from agentsh.abort import Abort
from agentsh.errors import InvalidArgumentsError, ToolAbortedError, ToolFailedError
from agentsh.jsontext import JsonObject
from agentsh.messages import Image, Text
from agentsh.remote.python.breakage import Breakage
from agentsh.remote.python.functiontool import FunctionTool
from agentsh.remote.python.marking import tool
from agentsh.tools.base import Effect, ToolContext, ToolOutcome
from agentsh.tools.ledger import FileLedger


class Bird(TypedDict):
    name: str
    count: NotRequired[int]


@dataclass
class Field:
    width: int
    tags: list[str] = field(default_factory=list)


def made(function: Callable[..., Any], breakage: Breakage | None = None) -> FunctionTool:
    return FunctionTool(function, breakage or Breakage())


def schema_of(function: Callable[..., Any]) -> JsonObject:
    return made(function).schema.parameters


def called(function: Callable[..., Any], tmp_path: Path, /, **arguments: Any) -> ToolOutcome:
    this = made(function)
    return this.run(this.check(arguments), context(tmp_path))


def context(tmp_path: Path, abort: Abort | None = None) -> ToolContext:
    return ToolContext(
        tmp_path, tmp_path, abort or Abort(), "c1", "k", {}, tmp_path / "out", FileLedger()
    )


def test_the_schema_is_the_signature_and_a_default_makes_a_parameter_optional() -> None:
    def area(
        width: int,
        height: float = 2,
        unit: Literal["m", "ft"] = "m",
        wet: Optional[bool] = None,  # noqa: UP045
    ) -> str:
        """The area
        of a field.

        More words."""
        return ""

    this = made(area)

    assert (this.schema.name, this.schema.description) == ("area", "The area of a field.")
    assert this.schema.parameters == {
        "type": "object",
        "properties": {
            "width": {"type": "integer"},
            "height": {"type": "number"},
            "unit": {"type": "string", "enum": ["m", "ft"]},
            "wet": {"type": "boolean"},
        },
        "required": ["width"],
    }


def test_lists_dicts_unions_and_records_have_schemas() -> None:
    def all_of_it(
        birds: list[Bird],
        counts: dict[str, int],
        place: Field,
        key: Annotated[int | str, "number or name"],
        none: int | None,
        free: dict = {},  # type: ignore[type-arg]  # noqa: B006
    ) -> None: ...

    bird = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "count": {"type": "integer"}},
        "required": ["name"],
    }
    assert schema_of(all_of_it)["properties"] == {
        "birds": {"type": "array", "items": bird},
        "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
        "place": {
            "type": "object",
            "properties": {
                "width": {"type": "integer"},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["width"],
        },
        "key": {
            "anyOf": [{"type": "integer"}, {"type": "string"}],
            "description": "number or name",
        },
        "none": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "free": {"type": "object"},
    }


class Loop(TypedDict):
    inner: "Loop"  # noqa: UP037


def no_annotation(x) -> str:  # type: ignore[no-untyped-def]
    return ""


async def later(x: int) -> str:
    return ""


def of_a_path(x: Path) -> str:
    return ""


def of_any(x: Any) -> str:
    return ""


def of_many(*x: int) -> str:
    return ""


def of_numbers(x: dict[int, str]) -> str:
    return ""


def of_itself(x: Loop) -> str:
    return ""


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (no_annotation, "no_annotation: the parameter x has no annotation"),
        (later, "later is an async function"),
        (of_a_path, "of_a_path: the parameter x: Path is nothing"),
        (of_any, "of_any: the parameter x: "),
        (of_many, "of_many: "),
        (of_numbers, "of_numbers: the parameter x: the keys"),
        (of_itself, "of_itself: the parameter x: Loop stands in itself"),
        (lambda: "", "<lambda>.* is no name"),
    ],
)
def test_what_cannot_be_a_tool_is_a_type_error_that_says_where(
    function: Callable[..., Any], words: str
) -> None:
    with pytest.raises(TypeError, match=words):
        made(function)


def test_arguments_are_converted_where_nothing_can_be_misunderstood(tmp_path: Path) -> None:
    got: dict[str, Any] = {}

    def take(
        a: int, b: float, c: bool, d: Field, e: int | str, f: list[int], g: int | None = 7
    ) -> None:
        got.update(a=a, b=b, c=c, d=d, e=e, f=f, g=g)

    called(
        take,
        tmp_path,
        a="4",
        b=3,
        c="true",
        d={"width": 2.0, "more": 1},
        e="5",
        f=["1", 2],
        unknown=1,
    )

    assert got == {"a": 4, "b": 3.0, "c": True, "d": Field(2), "e": "5", "f": [1, 2], "g": 7}
    assert isinstance(got["b"], float)


def test_null_is_an_absent_argument_unless_the_parameter_takes_none(tmp_path: Path) -> None:
    got: list[object] = []

    def take(a: int = 3, b: int | None = 4) -> None:
        got.extend((a, b))

    called(take, tmp_path, a=None, b=None)

    assert got == [3, None]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "area: the argument width is missing; expected width: integer, unit[?]: one of"),
        ({"width": "wide"}, "area: width must be integer, got"),
        ({"width": 1, "unit": "mile"}, 'area: unit must be one of "m", 2, got'),
    ],
)
def test_wrong_arguments_are_named(arguments: JsonObject, words: str) -> None:
    def area(width: int, unit: Literal["m", 2] = "m") -> None: ...

    with pytest.raises(InvalidArgumentsError, match=words):
        made(area).check(arguments)


def test_a_text_is_the_result_and_other_values_are_its_json(tmp_path: Path) -> None:
    picture = Image("AA==", "image/png")

    def give(what: str) -> object:
        return {"text": "as it is", "json": {"a": Field(1)}, "none": None, "image": picture}.get(
            what, ["seen:", picture]
        )

    contents = [
        called(give, tmp_path, what=what).content
        for what in ("text", "json", "none", "image", "both")
    ]

    assert contents == [
        (Text("as it is"),),
        (Text('{"a":{"width":1,"tags":[]}}'),),
        (Text("null"),),
        (picture,),
        (Text("seen:"), picture),
    ]


def test_an_exception_is_an_error_with_its_type_and_words(tmp_path: Path) -> None:
    def fail(why: str) -> str:
        raise ValueError("because of " + why)

    with pytest.raises(ToolFailedError, match="ValueError: because of rain"):
        called(fail, tmp_path, why="rain")


def test_ctrl_c_goes_through_and_stops_the_turn(tmp_path: Path) -> None:
    breakage, abort = Breakage(), Abort()

    def stop() -> str:
        raise KeyboardInterrupt

    with pytest.raises(ToolAbortedError):
        made(stop, breakage).run({}, context(tmp_path, abort))

    assert abort.is_set
    with pytest.raises(KeyboardInterrupt):
        breakage.raise_again()
    breakage.raise_again()  # once


def test_a_function_needs_no_question_unless_it_is_marked_so() -> None:
    def plain() -> None: ...

    @tool(ask=True, effect="exec", name="other-name")
    def marked() -> None: ...

    @tool
    def bare() -> None: ...

    assert [(t.is_agreed, t.effect, t.schema.name) for t in map(made, (plain, marked, bare))] == [
        (True, Effect.UNKNOWN, "plain"),
        (False, Effect.EXEC, "other-name"),
        (True, Effect.UNKNOWN, "bare"),
    ]


@pytest.mark.parametrize("wrong", [{"name": "no name"}, {"effect": "destroys"}])
def test_a_wrong_mark_is_said_at_once(wrong: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"name|destroys"):
        tool(**wrong)  # type: ignore[call-overload]

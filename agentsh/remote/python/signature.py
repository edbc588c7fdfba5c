"""A function's signature → the parameters of a tool: a JSON Schema, and values as it takes them.

What an annotation may be: str, int, float, bool, list, dict, Literal, Optional, unions of them,
TypedDict, dataclasses, and Annotated with a text that describes. Anything else is a TypeError that
names function and parameter. Reads annotations, calls nothing. Pure. Read next: kinds.py.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

from agentsh.remote.python.kinds import (
    ChoiceKind,
    DictKind,
    ListKind,
    NullKind,
    ParameterKind,
    ParameterMember,
    PlainKind,
    RecordKind,
    UnionKind,
)

_PLAIN: dict[object, PlainKind] = {
    str: PlainKind("string"),
    int: PlainKind("integer"),
    float: PlainKind("number"),
    bool: PlainKind("boolean"),
}


class _UnfitError(Exception):
    """An annotation that says nothing a JSON Schema could."""


def parameters_of(function: Callable[..., Any]) -> Mapping[str, ParameterMember]:
    """The parameters by name, in their order. Raises TypeError."""
    name = getattr(function, "__name__", repr(function))
    body = function if inspect.isroutine(function) else getattr(function, "__call__", function)  # noqa: B004
    if inspect.iscoroutinefunction(body) or inspect.isasyncgenfunction(body):
        raise TypeError(f"{name} is an async function, and tools are called as they are")
    if inspect.isgeneratorfunction(body):
        raise TypeError(f"{name} is a generator, and a tool returns its result")
    try:
        signature = inspect.signature(function)
        hints = typing.get_type_hints(body, include_extras=True)
    except (NameError, ValueError, TypeError, AttributeError) as e:
        raise TypeError(f"the signature of {name} cannot be read: {e}") from e
    return {
        parameter.name: _parameter(name, parameter, hints)
        for parameter in signature.parameters.values()
    }


def _parameter(
    function: str, parameter: inspect.Parameter, hints: Mapping[str, Any]
) -> ParameterMember:
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        raise TypeError(f"{function}: {parameter} cannot be given by name")
    if parameter.name not in hints:
        raise TypeError(f"{function}: the parameter {parameter.name} has no annotation")
    try:
        return _member(hints[parameter.name], parameter.default is parameter.empty)
    except _UnfitError as e:
        raise TypeError(f"{function}: the parameter {parameter.name}: {e}") from e


def _member(annotation: Any, is_required: bool, above: tuple[object, ...] = ()) -> ParameterMember:
    description = None
    if typing.get_origin(annotation) is typing.Annotated:
        annotation, *notes = typing.get_args(annotation)
        description = next((note for note in notes if isinstance(note, str)), None)
    return ParameterMember(_kind(annotation, above), is_required, description)


def _kind(annotation: Any, above: tuple[object, ...]) -> ParameterKind:
    """`above`: the classes that it stands in. Raises _UnfitError."""
    if typing.get_origin(annotation) is typing.Annotated:
        annotation = typing.get_args(annotation)[0]
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation is None or annotation is types.NoneType:
        return NullKind()
    if isinstance(annotation, type) and annotation in _PLAIN:
        return _PLAIN[annotation]
    if origin is typing.Literal:
        return _choice(inner)
    if origin in (typing.Union, types.UnionType):
        return UnionKind(tuple(_kind(each, above) for each in inner))
    if annotation is list or origin is list:
        return ListKind(_kind(inner[0], above) if inner else None)
    if annotation is dict or origin is dict:
        if inner and inner[0] is not str:
            raise _UnfitError(f"the keys of {_named(annotation)} are no str")
        return DictKind(_kind(inner[1], above) if inner else None)
    if isinstance(annotation, type) and (
        typing.is_typeddict(annotation) or dataclasses.is_dataclass(annotation)
    ):
        return _record(annotation, above)
    raise _UnfitError(f"{_named(annotation)} is nothing that a model can send")


def _choice(values: tuple[object, ...]) -> ChoiceKind:
    if not all(value is None or isinstance(value, str | int | bool) for value in values):
        raise _UnfitError("a Literal holds texts, numbers, True, False and None")
    return ChoiceKind(typing.cast("tuple[str | int | bool | None, ...]", values))


def _record(this: type, above: tuple[object, ...]) -> RecordKind:
    if this in above:
        raise _UnfitError(f"{_named(this)} stands in itself")
    inside = (*above, this)
    try:
        hints = typing.get_type_hints(this, include_extras=True)
    except NameError as e:
        raise _UnfitError(f"the members of {_named(this)} cannot be read: {e}") from e
    if typing.is_typeddict(this):
        required: frozenset[str] = getattr(this, "__required_keys__", frozenset())
        members = {
            name: _member(*_bare(hint, name in required), inside) for name, hint in hints.items()
        }
        return RecordKind(members)
    fields = [field for field in dataclasses.fields(this) if field.init]
    missing = dataclasses.MISSING
    return RecordKind(
        {
            field.name: _member(
                hints[field.name],
                field.default is missing and field.default_factory is missing,
                inside,
            )
            for field in fields
        },
        this,
    )


def _bare(hint: Any, is_required: bool) -> tuple[Any, bool]:
    """Without the Required and NotRequired of a TypedDict, which are read here.

    Annotations that are texts (`from __future__ import annotations`) hide them from the class.
    """
    match typing.get_origin(hint):
        case typing.Required:
            return typing.get_args(hint)[0], True
        case typing.NotRequired:
            return typing.get_args(hint)[0], False
        case _:
            return hint, is_required


def _named(annotation: object) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)

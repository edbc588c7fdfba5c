"""Check a call's arguments against the tool's own JSON schema. Pure; a small part of JSON schema.

Lenient where models slip and nothing can be misunderstood (the contract's Tools): a number, a
boolean, a list or an object given as a string is taken, a null for an optional member is an absent
one, unknown names are dropped. A name by which other tools ask for a file, a folder, a part or a
way of matching would have changed what is done: the model is told that it was dropped (T21).
Everything else raises InvalidArgumentsError with what was expected and what came.
Understood: type, properties, required, items, enum, minimum. It does not know any tool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from agentsh.errors import InvalidArgumentsError
from agentsh.jsontext import JsonError, JsonObject, JsonValue, dumps_text, loads_written
from agentsh.messages import ToolSchema

_SHOWN = 60
_TELLING: Final = frozenset(
    (
        *("file_path", "filePath", "filepath", "file", "filename", "file_name", "target_file"),
        *("dir", "dir_path", "dirPath", "directory", "folder", "path", "paths", "absolute_path"),
        *("cwd", "workdir", "work_dir", "working_dir", "working_directory", "workingDirectory"),
        *("start", "end", "start_line", "startLine", "end_line", "endLine", "line", "lines"),
        *("line_start", "line_end", "from_line", "to_line", "line_range", "view_range", "offset"),
        *("-i", "ignore_case", "case_insensitive", "caseInsensitive", "include", "exclude"),
        *("-A", "-B", "-C", "context_lines", "file_pattern", "include_pattern", "exclude_pattern"),
        *("timeout_ms", "timeoutMs", "timeout_seconds", "timeout_sec", "timeoutSeconds"),
        *("run_in_background", "is_background", "isBackground", "stdin", "env"),
    )
)
"""Names of other tools' arguments; a tool that has one knows what to do with it."""
_NOTHING: Final[tuple[JsonValue, ...]] = (None, False, "", [], {})


def check_arguments(schema: ToolSchema, arguments: JsonObject) -> JsonObject:
    """The arguments as the tool takes them. Raises InvalidArgumentsError."""
    return _checked_object(schema.parameters, arguments, schema.name, "")


def passed_over(schema: ToolSchema, given: JsonObject, taken: JsonObject) -> str | None:
    """What to tell of names that were dropped and would have meant something; None: nothing."""
    properties = _mapping(schema.parameters.get("properties"))
    heard = {*properties, *taken}
    names = [
        name
        for name, value in given.items()
        if name in _TELLING and name not in heard and value not in (*_NOTHING, ".")
    ]
    if not names:
        return None
    usage = _usage(properties, _names(schema.parameters.get("required")))
    return f"({schema.name} has no argument {', '.join(names)}: ignored. It takes {usage})"


def _checked_object(
    schema: Mapping[str, JsonValue], value: Mapping[str, JsonValue], tool: str, parent: str
) -> JsonObject:
    properties = _mapping(schema.get("properties"))
    required = _names(schema.get("required"))
    result: JsonObject = {}
    for name, member in properties.items():
        if value.get(name) is None:
            if name in required:
                raise InvalidArgumentsError(
                    f"{tool}: the argument {_path(parent, name)} is missing; "
                    f"expected {_usage(properties, required)}"
                )
            continue
        result[name] = _checked(_mapping(member), value[name], tool, _path(parent, name))
    return result


def _checked(schema: Mapping[str, JsonValue], value: JsonValue, tool: str, path: str) -> JsonValue:
    kind = schema.get("type")
    result = coerced(kind, _unwrapped(value) if kind in ("array", "object") else value)
    if result is None:
        raise InvalidArgumentsError(
            f"{tool}: {path} must be {_article(kind)}, got {shown_argument(value)}"
        )
    choices = schema.get("enum")
    if isinstance(choices, Sequence) and not isinstance(choices, str) and result not in choices:
        listed = ", ".join(shown_argument(choice) for choice in choices)
        raise InvalidArgumentsError(
            f"{tool}: {path} must be one of {listed}, got {shown_argument(value)}"
        )
    least = schema.get("minimum")
    if isinstance(least, int | float) and isinstance(result, int | float) and result < least:
        raise InvalidArgumentsError(
            f"{tool}: {path} must be at least {least}, got {shown_argument(value)}"
        )
    if kind == "array" and isinstance(result, Sequence):
        items = _mapping(schema.get("items"))
        return [_checked(items, item, tool, f"{path}[{i}]") for i, item in enumerate(result)]
    if kind == "object" and isinstance(result, Mapping):
        return _checked_object(schema, result, tool, path)
    return result


def coerced(kind: JsonValue, value: JsonValue) -> JsonValue:
    """The value as that kind, or None where it is of another one."""
    result: JsonValue = None
    match kind, value:
        case (("integer" | "number"), bool()):
            pass
        case ("string", str()) | ("boolean", bool()) | ("number", int() | float()) | (None, _):
            result = value
        case "boolean", str():
            result = {"true": True, "false": False}.get(value.strip().lower())
        case "integer", int() | float() | str():
            result = _whole(value)
        case "number", str():
            result = _number(value)
        case ("array", Sequence()) | ("object", Mapping()) if not isinstance(value, str):
            result = value
        case _:
            pass
    return result


def _unwrapped(value: JsonValue) -> JsonValue:
    """What a JSON text stands for; anything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        return loads_written(value)
    except JsonError:
        return value


def _number(text: str) -> int | float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if number - number == 0 else None  # inf and nan are no JSON numbers


def _whole(value: float | str) -> int | None:
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            number = _number(value)
    else:
        number = value
    if number is None or number - number != 0 or number != int(number):
        return None
    return int(number)


def _mapping(value: JsonValue) -> Mapping[str, JsonValue]:
    return value if isinstance(value, Mapping) else {}


def _names(value: JsonValue) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        return ()
    return tuple(name for name in value if isinstance(name, str))


def _path(parent: str, name: str) -> str:
    return f"{parent}.{name}" if parent else name


def _usage(properties: Mapping[str, JsonValue], required: tuple[str, ...]) -> str:
    return ", ".join(
        f"{name}{'' if name in required else '?'}: {_mapping(member).get('type', 'any')}"
        for name, member in properties.items()
    )


def _article(kind: JsonValue) -> str:
    word = str(kind)
    return f"{'an' if word[:1] in 'aio' else 'a'} {word}"


def shown_argument(value: JsonValue) -> str:
    try:
        text = dumps_text(value)
    except JsonError:
        text = repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"

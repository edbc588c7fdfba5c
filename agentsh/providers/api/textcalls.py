"""Does an answer's text hold a tool call that was only written, and not made? Pure.

Models whose server does not know their format write calls as text: JSON in a fence or alone,
`<tool_call>`, `<function=…>`, `[TOOL_CALLS]`, Harmony's `to=functions.…`. Such text is never run
(E39): it is data, and may quote what somebody else wrote. It is only looked for, so that a person
is told why nothing happens.
Certain enough: it is the end of the answer, and it names a tool that was offered.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from agentsh.jsontext import JsonError, JsonValue, loads_foreign

_MARKED: Final = (
    r"<(tool_call|function_call|tool_use|invoke|function)s?\b.*</\1s?>$"
    r"|\[TOOL_CALLS?\].*$|<\|python_tag\|>.*$|<\|tool_calls?(?:_begin|_start)?\|>.*$"
    r"|<\|(?:start|channel)\|>[^<]*to=functions\..*$"
)
_FENCED: Final = r"```(?:json|tool_call|tool_code)?\s*(\{.*\}|\[.*\])\s*```$"
_LONGEST: Final = 20_000
"""Characters of the end of an answer that are looked at."""


def written_call(text: str, names: Collection[str]) -> str | None:
    """The name of the offered tool that the text ends with a call of; None where it does not."""
    end = text[-_LONGEST:].strip()
    if end[-1:] not in ("}", "]", ">", "`"):
        return None
    if marked := re.search(_MARKED, end, re.DOTALL):
        return next((name for name in names if _is_named(name, marked[0])), None)
    fenced = re.search(_FENCED, end, re.DOTALL)
    try:
        value = loads_foreign((fenced[1] if fenced else end).encode())
    except JsonError:
        return None
    return _called(value, names)


def not_made(model: str, name: str, endpoint: str) -> str:
    """What the person is told."""
    return (
        f"{model} wrote a call of {name} as text instead of making it, so nothing was run:"
        f" {endpoint} may not support tools for this model (docs/endpoints.md, Tool calls)"
    )


def _is_named(name: str, text: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None


def _called(value: JsonValue, names: Collection[str]) -> str | None:
    match value:
        case [first, *_]:
            return _called(first, names)
        case {"function": dict() as inner}:
            return _called(inner, names)
        case (
            {"name": str(name), "arguments": _}
            | {"name": str(name), "parameters": _}
            | {"name": str(name), "input": _}
        ) if name in names:
            return name
        case _:
            return None

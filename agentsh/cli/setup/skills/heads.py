"""The head of a SKILL.md or a template: lines of YAML between two lines of three dashes. Pure.

How YAML is read is handed in. Where it refuses (a colon in a description is the usual reason), the
lines `key: value` count as they stand, with what is indented below them. Read next: yamltext.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from agentsh.jsontext import clean

_LINE = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*)|)$")
_FOLDED: Final = re.compile(r"[>|][-+0-9]*$")


def split_head(text: str) -> tuple[str | None, str]:
    """The head without its dashes (None: there is none), and the text behind it."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    first, _, remaining = text.partition("\n")
    if first.rstrip() != "---":
        return None, text
    head: list[str] = []
    while remaining:
        line, _, remaining = remaining.partition("\n")
        if line.rstrip() == "---":
            return "\n".join(head), remaining
        head.append(line)
    return None, text


def read_fields(head: str, read_yaml: Callable[[str], object]) -> Mapping[str, str]:
    """The fields that are texts; what YAML refuses, or reads as something else, line by line."""
    lines = _by_lines(head)
    try:
        value = read_yaml(head)
    except ValueError:
        return lines
    if not isinstance(value, dict):
        return lines
    read = {key: each for key, each in value.items() if isinstance(key, str)}
    texts = {key: each for key, each in read.items() if isinstance(each, str)}
    return {**{key: text for key, text in lines.items() if key in read}, **texts}


def one_line(text: str) -> str:
    """A name or a description, as a list can hold it."""
    return clean(" ".join(text.split()))


def _by_lines(head: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    key = ""
    for line in head.split("\n"):
        match = _LINE.match(line)
        if match is not None:
            key = match[1]
            value = (match[2] or "").strip()
            fields[key] = "" if _FOLDED.match(value) else _unquoted(value)
        elif key and line[:1] in (" ", "\t") and line.strip():
            fields[key] = f"{fields[key]} {line.strip()}".strip()
    return fields


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value

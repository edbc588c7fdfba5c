"""Session files as no program writes them: real ones, with random harm to bytes, lines and values.

`mutated(chance, lines)` gives another file each time. Structures are changed more often than bytes,
since a value of the wrong kind gets further in than a line that is no JSON.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any, Final

_Place = tuple[Any, Any]
"""A container and the key or index in it."""

ODD_VALUES: Final[Sequence[Callable[[], object]]] = (
    lambda: None,
    lambda: True,
    lambda: -1,
    lambda: 0,
    lambda: 1.5,
    lambda: 2**63,
    lambda: 10**400,
    lambda: 1e308,
    lambda: "",
    lambda: "\0",
    lambda: "\ud800",
    lambda: "x" * 300,
    lambda: "/" + "x" * 5000,
    lambda: "../../etc/passwd",
    lambda: "--output=x",
    lambda: "\x1b]0;title\x07\u202e",
    lambda: "9999-99-99T99:99:99.999Z",
    list,
    dict,
    lambda: ["user"],
    lambda: {"a": {"type": ["text"]}},
    lambda: [[], {}, None, 0, "x"],
    lambda: _nested(150),
    lambda: _nested(700),
)


def _nested(depth: int) -> object:
    value: object = 0
    for _ in range(depth):
        value = [value]
    return value


def mutated(chance: random.Random, lines: Sequence[bytes]) -> list[bytes]:
    """The lines of a file with one to four things wrong."""
    changed = list(lines)
    for _ in range(chance.randint(1, 4)):
        how = chance.choices((_value, _line, _bytes), (8, 2, 1))[0]
        how(chance, changed)
        if not changed:
            return [b""]
    return changed


def _value(chance: random.Random, lines: list[bytes]) -> None:
    """A member of some line is of another kind, gone, or stands where another one did."""
    at = chance.randrange(len(lines))
    try:
        row = json.loads(lines[at])
    except ValueError:
        return
    places = _places(row)
    if not places:
        return
    container, key = chance.choice(places)
    match chance.randrange(4):
        case 0:
            del container[key]
        case 1:
            other, its = chance.choice(places)
            value = other[its] if _has(other, its) else None
            container[key] = json.loads(json.dumps(value))
        case _:
            container[key] = chance.choice(ODD_VALUES)()
    lines[at] = json.dumps(row, separators=(",", ":")).encode()


def _has(container: Any, key: Any) -> bool:
    return key in container if isinstance(container, dict) else key < len(container)


def _places(row: Any) -> list[_Place]:
    found: list[_Place] = []
    waiting = [row]
    while waiting:
        each = waiting.pop()
        keys = list(each) if isinstance(each, dict) else range(len(each))
        for key in keys:
            found.append((each, key))
            if isinstance(each[key], dict | list):
                waiting.append(each[key])
    return found


def _line(chance: random.Random, lines: list[bytes]) -> None:
    at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(5):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, lines[other])
        case 2:
            lines[at], lines[other] = lines[other], lines[at]
        case 3:
            lines[at] = lines[at][: chance.randrange(len(lines[at]) + 1)]
        case _:
            lines[at] = b""


def _bytes(chance: random.Random, lines: list[bytes]) -> None:
    at = chance.randrange(len(lines))
    line = bytearray(lines[at])
    for _ in range(chance.randint(1, 5)):
        place = chance.randrange(len(line) + 1)
        line[place : place + chance.randrange(2)] = bytes([chance.randrange(256)])
    lines[at] = bytes(line)

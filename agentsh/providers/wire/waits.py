"""The wait that a server names, wherever it names it: headers, members of a body, words. Pure.

Headers first, then members by their names, then words, since words are the least exact. Units are
read where they stand (`4s`, `200ms`, `6m0s`, "2 minutes"); a plain number is seconds, or
milliseconds where its name says so; a time of day becomes the seconds until then. What is no
number, negative or beyond all sense names no wait. Whether it is waited for is retry.py's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from email.utils import mktime_tz, parsedate_tz
from typing import Final

from agentsh.jsontext import JsonValue

_MOST: Final = 1e9
"""Seconds; beyond it a number is a time and no wait, or nothing at all."""
_DEPTH: Final = 8
_PIECE: Final = (
    r"(\d+(?:\.\d+)?)\s*(ms|milliseconds?|d(?:ays?)?|h(?:(?:ou)?rs?)?|m(?:in(?:ute)?s?)?"
    r"|s(?:ec(?:ond)?s?)?)(?![a-z])"
)
_UNITS: Final = {"d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
_MEMBER: Final = (
    r"(?:retry|wait|resets?)_?(?:after|in|delay|for)?_?(?:ms|millis(?:econds)?|s|sec|seconds)?"
)
_MOMENT: Final = r"(?:resets?|retry|available|try_again)_?at"
_RESET: Final = "x-ratelimit-reset"
_WORDS: Final = (
    r"(?:try(?:ing)? again|retry(?: the request)?|retry.?after|wait(?: for)?|available again"
    r"|resets?)\b[^.\d]{0,24}?((?:\d+(?:\.\d+)?\s*[a-z]+[\s,]*(?:and\s+)?){1,4})"
)


def read_retry_after(headers: Mapping[str, str], *, now: float) -> float | None:
    """Seconds to wait as the headers ask for them. Names are in lower case; `now` in seconds.

    `retry-after-ms` is OpenAI's and Azure's; a date is rounded up, never down.
    """
    if (millis := _number(headers.get("retry-after-ms"))) is not None:
        return millis / 1000
    for name in ("retry-after", "x-retry-after", "x-ratelimit-reset-after"):
        if (value := headers.get(name)) is not None:
            date = _date(value)
            seconds = max(0.0, date - now) if date is not None else _seconds(value, 1.0)
            if seconds is not None:
                return seconds
    return max(_used_up(headers, now), default=None)


def _used_up(headers: Mapping[str, JsonValue], now: float) -> Iterator[float]:
    """Until when each count lasts of which nothing is left: `x-ratelimit-reset-tokens: 6m0s`.

    Such headers come with every answer: only beside a `remaining` of 0 do they name a wait.
    """
    for name, value in headers.items():
        if not name.lower().startswith(_RESET) or not isinstance(value, str | int | float):
            continue
        left = _RESET.replace("reset", "remaining") + name.lower().removeprefix(_RESET)
        if any(n.lower() == left and str(v).strip() == "0" for n, v in headers.items()):
            seconds = _until(str(value), now)
            seconds = _seconds(str(value), 1.0) if seconds is None else seconds
            if seconds is not None:
                yield seconds


def _date(text: str) -> float | None:
    """Seconds since the epoch of an HTTP date (RFC 9110 §5.6.7), in any of its forms."""
    parsed = parsedate_tz(text)
    return None if parsed is None else float(mktime_tz(parsed))


def named_wait(value: JsonValue, *, now: float) -> float | None:
    """The longest wait that a member of this body names, else the one in its words."""
    members = [wait for wait in _members(value, now, _DEPTH) if wait is not None]
    if members:
        return max(members)
    return max((w for text in _texts(value, _DEPTH) for w in _in_words(text)), default=None)


def spoken(seconds: float) -> str:
    """A wait for people: rounded up, in its two largest units."""
    left = math.ceil(seconds)
    if left >= 60:
        left = -(-left // 60) * 60
    parts: list[str] = []
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2]) or "0 s"


def _members(value: JsonValue, now: float, depth: int) -> Iterator[float | None]:
    match value:
        case dict() if depth:
            yield from _used_up(value, now)
            for name, inner in value.items():
                plain = re.sub(r"(?<=[a-z])(?=[A-Z])|[-\s]", "_", name).lower()
                if isinstance(inner, str | int | float) and not isinstance(inner, bool):
                    if re.fullmatch(_MEMBER, plain):
                        yield _seconds(str(inner), 0.001 if "_m" in plain else 1.0)
                    elif re.fullmatch(_MOMENT, plain):
                        yield _until(str(inner), now)
                else:
                    yield from _members(inner, now, depth - 1)
        case list() if depth:
            for inner in value[:20]:
                yield from _members(inner, now, depth - 1)
        case _:
            return


def _texts(value: JsonValue, depth: int) -> Iterator[str]:
    match value:
        case str():
            yield value[:2000]
        case dict() if depth:
            for inner in value.values():
                yield from _texts(inner, depth - 1)
        case list() if depth:
            for inner in value[:20]:
                yield from _texts(inner, depth - 1)
        case _:
            return


def _in_words(text: str) -> Iterator[float]:
    for match in re.finditer(_WORDS, text, re.IGNORECASE):
        if (seconds := _sum(match[1])) is not None:
            yield seconds


def _sum(text: str) -> float | None:
    """`1h30m`, `6m0s`, "2 minutes and 5 seconds"."""
    pieces = re.findall(_PIECE, text, re.IGNORECASE)
    total = sum(
        float(count)
        * (0.001 if unit.lower().startswith(("ms", "mil")) else _UNITS[unit[0].lower()])
        for count, unit in pieces
    )
    return total if pieces and total < _MOST else None


def _seconds(value: str, unit: float) -> float | None:
    number = _number(value)
    return number * unit if number is not None else _sum(value)


def _until(value: str, now: float) -> float | None:
    """Seconds until a moment: an epoch in seconds or milliseconds, or ISO 8601 with a zone."""
    try:
        moment = float(value)
    except ValueError:
        try:
            date = datetime.fromisoformat(value)
        except ValueError:
            return None
        if date.tzinfo is None:
            return None
        moment = date.timestamp()
    moment = moment / 1000 if moment > 1e11 else moment
    wait = moment - now
    return wait if 0 <= wait < _MOST else None


def _number(value: str | None) -> float | None:
    if value is None:
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if 0 <= number < _MOST else None

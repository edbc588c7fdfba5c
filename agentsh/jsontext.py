"""Text ↔ JSON values: orjson, the stdlib where orjson would alter or refuse. The only orjson.

What it guarantees (R67): compact separators, non-ASCII raw, no NaN or Infinity, only
string keys, integers of any size keep their digits both ways, a lone surrogate in a value is
written as U+FFFD. How deep a value may be nested is one number for whoever reads and whoever
writes, far below what any of the parsers, the writer and a recursion of ours take: what was read
can be shown, changed and written again. It knows nothing of sessions or requests. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final, TypeAlias, cast

import orjson

# Mapping and Sequence rather than dict and list, so that frozen values can be written as they are.
JsonValue: TypeAlias = (
    bool | int | float | str | Sequence["JsonValue"] | Mapping[str, "JsonValue"] | None
)
JsonObject: TypeAlias = dict[str, JsonValue]

# what is no JSON value is refused, not spelled in some way of orjson's own
_STRICT = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS
# patterns are compiled where one is first needed: most runs need none
_PAIR: Final = "[\ud800-\udbff][\udc00-\udfff]"
_LONE: Final = "[\ud800-\udfff]"
# orjson turns integers above 2^64-1 into floats without a word; 19 digits in a row may be one.
# Looked for by making all digits alike: ten times as fast as a pattern on long lines (measured)
_DIGITS_ALIKE = bytes(0x30 if 0x30 <= code <= 0x39 else 0x20 for code in range(256))
_LONG_NUMBER = b"0" * 19


DEEPEST: Final = 200
"""Levels of a value that is stored or shown."""
DEEPEST_FOREIGN: Final = 100
"""Levels of what a model, a server or another program gave: it is stored inside other values."""
_STRINGS: Final = rb'(?s)"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_BRACKETS: Final = rb"[\[\]{}]"

_HARMLESS = frozenset({str, int, bool, type(None)})
_FLAT = _HARMLESS | {float}


class JsonError(ValueError):
    """Not JSON, or JSON that agentsh does not take (NaN, a key that is no string)."""


def clean(text: str) -> str:
    """The text with the halves of a pair joined; one that is alone becomes U+FFFD (S39)."""
    if text.isascii() or re.search(_LONE, text) is None:
        return text
    return re.sub(_LONE, "\ufffd", re.sub(_PAIR, _joined, text))


def _joined(pair: re.Match[str]) -> str:
    halves = pair[0]
    return chr(0x10000 + ((ord(halves[0]) - 0xD800) << 10) + (ord(halves[1]) - 0xDC00))


def is_deeper(data: bytes, deepest: int = DEEPEST) -> bool:
    """Whether JSON text is nested in more levels than that. Pure; never recurses."""
    if data.count(b"[") + data.count(b"{") <= deepest:
        return False
    level = 0
    for bracket in re.findall(_BRACKETS, re.sub(_STRINGS, b"", data)):
        level += 1 if bracket in b"[{" else -1
        if level > deepest:
            return True
    return False


def is_value_deeper(value: JsonValue, deepest: int) -> bool:
    """The same of a value. Pure; recurses no further than that many levels."""
    if type(value) in _FLAT:
        return False
    if deepest == 0:
        return True
    is_object = type(value) is dict or isinstance(value, Mapping)
    members = (
        cast("JsonObject", value).values() if is_object else cast("Sequence[JsonValue]", value)
    )
    nested = [each for each in members if type(each) not in _FLAT]
    return bool(nested) and any(is_value_deeper(each, deepest - 1) for each in nested)


def loads(data: bytes | str, *, deepest: int = DEEPEST) -> JsonValue:
    """Parse one JSON value. Raises JsonError."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    _refuse_deeper(raw, deepest)
    if _LONG_NUMBER not in raw.translate(_DIGITS_ALIKE):
        try:
            return cast("JsonValue", orjson.loads(raw))
        except orjson.JSONDecodeError:
            pass  # perhaps a lone surrogate, which the stdlib reads
    try:
        text = raw.decode("utf-8")
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite)
        return cast("JsonValue", value)
    except (ValueError, RecursionError) as e:
        raise JsonError(str(e)) from e


def loads_foreign(data: bytes) -> JsonValue:
    """What a server sent: bad bytes become U+FFFD, NaN and Infinity null. Raises JsonError.

    Some give a probability as -Infinity, or cut a character in two; the answer is good all the
    same.
    """
    _refuse_deeper(data, DEEPEST_FOREIGN)
    try:
        return loads(data)
    except JsonError:
        pass
    try:
        value = json.loads(
            data.decode("utf-8", "replace"), parse_constant=_nothing, parse_float=_finite_if_any
        )
    except (ValueError, RecursionError) as e:
        raise JsonError(str(e)) from e
    return cast("JsonValue", value)


def loads_written(text: str, *, deepest: int = DEEPEST_FOREIGN) -> JsonValue:
    """What a model wrote: a line break or tab that it did not escape stands for itself.

    Nothing else that it could mean stands inside of quotes there. Raises JsonError.
    """
    try:
        return loads(text, deepest=deepest)
    except JsonError:
        _refuse_deeper(text.encode("utf-8", "surrogatepass"), deepest)
    try:
        value = json.loads(text, strict=False, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError) as e:
        raise JsonError(str(e)) from e
    return cast("JsonValue", value)


def loads_object(data: bytes | str, *, deepest: int = DEEPEST) -> JsonObject:
    """Parse one JSON object. Raises JsonError for anything else."""
    value = loads(data, deepest=deepest)
    if not isinstance(value, dict):
        raise JsonError(f"an object expected, {type(value).__name__} found")
    return cast("JsonObject", value)


def dumps(value: JsonValue, *, sound: Collection[str] = ()) -> bytes:
    """Compact UTF-8 JSON. Raises JsonError on NaN, Infinity, other keys, other types.

    `sound` names members of an object that are known to hold neither NaN nor Infinity: text, and
    JSON that `loads` gave. Of a long request it is nearly all, and need not be looked through.
    """
    try:
        data = orjson.dumps(value, option=_STRICT)
    except TypeError:
        pass  # a lone surrogate, or an integer beyond 64 bits
    else:
        if sound and isinstance(value, dict):
            _checked({name: each for name, each in value.items() if name not in sound})
        # NaN and Infinity become null without a word: they are looked for only where one stands,
        # and that one by one, which is nine times as fast as a pattern (measured)
        elif b"null" in data and (
            b":null" in data or b",null" in data or b"[null" in data or data == b"null"
        ):
            _checked(value)
        return data
    try:
        text = json.dumps(
            _cleaned(value), ensure_ascii=False, allow_nan=False, separators=(",", ":")
        )
    except (TypeError, ValueError, RecursionError) as e:
        raise JsonError(str(e)) from e
    return text.encode("utf-8")


def dumps_text(value: JsonValue) -> str:
    return dumps(value).decode("utf-8")


def _refuse_deeper(data: bytes, deepest: int) -> None:
    if is_deeper(data, deepest):
        raise JsonError(f"nested in more than {deepest} levels")


def _finite(word: str) -> float:
    """A number that can be written again; orjson refuses the others, too."""
    value = float(word)
    if value in (float("inf"), float("-inf")):
        raise JsonError(f"{word[:20]} is too large for a number")
    return value


def _nothing(word: str) -> None:
    """For a number that JSON does not have."""


def _finite_if_any(word: str) -> float | None:
    value = float(word)
    return None if value in (float("inf"), float("-inf")) else value


def _refuse(word: str) -> JsonValue:
    raise JsonError(f"{word} is no JSON value")


def _checked(value: JsonValue) -> JsonValue:
    """Refuse what orjson would write as null without a word."""
    # exact types first: each body and each line goes through here, and a match on Mapping is slow
    kind = type(value)
    if kind in _HARMLESS:
        return value
    if kind is dict or isinstance(value, Mapping):
        for item in cast("JsonObject", value).values():
            if type(item) not in _HARMLESS:
                _checked(item)
    elif isinstance(value, str | int):
        pass  # an enumeration's
    elif isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise JsonError("NaN and Infinity are no JSON values")
    else:
        for item in cast("Sequence[JsonValue]", value):
            if type(item) not in _HARMLESS:
                _checked(item)
    return value


def _cleaned(value: JsonValue) -> JsonValue:
    match value:
        case str():
            return clean(value)
        case None | bool() | int() | float():
            return value
        case Mapping():
            for key in value:
                if not isinstance(key, str):
                    raise JsonError(f"the key {key!r} is no string")
            return {clean(k): _cleaned(v) for k, v in value.items()}
        case Sequence():
            return [_cleaned(item) for item in value]
        case _:
            raise JsonError(f"{type(value).__name__} is no JSON value")

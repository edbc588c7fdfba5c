"""What a server explains when it fails: words, code, the fields it names, the wait. Pure.

A body may be a dict, a list, a string, HTML or plain text, and the reason may stand under any name:
beside the message, in a list of fields, in JSON inside a string. The message comes first, then
whatever else is said in words, a field's name before what is said of it. All of it is bounded, and
goes through `scrub` (failures.py), which takes out markup, control codes and the key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from agentsh.jsontext import JsonError, JsonObject, JsonValue, loads
from agentsh.providers.wire.htmltext import is_html, text_of_html
from agentsh.providers.wire.waits import named_wait

Scrub: TypeAlias = Callable[[str], str]

_INNER: Final = ("error", "errors", "detail", "errorMessage", "error_description")
_MESSAGE: Final = ("message", "msg", "title", "reason")
_OF_A_FIELD: Final = ("message", "msg", "issue", "reason", "description", "detail", "error")
_FIELD: Final = ("loc", "field", "param", "pointer", "path", "name", "parameter", "source")
_ROOTS: Final = frozenset(("body", "query", "#", ""))
# members that say nothing to a person: marks, places, what was sent, and the wait
_NO_WORDS: Final = frozenset(
    (
        *("code", "status", "type", "@type", "object", "id", "request_id", "trace_id", "timestamp"),
        *(
            "input",
            "url",
            "links",
            "help",
            "documentation_url",
            "locale",
            "domain",
            "model",
            "user",
        ),
        *("provider_name", "retrydelay", "retry_after", "stack", "traceback", "headers", "ctx"),
    )
)
_MOST_PIECES: Final = 4
_DEPTH: Final = 9


class Said(Struct, frozen=True):
    """What was made out of a body."""

    words: str = ""
    code: str = ""
    kind: str = ""
    fields: tuple[str, ...] = ()
    """The fields of the request that were named beside the words, without what is inside them."""
    wait: float | None = None
    """Seconds."""

    @property
    def codes(self) -> frozenset[str]:
        return frozenset((self.code.lower(), self.kind.lower()))

    @property
    def status(self) -> int | None:
        is_status = len(self.code) == 3 and self.code.isdecimal() and 400 <= int(self.code) < 600
        return int(self.code) if is_status else None


class _Piece(Struct, frozen=True):
    """Something said beside the message, and of which field."""

    words: str
    field: str = ""


def read_body(scrub: Scrub, body: bytes, *, now: float = 0.0) -> Said:
    """The words of a body of any shape."""
    text = body.decode("utf-8", "replace").strip()
    if not text:
        return Said()
    if is_html(text):
        return Said(scrub(text_of_html(text)))
    try:
        value = loads(text)
    except JsonError:
        value = text
    return read_error(scrub, value, now=now)


def read_error(scrub: Scrub, value: JsonValue, *, now: float = 0.0) -> Said:
    """The words of an error value: the first message found, codes from the same object."""
    said = _main(scrub, value)
    pieces = list(_pieces(value, "", _DEPTH))
    fields = tuple(dict.fromkeys(_top(p.field) for p in pieces if p.field))
    text = said.words
    for piece in pieces:
        text = _with_piece(text, piece, scrub)
    return replace(said, words=text, fields=fields, wait=named_wait(value, now=now))


def _with_piece(words: str, piece: _Piece, scrub: Scrub) -> str:
    """The words and this piece, where it says anything new."""
    text = scrub(text_of_html(piece.words) if is_html(piece.words) else piece.words)[:300]
    is_told = text.casefold() in words.casefold()
    name = scrub(piece.field)[:100]
    if name and _top(name).casefold() not in f"{words} {'' if is_told else text}".casefold():
        if is_told:
            return words.replace(text, f"{name}: {text}", 1) if text else f"{name}: {words}"
        text = f"{name}: {text}" if text else name
    elif is_told:
        return words
    if not words or words.count("; ") >= _MOST_PIECES:
        return words or text
    return f"{words}{'; ' if ': ' in words else ': '}{text}"


# ---- the message -----------------------------------------------------------------------------


def _main(scrub: Scrub, value: JsonValue) -> Said:
    match value:
        case str():
            return Said(scrub(text_of_html(value) if is_html(value) else value))
        case dict():
            for name in _INNER:
                if inner := value.get(name):
                    inner_said = _main(scrub, inner)
                    if inner_said.words:
                        return _with_codes(inner_said, value)
            message = next((w for n in _MESSAGE if (w := _text(value.get(n)))), "")
            return _with_codes(Said(scrub(message)), value)
        case list():
            explained = [f for item in value[:5] if (f := _main(scrub, item)).words]
            if not explained:
                return Said()
            return Said("; ".join(f.words for f in explained), explained[0].code, explained[0].kind)
        case _:
            return Said()


def _text(value: JsonValue) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):  # {"message": {"detail": …}}
        return next((v for v in value.values() if isinstance(v, str)), "")
    return ""


def _with_codes(said: Said, value: JsonObject) -> Said:
    def text(*names: str) -> str:
        for name in names:
            code = value.get(name)
            if isinstance(code, str | int) and not isinstance(code, bool) and code != "":
                return str(code)[:100]
        return ""

    return replace(
        said,
        code=said.code or text("code", "status_code"),
        kind=said.kind or text("type", "status"),
    )


# ---- what stands beside it -------------------------------------------------------------------


def _pieces(value: JsonValue, name: str, depth: int) -> Iterator[_Piece]:
    """Everything that is said in words, in its order; of a field where one is named."""
    match value:
        case str():
            yield from _of_text(value, name, depth)
        case list() if depth:
            for inner in value[:5]:
                # {"max_tokens": ["is too large"]}: the name of the list is the field's
                field = name.lstrip("#/") if isinstance(inner, str) and name not in _INNER else ""
                for piece in _pieces(inner, name, depth - 1):
                    yield replace(piece, field=piece.field or field)
        case dict() if depth:
            yield from _of_object(value, depth)
        case _:
            return


def _of_text(text: str, name: str, depth: int) -> Iterator[_Piece]:
    if text.lstrip()[:1] in ("{", "[") and depth:
        try:
            yield from _pieces(loads(text[:100_000]), name, depth - 1)
            return
        except JsonError:
            pass
    if " " in text.strip():
        yield _Piece(text[:2000])


def _of_object(value: JsonObject, depth: int) -> Iterator[_Piece]:
    field = next((f for n in _FIELD if (f := _field(value.get(n)))), "")
    message = next((w for n in _OF_A_FIELD if isinstance(w := value.get(n), str) and w), "")
    is_of_field = bool(field) and bool(message)
    if is_of_field:
        yield _Piece(message[:2000], field)
    for name, inner in value.items():
        plain = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
        if plain in _NO_WORDS or name.lower() in _NO_WORDS:
            continue
        if is_of_field and (inner == message or name in _FIELD):
            continue
        yield from _pieces(inner, name, depth - 1)


def _field(value: JsonValue) -> str:
    """A path of a field in one spelling: `messages.0.content`."""
    match value:
        case str() if value and " " not in value.strip():
            parts = [p for p in re.split(r"[./\[\]]+", value) if p]
        case list():
            parts = [str(p) for p in value[:8] if isinstance(p, str | int)]
        case {"pointer": str() as inner} | {"parameter": str() as inner}:  # JSON:API
            return _field(inner)
        case _:
            return ""
    while parts and parts[0] in _ROOTS:
        parts = parts[1:]
    return ".".join(parts)[:100]


def _top(field: str) -> str:
    return field.partition(".")[0]

"""What a server answered → text, pictures and bytes of a result. Pure.

Nothing is dropped: what a model cannot be given is named by its kind. The JSON is taken as it came,
and not as any library understood it; a block of a kind that is not known is shown as its JSON. How
much of it a result holds, and where the bytes go, is tool.py's. Read next: tool.py, images.py.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import TypeAlias

from msgspec import Struct

from agentsh import images
from agentsh.jsontext import JsonError, JsonValue, clean, dumps_text, loads
from agentsh.messages import Image


class Words(Struct, frozen=True):
    """A text, or the words that name what cannot be shown."""

    text: str


class Shown(Struct, frozen=True):
    """A picture that may be sent, and the words that name it."""

    words: str
    image: Image


class Bytes(Struct, frozen=True):
    """What can only be kept: `words` name it, `suffix` is that of a file of this kind."""

    words: str
    data: bytes
    suffix: str


ResultPart: TypeAlias = Words | Shown | Bytes

_GIVEN = "(given above)"
"""Instead of bytes that stand in the content already."""

_SUFFIXES: Mapping[str, str] = {
    "audio/wav": ".wav",
    "audio/x-wav": ".wav",
    "audio/mpeg": ".mp3",
    "audio/ogg": ".ogg",
    "application/pdf": ".pdf",
    "application/zip": ".zip",
    "image/svg+xml": ".svg",
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
}


def read_result(result: Mapping[str, JsonValue]) -> tuple[ResultPart, ...]:
    """The parts of a `tools/call` result, in their order; structured content comes last."""
    content = result.get("content")
    blocks = content if isinstance(content, Sequence) and not isinstance(content, str) else ()
    parts = [part for block in blocks for part in _block(block)]
    texts = [
        str(block["text"])
        for block in blocks
        if isinstance(block, Mapping) and block.get("type") == "text" and "text" in block
    ]
    structured = _without_bytes(result.get("structuredContent"), set(_bytes_of(blocks)))
    if structured is not None and not _repeats(structured, texts):
        parts.append(Words(_json(structured)))
    return tuple(parts)


def _bytes_of(blocks: Sequence[JsonValue]) -> Iterator[str]:
    """Pictures and other bytes of the content, as they came."""
    for block in blocks:
        match block:
            case {"data": str(data)} | {"resource": {"blob": str(data)}}:
                yield data
            case _:
                continue


def _without_bytes(value: JsonValue, given: Set[str]) -> JsonValue:
    """Structured content whose bytes, where the content has them, are only named."""
    match value:
        case str():
            is_given = value in given or value.rpartition(";base64,")[2] in given
            return _GIVEN if is_given and len(value) > len(_GIVEN) else value
        case dict():
            return {name: _without_bytes(each, given) for name, each in value.items()}
        case list():
            return [_without_bytes(each, given) for each in value]
        case _:
            return value


def _block(block: JsonValue) -> Iterator[ResultPart]:
    if not isinstance(block, Mapping):
        yield Words(_json(block))
        return
    match block:
        case {"type": "text", "text": str(text)}:
            yield Words(clean(text))
        case {"type": "image", "data": str(data)}:
            yield _binary("image", _mime(block), data)
        case {"type": "audio", "data": str(data)}:
            yield _binary("audio", _mime(block), data)
        case {"type": "resource"}:
            yield _resource(block)
        case {"type": "resource_link", "uri": str(uri)}:
            name, mime = block.get("name"), block.get("mimeType")
            description = f"{_line(name)}: {_line(uri)}" if isinstance(name, str) else _line(uri)
            yield Words(f"{description} ({_line(mime)})" if isinstance(mime, str) else description)
        case _:
            yield Words(_json(block))


def _resource(block: Mapping[str, JsonValue]) -> ResultPart:
    resource = block.get("resource")
    if not isinstance(resource, Mapping):
        return Words(_json(block))
    uri = resource.get("uri")
    name = _line(uri) if isinstance(uri, str) else "resource"
    match resource:
        case {"text": str(text)}:
            return Words(f"{name}:\n{clean(text)}")
        case {"blob": str(data)}:
            return _binary(name, _mime(resource), data)
        case _:
            return Words(_json(block))


def _binary(name: str, mime: str, text: str) -> ResultPart:
    """A picture where it is a sound one, else bytes that are named with the reason."""
    try:
        data = base64.b64decode(text, validate=False)
    except (binascii.Error, ValueError):
        return Words(f"[{name} ({mime}): its data are no base64]")
    judged = images.inspect(data)
    if isinstance(judged, images.Unusable):
        mended = images.without_broken_extras(data)
        again = images.inspect(mended)
        if isinstance(again, images.Picture):
            data, judged = mended, again
    if isinstance(judged, images.Picture):
        size = f"{judged.width} x {judged.height} pixels"
        picture = Image(base64.b64encode(data).decode("ascii"), judged.mime_type)
        return Shown(f"[{name}: {judged.mime_type}, {size}]", picture)
    why = f", an image that cannot be sent: {judged.reason}" if judged is not None else ""
    return Bytes(f"{name} ({mime}, {len(data)} bytes{why})", data, _SUFFIXES.get(mime, ".bin"))


def _repeats(structured: JsonValue, texts: Sequence[str]) -> bool:
    """Whether structured content only says once more what the text says."""
    if not texts:
        return False
    if any(_same(structured, _value(text)) for text in ("\n".join(texts), texts[-1])):
        return True
    if not isinstance(structured, Mapping) or set(structured) != {"result"}:
        return False
    inner = structured["result"]
    if isinstance(inner, str):
        return inner in ("\n".join(texts), texts[-1])
    if isinstance(inner, Sequence) and len(inner) == len(texts):
        return all(
            each == text if isinstance(each, str) else _same(each, _value(text))
            for each, text in zip(inner, texts, strict=True)
        )
    return len(texts) == 1 and _same(inner, _value(texts[0]))


class _None:
    """No JSON."""


def _value(text: str) -> JsonValue | type[_None]:
    try:
        return loads(text)
    except JsonError:
        return _None


def _same(a: object, b: object) -> bool:
    """Equal as JSON: 1, 1.0 and true are three."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_same(a[name], b[name]) for name in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same, a, b))
    return type(a) is type(b) and a == b


def _json(value: JsonValue) -> str:
    try:
        return dumps_text(value)
    except JsonError as e:
        return f"[content that is no JSON: {e}]"


def _mime(block: Mapping[str, JsonValue]) -> str:
    kind = block.get("mimeType")
    return _line(kind)[:100] if isinstance(kind, str) and kind else "application/octet-stream"


def _line(text: JsonValue) -> str:
    return " ".join(clean(str(text)).split())[:2000]

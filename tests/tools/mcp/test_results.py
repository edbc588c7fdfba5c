"""What a server answered: nothing is dropped, and nothing is said twice."""

from __future__ import annotations

import base64
import zlib

import pytest

from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import Image
from agentsh.tools.mcp.results import Bytes, Shown, Words, read_result
from tests.support.pictures import png


def text(words: str) -> JsonObject:
    return {"type": "text", "text": words}


def data(content: bytes) -> str:
    return base64.b64encode(content).decode()


def words_of(result: JsonObject) -> list[str]:
    return [part.text for part in read_result(result) if isinstance(part, Words)]


def test_each_kind_of_content_is_shown_or_named() -> None:
    wav: JsonObject = {"type": "audio", "data": data(b"RIFF"), "mimeType": "audio/wav"}
    note: JsonObject = {"uri": "file:///a.txt", "text": "embedded"}
    blob: JsonObject = {"uri": "file:///b.bin", "blob": data(b"\0\1"), "mimeType": "x/thing"}
    link: JsonObject = {"type": "resource_link", "uri": "https://e/x", "name": "the list"}
    new: JsonObject = {"type": "hologram", "beams": 3}
    content: list[JsonValue] = [
        text("plain"),
        wav,
        {"type": "resource", "resource": note},
        {"type": "resource", "resource": blob},
        link,
        new,
        "no block",
    ]

    assert read_result({"content": content, "structuredContent": {"total": 4242}}) == (
        Words("plain"),
        Bytes("audio (audio/wav, 4 bytes)", b"RIFF", ".wav"),
        Words("file:///a.txt:\nembedded"),
        Bytes("file:///b.bin (x/thing, 2 bytes)", b"\0\1", ".bin"),
        Words("the list: https://e/x"),
        Words('{"type":"hologram","beams":3}'),
        Words('"no block"'),
        Words('{"total":4242}'),
    )


def test_a_sound_picture_is_a_picture_whatever_it_is_called() -> None:
    picture = png(4, 4)
    block: JsonObject = {"type": "image", "data": data(picture), "mimeType": "image/jpeg"}

    assert read_result({"content": [block]}) == (
        Shown("[image: image/png, 4 x 4 pixels]", Image(data(picture), "image/png")),
    )


def chunk(kind: bytes, body: bytes, *, is_sound: bool = True) -> bytes:
    checksum = zlib.crc32(kind + body) ^ (not is_sound)
    return len(body).to_bytes(4, "big") + kind + body + checksum.to_bytes(4, "big")


def with_chunk(picture: bytes, extra: bytes) -> bytes:
    return picture[:33] + extra + picture[33:]


def test_a_checksum_that_no_decoder_looks_at_costs_no_picture() -> None:
    picture = png(4, 4)
    damaged = with_chunk(picture, chunk(b"tEXt", b"Title\0x", is_sound=False))
    block: JsonObject = {"type": "image", "data": data(damaged), "mimeType": "image/png"}

    [shown] = read_result({"content": [block]})

    assert shown == Shown("[image: image/png, 4 x 4 pixels]", Image(data(picture), "image/png"))


def test_any_other_damage_is_named_with_its_reason() -> None:
    picture = bytearray(png(4, 4))
    picture[-20] ^= 1
    block: JsonObject = {"type": "image", "data": data(bytes(picture)), "mimeType": "image/png"}
    no_base64: JsonObject = {"type": "image", "data": "a", "mimeType": "image/png"}

    [damaged] = read_result({"content": [block]})

    assert isinstance(damaged, Bytes)
    assert "cannot be sent: it is damaged (checksum of chunk b'IDAT')" in damaged.words
    assert words_of({"content": [no_base64]}) == ["[image (image/png): its data are no base64]"]


@pytest.mark.parametrize(
    ("texts", "structured"),
    [
        (['{"a": 1}'], {"a": 1}),
        (['{\n  "b": 2,\n  "a": 1\n}'], {"a": 1, "b": 2}),
        (["hello"], {"result": "hello"}),
        (["7"], {"result": 7}),
        (["a", "b"], {"result": ["a", "b"]}),
        (["1", "2"], {"result": [1, 2]}),
    ],
)
def test_structured_content_that_repeats_the_text_is_not_said_again(
    texts: list[str], structured: JsonObject
) -> None:
    result: JsonObject = {"content": [text(t) for t in texts], "structuredContent": structured}

    assert words_of(result) == texts


@pytest.mark.parametrize(
    ("said", "structured", "shown"),
    [
        ('{"a": 1}', {"a": 1.0}, '{"a":1.0}'),
        ('{"a": 1}', {"a": True}, '{"a":true}'),
        ('{"a": 1e2}', {"a": 100}, '{"a":100}'),
        ("plain", {"a": 1}, '{"a":1}'),
        ("4", {"result": "4.0"}, '{"result":"4.0"}'),
        ("x", [1, 2], "[1,2]"),
        ("9" * 30, {"n": 10**30}, '{"n":1000000000000000000000000000000}'),
    ],
)
def test_what_differs_in_anything_stands_there_as_it_came(
    said: str, structured: JsonValue, shown: str
) -> None:
    result: JsonObject = {"content": [text(said)], "structuredContent": structured}

    assert words_of(result) == [said, shown]


@pytest.mark.parametrize("content", [None, "text", [], 7])
def test_content_that_is_none_is_nothing(content: JsonValue) -> None:
    assert read_result({"content": content}) == ()


@pytest.mark.parametrize("prefix", ["", "data:image/png;base64,"])
def test_a_picture_that_structured_content_has_as_well_is_only_named_there(prefix: str) -> None:
    shown = data(png(4, 4))
    content: list[JsonValue] = [text("here"), {"type": "image", "data": shown}]
    structured: JsonObject = {"result": [{"text": "here"}, {"data": prefix + shown}], "n": 1}

    parts = read_result({"content": content, "structuredContent": structured})

    assert parts[-1] == Words('{"result":[{"text":"here"},{"data":"(given above)"}],"n":1}')
    assert isinstance(parts[1], Shown)

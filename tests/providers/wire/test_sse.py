from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from agentsh.providers.wire.sse import SseDecoder, SseEvent
from tests.providers.framing import one_by_one, splits


def decode(*blocks: bytes) -> list[SseEvent]:
    decoder = SseDecoder()
    events = [e for b in blocks for e in decoder.feed(b)]
    rest = decoder.finish()
    return events if rest is None else [*events, rest]


class Framed(Struct, frozen=True):
    """A stream as bytes, and the data of the events that are in it."""

    raw: bytes
    data: list[bytes]


line_ends = st.sampled_from([b"\n", b"\r\n", b"\r"])
texts = st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), max_size=12)
noise = st.sampled_from([b": ping", b":", b"id: 7", b"retry: 10", b"event: message", b"other: x"])


@st.composite
def legal_framings(draw: st.DrawFn) -> Framed:
    """Events in any framing that the standard allows: line ends, spaces, comments, other fields."""
    raw = b""
    data: list[bytes] = []
    for lines in draw(st.lists(st.lists(texts, min_size=1, max_size=3), max_size=6)):
        for text in lines:
            line = text.encode()
            space = b" " if line.startswith(b" ") else draw(st.sampled_from([b"", b" "]))
            if draw(st.booleans()):
                raw += draw(noise) + draw(line_ends)
            raw += b"data:" + space + line + draw(line_ends)
        # a CR that ends a line must not meet a LF that ends the next, empty one
        end = b"\r\n" if raw.endswith(b"\r") else draw(line_ends)
        raw += end
        if end == b"\r":
            raw += b":\n"
        data.append("\n".join(lines).encode())
    return Framed(raw, data)


@given(legal_framings(), st.data())
def test_any_legal_framing_in_any_split_gives_the_same_events(
    framed: Framed, drawn: st.DataObject
) -> None:
    blocks = drawn.draw(splits(framed.raw))

    assert [e.data for e in decode(*blocks)] == framed.data
    assert decode(*one_by_one(framed.raw)) == decode(framed.raw)


@given(st.binary(max_size=80), st.data())
def test_any_bytes_in_any_split_give_the_same_events(raw: bytes, drawn: st.DataObject) -> None:
    assert decode(*drawn.draw(splits(raw))) == decode(raw)


def test_data_needs_no_space_and_loses_only_one() -> None:
    assert [e.data for e in decode(b"data:a\n\ndata:  b\n\n")] == [b"a", b" b"]


def test_data_lines_of_one_event_are_joined() -> None:
    assert [e.text for e in decode(b"data: a\ndata\ndata: b\n\n")] == ["a\n\nb"]


def test_only_cr_and_lf_end_a_line() -> None:
    odd = "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg\x1dh\x1ei"

    assert [e.text for e in decode(f"data: {odd}\n\n".encode())] == [odd]


def test_event_and_id_are_kept_and_the_event_name_ends_with_its_event() -> None:
    events = decode(b"event: error\nid: 7\ndata: a\n\ndata: b\n\n")

    assert events == [SseEvent(b"a", "error", "7"), SseEvent(b"b", "message", "7")]


def test_comments_are_counted_and_say_nothing() -> None:
    decoder = SseDecoder()

    assert decoder.feed(b": PROCESSING\n\n:\n\n") == []
    assert decoder.comments == 2


def test_retry_is_kept_when_it_is_a_number() -> None:
    decoder = SseDecoder()
    decoder.feed(b"retry: 3000\nretry: soon\n\n")

    assert decoder.retry == 3000


def test_a_byte_order_mark_is_dropped_at_the_start_only() -> None:
    assert [e.text for e in decode(b"\xef", b"\xbb\xbfdata: a\n\n")] == ["a"]
    assert [e.text for e in decode(b"data: \xef\xbb\xbfa\n\n")] == ["\ufeffa"]


def test_an_event_without_its_blank_line_comes_with_the_end() -> None:
    decoder = SseDecoder()

    assert decoder.feed(b"data: [DONE]\n") == []
    assert decoder.finish() == SseEvent(b"[DONE]")


def test_an_id_with_nul_is_ignored() -> None:
    assert decode(b"id: a\0b\ndata: x\n\n") == [SseEvent(b"x")]


def test_bytes_that_are_no_utf8_are_replaced() -> None:
    assert decode(b"data: a\xff\n\n")[0].text == "a\ufffd"

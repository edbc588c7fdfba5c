from __future__ import annotations

import h11
from hypothesis import given
from hypothesis import strategies as st

from agentsh.providers.wire.rechunk import Rechunker
from tests.providers.framing import chunked, one_by_one, splits

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n%s\r\n\r\n"
CHUNKED = HEAD % b"Transfer-Encoding: chunked"


def parse(blocks: list[bytes]) -> tuple[int, bytes, str]:
    """Status, body and how it ended, as an HTTP parser sees them."""
    parser = h11.Connection(h11.CLIENT)
    parser.send(h11.Request(method="GET", target="/", headers=[("Host", "x")]))
    parser.send(h11.EndOfMessage())
    status, body = 0, b""
    try:
        for block in [*(b for b in blocks if b), b""]:
            parser.receive_data(block)
            while (found := parser.next_event()) not in (h11.NEED_DATA, h11.PAUSED):
                match found:
                    case h11.Response():
                        status = found.status_code
                    case h11.Data():
                        body += found.data
                    case h11.EndOfMessage():
                        return status, body, "whole"
                    case _:
                        pass
    except h11.RemoteProtocolError:
        return status, body, "broken"
    return status, body, "cut"


def through(blocks: list[bytes]) -> list[bytes]:
    rechunker = Rechunker()
    return [rechunker.feed(b) for b in blocks]


pieces = st.lists(st.binary(max_size=40), max_size=8)


@given(pieces, st.sampled_from([b"", b";x=1", b" "]), st.data())
def test_a_parser_sees_the_same_message_for_every_split(
    body: list[bytes], extension: bytes, drawn: st.DataObject
) -> None:
    raw = CHUNKED + chunked(body, extension)

    assert parse(through(drawn.draw(splits(raw)))) == (200, b"".join(body), "whole")


@given(pieces, st.data())
def test_a_message_that_was_cut_anywhere_stays_cut(body: list[bytes], drawn: st.DataObject) -> None:
    raw = CHUNKED + chunked(body)
    kept = raw[: drawn.draw(st.integers(0, len(raw) - 1))]
    status, got, end = parse(through(drawn.draw(splits(kept))))

    assert end != "whole"
    assert b"".join(body).startswith(got)
    assert status in (0, 200)


@given(st.binary(max_size=60), st.data())
def test_garbage_in_place_of_chunks_is_refused_by_the_parser_as_before(
    garbage: bytes, drawn: st.DataObject
) -> None:
    raw = CHUNKED + b"3\r\nabc\r\n" + garbage
    before = parse([raw])
    after = parse(through(drawn.draw(splits(raw))))

    assert after[2] == before[2] or {after[2], before[2]} == {"cut", "broken"}
    assert (after[2] == "whole") == (before[2] == "whole")
    assert after[2] != "whole" or after == before


def test_many_chunks_of_one_read_become_one() -> None:
    raw = CHUNKED + chunked([b"a", b"b", b"c"])

    assert through([raw]) == [CHUNKED + b"3\r\nabc\r\n0\r\n\r\n"]


def test_a_large_chunk_is_passed_on_as_it_comes() -> None:
    rechunker = Rechunker()
    rechunker.feed(CHUNKED)

    assert rechunker.feed(b"64\r\nabc") == b"3\r\nabc\r\n"


def test_other_framings_pass_untouched() -> None:
    for head in (HEAD % b"Content-Length: 8", HEAD % b"Connection: close"):
        raw = head + b"3\r\nabc\r\n"

        assert b"".join(through(one_by_one(raw))) == raw


def test_an_interim_answer_does_not_end_the_search_for_the_head() -> None:
    raw = b"HTTP/1.1 100 Continue\r\n\r\n" + CHUNKED + chunked([b"a", b"b"])

    assert parse(through([raw])) == (200, b"ab", "whole")
    assert parse(through(one_by_one(raw))) == (200, b"ab", "whole")


def test_a_new_request_begins_a_new_response() -> None:
    rechunker = Rechunker()
    first = rechunker.feed(CHUNKED + chunked([b"a"]))
    rechunker.reset()

    assert rechunker.feed(CHUNKED + chunked([b"a"])) == first


def test_interim_responses_without_end_are_counted_and_cost_no_stack() -> None:
    rechunker = Rechunker()
    hints = b"HTTP/1.1 103 Early Hints\r\n\r\n" * 5000

    assert rechunker.feed(hints) == hints
    assert rechunker.interims == 5000
    rechunker.reset()
    assert rechunker.interims == 0

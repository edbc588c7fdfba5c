"""What a terminal sends, cut into whole tokens, however the reads cut it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.ui.input.sequences import (
    PATIENCE,
    ControlSequence,
    LoneEscape,
    Pasted,
    Piece,
    Splitter,
    TerminalString,
    Typed,
    WithAlt,
)

PARAMETERS = st.text(st.sampled_from("0123456789;:<=>?"), max_size=12)
BETWEEN = st.text(st.sampled_from(" !#%&'()*+,-./"), max_size=2)
FINAL = st.sampled_from([chr(c) for c in range(0x40, 0x7F) if chr(c) not in "[M"])
LETTERS = st.sampled_from("abIO[]~;1 é漢\t")
BODY = st.text(
    st.characters(min_codepoint=0x20, max_codepoint=0x2FFFF, exclude_categories=["Cs"]), max_size=40
)


def csi(parameters: str, between: str, final: str) -> tuple[str, Piece | None]:
    text = f"\x1b[{parameters}{between}{final}"
    return text, None if text == "\x1b[200~" else ControlSequence(text)


PIECES = st.one_of(
    LETTERS.map(lambda c: (c, Typed(c))),
    st.sampled_from("abcxyz.-\r\x7f").map(lambda c: ("\x1b" + c, WithAlt(c))),
    st.builds(csi, PARAMETERS, BETWEEN, FINAL),
    st.builds(lambda n, c: csi(n, "", c), st.integers(0, 99).map(str), st.sampled_from("M~$")),
    st.text(st.characters(max_codepoint=0x7E), min_size=3, max_size=3).map(
        lambda mouse: ("\x1b[M" + mouse, ControlSequence("\x1b[M" + mouse))
    ),
    st.sampled_from("ABCDE").map(lambda c: (f"\x1b[[{c}", ControlSequence(f"\x1b[[{c}"))),
    st.sampled_from("ABCDHFPQRSMjklmn").map(lambda c: (f"\x1bO{c}", ControlSequence(f"\x1bO{c}"))),
    st.builds(
        lambda kind, body, end: (f"\x1b{kind}{body}{end}", TerminalString(kind, body)),
        st.sampled_from("]PX^_"),
        BODY,
        st.sampled_from(["\x1b\\", "\x07"]),
    ),
    BODY.map(lambda text: (f"\x1b[200~{text}\r\x1b[A\x1b[201~", Pasted(f"{text}\r\x1b[A"))),
    st.sampled_from("ABCD").map(
        lambda c: (f"\x1b\x1b[{c}", ControlSequence(f"\x1b[{c}", alt=True))
    ),
).filter(lambda piece: piece[1] is not None)


def split(*reads: str) -> list[Piece]:
    splitter = Splitter()
    return [token for read in reads for token in splitter.feed(read)]


@given(st.lists(PIECES, max_size=8), st.data())
def test_whole_tokens_come_whole_wherever_they_are_cut(
    pieces: list[tuple[str, Piece]], data: st.DataObject
) -> None:
    text = "".join(spelled for spelled, _ in pieces)
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=6).map(sorted))
    reads = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]

    assert split(*reads) == [token for _, token in pieces]
    assert split(*text) == [token for _, token in pieces]


@given(st.lists(PIECES, max_size=5))
def test_after_half_a_sequence_and_a_pause_keys_are_keys(
    pieces: list[tuple[str, Piece]],
) -> None:
    text = "".join(spelled for spelled, _ in pieces)
    for cut in range(len(text)):
        now = [0.0]
        splitter = Splitter(lambda now=now: now[0])  # type: ignore[misc]
        splitter.feed(text[:cut])
        now[0] += PATIENCE + 1
        after = [*splitter.feed("\x03"), *splitter.feed("k")]

        assert after[-1] == Typed("k"), (text, cut)


@given(st.text(st.sampled_from("\x1b[]OPX^_\\\x07\r\x03 0;?<~AMu\udc9b\udc9c\udc9d"), max_size=30))
def test_whatever_comes_is_read_the_same_in_one_read_and_in_many(text: str) -> None:
    assert split(text) == split(*text)


@pytest.mark.parametrize(
    ("held", "tokens"),
    [
        ("\x1b", [LoneEscape()]),
        ("\x1b\x1b", [LoneEscape(), LoneEscape()]),
        ("\x1b[", [WithAlt("[")]),
        ("\x1b]", [WithAlt("]")]),
        ("\x1b\x1bO", [LoneEscape(), WithAlt("O")]),
        ("\x1b[1;", []),
        ("\x1b]11", []),
        ("\x1b]P", []),
        ("", []),
    ],
)
def test_a_pause_makes_a_key_of_what_a_hand_can_have_typed(held: str, tokens: list[Piece]) -> None:
    splitter = Splitter()
    assert splitter.feed(held) == []

    assert splitter.flush() == tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("\x1b]0;title\ry", [Typed("\r"), Typed("y")]),
        ("\x1bP+q\x03", [Typed("\x03")]),
        ("\x1b[1;\x1b[A", [ControlSequence("\x1b[A")]),
        ("\x1b[1;é", [Typed("é")]),
        ("\x1bO\r", [Typed("\r")]),
        ("\udc9bI", [ControlSequence("\x1b[I")]),
        ("\udc9d11;x\udc9c", [TerminalString("]", "11;x")]),
        ("\x1b[201~x", [ControlSequence("\x1b[201~"), Typed("x")]),
    ],
)
def test_what_cannot_become_whole_is_dropped_up_to_there(text: str, tokens: list[Piece]) -> None:
    assert split(text) == tokens


def test_an_answer_of_any_length_is_one_and_little_of_it_is_kept() -> None:
    splitter = Splitter()
    for _ in range(100):
        assert splitter.feed("A" * 5_000 if _ else "\x1b]52;c;") == []
    tokens = splitter.feed("\x07k")

    assert [type(token) for token in tokens] == [TerminalString, Typed]
    assert tokens[1] == Typed("k")


def test_ctrl_c_leaves_a_paste_whose_end_never_came() -> None:
    now = [0.0]
    splitter = Splitter(lambda: now[0])
    splitter.feed("\x1b[200~half")
    assert splitter.feed("\x03") == []
    now[0] += PATIENCE + 1

    assert splitter.feed("\x03") == [Pasted("half\x03")]
    assert splitter.feed("k") == [Typed("k")]


@pytest.mark.parametrize("key", ["k", "é", "\x7f", "\x1bm", "\x1b[A", "\x1b[3~", "\x1b[97;5u"])
def test_a_key_after_a_pause_ends_a_paste_whose_end_never_came(key: str) -> None:
    now = [0.0]
    splitter = Splitter(lambda: now[0])
    splitter.feed("\x1b[200~half")
    now[0] += PATIENCE + 1

    assert splitter.feed(key) == [Pasted("half"), *split(key)]
    assert splitter.feed("\x1b[201~") == [ControlSequence("\x1b[201~")]


@pytest.mark.parametrize("rest", ["\r", "more text", "\x1b[20", "\x1b["])
def test_after_a_stall_the_rest_of_a_paste_is_the_paste(rest: str) -> None:
    now = [0.0]
    splitter = Splitter(lambda: now[0])
    splitter.feed("\x1b[200~half")
    now[0] += PATIENCE + 1
    end = "\x1b[201~".removeprefix(rest)

    assert Pasted("half" + (rest if end == "\x1b[201~" else "")) in [
        *splitter.feed(rest),
        *splitter.feed(end),
    ]

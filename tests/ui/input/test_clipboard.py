"""What goes to the clipboard, and what is said of it."""

from __future__ import annotations

import base64

from hypothesis import given
from hypothesis import strategies as st

from agentsh.ui.input.clipboard import MOST_COPIED, copied


def in_the_sequence(sequence: str) -> bytes:
    head, _, data = sequence.removesuffix("\x07").rpartition(";")
    assert head == "\x1b]52;c"
    return base64.b64decode(data)


@given(st.text(max_size=60))
def test_any_text_is_copied_as_base64(text: str) -> None:
    sent = copied(text, tmux=False)

    assert in_the_sequence(sent.sequence) == text.encode("utf-8", "replace")
    assert sent.words == "copied, where the terminal allows it (OSC 52)"


def test_w32_in_tmux_it_is_for_both_and_the_words_name_the_settings() -> None:
    sent = copied("heron", tmux=True)
    own, _, outer = sent.sequence.partition("\x1bPtmux;")

    assert in_the_sequence(own) == b"heron"
    assert outer == own.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    assert "set-clipboard on" in sent.words
    assert "allow-passthrough on" in sent.words


def test_w32_what_was_not_taken_is_said_and_no_character_is_cut() -> None:
    sent = copied("é" * MOST_COPIED, tmux=False)

    assert in_the_sequence(sent.sequence).decode() == "é" * (MOST_COPIED // 2)
    assert sent.words.endswith("; only the first 74,000 of 148,000 bytes")

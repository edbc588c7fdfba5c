"""Reads of the terminal → keys: each spelling of a key is that key, and nothing else is one."""

from __future__ import annotations

import os
import pty
import select
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.input.ansi_escape_sequences import ANSI_SEQUENCES
from prompt_toolkit.keys import Keys

from agentsh.ui.input.bursts import TYPED_AHEAD
from agentsh.ui.input.terminal_input import KeyReader, TerminalInput
from agentsh.ui.terminal import Background


def keys(*reads: str) -> list[str]:
    """Names of the keys, characters as themselves; a lone Esc is "escape" and then a flush."""
    reader = KeyReader()
    pressed = [key for read in reads for key in reader.feed(read)] + reader.flush()
    return [str(getattr(key.key, "value", key.key)) for key in pressed]


@pytest.mark.parametrize(
    ("spellings", "key"),
    [
        (["\x1b[A", "\x1bOA", "\x1b[57419u", "\x1b[1;1A", "\x1b[1;129A", "\x1b[1;1:1A"], ["up"]),
        (["\x1b[1;5C", "\x1bOc", "\x1b[5C", "\x1b[1;69C", "\x1b[1;5:2C"], ["c-right"]),
        (["\x1b[1;3A", "\x1b\x1b[A", "\x1b\x1bOA", "\x1b[1;9A"], ["escape", "up"]),
        (["\x1b[3~", "\x1b[57426u"], ["delete"]),
        (["\x1b[3$", "\x1b[3;2~"], ["s-delete"]),
        (["\x1b[H", "\x1b[1~", "\x1b[7~", "\x1bOH"], ["home"]),
        (["\x1bOQ", "\x1b[[B", "\x1b[12~", "\x1b[Q"], ["f2"]),
        (["\x1b[Z", "\x1b[9;2u", "\x1b[27;2;9~", "\x1b\t"], ["s-tab"]),
        (["\n", "\x1b[13;2u", "\x1b[27;2;13~", "\x1b[13;5u", "\x1b[27;6;13~"], ["c-j"]),
        (["\r", "\x1b[13u", "\x1bOM", "\x1b[57414u", "\x1b[13;129u"], ["c-m"]),
        (["\x1b\r", "\x1b[13;3u", "\x1b[27;3;13~"], ["escape", "c-m"]),
        (["\x03", "\x1b[99;5u", "\x1b[27;5;99~", "\x1b[99;69u", "\x1b[1089::99;5u"][:4], ["c-c"]),
        (["y", "\x1b[121u", "\x1b[27;1;121~", "\x1b[121;1:1u"], ["y"]),
        (["Y", "\x1b[121;2u", "\x1b[121:89;2u", "\x1b[121;2;89u", "\x1b[27;2;89~"], ["Y"]),
        (["\x1bm", "\x1b[109;3u", "\x1b[27;3;109~"], ["escape", "m"]),
        (["5", "\x1bOu", "\x1b[57404u"], ["5"]),
        (["\x1b", "\x1b[27u", "\x1b[27;1:1u", "\x1b[91;5u"], ["escape", "?"]),
        (["\x7f", "\x1b[127u"], ["c-h"]),
        (["\x17", "\x1b[127;5u", "\x1b[27;5;127~", "\x1b[127;6u"], ["c-w"]),
        (["ü", "\x1b[252u"], ["ü"]),
        (["\udce9", "\ufffd"], ["\ufffd"]),
    ],
)
def test_a_key_in_another_spelling_is_that_key(spellings: list[str], key: list[str]) -> None:
    assert {spelling: keys(*spelling) for spelling in spellings} == dict.fromkeys(spellings, key)


@pytest.mark.parametrize("more", ["", "\r", "\x1b[A"])
def test_u04_many_characters_of_one_read_are_a_key_and_one_insertion(more: str) -> None:
    text = "!wörds " + "x" * 1000
    pressed = KeyReader().feed(text + more)

    assert [(key.key, key.data) for key in pressed[:2]] == [("!", "!"), (Keys.Any, text[1:])]
    assert [key.key for key in pressed[2:]] == [key.key for key in KeyReader().feed(more)]


@given(st.text(st.characters(exclude_categories=["C"]), max_size=TYPED_AHEAD))
def test_what_a_hand_may_have_typed_ahead_is_a_key_a_character(text: str) -> None:
    assert [key.key for key in KeyReader().feed(text)] == list(text)


NO_KEYS = [
    "\x1b[I",  # focus
    "\x1b[O",
    "\x1b[<0;10;20M",  # the mouse
    "\x1b[<0;10;20m",
    "\x1b[M !!",
    "\x1b[96;14;13M",
    "\x1b[?1;2c",  # answers
    "\x1b[>41;354;0c",
    "\x1b[12;40R",
    "\x1b[1;5R",
    "\x1b[0n",
    "\x1b[?2026;2$y",
    "\x1b[8;24;80t",
    "\x1b[?1u",
    "\x1b[?997;1n",
    "\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
    "\x1b]52;c;QUJD\x07",
    "\x1bP>|xterm(390)\x1b\\",
    "\x1bP1+r524742=38\x1b\\",
    "\x1b_Gi=31;OK\x1b\\",
    "\x1b^private\x1b\\",
    "\x1bXstring\x1b\\",
    "\x1b[97;1:3u",  # a key that is let go
    "\x1b[57441;2u",  # Shift by itself
    "\x1b[97;9u",  # with the Windows key
    "\x1b[1;9H",
    "\x1b[99~",
    "\x1b[E",
    "\x1bOz",
    "\x1b[201~",
    "\x9b",
]


@pytest.mark.parametrize("sent", NO_KEYS)
def test_what_is_no_key_gives_nothing_and_hurts_no_neighbour(sent: str) -> None:
    assert keys(sent) == []
    assert keys(*f"a{sent}b") == ["a", "b"]


KNOWN = sorted(
    spelled
    for spelled in ANSI_SEQUENCES
    if spelled.startswith("\x1b")
    and spelled[-1] not in "pqrstuvwxyzEG"
    and spelled not in ("\x1b", "\x1b[200~", "\x1b[62~", "\x1b[63~", "\x1b[~")
)


@pytest.mark.parametrize("spelled", KNOWN)
def test_what_the_toolkit_knows_is_known(spelled: str) -> None:
    assert keys(spelled) != []


@given(st.text(st.characters(max_codepoint=0x2FFFF), max_size=40).map(lambda t: "\x1b" + t))
def test_whatever_is_sent_ends_in_keys_that_the_toolkit_has(sent: str) -> None:
    reader = KeyReader(bursts=True)
    pressed = [key for char in sent for key in reader.feed(char)] + reader.flush()

    for key in pressed:
        assert isinstance(key.key, Keys) or len(key.key) == 1
        assert not any(0xD800 <= ord(c) < 0xE000 for c in key.data)


def test_the_answer_about_the_background_is_heard_and_no_other() -> None:
    told: list[Background] = []
    reader = KeyReader(told.append)
    typed = [
        key.data
        for char in "a\x1b]11;rgb:ffff/ffff/f0f0\x1b\\b\x1b]10;rgb:0/0/0\x07c"
        for key in reader.feed(char)
    ]

    assert ("".join(typed), told) == ("abc", ["light"])


@contextmanager
def terminal(reader: KeyReader) -> Iterator[tuple[TerminalInput, int]]:
    """An input that reads a terminal, and the terminal's own end."""
    own, other = pty.openpty()
    with os.fdopen(other, encoding="utf-8") as stdin:
        try:
            yield TerminalInput(stdin, reader), own
        finally:
            os.close(own)


def is_left(keyboard: TerminalInput) -> bool:
    """Something would be read by the next program."""
    with keyboard.raw_mode():
        return bool(select.select([keyboard.fileno()], [], [], 0)[0])


@pytest.mark.parametrize("answer", ["\x1b]11;rgb:2d/27/33\x1b\\", "\x1b]11;rgb:2d/27/33\x07"])
@pytest.mark.parametrize("mode", ["raw", "cooked"])
def test_u26_an_answer_that_is_on_its_way_is_no_line_of_the_next_program(
    answer: str, mode: str
) -> None:
    heard: list[Background] = []
    reader, gives_back = KeyReader(heard.append), threading.Event()
    with terminal(reader) as (keyboard, own):

        def answers() -> None:
            gives_back.wait()
            os.write(own, answer.encode())

        late = threading.Thread(target=answers, daemon=True)
        late.start()
        with keyboard.raw_mode():
            reader.asked()
            gives_back.set()
            if mode == "cooked":
                with keyboard.cooked_mode():
                    pass
        late.join()

        assert (heard, is_left(keyboard), reader.waits) == (["dark"], False, 0)


def test_u26_a_terminal_that_was_not_asked_is_not_waited_for() -> None:
    reader = KeyReader(lambda _: None)
    with terminal(reader) as (keyboard, own):
        with keyboard.raw_mode():
            os.write(own, b"ls")

        assert (reader.waits, is_left(keyboard)) == (0, True)

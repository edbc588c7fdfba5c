"""A paste that no marks enclose, told from typing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentsh.ui.input.bursts import FASTEST_TYPING, NEAR
from agentsh.ui.input.terminal_input import KeyReader

LINES = st.lists(st.text(st.sampled_from("ab !\té"), max_size=6), min_size=2, max_size=6)


class Keyboard:
    """A reader, with a clock that goes by hand."""

    def __init__(self) -> None:
        self.now = 100.0
        self._reader = KeyReader(bursts=True, clock=lambda: self.now)

    def reads(self, read: str, *, after: float = 1.5) -> list[str]:
        self.now += after
        return [
            f"<{key.data}>" if _is_paste(key.key) else key.data for key in self._reader.feed(read)
        ]

    def pauses(self) -> list[str]:
        self.now += 0.05
        return [f"<{key.data}>" if _is_paste(key.key) else key.data for key in self._reader.flush()]


def _is_paste(key: object) -> bool:
    return getattr(key, "value", "") == "<bracketed-paste>"


@given(LINES, st.integers(1, 40))
def test_lines_that_come_at_once_are_one_paste_however_they_are_cut(
    lines: list[str], size: int
) -> None:
    text = "first\r" + "\r".join([*lines, "the end of it, with more words than a hand types ahead"])
    keyboard = Keyboard()
    given_back = ""
    for at in range(0, len(text), size):
        given_back += "".join(keyboard.reads(text[at : at + size], after=FASTEST_TYPING / 3))
    given_back += "".join(keyboard.pauses())

    assert given_back.replace("<", "").replace(">", "") == text
    # no Enter is among the keys: each stands inside the paste
    assert "\r" not in "".join(part.partition(">")[2] for part in given_back.split("<")[1:])
    assert "\r" not in given_back.partition("<")[0]


def test_one_enter_that_was_typed_ahead_is_an_enter() -> None:
    keyboard = Keyboard()

    assert keyboard.reads("go on\r") == list("go on")
    assert keyboard.pauses() == ["\r"]
    assert keyboard.reads("go\rand then") == list("go")
    assert keyboard.pauses() == list("\rand then")


def test_an_enter_by_itself_waits_for_nothing() -> None:
    assert Keyboard().reads("\r") == ["\r"]


def test_a_key_after_a_held_enter_leaves_it_an_enter() -> None:
    keyboard = Keyboard()
    keyboard.reads("go\r")

    assert keyboard.reads("n", after=0.04) == ["\r", "n"]


def test_what_follows_a_burst_closely_belongs_to_it() -> None:
    keyboard = Keyboard()
    keyboard.reads("a\rb\rc")
    assert keyboard.pauses() == ["<a\rb\rc>"]
    assert keyboard.reads("c\r", after=NEAR / 2) == []
    assert keyboard.pauses() == ["<c\r>"]
    assert keyboard.reads("d\r", after=NEAR * 2) == ["d"]
    assert keyboard.pauses() == ["\r"]


def test_what_comes_after_a_key_in_the_same_read_was_typed_ahead() -> None:
    keyboard = Keyboard()

    assert keyboard.reads("\x1b[B\r high\r") == [""]
    assert keyboard.pauses() == list("\r high\r")


def test_a_key_ends_a_burst_and_comes_after_it() -> None:
    assert Keyboard().reads("a\rb\rc\x03") == ["<a\rb\rc>", "\x03"]

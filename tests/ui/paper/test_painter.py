"""The lower end of the screen: what is written for a piece of an answer, and what stands there.

Work is counted: drawings by prompt_toolkit, and bytes. What stands there is asked of a terminal.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pyte
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.application.current import set_app
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input import DummyInput, create_pipe_input
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.layout import FormattedTextControl, HSplit, Layout, Window

from agentsh.agent.events import AgentEvent, MessageDone, TextPart
from agentsh.ui.chat.chat import ChatOptions
from agentsh.ui.chat.repl import Repl
from agentsh.ui.chat.view import TranscriptView
from agentsh.ui.paper.painter import Painter
from agentsh.ui.screen import make_app, make_output
from agentsh.ui.theme import choose_theme
from tests.ui.fakes import FakeAgent, answer, entry_id
from tests.ui.hosts import FakeHost
from tests.ui.screens import printed, terminal

COLUMNS, ROWS = 40, 16


class Lower:
    """A painter with an editor and a status below, and a terminal that shows what it wrote."""

    def __init__(self) -> None:
        self.target = terminal(columns=COLUMNS, rows=ROWS)
        theme = choose_theme("none", "dark", self.target.colours)
        self.tail: list[str] = []
        self.queue: list[str] = []
        self.drawn = 0
        self.asked = 0
        output = make_output(self.target)
        self.draft = ""
        foot = FormattedTextControl(self._foot, focusable=True)
        self.app = make_app(
            Layout(HSplit([Window(foot)])), KeyBindings(), lambda: theme, DummyInput(), output
        )
        self.painter = Painter(self.app.renderer.style, output, self._tail)
        self._screen = pyte.HistoryScreen(COLUMNS, ROWS, history=5000, ratio=0.5)
        self._stream = pyte.Stream(self._screen)
        self._fed = 0

    def _tail(self, room: int) -> list[str]:
        self.asked += 1
        return self.tail[-room:]

    def _foot(self) -> StyleAndTextTuples:
        above = "\n".join([*self.queue, f"› {self.draft}"])
        return [("", above), ("[SetCursorPosition]", ""), ("", "\nstatus")]

    def draw(self) -> None:
        """As prompt_toolkit does after a key."""
        self.drawn += 1
        self.app.render_counter += 1
        with set_app(self.app):
            self.painter.render(self.app, self.app.layout)

    def show(self, text: str, *, foot: bool = False) -> str:
        """What is written for it."""
        before = len(printed(self.target)[0])
        self.painter.show(text, self.draw, foot=foot)
        return printed(self.target)[0][before:]

    def seen(self) -> list[str]:
        """Scrollback and screen, to the last line that is not empty."""
        written, _ = printed(self.target)
        self._stream.feed(written[self._fed :])
        self._fed = len(written)
        above = [
            "".join(line[x].data for x in range(COLUMNS)).rstrip()
            for line in self._screen.history.top
        ]
        lines = [*above, *(line.rstrip() for line in self._screen.display)]
        while lines and not lines[-1]:
            lines.pop()
        return lines


def test_a_stream_draws_the_foot_once() -> None:
    lower = Lower()
    for number in range(300):
        lower.tail = [f"word {number}"] * (number % 5)
        lower.show(f"line {number}\n" if number % 3 == 0 else "")

    assert lower.drawn == 1
    assert lower.asked <= 302
    assert lower.seen() == [
        *(f"line {n}" for n in range(0, 300, 3)),
        *["word 299"] * 4,
        "›",
        "status",
    ]


def test_a_key_costs_one_more_drawing_and_the_next_lines_another() -> None:
    lower = Lower()
    lower.show("one\n")
    lower.draft = "heron"
    lower.draw()
    for number in range(9):
        lower.show(f"line {number}\n")

    assert lower.drawn == 3
    assert lower.seen() == ["one", *(f"line {n}" for n in range(9)), "› heron", "status"]


def test_a_word_more_in_the_tail_writes_its_line_and_no_other() -> None:
    lower = Lower()
    lower.tail = ["the first line", "many"]
    lower.show("")
    lower.tail = ["the first line", "many words"]
    written = lower.show("")

    assert lower.drawn == 1
    assert "many words" in written
    assert "status" not in written
    assert len(written) < 100
    assert lower.show("") == ""
    assert lower.seen() == ["the first line", "many words", "›", "status"]


def test_a_line_that_is_too_wide_is_cut_and_takes_one_row() -> None:
    lower = Lower()
    lower.tail = ["漢" * 40, "x" * 90]
    lower.show("above\n")

    assert lower.seen() == ["above", "漢" * 19, "x" * (COLUMNS - 1), "›", "status"]


def test_an_erased_screen_has_no_tail_and_a_new_drawing_has() -> None:
    lower = Lower()
    lower.tail = ["at work"]
    lower.show("above\n")
    lower.painter.erase()
    assert lower.seen() == ["above"]
    lower.draw()
    assert lower.seen() == ["above", "at work", "›", "status"]


_step = st.one_of(
    st.tuples(st.just("print"), st.integers(1, 20)),
    st.tuples(st.just("tail"), st.integers(0, 8)),
    st.tuples(st.just("queue"), st.integers(0, 4)),
    st.tuples(st.just("type"), st.integers(0, 12)),
)


@given(st.lists(_step, max_size=25))
def test_only_what_is_final_goes_into_the_scrollback_and_once(
    steps: list[tuple[str, int]],
) -> None:
    """Tail and foot may want more rows than there are."""
    lower = Lower()
    lower.show("begin\n")
    said: list[str] = []
    for number, (what, count) in enumerate(steps):
        match what:
            case "print":
                lines = [f"P{number}.{n}" for n in range(count)]
                said += lines
                lower.show("\n".join(lines) + "\n")
            case "tail":
                lower.tail = [f"T{number}.{n}" for n in range(count)]
                lower.show("")
            case "queue":
                lower.queue = [f"Q{number}.{n}" for n in range(count)]
                lower.show("", foot=True)
            case _:
                lower.draft = f"k{number}\n" * count
                lower.draw()
        seen = lower.seen()
        live = [line for line in seen if line.startswith("T")]
        assert [line for line in seen if line.startswith("P")] == said
        assert live == lower.tail[len(lower.tail) - len(live) :]
    lower.tail, lower.queue, lower.draft = [], [], ""
    lower.show("end\n", foot=True)

    assert lower.seen() == ["begin", *said, "end", "›", "status"]


def test_the_foot_grows_and_the_tail_makes_room_for_it() -> None:
    lower = Lower()
    lower.tail = [f"T{n}" for n in range(30)]
    lower.show("begin\n")
    assert lower.seen()[-3:] == ["T29", "›", "status"]
    lower.queue = ["Q0", "Q1", "Q2"]
    lower.draw()

    assert lower.seen()[-6:] == ["T29", "Q0", "Q1", "Q2", "›", "status"]
    assert lower.seen()[:2] == ["begin", "T19"]
    assert len(lower.seen()) == 1 + ROWS


def test_what_a_tail_keeps_is_not_written_again() -> None:
    lower = Lower()
    lower.tail = ["the first row", "the second row"]
    lower.show("")
    lower.tail = ["the first row", "the second row", "the third row"]
    written = lower.show("")
    assert "third" in written
    assert "first" not in written
    lower.tail = ["the first row", "another row", "the third row"]
    written = lower.show("")
    assert "another" in written
    assert "third" not in written
    assert lower.seen() == [*lower.tail, "›", "status"]


def test_what_is_written_at_once_is_shown_at_once() -> None:
    lower = Lower()
    lower.tail = ["a row"]
    written = lower.show("final\n")
    assert written.startswith("\x1b[?2026h")
    assert written.endswith("\x1b[?2026l")
    assert written.count("\x1b[?2026h") == 1


def test_the_foot_of_a_chat_is_drawn_by_the_clock_and_not_by_the_stream(tmp_path: Path) -> None:
    """Counted: drawings and bunches. The clock in the status line is drawn once a second."""
    target = terminal(columns=COLUMNS, rows=ROWS)
    bunches = 0

    class Counted(TranscriptView):
        def take(self) -> str:
            nonlocal bunches
            bunches += 1
            return super().take()

    def play(_: FakeAgent, __: str) -> Iterator[AgentEvent]:
        for number in range(300):
            yield TextPart(f"word {number}\n\n" if number % 9 == 0 else f"word {number} ")
            time.sleep(0.005)
        yield MessageDone(answer("words"), entry_id("a"))
        repl.chat.post(repl.chat.leave)

    agent = FakeAgent(play)
    theme = choose_theme("none", "dark", target.colours)
    options = ChatOptions(tmp_path, tmp_path, theme, drafts=tmp_path, first_prompt="go")
    began = time.monotonic()
    with create_pipe_input() as keyboard:
        repl = Repl(
            agent,
            FakeHost(agent),
            target,
            lambda theme: Counted(target, theme),
            options,
            keyboard_input=keyboard,
        )
        repl.run()
    seconds = time.monotonic() - began

    assert bunches > 15
    assert repl.app.render_counter < 8 + 3 * seconds

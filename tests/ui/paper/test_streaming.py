"""A turn as it streams into a terminal, from the events to what stands in scrollback and screen."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import termios

import pyte
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsh.agent.events import (
    MessageDone,
    TextPart,
    ThinkingPart,
    ToolEnd,
    ToolProgress,
    ToolStart,
)
from agentsh.messages import Text, ToolResultMessage
from agentsh.ui.paper.painter import Painter
from agentsh.ui.paper.render import Renderer
from agentsh.ui.paper.transcript import Transcript
from agentsh.ui.screen import make_output
from agentsh.ui.terminal import Colours, Terminal
from agentsh.ui.theme import choose_theme
from tests.ui.fakes import answer, call, entry_id
from tests.ui.paper.test_painter import Lower
from tests.ui.paper.test_render import bare
from tests.ui.screens import FakeTty, terminal


class Sized(FakeTty):
    """A stream in memory with the size of a real terminal, which can be changed."""

    def __init__(self) -> None:
        super().__init__()
        self._ends = pty.openpty()

    def fileno(self) -> int:
        return self._ends[1]

    def set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._ends[1], termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def close_ends(self) -> None:
        for end in self._ends:
            os.close(end)


class Streaming(Lower):
    """A transcript above an editor, in a terminal whose size changes; it does not reflow."""

    def __init__(self, columns: int, rows: int) -> None:
        super().__init__()
        self.stream = Sized()
        self.stream.set_size(columns, rows)
        self.target = Terminal(
            FakeTty(), self.stream, FakeTty(), colours=Colours.ANSI, reflows=False
        )
        theme = choose_theme("dark", "dark", self.target.colours)
        self.transcript = Transcript(Renderer(self.target, theme), lambda: 0.0)
        output = make_output(self.target)
        self.app.output = output
        self.painter = Painter(self.app.renderer.style, output, self.transcript.tail)
        self._screen = pyte.HistoryScreen(columns, rows, history=5000, ratio=0.5)
        self._feed = pyte.Stream(self._screen)
        self._fed = 0

    def drain(self, *, foot: bool = False) -> None:
        self.painter.show(self.transcript.take(), self.draw, foot=foot)
        written = self.stream.getvalue()
        self._feed.feed(written[self._fed :])
        self._fed = len(written)

    def resize(self, columns: int, rows: int) -> None:
        """As a terminal does: blank rows below go first, then those at the top into the history."""
        screen = self._screen
        used = max([screen.cursor.y, *(y for y, line in enumerate(screen.display) if line.strip())])
        gone = max(0, used + 1 - rows)
        below = max(0, screen.lines - rows - gone)
        screen.history.top.extend(screen.buffer[y] for y in range(gone))
        at = max(0, screen.cursor.y - gone), screen.cursor.x
        screen.cursor.y = 0
        if below:
            screen.insert_lines(below)
        screen.resize(rows, columns)
        screen.cursor.y, screen.cursor.x = at[0], min(at[1], columns - 1)
        self.stream.set_size(columns, rows)
        self.painter.erase(leave_alternate_screen=False)  # what prompt_toolkit does then
        self.draw()
        self.drain()

    def text(self) -> str:
        above = [
            "".join(line[x].data for x in range(200)).rstrip() for line in self._screen.history.top
        ]
        return "\n".join([*above, *(line.rstrip() for line in self._screen.display)])


_event = st.one_of(
    st.tuples(st.just("say"), st.integers(1, 400)),
    st.tuples(st.just("say"), st.integers(1, 40)),
    st.tuples(st.just("think"), st.integers(1, 900)),
    st.tuples(st.just("call"), st.integers(0, 9)),
    st.tuples(st.just("queue"), st.integers(0, 4)),
    st.tuples(st.just("type"), st.integers(0, 3)),
    st.tuples(st.just("size"), st.integers(0, 10_000)),
    st.tuples(st.just("end"), st.just(0)),
)
_FORMS = (
    "words K{n:03d}z and more\n\n",
    "- an item K{n:03d}z of a list\n",
    "  1. inside **K{n:03d}z** it\n",
    "```python\ncode_K{n:03d}z = 'string'  # and a comment that goes beyond the window\n```\n",
    "> said K{n:03d}z\n\n",
    "a | b\n--|--\nK{n:03d}z | 2\n\n",
    "a long `line` K{n:03d}z " + "that goes on and on " * 20 + "\n\n",
    "# K{n:03d}z\n",
)


@settings(max_examples=30)
@given(st.integers(30, 100), st.integers(14, 40), st.lists(_event, max_size=30))
def test_each_final_line_is_there_once_and_in_order_whatever_happens(
    columns: int, rows: int, events: list[tuple[str, int]]
) -> None:
    """Events, sizes and changes of size; what is asked of is scrollback and screen."""
    window = Streaming(columns, rows)
    said = "".join(_FORMS[n % len(_FORMS)].format(n=n) for n in range(48))
    at, calls = 0, 0
    window.draw()
    for number, (what, count) in enumerate(events):
        foot = True
        match what:
            case "say":
                window.transcript.feed(TextPart(said[at : at + count]))
                at, foot = at + count, False
            case "think":
                if said[:at].endswith("\n"):  # a thought ends what was said
                    window.transcript.feed(ThinkingPart("herons " * count))
            case "call" if said[:at].endswith("\n\n"):
                calls += 1
                made = call("bash", f"c{calls}", command=f"make {calls}")
                window.transcript.feed(ToolStart(made))
                window.transcript.feed(ToolProgress(made, "line\n" * count))
                window.drain()
                result = ToolResultMessage(made.id, "bash", (Text(f"made R{calls:03d}z"),), False)
                window.transcript.feed(ToolEnd(made, result, entry_id(f"r{number}")))
            case "queue":
                window.queue = [f"Q{number}.{n}" for n in range(count)]
            case "type":
                window.draft = "k\n" * count
            case "size":
                window.resize(30 + count % 90, 14 + count % 27)
            case "end" if said[:at].endswith("\n\n"):
                window.transcript.feed(MessageDone(answer("x"), entry_id(f"m{number}")))
            case _:
                pass
        window.drain(foot=foot)
    window.transcript.feed(TextPart(said[at:]))
    window.transcript.feed(MessageDone(answer("x"), entry_id("last")))
    window.drain(foot=True)
    text = window.text()
    window.stream.close_ends()

    assert re.findall(r"K\d{3}z", text) == [f"K{n:03d}z" for n in range(48)]
    assert re.findall(r"R\d{3}z", text) == [f"R{n + 1:03d}z" for n in range(calls)]


def test_lines_of_the_programs_own_stand_together_and_apart_from_what_is_said() -> None:
    target = terminal(columns=60)
    theme = choose_theme("none", "dark", target.colours)
    shown = Transcript(Renderer(target, theme), lambda: 0.0)
    shown.say("error: no endpoint", "error")
    shown.say("set one up")
    shown.markdown("Well.")
    shown.say("read anew")

    assert bare(shown.take()) == "\nerror: no endpoint\nset one up\n\nWell.\n\nread anew\n"

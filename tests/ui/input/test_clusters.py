"""The cursor of a draft stands between what a person sees as characters, whatever is pressed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.application import Application
from prompt_toolkit.document import Document
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.layout import BufferControl, Layout, Window
from prompt_toolkit.output import DummyOutput

from agentsh.ui.input.clusters import ClusterBuffer, RowWidths
from tests.ui.test_cells import TEXTS, borders

FAMILY, FLAG, ACCENT = "👩‍👩‍👧", "🇩🇪", "e\u0301"
MOVES: dict[str, Callable[[ClusterBuffer], object]] = {
    "left": lambda b: b.cursor_left(),
    "right": lambda b: b.cursor_right(),
    "two left": lambda b: b.cursor_left(2),
    "two right": lambda b: b.cursor_right(2),
    "up": lambda b: b.cursor_up(),
    "down": lambda b: b.cursor_down(),
    "backspace": lambda b: b.delete_before_cursor(),
    "delete": lambda b: b.delete(),
    "rub out three": lambda b: b.delete_before_cursor(3),
    "a letter": lambda b: b.insert_text("e"),
    "an accent": lambda b: b.insert_text("\u0301"),
    "a joiner": lambda b: b.insert_text("\u200d"),
    "half a flag": lambda b: b.insert_text("🇪"),
    "undo": lambda b: b.undo(),
    "save": lambda b: b.save_to_undo_stack(),
}


def holding(text: str, at: int) -> ClusterBuffer:
    buffer = ClusterBuffer(multiline=True)
    buffer.document = Document(text, at)
    return buffer


@given(TEXTS, st.integers(0, 40), st.lists(st.sampled_from(sorted(MOVES)), max_size=12))
def test_u18_no_key_leaves_the_cursor_inside_a_cluster(
    text: str, at: int, moves: list[str]
) -> None:
    buffer = holding(text, min(at, len(text)))
    for move in moves:
        MOVES[move](buffer)
        assert buffer.cursor_position in borders(buffer.text), move


@given(TEXTS)
def test_u18_backspace_from_the_end_takes_one_cluster_each_time(text: str) -> None:
    buffer, seen = holding(text, len(text)), 0
    while buffer.text:
        left = borders(buffer.text)[-2]
        buffer.delete_before_cursor()
        assert buffer.text == text[:left]
        seen += 1
    assert seen == len(borders(text)) - 1


@pytest.mark.parametrize("cluster", [FAMILY, FLAG, ACCENT, "👍🏽", "क्षि", "각"])
def test_u18_one_key_passes_or_deletes_one_cluster(cluster: str) -> None:
    buffer = holding(f"x{cluster}y", 1)
    buffer.cursor_right()
    assert buffer.cursor_position == 1 + len(cluster)
    buffer.cursor_left()
    assert buffer.cursor_position == 1
    assert (buffer.delete(), buffer.text) == (cluster, "xy")
    buffer.insert_text(cluster)
    assert (buffer.delete_before_cursor(), buffer.text) == (cluster, "xy")


def test_u18_arrows_stay_in_their_line() -> None:
    buffer = holding(f"a\n{FAMILY}\nb", 2)
    buffer.cursor_left(3)
    assert buffer.cursor_position == 2
    buffer.cursor_right(3)
    assert buffer.cursor_position == 2 + len(FAMILY)


@pytest.mark.parametrize(
    ("mode", "keys"),
    [
        (EditingMode.EMACS, "\x02" * 2 + "\x04"),  # Ctrl-B twice, Ctrl-D
        (EditingMode.EMACS, "\x1b[D" * 2 + "\x1b[3~"),  # Left twice, Delete
        (EditingMode.EMACS, "\x1b[D" + "\x7f"),  # Left, Backspace
        (EditingMode.VI, "\x1b" + "hx"),
    ],
)
@pytest.mark.parametrize("cluster", [FAMILY, FLAG, ACCENT])
def test_u18_the_keys_of_both_modes_go_by_clusters(
    cluster: str, mode: EditingMode, keys: str
) -> None:
    buffer = ClusterBuffer()

    async def press() -> None:
        with create_pipe_input() as keyboard:
            app: Application[None] = Application(
                layout=Layout(Window(BufferControl(buffer))),
                input=keyboard,
                output=DummyOutput(),
                editing_mode=mode,
            )
            app.ttimeoutlen = app.timeoutlen = 0.01
            keyboard.send_text(f"a{cluster}b{keys}")
            buffer.on_text_changed += lambda _: app.exit() if buffer.text == "ab" else None
            await app.run_async()

    asyncio.run(press())
    assert buffer.text == "ab"


def at(text: str, index: int) -> ClusterBuffer:
    return ClusterBuffer(document=Document(text, index), multiline=True)


def path_of(buffer: ClusterBuffer, room: RowWidths, *, up: bool) -> list[int]:
    """Where the cursor was, row by row, to the end."""
    places = [buffer.cursor_position]
    while buffer.row_up(room) if up else buffer.row_down(room):
        places.append(buffer.cursor_position)
    return places


def test_u24_the_rows_of_one_long_line_are_gone_through_one_by_one() -> None:
    text = "one two three four five"  # one two | three | four | five, in eight cells

    assert path_of(at(text, len(text)), RowWidths(8, 8), up=True) == [23, 18, 12, 4]
    assert path_of(at(text, 2), RowWidths(8, 8), up=False) == [2, 10, 16, 21]


def test_u24_the_column_is_kept_over_rows_that_are_shorter() -> None:
    text = "heron heron\na\n\nheron heron"

    assert path_of(at(text, 4), RowWidths(20, 20), up=False) == [4, 13, 14, 19]
    assert path_of(at(text, 19), RowWidths(20, 20), up=True) == [19, 14, 13, 4]


def test_u24_a_tab_is_as_wide_as_it_is_drawn() -> None:
    text = "\tab\n0123456789"

    assert path_of(at(text, 2), RowWidths(20, 20), up=False) == [2, 13]
    assert path_of(at(text, 9), RowWidths(20, 20), up=True) == [9, 0]


@given(TEXTS, st.integers(2, 12), st.data())
def test_u24_each_row_is_passed_once_and_the_cursor_stays_on_borders(
    text: str, width: int, data: st.DataObject
) -> None:
    text = text.replace("\r", "")  # which no draft has
    room = RowWidths(width, width)
    buffer = at(text, data.draw(st.sampled_from(sorted(borders(text)))))
    path_of(buffer, room, up=True)
    down = path_of(buffer, room, up=False)

    assert down == sorted(set(down))
    assert set(down) <= set(borders(text))

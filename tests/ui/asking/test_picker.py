"""Pick one of many lines."""

from __future__ import annotations

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.keys import Keys
from prompt_toolkit.output import DummyOutput

from agentsh.ui.asking.picker import PickCommand, Picker, PickRow, pick_row, picker_keys
from agentsh.ui.asking.pickers import SessionChoice, session_rows
from agentsh.ui.fullscreen import Screen
from agentsh.ui.theme import choose_theme
from tests.ui.fakes import FakeAgent, says
from tests.ui.hosts import FakeHost, fake_row
from tests.ui.screens import terminal

ROWS = [PickRow(f"session {n}", "yesterday", f"id{n}") for n in range(1, 30)]
DOWN, UP, END, PAGE_DOWN = "\x1b[B", "\x1b[A", "\x1b[F", "\x1b[6~"


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        ("\r", "id1"),
        (DOWN * 2 + UP + "\r", "id2"),
        (END + "\r", "id29"),
        (PAGE_DOWN + "\r", "id8"),
        ("17\r", "id17"),
        ("1x\x7f7 sess\r", "id17"),
        ("nothing\r", None),
        ("\x1b", None),
        ("\x03", None),
    ],
)
def test_keys(keys: str, value: str | None) -> None:
    target = terminal(columns=40, rows=10)
    with create_pipe_input() as pipe:
        pipe.send_text(keys)
        theme = choose_theme("none", "dark", target.colours)
        got = pick_row("sessions", ROWS, Screen(target, theme, pipe, DummyOutput()))

    assert got == value


def test_the_screen_shows_what_fits_round_the_cursor() -> None:
    picker = Picker("sessions", ROWS)
    picker.move(15)
    text = "".join(fragment[1] for fragment in picker.draw(40, 8))

    assert text.split("\n") == [
        "sessions: 29 of 29; type to search     ",
        *(f"session {n}" + " " * 18 + "  yesterday" for n in range(14, 19)),
        ">    Enter picks · Esc leaves",
    ]


DETAILS = "2026-12-01 11:39  in use  36 messages"


@pytest.mark.parametrize(
    ("columns", "detail"),
    [(120, DETAILS), (60, "2026-12-01 11:39"), (50, "2026-12-01 11:39"), (40, "2026-12-01 11:…")],
)
def test_a_narrow_list_keeps_names_apart_and_drops_the_last_columns(
    columns: int, detail: str
) -> None:
    names = ["count the herons in the marsh of today", "count the herons of yesterday"]
    picker = Picker("sessions", [PickRow(name, DETAILS, name) for name in names])
    _, *lines, _ = "".join(f[1] for f in picker.draw(columns, 8)).split("\n")

    assert [line.rstrip().endswith(detail) for line in lines] == [True, True]
    assert {len(line.rstrip()) < columns for line in lines} == {True}
    assert [line[:20] for line in lines] == [name[:20] for name in names]


def test_in_a_wide_list_details_stand_near_their_texts() -> None:
    rows = [PickRow("a", "yesterday", "a"), PickRow("b" * 50, "today", "b")]
    _, *lines, _ = "".join(f[1] for f in Picker("sessions", rows).draw(160, 8)).split("\n")
    assert [line.index("day") for line in lines] == [52 + 6, 52 + 2]

    _, line, _ = "".join(f[1] for f in Picker("sessions", rows[:1]).draw(160, 8)).split("\n")
    assert line.index("yesterday") == 42


def test_a_long_detail_takes_no_name_away() -> None:
    rows = [PickRow("far/qwen2.5-coder-1.5b", "cannot connect: " + "why " * 30, "f")]
    _, line, _ = "".join(f[1] for f in Picker("models", rows).draw(60, 8)).split("\n")

    assert line.startswith("far/qwen2.5-coder-1.5b  cannot connect: why")
    assert line.endswith("…")
    assert len(line) < 60


def test_a_session_is_shown_by_its_name_or_its_first_prompt() -> None:
    rows = session_rows(
        [
            fake_row("1", name="odd [/] name\x1b[2J"),
            fake_row("2", prompt="first\nsecond"),
            fake_row("3", prompt=None),
        ]
    )

    assert [(r.text, r.detail, r.value) for r in rows] == [
        ("odd [/] name", "2026-01-01 00:00  2 messages", "1"),
        ("first", "2026-01-01 00:00  2 messages", "2"),
        ("(empty)", "2026-01-01 00:00  2 messages", "3"),
    ]


def test_what_was_typed_can_be_looked_for_in_all_that_was_said() -> None:
    choice = SessionChoice(FakeHost(FakeAgent(says("x"))))
    picker = Picker(choice.title, choice.pick_rows())
    find = choice.commands()["c-f"]

    picker.type("1111")
    find.run(picker)

    assert [(row.value, row.detail) for row in picker.shown] == [("1111-other", "… 1111 …")]
    find.run(picker)
    picker.accept()  # with nothing typed all are back
    assert len(picker.shown) == 2


def test_ctrl_f_on_an_empty_field_takes_what_is_typed_next_for_the_texts() -> None:
    choice = SessionChoice(FakeHost(FakeAgent(says("x"))))
    picker = Picker(choice.title, choice.pick_rows())
    choice.commands()["c-f"].run(picker)
    for char in "1111":
        picker.type(char)
    screen = "".join(fragment[1] for fragment in picker.draw(80, 8))

    assert screen.split("\n")[-1] == "in texts (Enter finds, empty: all)› 1111"
    assert len(picker.shown) == 2  # nothing is narrowed while it is typed
    assert picker.accept() is False
    assert [(row.value, row.detail) for row in picker.shown] == [("1111-other", "… 1111 …")]


def test_while_something_is_typed_for_a_command_no_other_one_runs() -> None:
    picker = Picker("sessions", ROWS)
    ran: list[str] = []
    keys = picker_keys(picker, {"c-x": PickCommand("^X archive", lambda _: ran.append("archive"))})
    *_, binding = keys.get_bindings_for_keys((Keys.ControlX,))
    picker.ask("name: ", "", ran.append)
    binding.handler(None)  # type: ignore[arg-type]
    assert ran == []
    picker.accept()
    binding.handler(None)  # type: ignore[arg-type]
    assert ran == ["", "archive"]


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_the_way_out_of_a_list_stays_at_every_width(columns: int) -> None:
    picker = Picker("sessions", ROWS)
    words = ["Tab all", "^F in texts", "^S order", "^R rename", "^X archive"]
    foot = "".join(fragment[1] for fragment in picker.draw(columns, 8, words)).split("\n")[-1]

    assert foot.startswith(">    Enter picks")
    assert foot.endswith("Esc leaves")
    assert len(foot) < columns

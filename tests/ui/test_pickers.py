"""The pickers of the chat: sessions in several orders, renamed, archived; models; labels."""

from __future__ import annotations

from pathlib import Path

from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from agentsh.ui.picker import pick
from agentsh.ui.pickers import SessionChoice
from agentsh.ui.theme import choose
from tests.ui.fakes import FakeAgent, FakeHost, FakeRow, says
from tests.ui.screens import terminal


class FakeKeeper(FakeHost):
    """Sessions of their own file each."""

    def __init__(self) -> None:
        super().__init__(FakeAgent(says("x")))
        self.rows = [
            FakeRow("a", Path("/a"), None, "heron", "2026-01-03T00:00:00.000Z", 2, "2026-01-01"),
            FakeRow("b", Path("/b"), "badger", "x", "2026-01-02T00:00:00.000Z", 9, "2026-01-02"),
            FakeRow("c", Path("/c"), None, "Adder", "2026-01-01T00:00:00.000Z", 5, "2026-01-03"),
        ]

    def sessions(self, *, everywhere: bool = False) -> list[FakeRow]:
        far = [FakeRow("d", Path("/d"), None, "far", "2025-01-01", 1, "2025", "/far")]
        rows = [*self.rows, *(far if everywhere else [])]
        return [
            FakeRow(
                r.id, r.path, self.names.get(r.path, r.name), r.prompt, r.updated, r.messages,
                r.created, r.cwd,
            )
            for r in rows
            if r.path not in self.archived
        ]  # fmt: skip


def press(keys: str) -> tuple[str | None, FakeKeeper]:
    keeper = FakeKeeper()
    choice = SessionChoice(keeper)
    target = terminal(columns=80, rows=12)
    with create_pipe_input() as pipe:
        pipe.send_text(keys)
        found = pick(
            choice.title,
            choice.pick_rows(),
            target,
            choose("none", "dark", target.colours),
            commands=choice.commands(),
            keyboard_input=pipe,
            output=DummyOutput(),
        )
    return found, keeper


def test_the_newest_conversation_is_first_and_ctrl_s_goes_through_the_orders() -> None:
    assert press("\r")[0] == "a"
    assert press("\x13\x1b[H\r")[0] == "c"  # created
    assert press("\x13\x13\x1b[H\r")[0] == "b"  # length
    assert press("\x13\x13\x13\x1b[H\r")[0] == "c"  # name
    assert press("\x13\x13\x13\x13\x1b[H\r")[0] == "a"


def test_the_cursor_stays_on_its_session_in_another_order() -> None:
    assert press("\x13\r")[0] == "a"


def test_tab_shows_the_sessions_of_all_folders() -> None:
    assert press("far\r")[0] is None
    assert press("\tfar\r")[0] == "d"
    assert press("\t\tfar\r")[0] is None


def test_a_session_is_renamed_in_the_list() -> None:
    found, keeper = press("\x1b[B\x12\x7f\x7f\x7f\x7f\x7f\x7fotter\r\r")

    assert (found, keeper.names) == ("b", {Path("/b"): "otter"})


def test_a_name_that_is_left_with_escape_is_not_given() -> None:
    assert press("\x12x\x03\x03")[1].names == {}


def test_a_session_is_archived_after_a_yes_only() -> None:
    assert press("\x18\r\r")[1].archived == []
    found, keeper = press("\x18y\r\r")

    assert (found, keeper.archived) == ("b", [Path("/a")])

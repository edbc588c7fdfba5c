"""The pickers of the chat: sessions in several orders, renamed, archived; models; labels."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from agentsh.session.format.entries import EntryId
from agentsh.session.store.store import SessionRow
from agentsh.ui.asking.picker import pick_row
from agentsh.ui.asking.pickers import SessionChoice, label_rows, session_rows
from agentsh.ui.fullscreen import Screen
from agentsh.ui.text.places import said_words
from agentsh.ui.theme import choose_theme
from tests.ui.fakes import FakeAgent, FakeSession, says, user_entry
from tests.ui.hosts import FakeHost, fake_row
from tests.ui.screens import terminal


class FakeKeeper(FakeHost):
    """Sessions of their own file each."""

    def __init__(self) -> None:
        super().__init__(FakeAgent(says("x")))
        self.rows = [
            fake_row("a", Path("/a"), None, "heron", "2026-01-03T00:00:00.000Z", 2, "2026-01-01"),
            fake_row("b", Path("/b"), "badger", "x", "2026-01-02T00:00:00.000Z", 9, "2026-01-02"),
            fake_row("c", Path("/c"), None, "Adder", "2026-01-01T00:00:00.000Z", 5, "2026-01-03"),
        ]

    def sessions(self, *, everywhere: bool = False) -> list[SessionRow]:
        far = [fake_row("d", Path("/d"), None, "far", "2025-01-01", 1, "2025", "/far")]
        rows = [*self.rows, *(far if everywhere else [])]
        return [
            fake_row(
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
    theme = choose_theme("none", "dark", target.colours)
    with create_pipe_input() as pipe:
        pipe.send_text(keys)
        found = pick_row(
            choice.title,
            choice.pick_rows(),
            Screen(target, theme, pipe, DummyOutput()),
            commands=choice.commands(),
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


def test_a_list_of_sessions_is_in_columns_and_marks_forks_and_the_one_in_use() -> None:
    rows = [
        fake_row("one", messages=7, cwd="/a"),
        replace(fake_row("two", messages=12345, cwd="/far/away"), parent="/x.jsonl"),
    ]

    details = [row.detail for row in session_rows(rows, everywhere=True, now="one")]

    assert [detail[16:26] for detail in details] == ["  in use  ", "  fork    "]
    assert len({len(detail) for detail in details}) == 1
    assert len({detail.index(" messages") for detail in details}) == 1


def test_a_label_is_listed_with_what_it_names() -> None:
    session = FakeSession([user_entry("u1", None, "count the herons")])
    labels = {EntryId("u1"): "start", EntryId("gone"): "Away"}

    rows = label_rows(labels, lambda entry: said_words(session.entry(entry)))

    assert [(row.text, row.value) for row in rows] == [("Away", "gone"), ("start", "u1")]
    assert rows[0].detail == "(its entry is not in the file)"
    assert rows[1].detail.startswith("your prompt “count the herons” of 20")

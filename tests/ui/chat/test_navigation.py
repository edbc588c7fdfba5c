"""The commands that change where the next prompt goes, or look at where it would."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentsh.agent.events import AgentEvent, Compacted
from agentsh.errors import RefusedError
from agentsh.session.format.entries import EntryId, ReadNotice
from agentsh.ui.chat.navigation import NOTHING_TO_FORK
from tests.ui.chat.inprocess import typed
from tests.ui.fakes import FakeAgent, FakeSession, answer_entry, says, user_entry
from tests.ui.hosts import FakeHost

TALK = (
    user_entry("u1", None, "count the herons"),
    answer_entry("a1", "u1", "three herons"),
    user_entry("u2", "a1", "and now the storks"),
    answer_entry("a2", "u2", "two storks"),
)


@pytest.fixture
def agent() -> FakeAgent:
    return FakeAgent(says("well"), FakeSession(list(TALK)))


# ---- to a place ----------------------------------------------------------------------------------


def test_a_checkout_of_a_prompt_goes_before_it_and_gives_its_text_back(
    tmp_path: Path, agent: FakeAgent
) -> None:
    shown = typed(tmp_path, agent, "/checkout u2", "")

    assert agent.moves == [EntryId("u2")]
    assert "now before your prompt “and now the storks”" in shown
    assert "three herons" in shown  # the place that it is now
    assert agent.prompts == ["and now the storks"]  # Enter said what was in the editor


def test_a_checkout_with_files_brings_those_too(tmp_path: Path, agent: FakeAgent) -> None:
    typed(tmp_path, agent, "/checkout a1 files")

    assert agent.moves == [EntryId("a1")]
    assert agent.files.done == [("both", False)]


@pytest.mark.parametrize("line", ["/checkout", "/checkout u2 everything"])
def test_a_checkout_without_a_place_says_what_it_wants(
    line: str, tmp_path: Path, agent: FakeAgent
) -> None:
    shown = typed(tmp_path, agent, line)

    assert "/checkout wants an entry" in shown
    assert agent.moves == []


def test_a_place_that_is_none_is_said_and_nothing_moves(tmp_path: Path, agent: FakeAgent) -> None:
    shown = typed(tmp_path, agent, "/checkout nowhere", "/diff a b c")

    assert "no entry 'nowhere'" in shown
    assert "/diff takes no more than two entries" in shown
    assert agent.moves == []


# ---- undo ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "moves", "files"),
    [
        ("/undo conversation", [EntryId("u2")], []),
        ("/undo files", [], [("files", False)]),
        ("/undo files overwrite", [], [("files", True)]),
        ("/undo both", [EntryId("u2")], [("both", False)]),
        ("/undo both overwrite", [EntryId("u2")], [("both", True)]),
    ],
)
def test_undo_goes_before_the_last_prompt_with_what_is_meant(
    line: str,
    moves: list[EntryId],
    files: list[tuple[str, bool]],
    tmp_path: Path,
    agent: FakeAgent,
) -> None:
    typed(tmp_path, agent, line)

    assert (agent.moves, agent.files.done) == (moves, files)


@pytest.mark.parametrize("line", ["/undo all", "/undo files now", "/undo both overwrite now"])
def test_undo_of_what_is_not_there_says_what_there_is(
    line: str, tmp_path: Path, agent: FakeAgent
) -> None:
    shown = typed(tmp_path, agent, line)

    assert "/undo takes one of: conversation, files, both" in shown
    assert (agent.moves, agent.files.done) == ([], [])


def test_without_a_prompt_there_is_nothing_to_undo(tmp_path: Path) -> None:
    agent = FakeAgent(says("well"))

    shown = typed(tmp_path, agent, "/undo")

    assert "there is no prompt to go back before" in shown
    assert agent.moves == []


# ---- looking -------------------------------------------------------------------------------------


def test_a_difference_is_shown_from_where_to_where(tmp_path: Path, agent: FakeAgent) -> None:
    shown = typed(tmp_path, agent, "/diff", "/diff u1", "/diff u1 a2")

    assert [line for line in shown.split("\n") if line.startswith("from ")] == [
        "from None to None",
        "from u1 to None",
        "from u1 to a2",
    ]
    assert "+heron" in shown


def test_why_wants_a_line_and_shows_no_more_than_fits(tmp_path: Path, agent: FakeAgent) -> None:
    shown = typed(tmp_path, agent, "/why", "/why src/a.py:12")

    assert "name a file and its line: /why src/a.py:12" in shown
    assert "src/a.py:12 in 44 lines" in shown


def test_what_fills_the_window_is_no_wider_than_it_is(tmp_path: Path, agent: FakeAgent) -> None:
    shown = typed(tmp_path, agent, "/context", columns=40)

    assert "1,000 of 8,000 tokens (12%)" in shown
    assert "#" * 38 in shown
    assert "#" * 39 not in shown


# ---- another session -----------------------------------------------------------------------------


class OtherHost(FakeHost):
    """Opens another agent, whose file has something odd in it."""

    def __init__(self, agent: FakeAgent) -> None:
        super().__init__(agent)
        self.forked: list[EntryId | None] = []
        self.other = FakeAgent(
            says("from the fork"),
            FakeSession([*TALK[:2]], notices=(ReadNotice("a line was cut", 3),)),
        )

    def fork(self, at: EntryId | None) -> Path:
        self.forked.append(at)
        return super().fork(at)

    def open_session(self, path: Path) -> FakeAgent:
        self.agent = self.other
        return self.other


@pytest.mark.parametrize(("line", "at"), [("/fork", "a2"), ("/fork a1", "a1")])
def test_a_fork_is_gone_on_with_and_what_is_odd_about_it_is_said(
    line: str, at: str, tmp_path: Path, agent: FakeAgent
) -> None:
    host = OtherHost(agent)

    shown = typed(tmp_path, agent, line, "go on", host=host)

    assert host.forked == [EntryId(at)]
    assert "the session before it stays" in shown
    assert ("from there" in shown) is (at != "a2")
    assert "a line was cut" in shown
    assert (agent.prompts, host.other.prompts) == ([], ["go on"])


def test_a_new_session_gets_the_next_prompt(tmp_path: Path, agent: FakeAgent) -> None:
    host = FakeHost(agent)

    shown = typed(tmp_path, agent, "/new", "hello", host=host)

    assert "a new session; the one before it stays" in shown
    assert "a new session's answer" in shown
    assert (agent.prompts, host.agent.prompts) == ([], ["hello"])


# ---- once more, and room -------------------------------------------------------------------------


@pytest.mark.parametrize(("line", "word"), [("/retry", None), ("/retry a1", "a1")])
def test_an_answer_is_asked_for_once_more(
    line: str, word: str | None, tmp_path: Path, agent: FakeAgent
) -> None:
    shown = typed(tmp_path, agent, line)

    assert agent.retried == [word]
    assert "well" in shown


class Compacts(FakeAgent):
    kept: int | None = None

    def compact(
        self, focus: str | None = None, keep: int | None = None, until: EntryId | None = None
    ) -> Iterator[AgentEvent]:
        self.kept = keep
        self.compactions.append((focus, until))
        if focus == "nothing":
            raise RefusedError("there is nothing to compact")
        yield Compacted(EntryId("c"), 9000, 1000)


@pytest.mark.parametrize(
    ("line", "focus", "keep"),
    [
        ("/compact", None, None),
        ("/compact mind the nests", "mind the nests", None),
        ("/compact --keep 2000", None, 2000),
        ("/compact --keep 2000 mind the nests", "mind the nests", 2000),
    ],
)
def test_compact_takes_what_is_kept_and_what_is_minded(
    line: str, focus: str | None, keep: int | None, tmp_path: Path
) -> None:
    agent = Compacts(says("well"), FakeSession(list(TALK)))

    shown = typed(tmp_path, agent, line)

    assert (agent.compactions, agent.kept) == ([(focus, None)], keep)
    assert "9,000" in shown or "9000" in shown


@pytest.mark.parametrize("line", ["/compact --keep", "/compact --keep all"])
def test_a_number_of_tokens_is_a_number(line: str, tmp_path: Path) -> None:
    agent = Compacts(says("well"), FakeSession(list(TALK)))

    shown = typed(tmp_path, agent, line)

    assert "/compact --keep wants a number of tokens" in shown
    assert agent.compactions == []


def test_what_cannot_be_compacted_is_said_and_the_chat_goes_on(tmp_path: Path) -> None:
    agent = Compacts(says("well"), FakeSession(list(TALK)))

    shown = typed(tmp_path, agent, "/compact nothing", "hello")

    assert "there is nothing to compact" in shown
    assert agent.prompts == ["hello"]


def test_a_session_in_which_nothing_was_said_is_not_forked(tmp_path: Path) -> None:
    shown = typed(tmp_path, FakeAgent(says("well"), FakeSession([])), "/fork")

    assert NOTHING_TO_FORK in shown
    assert "a fork," not in shown

"""Keys of the chat, and the commands that tell or change one thing."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from agentsh.agent.turn.approvals import ApprovalRequest
from agentsh.messages import THINKING_LEVELS
from agentsh.session.format.entries import EntryId
from agentsh.ui.chat.chat import Chat
from agentsh.ui.status import queue_lines
from tests.support.pictures import png
from tests.ui.chat.inprocess import Claim, pressed, typed
from tests.ui.fakes import FakeAgent, FakeSession, answer_entry, call, says, user_entry
from tests.ui.hosts import FakeHost
from tests.ui.scripts import asks, waits_for_steer

TALK = (user_entry("u1", None, "count"), answer_entry("a1", "u1", "three herons"))
REQUEST = ApprovalRequest(call("bash", command="touch p"), "bash", "touch p", None, "touch")
SHIFT_TAB, ALT_UP, ALT_E, CTRL_O, CTRL_T = "\x1b[Z", "\x1b[1;3A", "\x1be", "\x0f", "\x14"
CTRL_C, CTRL_V, BACKSPACE, ESC = "\x03", "\x16", "\x7f", "\x1b"


@pytest.fixture
def agent() -> FakeAgent:
    return FakeAgent(says("well"), FakeSession(list(TALK)))


def paste(text: str) -> str:
    return f"\x1b[200~{text}\x1b[201~"


def shown_for(seconds: float) -> Claim:
    """A question counts keys only once it has stood there for a while."""
    began: list[float] = []

    def claim(chat: Chat) -> bool:
        if chat.desk.question is not None and not began:
            began.append(time.monotonic())
        return bool(began) and time.monotonic() - began[0] > seconds

    return claim


# ---- keys ----------------------------------------------------------------------------------------


def test_shift_tab_thinks_more_and_begins_again(tmp_path: Path, agent: FakeAgent) -> None:
    levels: list[str] = []
    setting = agent.set_thinking

    def set_thinking(level: str) -> None:
        levels.append(level)
        setting(level)

    agent.set_thinking = set_thinking  # type: ignore[method-assign]
    pressed(tmp_path, agent, *([SHIFT_TAB] * len(THINKING_LEVELS)))

    assert levels == [*THINKING_LEVELS[1:], THINKING_LEVELS[0]]


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (ALT_UP, "nothing is queued"),
        (ALT_E, "nothing long was pasted"),
        (CTRL_O, "there are no tool calls yet"),
        (CTRL_T, "there are no thoughts yet"),
    ],
)
def test_a_key_that_has_nothing_to_do_says_so(
    key: str, words: str, tmp_path: Path, agent: FakeAgent
) -> None:
    pressed(tmp_path, agent, key, lambda chat: chat.brief.text(time.monotonic()) == words, "")


def test_what_is_queued_comes_back_to_be_changed(tmp_path: Path) -> None:
    agent = FakeAgent(says("slow " * 400, pieces=400, pause=0.05), FakeSession(list(TALK)))

    pressed(
        tmp_path, agent, "go\r", lambda chat: chat.busy, "herons\x1b\r",
        lambda chat: [item.text for item in chat.agent.queued()] == ["herons"], ALT_UP,
        lambda chat: chat.editor.draft == "herons" and not chat.agent.queued(), ESC, "!\r",
        lambda chat: agent.prompts == ["go", "herons!"], ESC,
    )  # fmt: skip


# ---- pictures ------------------------------------------------------------------------------------


def test_the_pasted_path_of_a_picture_attaches_it_and_it_goes_with_the_prompt(
    tmp_path: Path, agent: FakeAgent
) -> None:
    (tmp_path / "a.png").write_bytes(png(3, 2))

    shown = pressed(tmp_path, agent, paste("a.png"), "look\r")

    assert "image 1: a.png, png 3x2" in shown
    assert [image.mime_type for image in agent.images] == ["image/png"]


def test_a_picture_that_was_dropped_does_not_go_along(tmp_path: Path, agent: FakeAgent) -> None:
    (tmp_path / "a.png").write_bytes(png(3, 2))

    pressed(tmp_path, agent, paste("a.png"), BACKSPACE, "look\r")

    assert (agent.prompts, agent.images) == (["look"], [])


def test_what_is_no_picture_is_pasted_as_text_and_why_is_said(
    tmp_path: Path, agent: FakeAgent
) -> None:
    (tmp_path / "a.png").write_bytes(b"words")

    shown = pressed(tmp_path, agent, paste("a.png"), "\r")

    assert "not attached: " in shown
    assert (agent.prompts, agent.images) == (["a.png"], [])


def test_without_a_picture_in_the_clipboard_that_is_said(tmp_path: Path, agent: FakeAgent) -> None:
    shown = pressed(tmp_path, agent, CTRL_V, "hello\r")

    assert "clipboard" in shown
    assert (agent.prompts, agent.images) == (["hello"], [])


def has_picture(chat: Chat) -> bool:
    return bool(chat.editor.attachments)


def test_a_picture_goes_with_a_steer(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png(3, 2))
    agent = FakeAgent(waits_for_steer("first", "last"), FakeSession(list(TALK)))

    pressed(
        tmp_path, agent, "go\r", lambda chat: chat.busy, paste("a.png"), has_picture, "look\r",
        lambda chat: not chat.busy, "",
    )  # fmt: skip

    assert (agent.prompts, len(agent.images)) == (["go", "look"], 1)


def test_a_picture_that_is_queued_is_named_and_comes_back_with_its_words(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png(3, 2))
    agent = FakeAgent(says("slow " * 400, pieces=400, pause=0.05), FakeSession(list(TALK)))

    def queued(chat: Chat) -> bool:
        waits = [line.partition(" ")[2] for line in queue_lines(chat.agent.queued(), 80)]
        return waits == ["[picture] herons"] and not has_picture(chat)

    def is_back(chat: Chat) -> bool:
        return chat.editor.draft == "herons" and has_picture(chat) and not chat.agent.queued()

    pressed(
        tmp_path, agent, "go\r", lambda chat: chat.busy, paste("a.png"), has_picture,
        "herons\x1b\r", queued, ALT_UP, is_back, "\r", queued, ESC, is_back,
        lambda chat: not chat.busy, "!\r", lambda chat: agent.prompts == ["go", "herons!"], ESC,
    )  # fmt: skip

    assert len(agent.images) == 3  # it was queued, steered and sent


# ---- questions -----------------------------------------------------------------------------------


def test_a_no_may_say_why(tmp_path: Path) -> None:
    agent = FakeAgent(asks(REQUEST), FakeSession(list(TALK)))

    shown = pressed(
        tmp_path, agent, "go\r", shown_for(0.7), "n",
        lambda chat: chat.editor.is_borrowed, "not now\r",
    )  # fmt: skip

    assert "answered no" in shown
    assert "not now" in shown


def test_a_command_may_be_changed_before_it_runs(tmp_path: Path) -> None:
    agent = FakeAgent(asks(REQUEST), FakeSession(list(TALK)))

    shown = pressed(
        tmp_path, agent, "go\r", shown_for(0.7), "e",
        lambda chat: chat.editor.is_borrowed, " q\r",
    )  # fmt: skip

    assert "answered once" in shown
    assert "touch p q" in shown


def test_one_who_changes_nothing_after_all_is_still_asked(tmp_path: Path) -> None:
    agent = FakeAgent(asks(REQUEST), FakeSession(list(TALK)))

    shown = pressed(
        tmp_path, agent, "go\r", shown_for(0.7), "e",
        lambda chat: chat.editor.is_borrowed, CTRL_C,
        lambda chat: not chat.editor.is_borrowed, shown_for(0.7), "y",
    )  # fmt: skip

    assert "answered once" in shown


# ---- commands that tell one thing ----------------------------------------------------------------


def test_the_last_answer_is_labelled_and_the_label_cleared(
    tmp_path: Path, agent: FakeAgent
) -> None:
    shown = typed(tmp_path, agent, "/label nest", "/label")

    assert agent.labels == [(EntryId("a1"), "nest"), (EntryId("a1"), None)]
    assert "label: nest" in shown
    assert "label cleared" in shown


def test_where_nothing_was_said_there_is_nothing_to_label_or_to_copy(tmp_path: Path) -> None:
    shown = typed(tmp_path, FakeAgent(says("well")), "/label nest", "/copy")

    assert "there is nothing to label yet" in shown
    assert "there is no answer to copy yet" in shown


def test_a_name_is_told_and_changed(tmp_path: Path, agent: FakeAgent) -> None:
    shown = typed(tmp_path, agent, "/name", "/name herons")

    assert "name: (none)" in shown
    assert "name: herons" in shown
    assert agent.name == "herons"


def test_an_export_wants_a_file_and_takes_private_commands_only_where_it_is_said(
    tmp_path: Path, agent: FakeAgent
) -> None:
    shown = typed(tmp_path, agent, "/export", "/export talk.md", "/export talk.md --with-private")

    assert "name the file: /export talk.md" in shown
    assert "exported to talk.md\n" in shown
    assert "exported to talk.md with private" in shown


def test_tools_and_costs_are_told(tmp_path: Path, agent: FakeAgent) -> None:
    shown = typed(tmp_path, agent, "/tools", "/cost", "/session")

    assert "read    Read a file" in shown
    assert "0.25" in shown
    assert "0000-fake" in shown


def test_a_policy_that_is_none_is_said_with_those_there_are(
    tmp_path: Path, agent: FakeAgent
) -> None:
    host = FakeHost(agent)

    shown = typed(tmp_path, agent, "/approve maybe", "/approve never", host=host)

    assert "no policy maybe" in shown
    assert "one of: never, ask, edits, all" in shown
    assert host.policy == "never"

"""What a resumed session shows."""

from __future__ import annotations

import pytest

from agentsh.messages import (
    AssistantMessage,
    BashExecutionMessage,
    StopReason,
    Text,
    Thinking,
    ToolResultMessage,
)
from agentsh.session.format.entries import (
    Branch,
    BranchSummary,
    Compaction,
    Custom,
    Entry,
    EntryId,
    MessageBody,
)
from agentsh.session.format.factcodec import encode_fact
from agentsh.session.format.facts import TurnEnded
from agentsh.ui.chat.view import TranscriptView
from agentsh.ui.theme import choose_theme
from tests.ui.fakes import NO_USAGE, answer, answer_entry, call, user_entry
from tests.ui.paper.test_render import bare
from tests.ui.screens import terminal

LS = call("bash", command="ls")


def shown(branch: Branch, messages: int = 60) -> str:
    target = terminal(columns=60)
    view = TranscriptView(target, choose_theme("none", "dark", target.colours))
    view.replay(branch, messages)
    return bare(view.take())


def entry(name: str, body: MessageBody | Compaction | BranchSummary | Custom) -> Entry:
    return Entry(EntryId(name), None, "T", body)


def test_each_message_looks_as_it_did() -> None:
    result = ToolResultMessage(LS.id, "bash", (Text("a.txt"),), is_error=False)
    branch = Branch(
        (
            entry("k", Compaction("what was", None, 900)),
            user_entry("u", None, "do it"),
            answer_entry("a", None, "I **look**", LS),
            entry("r", MessageBody(result)),
            entry("b", BranchSummary("the lesson", "x")),
            entry("s", MessageBody(BashExecutionMessage("pwd", "/x\n", 0))),
        )
    )

    assert shown(branch) == (
        "\nwhat came before was compacted to:\n\nwhat was\n"
        "\n┃ do it\n"
        "\nI look\n"
        "\n● bash  ls  · a.txt\n"
        "\nwhat was left in the tree, in short:\n\nthe lesson\n"
        "\n! pwd\n  /x\n"
    )


@pytest.mark.parametrize("stop", ["aborted", "stop"])
def test_a_turn_that_was_stopped_says_so_once(stop: StopReason) -> None:
    end = encode_fact(TurnEnded(EntryId("t"), "aborted"))
    branch = Branch(
        (
            user_entry("u", None, "go"),
            entry("a", MessageBody(answer("so far", stop=stop))),
            entry("e", end),
        )
    )

    assert shown(branch).count("stopped") == 1


def test_thoughts_are_folded_here_as_well() -> None:
    message = AssistantMessage(
        (Thinking("herons are birds"), Text("yes")), "a", "p", "m", NO_USAGE, "stop"
    )
    text = shown(Branch((entry("a", MessageBody(message)),)))

    assert "thought, about 3 words" in text
    assert "herons" not in text


def test_a_long_history_is_cut_and_says_so() -> None:
    branch = Branch(tuple(user_entry(str(n), None, f"prompt {n}") for n in range(10)))
    text = shown(branch, 3)

    assert text.startswith("\n… 7 earlier messages (/tree shows everything)\n")
    assert text.count("prompt") == 3


def test_where_the_cut_parts_a_result_from_its_call_the_result_still_names_it() -> None:
    result = ToolResultMessage(LS.id, "bash", (Text("a.txt"),), is_error=False)
    branch = Branch(
        (
            user_entry("u", None, "do it"),
            answer_entry("a", None, "I look", LS),
            entry("r", MessageBody(result)),
        )
    )

    assert shown(branch, 1).endswith("\n● bash  ls  · a.txt\n")


def test_a_history_that_was_read_from_its_end_says_so() -> None:
    assert "earlier messages" in shown(Branch((user_entry("u", None, "x"),), complete=False))

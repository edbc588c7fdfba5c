"""What a resumed session shows."""

from __future__ import annotations

from agentsh.messages import BashExecutionMessage, Text, ToolResultMessage
from agentsh.session.entries import Branch, BranchSummary, Compaction, Entry, EntryId, MessageBody
from agentsh.ui.theme import choose
from agentsh.ui.view import TranscriptView
from tests.ui.fakes import answer_entry, call, user_entry
from tests.ui.screens import terminal
from tests.ui.test_render import bare

LS = call("bash", command="ls")


def shown(branch: Branch, messages: int = 60) -> str:
    target = terminal(columns=60)
    view = TranscriptView(target, choose("none", "dark", target.colours))
    view.replay(branch, messages)
    return bare(view.take())


def entry(name: str, body: MessageBody | Compaction | BranchSummary) -> Entry:
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
        "\n› do it\n"
        "\nI look\n"
        "\n● bash  ls\n  a.txt\n"
        "\nwhat was left in the tree, in short:\n\nthe lesson\n"
        "\n! pwd\n  /x\n"
    )


def test_a_long_history_is_cut_and_says_so() -> None:
    branch = Branch(tuple(user_entry(str(n), None, f"prompt {n}") for n in range(10)))
    text = shown(branch, 3)

    assert text.startswith("\n… 7 earlier messages (/tree shows everything)\n")
    assert text.count("prompt") == 3


def test_a_history_that_was_read_from_its_end_says_so() -> None:
    assert "earlier messages" in shown(Branch((user_entry("u", None, "x"),), complete=False))

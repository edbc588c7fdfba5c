"""What `/session` says of a session."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from agentsh.messages import (
    BashExecutionMessage,
    SystemMessage,
    Text,
    ToolCallId,
    ToolResultMessage,
)
from agentsh.session.format.entries import (
    Body,
    BranchSummary,
    Compaction,
    CustomMessage,
    Entry,
    EntryId,
    Label,
    MessageBody,
)
from agentsh.ui.chat.about import counts_text, session_text
from tests.support.shellreading import words_of_a_shell
from tests.ui.fakes import FakeSession, answer_entry, call, user_entry

ENTRIES = [
    user_entry("u1", None, "one"),
    answer_entry("a1", "u1", "", call("bash"), call("read", "c2")),
    user_entry("u2", "a1", "two"),
    user_entry("u3", "a1", "another"),
]


def test_q11_the_counts_are_those_of_the_whole_file_with_its_branches() -> None:
    assert counts_text(ENTRIES) == "3 prompts, 1 answer, 2 calls, 2 branches"
    assert counts_text([]) == "nothing yet"


def test_q11_everything_that_was_said_is_counted_by_its_kind() -> None:
    bodies: list[Body] = [
        MessageBody(BashExecutionMessage("ls", "", 0)),
        MessageBody(ToolResultMessage(ToolCallId("c1"), "bash", (), is_error=False)),
        Compaction("so far", None, 0),
        BranchSummary("left", "u1"),
        CustomMessage("note", (Text("x"),), True),
        MessageBody(SystemMessage()),
        Label(EntryId("u1"), "here"),
    ]
    entries = [Entry(EntryId(f"e{n}"), None, "", body) for n, body in enumerate(bodies)]

    assert counts_text(entries) == "1 command, 2 summaries, 5 branches"


def test_a_fork_says_of_what() -> None:
    header = replace(FakeSession(ENTRIES).header, parent_session="/far/a b.jsonl")
    text = session_text(FakeSession(ENTRIES, header=header), counted=False)

    assert "fork of  '/far/a b.jsonl'" in text.split("\n")
    assert "fork of" not in session_text(FakeSession(ENTRIES), counted=False)


def test_a_file_that_cannot_be_looked_at_has_no_size(tmp_path: Path) -> None:
    session = FakeSession(ENTRIES, path=tmp_path / "gone.jsonl")

    assert "size     not known: No such file or directory" in session_text(session, counted=False)


def test_q11_size_and_path_are_told_and_the_path_is_one_line_for_a_shell(tmp_path: Path) -> None:
    folder = tmp_path / ("a  long name " * 8)
    folder.mkdir()
    file = folder / "it's.jsonl"
    file.write_bytes(b"x" * 12_345)

    text = session_text(FakeSession(ENTRIES, path=file), counted=True)

    lines = dict(line.split(maxsplit=1) for line in text.split("\n") if line[:3] != "you")
    assert words_of_a_shell(lines["file"]) == [str(file)]
    assert lines["size"] == "12,345 bytes"
    assert lines["holds"].startswith("3 prompts")
    assert "you are  after your prompt “another” of " in text
    assert "holds" not in session_text(FakeSession(ENTRIES), counted=False)

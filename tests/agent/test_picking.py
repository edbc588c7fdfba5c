"""What another branch said comes to this path once, with its source, and nothing else of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsh.agent.picking import pick_entry, place_summary, said_text
from agentsh.context.projection import project
from agentsh.errors import RefusedError
from agentsh.messages import (
    AssistantMessage,
    BashExecutionMessage,
    CustomRoleMessage,
    Text,
    Thinking,
    Usage,
    UserMessage,
)
from agentsh.session.file.session import Session, new_session
from agentsh.session.format.entries import (
    Body,
    BranchSummary,
    Compaction,
    EntryId,
    Header,
    Label,
    MessageBody,
    SessionId,
)
from agentsh.views.treeitem import item_of
from tests.agent.builders import quick, start_session


def said(session: Session, text: str, parent: EntryId | None) -> EntryId:
    return session.append(MessageBody(UserMessage((Text(text),), 1)), parent=parent).id


def test_the_text_is_here_once_with_its_source(tmp_path: Path) -> None:
    session = start_session(tmp_path)
    alpha = said(session, "alpha", None)
    heron = said(session, "the heron nests in the reeds", alpha)
    said(session, "gamma", alpha)
    before = project(session.branch()).items

    made = pick_entry(session, session, heron)

    items = project(session.branch()).items
    assert items[: len(before)] == before
    (new,) = items[len(before) :]
    assert isinstance(new.message, CustomRoleMessage)
    text = "".join(b.text for b in new.message.content if isinstance(b, Text))
    assert text.count("the heron nests in the reeds") == 1
    assert made.stamp is not None
    assert made.stamp.sources == (heron,)


def test_its_line_in_the_tree_says_what_was_brought(tmp_path: Path) -> None:
    session = start_session(tmp_path)
    alpha = said(session, "alpha", None)
    heron = said(session, "the heron\n\nnests", alpha)
    said(session, "gamma", alpha)

    item = item_of(pick_entry(session, session, heron), None)

    assert item.text == "(From another branch of this session:) the heron"


def test_of_another_session_the_source_is_named_and_only_read() -> None:
    session = start_session(None)
    said(session, "alpha", None)
    header = Header(SessionId("01890000-0000-7000-8000-00000000ffff"), "2026-01-01T00:00:00Z", "/")
    other = new_session(None, header, around=quick())
    stork = said(other, "storks", None)
    count = len(list(other.entries()))

    made = pick_entry(session, other, stork)

    source = {"session": header.id, "entry": stork}
    assert getattr(made.body, "details", None) == {"ash": {"pick": source}}
    assert len(list(other.entries())) == count


def test_what_is_here_or_says_nothing_is_refused() -> None:
    session = start_session(None)
    alpha = said(session, "alpha", None)
    empty = said(session, " ", alpha)
    said(session, "gamma", alpha)
    count = len(list(session.entries()))
    for entry in (alpha, empty):
        with pytest.raises(RefusedError):
            pick_entry(session, session, entry)
    assert len(list(session.entries())) == count


SAID = {
    "an answer": (
        MessageBody(AssistantMessage((Thinking("hm"), Text("yes")), "", "p", "m", Usage(), "stop")),
        "yes",
    ),
    "a command": (MessageBody(BashExecutionMessage("ls", "a.py", 0)), "$ ls\na.py"),
    "a compaction": (Compaction("so far", None, 0), "so far"),
    "a branch's summary": (BranchSummary("what was left", EntryId("a")), "what was left"),
    "a label": (Label(EntryId("a"), "here"), ""),
}


@pytest.mark.parametrize(("body", "text"), SAID.values(), ids=SAID)
def test_what_an_entry_says_in_words(body: Body, text: str) -> None:
    session = start_session(None)

    assert said_text(session.append(body)) == text


def test_a_branch_that_says_nothing_new_leaves_no_summary() -> None:
    session = start_session(None)
    alpha = said(session, "alpha", None)

    with pytest.raises(RefusedError, match="says nothing that is not here"):
        place_summary(session, session, alpha, None)

    assert session.leaf == alpha

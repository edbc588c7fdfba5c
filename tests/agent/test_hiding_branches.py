"""A fold is a fact about the tree: no context changes by it, and the path is never folded."""

from __future__ import annotations

import pytest

from agentsh.agent.hiding import fold_branch, folded_in, toggle_folded, unfold_branch
from agentsh.context.projection import project
from agentsh.errors import RefusedError
from agentsh.messages import Text, UserMessage
from agentsh.session.file.session import Session
from agentsh.session.format.entries import EntryId, MessageBody
from agentsh.views.treeitem import put_away, tree_items
from tests.agent.builders import start_session


def said(session: Session, text: str, parent: EntryId | None) -> EntryId:
    return session.append(MessageBody(UserMessage((Text(text),), 1)), parent=parent).id


@pytest.fixture
def branches() -> tuple[Session, dict[str, EntryId]]:
    """alpha; below it heron and reeds, and gamma, where the leaf is."""
    session = start_session(None)
    ids = {"alpha": said(session, "alpha", None)}
    ids["heron"] = said(session, "heron", ids["alpha"])
    ids["reeds"] = said(session, "reeds", ids["heron"])
    ids["gamma"] = said(session, "gamma", ids["alpha"])
    return session, ids


def shown(session: Session) -> list[str]:
    path = session.tree.path(session.leaf)
    items = put_away(tree_items(session.entries(), {}, path))
    return [item.text for item in items if not item.is_log]


def test_a_folded_branch_is_one_line_and_no_context_changes(
    branches: tuple[Session, dict[str, EntryId]],
) -> None:
    session, ids = branches
    context = project(session.branch()).items

    fold_branch(session, ids["heron"])
    assert shown(session) == ["alpha", "folded: 2 entries · heron", "gamma"]
    assert project(session.branch()).items == context

    unfold_branch(session, ids["reeds"])  # it lies in it
    assert shown(session) == ["alpha", "heron", "reeds", "gamma"]
    assert toggle_folded(session, ids["heron"]) == {ids["heron"]}
    assert toggle_folded(session, ids["heron"]) == folded_in(session) == set()
    toggle_folded(session, ids["heron"])
    assert toggle_folded(session, ids["reeds"]) == set(), "z in a folded branch shows it again"


def test_the_path_is_never_folded_whatever_was_folded_before(
    branches: tuple[Session, dict[str, EntryId]],
) -> None:
    session, ids = branches
    before = len(list(session.entries()))
    for entry in (ids["alpha"], ids["gamma"]):
        with pytest.raises(RefusedError, match="on the path"):
            fold_branch(session, entry)
    with pytest.raises(RefusedError, match="not folded"):
        unfold_branch(session, ids["heron"])
    assert len(list(session.entries())) == before

    fold_branch(session, ids["heron"])
    session.move(ids["reeds"], "tree")
    assert "heron" in shown(session)

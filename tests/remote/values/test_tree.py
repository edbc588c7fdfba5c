"""The tree of a session as a value."""

from __future__ import annotations

from agentsh.remote.values.tree import tree_json
from agentsh.session.format.entries import EntryId
from tests.ui.fakes import FakeSession
from tests.ui.tree.test_outline import FORKED


def test_the_tree_as_a_value() -> None:
    session = FakeSession(FORKED[:2], given={EntryId("a2"): "good"})
    path = session.tree.path(session.leaf)
    value = tree_json("s", "/f", session.leaf, session.all, session.given, path)

    assert value == {
        "session": "s",
        "path": "/f",
        "leaf": "a2",
        "entries": [
            {
                "id": "a1",
                "parentId": None,
                "type": "message",
                "text": "where does it go",
                "onPath": True,
                "time": "2026-01-01T00:00:00.000Z",
                "role": "user",
            },
            {
                "id": "a2",
                "parentId": "a1",
                "type": "message",
                "text": "to a fork",
                "onPath": True,
                "time": "2026-01-01T00:00:01.000Z",
                "role": "assistant",
                "label": "good",
            },
        ],
    }

"""One entry as the tree shows it."""

from __future__ import annotations

from agentsh.session.format.entries import Entry, EntryId
from agentsh.session.format.factcodec import encode_fact
from agentsh.session.format.facts import TurnEnded, TurnEndReason
from agentsh.views.treeitem import tree_items
from tests.ui.fakes import answer_entry, call, user_entry


def ended(name: str, parent: str, reason: TurnEndReason) -> Entry:
    fact = TurnEnded(EntryId("s"), reason)
    return Entry(EntryId(name), EntryId(parent), "2026-01-01T00:00:00.000Z", encode_fact(fact))


def test_a_path_below_the_folder_of_the_session_is_short() -> None:
    entries = [answer_entry("a1", None, "", call("read", path="/w/marsh/src/a.py"))]

    assert [item.text for item in tree_items(entries, {}, (), "/w/marsh")] == ["read: src/a.py"]
    assert [item.text for item in tree_items(entries, {})] == ["read: /w/marsh/src/a.py"]


def test_the_last_thing_said_in_a_turn_that_was_stopped_says_so() -> None:
    entries = [
        user_entry("u1", None, "count"),
        answer_entry("a1", "u1", "One, two"),
        ended("e1", "a1", "aborted"),
        user_entry("u2", "e1", "again"),
        answer_entry("a2", "u2", "Three"),
        ended("e2", "a2", "completed"),
    ]

    texts = {str(item.id): item.text for item in tree_items(entries, {})}

    assert texts["a1"] == "One, two (stopped)"
    assert not any("stopped" in texts[each] for each in ("u1", "u2", "a2"))

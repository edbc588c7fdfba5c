"""`tree --plain` and `tree --json`."""

from __future__ import annotations

from msgspec.structs import replace

from agentsh.messages import Text, UnknownRoleMessage
from agentsh.remote.values.tree import tree_json
from agentsh.session.format.entries import ContextEdit, Entry, EntryId, MessageBody
from agentsh.ui.tree.treetext import tree_text
from tests.ui.fakes import FakeSession, answer_entry, user_entry
from tests.ui.tree.test_outline import FORKED

A2, C1, WORDS = EntryId("a2"), EntryId("c1"), (Text("other words"),)


def text(session: FakeSession, *, unicode: bool = True) -> str:
    path = session.tree.path(session.leaf)
    return "\n".join(tree_text(session.all, session.given, path, unicode=unicode))


def test_the_tree_as_text() -> None:
    session = FakeSession(FORKED, given={EntryId("b1"): "heron"})

    assert text(session) == (
        "● a1 you: where does it go\n"
        "● a2 agent: to a fork\n"
        "├─○ b1 you: [heron] take the heron road\n"
        "│ ○ b2 agent: heron seen\n"
        "● c1 you: take the badger road\n"
        "● c2 agent: badger seen ← leaf"
    )


def test_the_same_for_a_terminal_without_box_characters() -> None:
    drawn = text(FakeSession(FORKED), unicode=False)

    assert drawn.isascii()
    assert "|-o b1 you: take the heron road" in drawn


def test_a_move_changes_the_lines_that_it_concerns() -> None:
    moved = text(FakeSession(FORKED, leaf=EntryId("b2")))

    assert "● b2 agent: heron seen ← leaf" in moved
    assert "├─○ c1" in moved


def test_what_an_entry_says_cannot_draw() -> None:
    session = FakeSession([user_entry("a", None, "x\x1b[2J\x1b]0;t\x07 [/red]\nsecond")])

    assert text(session) == "● a you: x [/red] ← leaf"


def test_what_is_hidden_or_replaced_on_the_path_is_struck_through() -> None:
    edits = [
        Entry(EntryId("x1"), EntryId("c2"), "2026-01-01T00:00:00.000Z", ContextEdit(A2, None)),
        Entry(EntryId("x2"), EntryId("x1"), "2026-01-01T00:00:00.000Z", ContextEdit(C1, WORDS)),
    ]
    session = FakeSession([*FORKED, *edits])

    assert "● a2 agent: (hidden) ~~to a fork~~" in text(session)
    assert "● c1 you: (replaced) ~~take the badger road~~" in text(session)
    path = session.tree.path(session.leaf)
    value = tree_json("s", "/f", session.leaf, session.all, session.given, path)
    assert isinstance(value["entries"], list)
    marked = {e["id"]: e for e in value["entries"] if isinstance(e, dict)}
    assert (marked["a2"]["hidden"], marked["c1"]["replaced"]) == (True, True)
    assert "~~" not in text(FakeSession([*FORKED, *edits], leaf=EntryId("b2")))


def test_a_role_that_nobody_knows_cannot_draw() -> None:
    session = FakeSession([user_entry("a", None, "x")])
    entry = replace(session.all[0], body=MessageBody(UnknownRoleMessage("\x1b]0;t\x07r\x9b2J", {})))

    assert text(FakeSession([entry])) == "● a r\ufffd2J: ← leaf"


def test_a_branch_of_thousands_needs_no_recursion() -> None:
    entries = [user_entry("0", None, "start")]
    entries += [answer_entry(str(n), str(n - 1), f"answer {n}") for n in range(1, 5000)]
    lines = text(FakeSession(entries)).split("\n")

    assert len(lines) == 5000
    assert lines[-1].endswith("← leaf")


def test_a_strangers_id_cannot_draw() -> None:
    session = FakeSession([user_entry("a\x1b[31m\x07b", None, "hi")])

    assert text(session) == "● a␇b you: hi ← leaf"

"""What the navigator says before it does what costs something."""

from __future__ import annotations

from agentsh.session.format.entries import EntryId
from tests.ui.tree.test_navigator import drawn, navigator


def test_a_compaction_is_asked_about_with_what_it_stands_for_and_takes() -> None:
    target = navigator()
    target.view.move(-1)
    target.ask_compact()
    [words] = [line for line in drawn(target, columns=120) if "one request" in line]
    before = len(target.view.path_to(EntryId("c1"))) - 1
    assert f"sums up the {before} entries before this one; the file keeps them · y do it" in words

    elsewhere = navigator()
    elsewhere.view.search("heron drawn")
    elsewhere.view.home()
    elsewhere.ask_compact()
    assert elsewhere.mode == "move"
    assert "c is for an entry of your path" in drawn(elsewhere, columns=100)[-1]

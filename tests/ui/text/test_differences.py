"""Differences as lines: the files first, each line of a patch by its sign."""

from __future__ import annotations

from agentsh.agent.files.differences import Differences
from agentsh.session.format.entries import EntryId
from agentsh.tools.undo.undo import Change
from agentsh.ui.text.differences import difference_lines, patch_lines
from tests.ui.fakes import user_entry

PATCH = """diff --git a/x b/x
--- a/x
+++ b/x
@@ -1,2 +1,2 @@ def heron():
 kept
--- gone
+++ came"""


def test_heads_of_a_patch_are_no_changes_and_lines_that_look_like_heads_are() -> None:
    assert [line.role for line in patch_lines(PATCH)] == [
        *["quiet"] * 4,
        "plain",
        "removed",
        "added",
    ]


def test_each_line_of_a_patch_says_whose_it_is() -> None:
    files = [line.file for line in patch_lines(PATCH.replace("x", "heron.py"))]

    assert files == ["", "", "", "", "heron.py", "heron.py", "heron.py"]


def test_the_files_stand_before_what_was_said() -> None:
    said = (user_entry("u1", None, "count herons"),)
    files = (Change("heron.txt", "create"), Change("old.txt", "delete"))
    found = Differences(None, EntryId("u1"), None, (), said, files)

    lines = list(difference_lines(found))

    texts = [line.text for line in lines]
    assert texts[:3] == ["files that changed:", "  A heron.txt", "  D old.txt"]
    assert [line.role for line in lines[1:3]] == ["added", "removed"]
    assert texts[4].startswith("said since, from 20")
    assert texts[5] == "  up to u1"
    assert "count herons" in "\n".join(texts[6:])


def test_two_ways_are_told_by_letters() -> None:
    ways = ((user_entry("u1", None, "count herons"),), (user_entry("u2", None, "count storks"),))
    found = Differences(EntryId("u1"), EntryId("u2"), None, *ways, (Change("a", "create"),))
    texts = [line.text for line in difference_lines(found)]

    assert texts[0] == "files, from A to B:"
    assert [text for text in texts if text.endswith((" is u1", " is u2"))] == [
        "  A is u1",
        "  B is u2",
    ]

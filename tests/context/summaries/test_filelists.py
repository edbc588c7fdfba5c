"""Which files a stretch of conversation read and changed."""

from __future__ import annotations

from agentsh.context.projection import ContextMessage, SummaryMessage
from agentsh.context.summaries.filelists import FileLists, file_lists, with_tags, without_tags
from tests.context.builders import call, result, said


def test_calls_that_succeeded_name_the_files_and_a_changed_file_is_not_also_read() -> None:
    messages: list[ContextMessage] = [
        SummaryMessage("compaction", "s", {"readFiles": ["old", 3], "modifiedFiles": "odd"}),
        SummaryMessage("branch", "s", ["odd"]),
        said(call("a", path="b"), call("b", path="@a"), call("c", "edit", path="b")),
        said(call("d", "bash", path="no"), call("e", "write", path="w"), call("f", path="")),
        said(call("a", path="missing"), call("z")),
        result("a", "no such file", error=True),
    ]
    assert file_lists(messages) == FileLists(("a", "old"), ("b", "w"))


def test_the_lists_stand_behind_the_summary_once() -> None:
    files = FileLists(("a", "b"), ("c",))
    text = with_tags("S", files)

    assert text == (
        "S\n\n<read-files>\na\nb\n</read-files>\n\n<modified-files>\nc\n</modified-files>"
    )
    assert with_tags(text, files) == text
    assert without_tags(text) == "S"
    assert with_tags("S", FileLists()) == "S"

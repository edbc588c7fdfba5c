"""An editor's unsaved texts: which counts, and that none is lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from acp import schema
from pydantic import BaseModel

from agentsh.errors import ToolFailedError
from agentsh.remote.acp.editorclient import EditorFailedError
from agentsh.remote.acp.editortexts import UnsavedTexts
from agentsh.remote.acp.jsonrpc import EditorReply
from agentsh.tools.files.edit import EditTool
from agentsh.tools.files.read import ReadTool
from agentsh.tools.files.write import WriteTool
from tests.support.tooling import Bench, make_bench, text_of


class Screen:
    """What an editor shows; `texts` by path, and what was asked of it."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.asked: list[str] = []
        self.behave: Callable[[str], EditorReply | None] | None = None

    def ask(self, method: str, wish: BaseModel, _within: float) -> EditorReply | None:
        match wish:
            case schema.ReadTextFileRequest(path=path):
                self.asked.append(path)
                if self.behave is not None:
                    return self.behave(path)
                return EditorReply(1, {"content": self.texts[path]})
            case schema.WriteTextFileRequest(path=path, content=content):
                self.texts[path] = content
                return EditorReply(1, None)
            case _:
                raise AssertionError(method)


@pytest.fixture
def screen() -> Screen:
    return Screen()


@pytest.fixture
def bench(tmp_path: Path, screen: Screen) -> Bench:
    bench = make_bench(tmp_path)
    bench.editor_texts = UnsavedTexts("s", bench.cwd, can_write=True, ask=screen.ask, patience=0.0)
    return bench


def put(bench: Bench, screen: Screen, saved: str, shown: str) -> Path:
    path = bench.file("a.txt", saved.encode())
    screen.texts[str(path)] = shown
    return path


def test_what_is_not_saved_is_read_edited_and_written_in_the_editor(
    bench: Bench, screen: Screen
) -> None:
    path = put(bench, screen, "saved\n", "unsaved\n")

    assert "unsaved" in text_of(bench.outcome(ReadTool(), path="a.txt"))
    outcome = bench.outcome(
        EditTool(), path="a.txt", edits=[{"oldText": "unsaved", "newText": "edited"}]
    )
    assert "not saved" in text_of(outcome)
    assert screen.texts[str(path)] == "edited\n"
    bench.outcome(WriteTool(), path="a.txt", content="whole\n")
    assert (screen.texts[str(path)], path.read_text()) == ("whole\n", "saved\n")


def test_unsaved_text_that_was_not_read_is_not_written_over(bench: Bench, screen: Screen) -> None:
    path = put(bench, screen, "saved\n", "typed\n")

    with pytest.raises(ToolFailedError, match="unsaved text in the user's editor"):
        bench.outcome(WriteTool(), path="a.txt", content="mine\n")
    bench.outcome(ReadTool(), path="a.txt")
    screen.texts[str(path)] = "typed more\n"
    with pytest.raises(ToolFailedError, match="Read it, then write"):
        bench.outcome(WriteTool(), path="a.txt", content="mine\n")
    assert (screen.texts[str(path)], path.read_text()) == ("typed more\n", "saved\n")


def test_an_editor_that_has_not_seen_our_change_yet_loses(bench: Bench, screen: Screen) -> None:
    path = put(bench, screen, "one\n", "one\n")
    bench.outcome(EditTool(), path="a.txt", edits=[{"oldText": "one", "newText": "two"}])
    assert path.read_text() == "two\n"

    assert text_of(bench.outcome(ReadTool(), path="a.txt")) == "two\n"  # it still shows "one"
    bench.outcome(EditTool(), path="a.txt", edits=[{"oldText": "two", "newText": "three"}])

    assert (path.read_text(), screen.texts[str(path)]) == ("three\n", "one\n")


def test_a_mark_and_line_ends_are_no_change(bench: Bench, screen: Screen) -> None:
    path = put(bench, screen, "\ufeffone\r\ntwo\r\n", "one\ntwo\n")

    bench.outcome(EditTool(), path="a.txt", edits=[{"oldText": "two", "newText": "2"}])

    assert path.read_bytes() == "\ufeffone\r\n2\r\n".encode()


def test_an_editor_that_answers_no_read_is_not_asked_for_that_file_again(
    bench: Bench, screen: Screen
) -> None:
    put(bench, screen, "saved\n", "unsaved\n")
    bench.file("b.txt", b"b\n")
    screen.behave = lambda _path: None
    for name in ("a.txt", "a.txt", "b.txt"):
        bench.outcome(ReadTool(), path=name)

    assert [Path(path).name for path in screen.asked] == ["a.txt", "b.txt"]


def test_an_editor_that_fails_or_says_nonsense_is_passed_over(bench: Bench, screen: Screen) -> None:
    put(bench, screen, "saved\n", "unsaved\n")

    def fail(_path: str) -> EditorReply | None:
        raise EditorFailedError("not open", -32002)

    for behave in (fail, lambda _path: EditorReply(1, {"text": 5}), lambda _p: EditorReply(1)):
        screen.behave = behave
        assert text_of(bench.outcome(ReadTool(), path="a.txt")) == "saved\n"


def test_only_text_of_the_project_is_asked_for(bench: Bench, screen: Screen) -> None:
    outside = bench.cwd.parent / "outside.txt"
    outside.write_text("x\n")
    bench.file("picture.bin", b"\0\1")
    bench.file("latin.txt", b"caf\xe9\n")
    for name in (str(outside), "picture.bin", "latin.txt"):
        bench.outcome(ReadTool(), path=name)

    assert screen.asked == []


def test_an_editor_that_takes_no_text_keeps_its_own(tmp_path: Path, screen: Screen) -> None:
    bench = make_bench(tmp_path)
    bench.editor_texts = UnsavedTexts("s", bench.cwd, can_write=False, ask=screen.ask)
    path = put(bench, screen, "saved\n", "unsaved\n")

    with pytest.raises(ToolFailedError, match="Ask the user to save it"):
        bench.outcome(EditTool(), path="a.txt", edits=[{"oldText": "unsaved", "newText": "x"}])
    assert (screen.texts[str(path)], path.read_text()) == ("unsaved\n", "saved\n")

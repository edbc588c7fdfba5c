"""The draft: what of it is a command, and what is meant for the model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from prompt_toolkit.buffer import CompletionState
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from agentsh.ui.chat.bottom import command_lines
from agentsh.ui.input.clusters import RowWidths
from agentsh.ui.input.completion import ChatCompleter, best_matches, touched_files
from agentsh.ui.input.editor import Editor
from tests.ui.fakes import answer_entry, call


def editor(history: Path | None = None) -> Editor:
    return Editor(history, Path("/nowhere"), lambda: None)


def typed(draft: Editor, text: str) -> None:
    draft.buffer.document = Document(text, len(text))


def test_what_was_typed_after_a_mark_is_a_command_and_says_so() -> None:
    draft = editor()
    typed(draft, "!")
    typed(draft, "!ls")

    assert (draft.is_command, draft.is_said, draft.mark) == (True, False, "$ ")
    assert command_lines(draft) == ["Enter runs this in the shell, for the model to see"]
    draft.clear()
    assert (draft.is_command, draft.mark, command_lines(draft)) == (False, None, [])


@pytest.mark.parametrize(
    "pasted",
    ["!touch ran\nis what it says", "![diagram](docs/x.png) what is this?", "/quit now\nplease"],
)
def test_a_paste_of_lines_or_of_a_picture_is_no_command(pasted: str) -> None:
    draft = editor()
    draft.paste(pasted)

    assert (draft.is_command, draft.is_said) == (False, True)
    assert draft.enter() == pasted


def test_lines_pasted_after_a_mark_make_the_draft_a_text() -> None:
    draft = editor()
    typed(draft, "!")
    draft.paste("one\ntwo")

    assert not draft.is_command


def test_one_line_that_was_pasted_is_a_command_and_is_shown_as_one() -> None:
    draft = editor()
    draft.paste("!ls")

    assert (draft.is_command, draft.mark) == (True, "$ ")


def test_a_picture_in_markdown_is_a_text_also_where_it_is_typed() -> None:
    draft = editor()
    typed(draft, "![a heron](x.png)")

    assert not draft.is_command


def test_a_prompt_that_comes_back_is_no_command() -> None:
    draft = editor()
    draft.put_back(["!touch ran"])
    assert (draft.is_command, draft.is_said) == (False, True)
    draft.set_draft("!ls")
    assert draft.is_command


@pytest.mark.parametrize("end", [Editor.enter, Editor.clear])
@pytest.mark.parametrize("come_back", ["a prompt", "/etc is a folder", "!no\nshell"])
def test_what_came_back_says_nothing_of_what_is_typed_after_it(
    end: Callable[[Editor], object], come_back: str
) -> None:
    draft = editor()
    draft.put_back([come_back])
    end(draft)
    typed(draft, "!")
    typed(draft, "!ls")

    assert (draft.is_command, draft.is_said) == (True, False)


def test_a_loan_leaves_the_draft_what_it_was() -> None:
    draft = editor()
    draft.paste("!a\nb")
    draft.borrow("x", "why? ", lambda _: None)
    draft.give_back("y")

    assert (draft.buffer.text, draft.is_said) == ("!a\nb", True)


async def _recall(draft: Editor) -> None:
    draft.buffer.load_history_if_not_yet_loaded()
    await draft.buffer._load_history_task  # type: ignore[misc]
    draft.buffer.history_backward()


def test_of_the_history_one_line_is_a_command_and_several_are_not(tmp_path: Path) -> None:
    for text, is_command in (("!ls", True), ("!touch ran\nand more", False)):
        draft = editor(tmp_path / f"history{is_command}")
        draft.buffer.history.append_string(text)
        asyncio.run(_recall(draft))

        assert (draft.buffer.text, draft.is_command) == (text, is_command)


def offered(text: str, tmp_path: Path) -> Editor:
    """A draft with what may follow in the menu, as the editor shows it while one types."""
    draft = Editor(None, tmp_path, lambda: None)
    typed(draft, text)
    event = CompleteEvent(text_inserted=True)
    found = list(ChatCompleter(tmp_path).get_completions(draft.buffer.document, event))
    draft.buffer.complete_state = CompletionState(draft.buffer.document, found)
    draft.buffer.on_completions_changed.fire()
    return draft


@pytest.mark.parametrize(
    ("text", "sent"), [("/mod", "/model"), ("/n", "/new"), ("/nam", None), ("/exp", None)]
)
def test_q07_enter_takes_the_command_that_the_menu_marks(
    tmp_path: Path, text: str, sent: str | None
) -> None:
    draft = offered(text, tmp_path)
    state = draft.buffer.complete_state
    assert state is not None
    marked = state.current_completion
    assert marked is not None

    assert draft.enter() == sent
    # one that needs an argument waits for it
    assert draft.buffer.text == ("" if sent else f"/{marked.text} ")


def test_a_menu_whose_only_row_was_taken_out_after_it_was_chosen_is_none(tmp_path: Path) -> None:
    """prompt_toolkit does so once all has come, where the row would add nothing to the text."""
    for press in (
        Editor.enter,
        Editor.tab,
        Editor.choose,
        lambda draft: draft.up(RowWidths(40, 40)),
    ):
        draft = offered("/und", tmp_path)
        state = draft.buffer.complete_state
        assert state is not None
        state.complete_index = 0
        del state.completions[:]

        assert not draft.offers
        press(draft)
        assert draft.buffer.text == ("" if press is Editor.enter else "/und")


def test_q07_tab_then_enter_needs_no_second_enter(tmp_path: Path) -> None:
    draft = offered("/und", tmp_path)
    assert draft.offers
    draft.choose()

    assert (draft.buffer.text, draft.offers) == ("/undo", False)
    assert draft.enter() == "/undo"


def test_of_files_nothing_is_marked_and_what_is_chosen_is_not_sent(tmp_path: Path) -> None:
    (tmp_path / "heron.txt").touch()
    draft = offered("see @her", tmp_path)
    assert not draft.offers

    draft.buffer.complete_next()

    assert draft.enter() is None
    assert draft.buffer.text == "see @heron.txt"


def test_a_file_that_tab_chose_is_sent_with_one_enter_a_folder_is_not(tmp_path: Path) -> None:
    (tmp_path / "heron.txt").touch()
    (tmp_path / "nest").mkdir()
    draft = offered("see @her", tmp_path)
    draft.tab()
    assert draft.buffer.text == "see @heron.txt"
    assert draft.enter() == "see @heron.txt"

    draft = offered("see @nes", tmp_path)
    draft.tab()

    assert draft.enter() is None
    assert draft.buffer.text == "see @nest/"
    # the arrows went on from where Tab was
    (tmp_path / "heron.md").touch()
    draft = offered("see @her", tmp_path)
    draft.tab()
    draft.buffer.complete_next()
    assert draft.enter() is None


LONG = "\n".join(f"!line {n}" for n in range(1, 202))


def test_a_long_paste_is_a_mark_in_the_draft_and_is_sent_whole() -> None:
    draft = editor()
    typed(draft, "see ")
    draft.paste(LONG)

    assert draft.buffer.text == "see [paste 1: 201 lines]"
    assert draft.draft == "see " + LONG
    assert draft.enter() == "see " + LONG
    # the history has it whole, and the next one counts anew
    draft.paste("a\n" * 11)
    assert draft.buffer.text == "[paste 1: 11 lines]"


def test_ten_lines_stay_lines_and_a_mark_that_stands_for_commands_is_no_command() -> None:
    draft = editor()
    draft.paste("\n".join("abcdefghij"))
    assert draft.buffer.text.count("\n") == 9
    draft.clear()

    draft.paste(LONG)
    draft.buffer.insert_text(" please", fire_event=False)

    assert (draft.is_said, draft.is_command) == (True, False)
    assert draft.enter() == LONG + " please"


def test_a_paste_is_expanded_in_place() -> None:
    draft = editor()
    draft.paste(LONG)

    assert draft.expand()
    assert draft.buffer.text == LONG
    assert draft.is_said
    assert not draft.expand()


def test_what_deletes_in_a_mark_deletes_all_of_it_and_what_types_there_comes_behind() -> None:
    draft = editor()
    typed(draft, "a ")
    draft.paste(LONG)
    draft.buffer.delete_before_cursor()
    assert (draft.buffer.text, draft.buffer.cursor_position) == ("a ", 2)

    draft.paste(LONG)
    draft.buffer.cursor_position -= 5
    draft.buffer.insert_text("x", fire_event=False)
    assert draft.draft == f"a {LONG}x"


def test_files_that_the_session_touched_come_first(tmp_path: Path) -> None:
    calls = (
        call("read", path="src/heron.py"),
        call("edit", "c2", path=str(tmp_path / "b/egret.py")),
    )
    entries = [answer_entry("a1", None, "", *calls)]

    first = touched_files(entries, tmp_path)

    assert first == ("b/egret.py", "src/heron.py")
    names = ["heron.py", "src/heron.py", "b/egret.py", "her"]
    assert best_matches("her", names, 9, first) == ["src/heron.py", "her", "heron.py"]


WIDE = RowWidths(38, 38)


def with_history(*prompts: str) -> Editor:
    """As prompt_toolkit has it once these were read, the newest last."""
    draft = editor()
    draft.buffer._working_lines.extendleft(reversed(prompts))
    draft.buffer.working_index = len(prompts)
    return draft


def test_u24_up_goes_to_the_beginning_of_a_draft_with_rows_and_only_then_to_earlier_prompts() -> (
    None
):
    draft = with_history("earlier")
    typed(draft, "one\ntwo")
    draft.buffer.cursor_position = 6
    places = []
    for _ in range(3):
        draft.up(WIDE)
        places.append((draft.buffer.text, draft.buffer.cursor_position))

    assert places == [("one\ntwo", 2), ("one\ntwo", 0), ("earlier", 7)]
    draft.down(WIDE)
    assert draft.buffer.text == "one\ntwo"


def test_u24_up_in_one_row_is_an_earlier_prompt_and_down_comes_back() -> None:
    draft = with_history("first", "second")
    typed(draft, "now")
    seen = []
    for move in (draft.up, draft.up, draft.down, draft.down):
        move(WIDE)
        seen.append(draft.buffer.text)

    assert seen == ["second", "first", "second", "now"]


def test_u24_a_page_never_leaves_a_draft_with_rows() -> None:
    draft = with_history("earlier")
    text = "heron " * 40
    typed(draft, text)
    for _ in range(20):
        draft.page(RowWidths(18, 18), -4)
    top = draft.buffer.cursor_position
    for _ in range(20):
        draft.page(RowWidths(18, 18), 4)

    assert (draft.buffer.text, top, draft.buffer.cursor_position) == (text, 0, len(text))

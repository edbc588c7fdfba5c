from __future__ import annotations

from agentsh.agent.authors.calls import BEFORE, PERSON, UNKNOWN, Author, RecordedCall
from agentsh.agent.authors.why import AuthoredLine, Origins
from agentsh.session.format.entries import EntryId
from agentsh.ui.text.authors import author_lines, prompt_hints, screenful


def call(tool: str, command: str = "", prompt: str = "sort the list") -> RecordedCall:
    return RecordedCall("0198-id", EntryId("3dd87de6"), prompt, "c1", tool, command, "t")


def lines(*authors: Author) -> list[AuthoredLine]:
    return [AuthoredLine(i, f"text {i}", author) for i, author in enumerate(authors, 9)]


def test_a_line_says_its_number_who_and_its_text() -> None:
    edit, command = call("edit"), call("bash", "sed -i s/a/b/ f")
    one_of = Author("agent", (edit, command))
    shown = lines(PERSON, BEFORE, UNKNOWN, Author("agent", (edit,)), one_of)

    assert [" ".join(line.split()) for line in author_lines(shown)] == [
        "9 you text 9",
        "10 before text 10",
        "11 unknown text 11",
        '12 3dd87de6 "sort the list" edit text 12',
        '13 3dd87de6 "sort the list" one of these calls text 13',
    ]
    assert len({line.index("text") for line in author_lines(shown)}) == 1


def test_a_command_is_shown_and_nothing_in_it_is_obeyed() -> None:
    odd = call("bash", "echo '\x1b[2J'\nrm x " + "y" * 200, "do\x07 it " + "z" * 200)
    [line] = author_lines([AuthoredLine(1, "a\x1b[31m\tb", Author("agent", (odd,)))])

    assert "$ echo" in line
    assert line.isprintable()
    assert len(line) < 110


def test_a_screen_takes_no_more_than_its_lines_and_says_what_is_missing() -> None:
    found = Origins(tuple(lines(*[PERSON] * 30)), ("a limit",))

    shown = screenful(found, 5)

    assert len(shown) == 7
    assert "25 more" in shown[5]
    assert shown[6] == "a limit"


def test_the_ways_on_are_commands() -> None:
    [hint] = prompt_hints(lines(Author("agent", (call("edit"),)), PERSON))

    assert "agentsh show 0198-id --at 3dd87de6" in hint
    assert "agentsh resume 0198-id" in hint
    assert list(prompt_hints(lines(PERSON))) == []

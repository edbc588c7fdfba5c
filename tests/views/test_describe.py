"""Calls and results in a few words."""

from __future__ import annotations

import pytest

from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import (
    OWN_DETAILS,
    BashExecutionMessage,
    Image,
    Message,
    Text,
    ToolCall,
    ToolCallId,
    ToolResultMessage,
    UserMessage,
)
from agentsh.views.describe import (
    allow_hint,
    call_line,
    call_subject,
    counted,
    message_line,
    message_text,
    outcome_words,
    seen_from,
    shown_prompt,
)
from tests.ui.fakes import answer, call


def test_lines_are_counted() -> None:
    assert counted("+1 a\n-1 b\n+2 c\n 3 d") == (2, 1)


@pytest.mark.parametrize(
    ("text", "details", "is_error", "words"),
    [
        ("heron 4\nstork 2", {OWN_DETAILS: {"lines": 2}}, False, "2 lines"),
        ("heron 4", {OWN_DETAILS: {"lines": 1}}, False, "1 line"),
        ("edited", {"diff": "-1 a\n+1 b\n+2 c"}, False, "+2 -1"),
        ("\nall passed\nin 2 s", None, False, "all passed"),
        ("", None, False, "(nothing)"),
        ("no such file", {"diff": "+1 b"}, True, "failed: no such file"),
    ],
)
def test_what_came_of_a_call(text: str, details: JsonValue, is_error: bool, words: str) -> None:
    result = ToolResultMessage(
        ToolCallId("c1"), "bash", (Text(text),), is_error=is_error, details=details
    )

    assert outcome_words(result) == words


SUBJECTS: dict[str, tuple[str, JsonObject, str | None, str]] = {
    "a command": ("bash", {"command": "ls\x1b[2J"}, None, "ls"),
    "a pattern in a folder": ("grep", {"pattern": "heron", "path": "src"}, None, "heron in src"),
    "a part of a file": ("read", {"path": "a.py", "offset": 40}, None, "a.py from line 40"),
    "no argument": ("ls", {}, None, "."),
    "none of a tool of one's own": ("deploy", {}, None, ""),
    "arguments of a tool of one's own": ("deploy", {"to": "test"}, None, '{"to":"test"}'),
    "arguments that were no JSON": ("bash", {}, '{"command": "l', '{"command": "l'),
    "half of a character": ("deploy", {"to": "\ud800"}, None, '{"to":"\ufffd"}'),
}


@pytest.mark.parametrize(("name", "arguments", "raw", "subject"), SUBJECTS.values(), ids=SUBJECTS)
def test_what_a_call_is_about(name: str, arguments: JsonObject, raw: str, subject: str) -> None:
    made = ToolCall(ToolCallId("c1"), name, arguments, raw_arguments=raw)

    assert call_subject(made) == subject


@pytest.mark.parametrize(
    ("message", "line"),
    [
        (BashExecutionMessage("make", "ok", 0), "!make"),
        (BashExecutionMessage("env", "A=1", 0, excluded=True), "!!env"),
        (UserMessage((Text("look"), Image("AAAA", "image/png"))), "look"),
        (
            UserMessage((Text('<skill name="x" location="/s">\nlong\n</skill>\n\nnow'),)),
            "/skill:x now",
        ),
        (answer("```python\nprint(1)\n```"), "print(1)"),
        (answer("~~~\n\n  ```md\n# Birds\n```"), "# Birds"),
        (answer("```inline` code"), "```inline` code"),
        (answer("```\n```"), "```"),
    ],
)
def test_a_message_in_one_line(message: Message, line: str) -> None:
    assert message_line(message) == line


def test_a_picture_is_told_by_its_kind() -> None:
    assert message_text(UserMessage((Image("AAAA", "image/png"),))) == "[image/png image]"


def test_a_called_skill_is_shown_by_its_name_in_a_chat() -> None:
    framed = '<skill name="heron" location="/s/SKILL.md">\nReferences.\n\nFeed it.\n</skill>'

    assert shown_prompt((Text(framed),)) == "/skill:heron\n(the skill's text, 3 lines)"
    said = shown_prompt((Text(f"{framed}\n\ntwice\na day"),))
    assert said == "/skill:heron twice\na day\n(the skill's text, 3 lines)"
    assert shown_prompt((Text(f"see {framed}"),)) == f"see {framed}"


def test_what_allows_a_call_is_a_line_for_a_shell() -> None:
    assert allow_hint("") == "run it with --approve all to allow it"
    assert allow_hint("git log") == "run it with --allow 'git log' or --approve all to allow it"


def test_a_path_below_the_folder_is_shown_as_it_is_from_there() -> None:
    made = call("read", path="/home/u/marsh/src/a.py")

    assert call_line(seen_from(made, "/home/u/marsh")) == "read: src/a.py"
    assert seen_from(made, "/home/u/mar") == seen_from(made, "") == made
    command = call("bash", command="cat /home/u/marsh/a")
    assert seen_from(command, "/home/u/marsh") == command

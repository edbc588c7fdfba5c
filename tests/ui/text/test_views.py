"""The readings of a session as lines for people."""

from __future__ import annotations

from agentsh.messages import Text, ToolCall, ToolResultMessage
from agentsh.session.format.entries import Entry, EntryId, MessageBody
from agentsh.ui.text.views import chat_lines, raw_lines, trace_lines
from tests.ui.fakes import answer_entry, call
from tests.views.test_sessionviews import PATH


def test_the_chat_as_text_is_safe_and_literal() -> None:
    text = "\n".join(chat_lines(PATH))

    assert text.startswith('> do [/x]\n> it\n\nI run it\n* bash {"command":"ls"}\n\n[bash, failed]')
    assert "\x1b" not in text


def result_entry(name: str, parent: str, made: ToolCall, text: str) -> Entry:
    message = ToolResultMessage(made.id, made.name, (Text(text),), is_error=False)
    return Entry(EntryId(name), EntryId(parent), "2026-01-01T00:00:02.000Z", MessageBody(message))


def test_in_brief_a_call_is_told_by_its_subject_and_a_result_by_its_beginning() -> None:
    made = call("read", path="/far/a.py", offset="4")
    result = "\n".join(f"line {n}" for n in range(1, 8))
    entries = [
        answer_entry("a1", None, "", made, call("deploy", "c2", to="there")),
        result_entry("r1", "a1", made, result),
        result_entry("r2", "r1", made, "\n".join(result.split("\n")[:5])),
    ]

    assert list(chat_lines(entries, brief=True)) == [
        "* read: /far/a.py",
        '* deploy: {"to":"there"}',
        "",
        "[read]",
        *[f"line {n}" for n in range(1, 5)],
        "… 3 lines",
        "",
        "[read]",
        *[f"line {n}" for n in range(1, 6)],
    ]


def test_the_trace_as_text_is_one_safe_line_an_entry() -> None:
    lines = list(trace_lines(PATH))

    assert len(lines) == len(PATH)
    assert not any("\x1b" in line or "\n" in line for line in lines)


def test_raw_lines_are_shown_as_they_are_and_safe() -> None:
    lines = [b"not json", b"[1]", '{"t":"ü\x07"}'.encode()]

    assert list(raw_lines(lines)) == ["not json", "[1]", '{"t":"ü␇"}']

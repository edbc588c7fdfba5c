"""The readings of a session as lines for people."""

from __future__ import annotations

from agentsh.ui.text.views import chat_lines, raw_lines, trace_lines
from tests.views.test_sessionviews import PATH


def test_the_chat_as_text_is_safe_and_literal() -> None:
    text = "\n".join(chat_lines(PATH))

    assert text.startswith('> do [/x]\n> it\n\nI run it\n* bash {"command":"ls"}\n\n[bash, failed]')
    assert "\x1b" not in text


def test_the_trace_as_text_is_one_safe_line_an_entry() -> None:
    lines = list(trace_lines(PATH))

    assert len(lines) == len(PATH)
    assert not any("\x1b" in line or "\n" in line for line in lines)


def test_raw_lines_are_shown_as_they_are_and_safe() -> None:
    lines = [b"not json", b"[1]", '{"t":"ü\x07"}'.encode()]

    assert list(raw_lines(lines)) == ["not json", "[1]", '{"t":"ü␇"}']

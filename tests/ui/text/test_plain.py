"""The headless text output of a turn."""

from __future__ import annotations

import subprocess
import sys

import pytest

from agentsh.agent.events import (
    AgentEvent,
    ApprovalNeeded,
    Compacted,
    Compacting,
    MessageDone,
    Notice,
    Restarted,
    Retry,
    StepStart,
    TextPart,
    ToolEnd,
    ToolStart,
    TurnEnd,
)
from agentsh.jsontext import JsonObject
from agentsh.messages import Text, ToolResultMessage
from agentsh.session.format.entries import EntryId
from agentsh.ui.text.plain import PlainOutput
from tests.ui.fakes import NO_USAGE, answer, call
from tests.ui.screens import printed, terminal

LS = call("bash", command="ls \x1b[2J")
FAILED = ToolResultMessage(LS.id, "bash", (Text("no such file\nmore"),), is_error=True)


def done(text: str) -> MessageDone:
    return MessageDone(answer(text), EntryId("a"))


def end(error: str | None = None, hint: str | None = None) -> TurnEnd:
    return TurnEnd("completed", None, None, NO_USAGE, error, hint)


def play(*events: AgentEvent, tty: bool) -> tuple[str, str]:
    target = terminal(tty=tty)
    output = PlainOutput(target)
    for event in events:
        output.show(event)
    return printed(target)


def test_a_pipe_gets_the_answer_verbatim_and_nothing_else() -> None:
    events = (
        StepStart(1, "m"),
        ToolStart(LS),
        ToolEnd(LS, FAILED, EntryId("r")),
        TextPart("a[/b] \x1b[31mred"),
        done("a[/b] \x1b[31mred"),
        end(),
    )

    assert play(*events, tty=False) == ("a[/b] \x1b[31mred\n", "")


def test_what_is_said_before_a_tool_call_is_no_answer_for_a_pipe() -> None:
    before = MessageDone(answer("I look.", LS), EntryId("a"))
    events = (TextPart("I look."), before, StepStart(2, "m"), TextPart("So."), done("So."), end())

    assert play(*events, tty=False) == ("So.\n", "")


def test_a_terminal_gets_safe_text_and_a_line_for_each_call() -> None:
    out, err = play(
        ToolStart(LS),
        ToolEnd(LS, FAILED, EntryId("r")),
        TextPart("one \x1b"),
        TextPart("[2Jtwo \x07"),
        done(""),
        end(),
        tty=True,
    )

    assert out == "one two ␇\n"
    assert err == "bash: ls\n  bash failed: no such file\n"


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (Notice("cut prompts", "warning"), "warning: cut prompts\n"),
        (Retry(1, 2.0, "busy"), "request failed (busy); repeat 1 in 2.0 s\n"),
        (Compacting(900), "compacting 900 tokens\n"),
        (Compacting(900, "the window is full"), "compacting 900 tokens: the window is full\n"),
        (
            TurnEnd("max_steps", None, None, NO_USAGE),
            "stopped at the limit of steps (--max-steps); the session can go on\n",
        ),
        (Compacted(None, 10, 0, "no"), "compaction failed: no\n"),
        (Compacted(EntryId("c"), 900, 100), "compacted: 900 → about 100 tokens\n"),
        (
            Compacted(EntryId("c"), 900, 950),
            "compacted, which made no room: 900 → about 950 tokens;"
            " what was summed up was short already\n",
        ),
        (end(error="bad key", hint="set one"), "error: bad key\nset one\n"),
        (
            ApprovalNeeded(LS, "ls \x1b[2J", "ls"),
            "stopped: not approved: bash: ls \nrun it with --allow ls or --approve all to "
            "allow it\n",
        ),
    ],
)
def test_what_a_person_must_know_is_on_stderr_in_a_pipe_too(event: AgentEvent, words: str) -> None:
    assert play(event, tty=False) == ("", words)


def test_the_same_failure_is_told_once_and_another_one_in_full() -> None:
    again = [Retry(1, 1.0, "gone"), Retry(2, 2.0, "gone"), Retry(3, 4.0, "busy")]
    _, err = play(*again, Retry(1, 1.0, "busy"), tty=False)

    assert err == (
        "request failed (gone); repeat 1 in 1.0 s\nrepeat 2 in 2.0 s\n"
        "request failed (busy); repeat 3 in 4.0 s\nrequest failed (busy); repeat 1 in 1.0 s\n"
    )


def test_a_notice_does_not_stand_in_the_middle_of_a_line() -> None:
    out, _ = play(TextPart("half"), Notice("careful"), TextPart(" more"), done(""), tty=True)

    assert out == "half\n more\n"


def test_an_answer_that_begins_anew_says_so() -> None:
    out, err = play(TextPart("half"), Restarted(), TextPart("whole"), done("whole"), tty=True)

    assert (out, err) == ("half\nwhole\n", "the answer broke off and begins anew\n")


def test_headless_modules_load_no_terminal_library() -> None:
    modules = [
        *("ui.text.plain", "ui.text.views", "ui.tree.treetext", "ui.terminal"),
        *("ui.chat.plainchat", "views.sessionviews", "remote.values.events", "sanitize"),
    ]
    code = (
        "import sys\n"
        + "".join(f"import agentsh.{name}\n" for name in modules)
        + "print([m for m in ('rich', 'prompt_toolkit', 'asyncio') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout == "[]\n"


def test_where_progress_is_shown_a_difference_is_too_and_nothing_in_it_is_obeyed() -> None:
    target = terminal()
    output = PlainOutput(target, progress=True)
    edit = call("edit", path="a.txt")
    details: JsonObject = {"diff": "-1 old\x1b[2J\n+1 new\n" + "+2 more\n" * 80}
    result = ToolResultMessage(edit.id, "edit", (Text("edited"),), False, details)

    output.show(ToolEnd(edit, result, EntryId("r")))

    _, err = printed(target)
    assert "  -1 old\n  +1 new\n" in err
    assert err.count("\n") < 70
    assert "… 22 lines" in err

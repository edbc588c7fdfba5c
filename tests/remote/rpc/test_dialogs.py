"""Questions about calls, and what an answer means."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from agentsh.agent.turn.approvals import ApprovalAnswer, ApprovalRequest
from agentsh.errors import UsageError
from agentsh.remote.rpc.commands import DialogAnswer
from agentsh.remote.rpc.dialogs import Dialogs, approval_of, dialog_options, question_record
from agentsh.remote.values.rpcrecords import QuestionRecord, record_json
from tests.ui.fakes import call

REQUEST = ApprovalRequest(
    call("bash", command="npm test -- -x"), "bash", "npm test -- -x", rule_hint="npm test"
)
EXACT = replace(REQUEST, rule_hint=None)
REPEAT = replace(REQUEST, is_repeat=True)
RULE = "Always allow: npm test"


def said(**members: object) -> DialogAnswer:
    return DialogAnswer(id="q", **members)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("answer", "meant"),
    [
        (said(value="Allow once"), ApprovalAnswer("once")),
        (said(value=RULE), ApprovalAnswer("rule", rule="npm test")),
        (said(value="Deny"), ApprovalAnswer("no")),
        (said(value="allow once"), ApprovalAnswer("no")),
        (said(value="Always allow: rm"), ApprovalAnswer("no")),
        (said(), ApprovalAnswer("no")),
        (said(confirmed=True), ApprovalAnswer("once")),
        (said(confirmed=False), ApprovalAnswer("no")),
        (said(cancelled=True, value="Allow once"), ApprovalAnswer("no")),
        (said(decision="once"), ApprovalAnswer("once")),
        (said(decision="always"), ApprovalAnswer("session")),
        (said(decision="rule"), ApprovalAnswer("rule", rule="npm test")),
        (said(decision="no", reason="not now"), ApprovalAnswer("no", "not now")),
        (said(decision="once", command="npm ci"), ApprovalAnswer("once", command="npm ci")),
        (said(decision="no", command="npm ci"), ApprovalAnswer("no")),
    ],
)
def test_an_answer_is_held_against_what_was_asked(
    answer: DialogAnswer, meant: ApprovalAnswer
) -> None:
    assert approval_of(answer, REQUEST) == meant


def test_without_a_rule_always_means_this_very_command() -> None:
    assert [*dialog_options(EXACT)] == ["Allow once", "Always allow: = npm test -- -x", "Deny"]
    answer = approval_of(said(value="Always allow: = npm test -- -x"), EXACT)
    assert answer == ApprovalAnswer("rule", rule="= npm test -- -x")


def test_a_call_that_comes_again_and_again_can_only_be_allowed_once() -> None:
    assert [*dialog_options(REPEAT)] == ["Allow once", "Deny"]
    assert approval_of(said(value=RULE), REPEAT) == ApprovalAnswer("no")
    with pytest.raises(UsageError):
        approval_of(said(decision="always"), REPEAT)


def test_a_file_that_is_edited_is_meant_by_its_path() -> None:
    edit = ApprovalRequest(call("edit", path="/far/a"), "edit", "/far/a", rule_hint="@edit /far/a")

    assert approval_of(said(decision="always"), edit) == ApprovalAnswer("rule", rule="@edit /far/a")


def test_a_question_shows_the_whole_call_to_people_and_programs() -> None:
    record = question_record("q", replace(REQUEST, diff="-a\n+b", why="it runs a program"))

    assert "npm test -- -x" in record.title
    assert "-a\n+b" in record.message
    assert record_json(record)["approval"] == {
        "toolCallId": "c1",
        "toolName": "bash",
        "args": {"command": "npm test -- -x"},
        "shown": "npm test -- -x",
        "diff": "-a\n+b",
        "rule": "npm test",
        "why": "it runs a program",
    }


def asked(
    dialogs: Dialogs, records: list[QuestionRecord], request: ApprovalRequest = REQUEST
) -> Callable[[], ApprovalAnswer | None]:
    """Ask in another thread; what it was given, once it is."""
    answers: list[ApprovalAnswer | None] = []
    thread = threading.Thread(target=lambda: answers.append(dialogs.ask(request)))
    thread.start()
    while not records:
        thread.join(0.01)

    def answer() -> ApprovalAnswer | None:
        thread.join(10)
        return answers[0]

    return answer


def test_a_question_waits_for_its_answer_and_for_no_other() -> None:
    records: list[QuestionRecord] = []
    dialogs = Dialogs(records.append)
    answer = asked(dialogs, records)

    assert not dialogs.answer(DialogAnswer(id="other", confirmed=True))
    assert dialogs.answer(DialogAnswer(id=records[0].id, confirmed=True))
    assert answer() == ApprovalAnswer("once")
    assert not dialogs.answer(DialogAnswer(id=records[0].id, confirmed=True))


def test_an_answer_that_is_none_leaves_the_question() -> None:
    records: list[QuestionRecord] = []
    dialogs = Dialogs(records.append)
    answer = asked(dialogs, records, REPEAT)
    name = records[0].id

    with pytest.raises(UsageError):
        dialogs.answer(DialogAnswer(id=name, decision="always"))

    assert dialogs.answer(DialogAnswer(id=name, decision="once"))
    assert answer() == ApprovalAnswer("once")


def test_what_is_stopped_is_answered_no_and_what_comes_after_it_is_asked() -> None:
    records: list[QuestionRecord] = []
    dialogs = Dialogs(records.append)
    answer = asked(dialogs, records)

    with dialogs.refusing():
        assert answer() == ApprovalAnswer("no")
        assert dialogs.ask(REQUEST) == ApprovalAnswer("no")
    assert len(records) == 1

    records.clear()
    later = asked(dialogs, records)
    assert dialogs.answer(DialogAnswer(id=records[0].id, confirmed=True))
    assert later() == ApprovalAnswer("once")


def test_at_the_end_of_the_input_nobody_answers() -> None:
    records: list[QuestionRecord] = []
    dialogs = Dialogs(records.append)
    answer = asked(dialogs, records)

    dialogs.close()

    assert answer() is None
    assert dialogs.ask(REQUEST) is None
    assert len(records) == 1

"""Calls and results, against the strict check of pairing.problems."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from agentsh.context.pairing import pair, problems, with_unique_ids
from agentsh.context.wording import NO_RESULT
from agentsh.messages import AssistantMessage, SentMessage, ToolResultMessage
from tests.context.builders import ANSWERS, RESULTS, USERS, call, result, said, text_of, user

SENT: st.SearchStrategy[list[SentMessage]] = st.lists(
    st.one_of(USERS, ANSWERS, RESULTS), max_size=12
)


def results_of(messages: list[SentMessage]) -> list[tuple[str, str]]:
    return [
        (m.tool_call_id, text_of(m.content)) for m in messages if isinstance(m, ToolResultMessage)
    ]


def test_results_stand_directly_after_their_calls_in_the_order_of_the_calls() -> None:
    asked = said(call("a"), call("b"))
    assert pair([asked, result("b", "2"), user("steer"), result("a", "1")]) == [
        asked,
        result("a", "1"),
        result("b", "2"),
        user("steer"),
    ]


def test_a_call_without_a_result_gets_an_error_result_also_at_the_end() -> None:
    asked = said(call("a", "bash"))
    missing = result("a", NO_RESULT, error=True, tool="bash")
    assert pair([asked]) == [asked, missing]
    assert pair([asked, user("next"), said("x")]) == [asked, missing, user("next"), said("x")]


def test_stray_and_double_results_are_dropped_and_the_first_one_counts() -> None:
    asked = said(call("a"))
    assert pair([result("z", "stray"), asked, result("a", "1"), result("a", "2")]) == [
        asked,
        result("a", "1"),
    ]


def test_a_result_belongs_to_the_nearest_answer_not_to_any_with_that_id() -> None:
    sent = with_unique_ids(
        pair(
            [
                said(call("bash:0")),
                result("bash:0", "1"),
                said(call("bash:0")),
                result("bash:0", "2"),
            ]
        )
    )
    assert results_of(sent) == [("bash_0", "1"), ("bash_0_2", "2")]
    assert not problems(sent)


def test_two_calls_of_one_message_with_one_id_take_their_results_in_order() -> None:
    sent = with_unique_ids(pair([said(call(""), call("")), result("", "1"), result("", "2")]))
    assert results_of(sent) == [("call", "1"), ("call_2", "2")]


def test_ids_that_servers_take_stay_and_others_are_shortened_alike_in_call_and_result() -> None:
    ids = ["call_0_1", "functions.read:0", "call_x|fc_y", "i" * 41, "sp ace"]
    sent = with_unique_ids(pair([said(*(call(i) for i in ids)), *(result(i, i) for i in ids)]))

    found = [i for i, _ in results_of(sent)]
    assert found[:3] == ["call_0_1", "functions_read_0", "call_x"]
    assert all(i.startswith("call_") and len(i) <= 40 for i in found[3:])
    assert len(set(found)) == 5
    assert not problems(sent)


def test_a_renamed_id_keeps_to_the_length_limit() -> None:
    long = "i" * 40
    sent = with_unique_ids(pair([said(call(long), call(long))]))
    assert [i for i, _ in results_of(sent)] == [long, "i" * 38 + "_2"]


def test_the_strict_check_names_each_kind_of_fault() -> None:
    one = said(call("a"))
    assert problems([one, result("a", "x"), user("y")]) == ()
    assert "without a call" in problems([result("a", "x")])[0]
    assert "answers where" in problems([one, result("b", "x")])[0]
    assert "have no result" in problems([one, user("y")])[0]
    assert "at the end" in problems([one])[0]
    assert "not unique" in problems([one, result("a"), one, result("a")])[0]
    assert "not acceptable" in problems([said(call("a b")), result("a b")])[0]


@given(SENT)
def test_whatever_comes_in_goes_out_paired(messages: list[SentMessage]) -> None:
    assert problems(with_unique_ids(pair(messages))) == ()


@given(SENT)
def test_pairing_is_idempotent_and_keeps_the_order_of_everything_but_results(
    messages: list[SentMessage],
) -> None:
    paired = pair(messages)

    def others(found: list[SentMessage]) -> list[SentMessage]:
        return [m for m in found if not isinstance(m, ToolResultMessage)]

    assert pair(paired) == paired
    assert others(paired) == others(messages)
    assert with_unique_ids(with_unique_ids(paired)) == with_unique_ids(paired)


def test_short_ids_are_nine_characters_unique_and_the_same_in_call_and_result() -> None:
    asked, answered = said(call("call_1")), result("call_1")

    sent = with_unique_ids([asked, answered, asked, answered], short=True)

    ids = [b.id for m in sent if isinstance(m, AssistantMessage) for b in m.tool_calls]
    assert [m.tool_call_id for m in sent if isinstance(m, ToolResultMessage)] == ids
    assert len(set(ids)) == 2
    assert all(len(i) == 9 and i.isalnum() for i in ids)


def test_an_id_goes_back_as_it_came_only_to_the_model_that_gave_it() -> None:
    talk = pair([said(call("functions.read:0")), result("functions.read:0", "1")])

    native = with_unique_ids(talk, is_native=lambda message: True)

    assert results_of(native) == [("functions.read:0", "1")]
    assert results_of(with_unique_ids(talk)) == [("functions_read_0", "1")]


@given(st.lists(st.text(max_size=45), min_size=1, max_size=6))
def test_whatever_ids_came_all_servers_take_those_that_are_sent(ids: list[str]) -> None:
    talk = [m for i in ids for m in (said(call(i)), result(i, "x"))]
    sent = with_unique_ids(pair(talk))
    found = [i for i, _ in results_of(sent)]

    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,40}", i) for i in found)
    assert len(set(found)) == len(ids)

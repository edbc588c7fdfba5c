"""What goes out: one claim per rule of the pass, and its theorems."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from agentsh.context.outbound import OutboundRules, prepare, render_system
from agentsh.context.pairing import problems
from agentsh.context.projection import project
from agentsh.context.system import SystemState
from agentsh.context.wording import BRIDGE, NO_OUTPUT, NO_RESULT, OPENING
from agentsh.jsontext import JsonObject, dumps
from agentsh.messages import (
    AssistantMessage,
    BashExecutionMessage,
    Image,
    Message,
    SentMessage,
    Text,
    Thinking,
    ToolCall,
    ToolCallId,
    ToolResultMessage,
    UserMessage,
)
from agentsh.session.format.entries import Body, Branch, BranchSummary, CustomMessage
from tests.context.builders import (
    API,
    MODEL,
    PNG,
    PROVIDER,
    bodies,
    call,
    context,
    kept,
    path,
    result,
    said,
    text_of,
    user,
)

OWN = OutboundRules(PROVIDER, MODEL, API)
OTHER = OutboundRules(PROVIDER, "model-b", API)


def sent(*made: Body | Message, rules: OutboundRules = OWN) -> tuple[SentMessage, ...]:
    return prepare(context(*made), rules)


def words(messages: Sequence[SentMessage]) -> list[str]:
    return [text_of(m.content) for m in messages]


def test_plain_messages_go_out_as_they_are() -> None:
    talk = (user("one"), said("two", call("a", path="x")), result("a", "out"), said("three"))
    assert sent(*talk) == talk


def test_a_summary_goes_out_as_a_user_message_with_its_text_in_tags() -> None:
    [compacted] = sent(user("old"), kept(None, " the past\n"))
    [branch] = sent(BranchSummary("the detour", "e0"))

    assert isinstance(compacted, UserMessage)
    assert isinstance(branch, UserMessage)
    assert "<summary>\nthe past\n</summary>" in text_of(compacted.content)
    assert "<summary>\nthe detour\n</summary>" in text_of(branch.content)
    assert text_of(compacted.content).split("<")[0] != text_of(branch.content).split("<")[0]


def test_a_command_of_the_person_goes_out_with_output_code_and_file() -> None:
    run = BashExecutionMessage("make", "``` odd\n", 2, truncated=True, full_output_path="/t/x")
    [message] = sent(run)

    said_ = text_of(message.content)
    assert "`make`\n````\n``` odd\n````\n" in said_
    assert "exit code was 2" in said_
    assert "/t/x" in said_
    assert NO_OUTPUT in words(sent(replace(run, output="")))[0]
    assert "cancelled" in words(sent(replace(run, cancelled=True)))[0]


def test_a_custom_message_goes_out_as_the_users() -> None:
    assert sent(CustomMessage("x", (Text("note"),), display=False)) == (user("note"),)


def test_lone_surrogates_are_replaced_everywhere() -> None:
    odd = call("a")
    odd = replace(odd, arguments={"k\ud800": ["v\udfff", {"x": 1}]})
    found = sent(user("a\ud83d"), said("b\udc00", odd), result("a", "c\ud83d"))

    assert words(found) == ["a\ufffd", "b\ufffd", "c\ufffd"]
    assert isinstance(found[1], AssistantMessage)
    assert found[1].tool_calls[0].arguments == {"k\ufffd": ["v\ufffd", {"x": 1}]}


def test_empty_messages_are_dropped_and_an_empty_result_says_so() -> None:
    found = sent(
        user(),
        user(" \n"),
        said(),
        said(" ", Thinking("hm", "reasoning_content")),
        said("  ", call("a")),
        result("a", ""),
    )
    assert found == (said(call("a")), result("a", NO_OUTPUT))


def test_reasoning_goes_back_only_to_the_model_that_gave_it_in_a_field_that_it_named() -> None:
    thought, signed = Thinking("hm", "reasoning_content"), Thinking("hm", "opaque")
    talk = (user("q"), said(thought, signed, "a"))

    assert sent(*talk)[1] == said(thought, "a")
    assert sent(*talk, rules=OTHER)[1] == said("a")
    assert sent(*talk, rules=replace(OWN, provider="there"))[1] == said("a")
    assert sent(*talk, rules=replace(OWN, api="openai-responses"))[1] == said("a")


def test_the_policy_for_reasoning_is_never_calls_or_always() -> None:
    thought = Thinking("hm", "reasoning_content")
    plain, calling = said(thought, "a"), said(thought, call("c"))

    def echoed(policy: str) -> list[bool]:
        found = sent(plain, calling, rules=replace(OWN, reasoning_echo=policy))
        return [thought in m.content for m in found if isinstance(m, AssistantMessage)]

    assert echoed("never") == [False, False]
    assert echoed("calls") == [False, True]
    assert echoed("always") == [True, True]
    assert echoed("auto") == [True, True]


def test_reasoning_of_another_api_goes_back_whenever_it_was_signed() -> None:
    rules = replace(OWN, api="openai-responses")
    message = replace(said(Thinking("x", "blob"), Thinking("y"), "a"), api="openai-responses")
    [found] = sent(message, rules=rules)
    assert found.content == (Thinking("x", "blob"), Text("a"))


def test_unknown_members_of_a_call_go_back_to_the_same_model_only() -> None:
    extra: JsonObject = {
        "extra_content": {"google": 1},
        "thoughtSignature": "pi's",
        "id": "damaged",
    }
    asked = said(replace(call("a"), extra=extra), Text("t", {"textSignature": "s"}))

    def extras(rules: OutboundRules) -> list[object]:
        first = sent(asked, result("a", "x"), rules=rules)[0]
        assert isinstance(first, AssistantMessage)
        return [b.extra for b in first.content]

    assert extras(OWN) == [{"extra_content": {"google": 1}}, {"textSignature": "s"}]
    assert extras(OTHER) == [{}, {}]


def test_arguments_that_did_not_parse_are_sent_as_an_empty_object() -> None:
    broken = ToolCall(ToolCallId("a"), "read", {}, '{"path":"a', "cut", {"extra_content": 1})
    first = sent(said(broken), result("a", "no", error=True))[0]
    assert first.content == (ToolCall(ToolCallId("a"), "read", {}, extra={"extra_content": 1}),)


def test_a_name_that_servers_refuse_is_made_acceptable_in_call_and_result() -> None:
    found = sent(said(call("a", "odd name!"), call("b", "")), result("a", "x"), result("b", "y"))
    names = [m.tool_name for m in found if isinstance(m, ToolResultMessage)]
    assert names == ["odd_name_", "unnamed"]


def test_an_image_is_checked_and_replaced_by_a_note_when_unusable() -> None:
    good, misnamed = Image(PNG, "image/png"), Image(PNG, "image/jpeg")
    found = sent(user("look", misnamed), user(Image("AAAA", "image/png")))

    assert found[0] == user("look", good)
    assert words(found)[1].startswith("[image left out: ")


def test_a_text_only_model_gets_a_note_and_the_next_model_the_image_again() -> None:
    talk = (user("look", Image(PNG, "image/png")), said(call("a")), result("a", Image(PNG, "x")))
    for message in sent(*talk, rules=replace(OWN, accepts_images=False)):
        assert not any(isinstance(b, Image) for b in message.content)
    assert "image left out" in words(sent(*talk, rules=replace(OWN, accepts_images=False)))[2]
    assert sent(*talk)[0] == talk[0]


def test_strict_servers_get_user_and_answer_in_turns() -> None:
    rules = replace(OWN, merge_users=True)
    found = sent(
        said("a"), said("b"), user("c"), user("d"), said(call("x")), result("x"), rules=rules
    )

    assert words(found) == [OPENING, "ab", "cd", "", NO_OUTPUT]
    assert isinstance(found[1], AssistantMessage)


def test_a_short_answer_stands_between_a_result_and_a_user_message_where_that_is_needed() -> None:
    talk = (said(call("x")), result("x", "r"), user("next"))
    assert words(sent(*talk)) == ["", "r", "next"]
    assert words(sent(*talk, rules=replace(OWN, bridge_after_tool=True))) == [
        "",
        "r",
        BRIDGE,
        "next",
    ]


def test_the_system_prompt_is_its_sections_in_order() -> None:
    state = SystemState((("a", "one"), ("empty", " "), ("b", "two\ud800")))
    assert render_system(state) == "one\n\ntwo\ufffd"
    assert render_system(SystemState()) == ""


RULES = st.builds(
    OutboundRules,
    st.just(PROVIDER),
    st.sampled_from([MODEL, "model-b"]),
    st.just(API),
    accepts_images=st.booleans(),
    merge_users=st.booleans(),
    bridge_after_tool=st.booleans(),
    reasoning_echo=st.sampled_from(["never", "calls", "always", "auto"]),
)


def wire(message: SentMessage) -> bytes:
    """Everything of a message that can reach a body."""
    return dumps(repr(replace(message, timestamp=0)))


@given(bodies(), RULES)
def test_whatever_is_on_the_path_what_goes_out_is_sound(
    made: list[Body], rules: OutboundRules
) -> None:
    found = prepare(project(Branch(path(*made))), rules)

    assert problems(found) == ()
    assert all(m.content for m in found)
    assert not any(re.search(r"\\ud[89a-f]", repr(m)) for m in found)  # repr escapes surrogates
    assert rules.accepts_images or not any(isinstance(b, Image) for m in found for b in m.content)
    if rules.merge_users:
        kinds = [type(m) for m in found]
        assert (UserMessage, UserMessage) not in pairwise(kinds)
        assert kinds[:1] in ([], [UserMessage])


@given(bodies(rewrites=False), st.data(), RULES)
def test_a_longer_path_begins_with_the_same_messages(
    made: list[Body], data: st.DataObject, rules: OutboundRules
) -> None:
    rules = replace(rules, merge_users=False)
    entries = path(*made)
    size = data.draw(st.integers(0, len(entries)))
    before = prepare(project(Branch(entries[:size])), rules)
    after = prepare(project(Branch(entries)), rules)
    plain = prepare(project(Branch(entries[:size])), replace(rules, bridge_after_tool=False))
    last = max((i for i, m in enumerate(plain) if isinstance(m, AssistantMessage)), default=0)
    assume(not any(NO_RESULT in text for text in words(plain[last:])))  # a call is still open

    assert [wire(m) for m in after[: len(before)]] == [wire(m) for m in before]


@given(bodies(), RULES)
def test_the_same_path_gives_the_same_messages(made: list[Body], rules: OutboundRules) -> None:
    first, second = (prepare(project(Branch(path(*made))), rules) for _ in range(2))
    assert first == second

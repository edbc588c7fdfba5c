"""How an answer ends, what is none, and that no dialect or cutting changes what it says."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.errors import EmptyAnswerError, ServerFailedError
from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import Text, Thinking, ToolCall
from agentsh.providers.api.assemble import ChatAssembler
from agentsh.providers.base import StreamEvent, TextDelta, ThinkingDelta
from agentsh.providers.wire.failures import ErrorSource
from tests.providers.api.test_assemble import assembler, message
from tests.support.endpoint import chunk, usage_chunk

# ---- ends ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reason", ["stop", "STOP", "FinishReason.STOP", "end_turn", "tool-calls", "eos"]
)
def test_an_end_in_any_spelling_is_an_end(reason: str) -> None:
    assert message(chunk({"content": "well"}), chunk({}, reason)).stop_reason == "stop"


@pytest.mark.parametrize(
    "reason",
    [
        "MALFORMED_FUNCTION_CALL",
        "function_call_filter: MALFORMED_FUNCTION_CALL",
        "engine_overloaded",
        "error",
        "OTHER",
        "what nobody knows",
    ],
)
@pytest.mark.parametrize("said", [{"content": "I will read it."}, {}])
def test_any_other_reason_is_a_fault_that_is_shown(reason: str, said: JsonObject) -> None:
    with pytest.raises(ServerFailedError) as caught:
        message(chunk(said), chunk({}, reason))

    assert reason in str(caught.value)
    assert caught.value.retryable


@pytest.mark.parametrize(
    "said",
    [
        [{"content": "\n\n"}, {"content": "\t "}],
        [{"reasoning": "I could say something."}],
        [{"content": "<think>I could</think>\n"}],
        [{"content": "\u200b\ufeff \u2060"}],
        [],
    ],
)
def test_an_answer_without_a_word_or_a_call_is_empty(said: list[JsonObject]) -> None:
    with pytest.raises(EmptyAnswerError):
        message(*map(chunk, said), chunk({}, "stop"))


def test_blanks_before_the_first_word_are_not_shown_until_it_comes() -> None:
    made = assembler()
    made.feed(chunk({"content": "\n\n"}))

    assert made.take() == []
    made.feed(chunk({"content": "x"}))
    assert made.take() == [TextDelta("\n\nx")]


def test_a_key_that_an_answer_repeats_is_in_no_event_and_no_message() -> None:
    key = "sk-0123456789abcdef"
    made = ChatAssembler(ErrorSource("host:1", keys=(key,)), provider="p", model="m")
    for part in (f"it is {key[:5]}", f"{key[5:]}, keep it"):
        made.feed(chunk({"content": part}))
        made.take()
    made.feed(chunk({"reasoning_opaque": key}, "stop"))
    finished = made.finish(done=True)

    assert key not in str(finished) + str(made.take())
    assert finished.message.text == "it is [key], keep it"


# ---- one answer, any dialect -----------------------------------------------------------------

TEXT = "The clef 𝄞 is sk-0123456789abcdef.\nDone <ok>"
THOUGHT = "let me 𝄞 see"


def cut(text: str, cuts: list[int]) -> list[str]:
    """Pieces of it, cut in UTF-16, so that a pair may come in halves."""
    units = text.encode("utf-16-le")
    at = [0, *sorted(2 * min(c, len(units) // 2) for c in cuts), len(units)]
    return [units[a:b].decode("utf-16-le", "surrogatepass") for a, b in pairwise(at)]


CUTS = st.lists(st.integers(0, 60), max_size=6)


@given(
    CUTS,
    CUTS,
    CUTS,
    st.sampled_from(["reasoning_content", "reasoning", "tags"]),
    st.sampled_from(["pieces", "snapshots", "object", "whole twice", "after nothing"]),
    st.sampled_from(["own", "with the end", "with the call"]),
    st.booleans(),
)
def test_every_dialect_and_cutting_of_an_answer_is_the_same_message(
    in_text: list[int],
    in_thought: list[int],
    in_call: list[int],
    thoughts: str,
    arguments: str,
    usage: str,
    take_often: bool,
) -> None:
    spelled = '{"path":"a 𝄞.txt"}'
    spellings: dict[str, list[JsonValue]] = {
        "pieces": [*cut(spelled, in_call)],
        "snapshots": [spelled[: 1 + n] for n in sorted({*in_call, 60})],
        "object": [{"path": "a 𝄞.txt"}],
        "whole twice": [*cut(spelled, in_call), '{ "path": "a 𝄞.txt" }'],
        "after nothing": ["{}", *cut(spelled, in_call)],
    }
    deltas: list[JsonObject] = [{"role": "assistant", "content": ""}]
    if thoughts == "tags":
        deltas += [{"content": p} for p in cut(f"<think>\n{THOUGHT}</think>\n\n{TEXT}", in_text)]
    else:
        deltas += [{thoughts: p} for p in cut(THOUGHT, in_thought)]
        deltas += [{"content": p} for p in cut(TEXT, in_text)]
    deltas += [
        {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "read", "arguments": p}}]}
        for p in spellings[arguments]
    ]
    chunks = [*map(chunk, deltas), chunk({}, "tool_calls")]
    if usage == "own":
        chunks.append(usage_chunk(14, 12))
    else:
        place = -1 if usage == "with the end" else -2
        chunks[place] = {**chunks[place], "usage": usage_chunk(14, 12)["usage"]}
    made = ChatAssembler(
        ErrorSource("host:1", keys=("sk-0123456789abcdef",)), provider="p", model="m"
    )
    told: list[StreamEvent] = []
    for each in chunks:
        made.feed(json.loads(json.dumps(each)))
        told += made.take() if take_often else []
    finished = made.finish(done=True).message
    told += made.take()

    thinking, text, call = finished.content
    assert isinstance(thinking, Thinking)
    assert thinking.thinking == THOUGHT
    assert text == Text("The clef 𝄞 is [key].\nDone <ok>")
    assert isinstance(call, ToolCall)
    assert (call.arguments, call.arguments_error) == ({"path": "a 𝄞.txt"}, None)
    assert (finished.stop_reason, finished.usage.output) == ("toolUse", 12)
    assert "".join(e.text for e in told if isinstance(e, TextDelta)) == text.text
    assert "".join(e.text for e in told if isinstance(e, ThinkingDelta)) == THOUGHT


def in_a_call(index: int, **members: JsonValue) -> JsonObject:
    return {"tool_calls": [{"index": index, **members}]}


def call_of(index: int) -> list[JsonObject]:
    """The deltas of one call."""
    pieces = ('{"path":', f'"{index}', '.txt"}')
    begun = in_a_call(index, id=f"c{index}", function={"name": "read"})
    return [begun, *(in_a_call(index, function={"arguments": p}) for p in pieces)]


# what comes of an answer, each in its own order; how they come among one another is the server's
# (but for the halves of one character: nothing comes between those)
LANES: list[list[JsonObject]] = [
    [{"reasoning_content": p} for p in ("let me ", "𝄞", " see")],
    [{"content": p} for p in ("The clef", " 𝄞 is", " one.\n", "Done")],
    call_of(0),
    call_of(1),
]


@given(st.permutations([lane for lane, each in enumerate(LANES) for _ in each]), st.data())
def test_every_order_of_the_parts_of_an_answer_says_the_same(
    order: list[int], data: st.DataObject
) -> None:
    left = [list(lane) for lane in LANES]
    chunks = [chunk(left[lane].pop(0)) for lane in order]
    chunks.insert(data.draw(st.integers(0, len(chunks))), usage_chunk(14, 12))
    made, told = assembler(), list[StreamEvent]()
    for each in (*chunks, chunk({}, "tool_calls")):
        made.feed(json.loads(json.dumps(each)))
        told += made.take()
    said = made.finish(done=True).message
    told += made.take()

    def joined(kind: type[Text] | type[Thinking]) -> str:
        blocks = [b for b in said.content if isinstance(b, kind)]
        return "".join(b.text if isinstance(b, Text) else b.thinking for b in blocks)

    assert (joined(Text), joined(Thinking)) == ("The clef 𝄞 is one.\nDone", "let me 𝄞 see")
    assert {c.id: c.arguments for c in said.tool_calls} == {
        "c0": {"path": "0.txt"}, "c1": {"path": "1.txt"},
    }  # fmt: skip
    assert (said.stop_reason, said.usage.output) == ("toolUse", 12)
    assert "".join(e.text for e in told if isinstance(e, TextDelta)) == joined(Text)
    assert "".join(e.text for e in told if isinstance(e, ThinkingDelta)) == joined(Thinking)

"""One answer in several choices: however it is split over them, it is the same message."""

from __future__ import annotations

from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from agentsh.errors import StreamProtocolError
from agentsh.jsontext import JsonObject, JsonValue, dumps_text
from agentsh.messages import AssistantMessage
from agentsh.providers.api.assemble import ChatAssembler
from agentsh.providers.wire.failures import ErrorSource
from tests.providers.asking import ask, provider_for
from tests.support.endpoint import serve, stream

SOURCE = ErrorSource("host:1")


def assembler(asked: int = 1) -> ChatAssembler:
    return ChatAssembler(SOURCE, provider="p", model="m", asked=asked)


def part(
    index: int | None, call_id: str | None = None, name: str | None = None, arguments: str = ""
) -> JsonObject:
    """One fragment of a call; only what is given is in it."""
    function: dict[str, JsonValue] = {"name": name, "arguments": arguments}
    if name is None:
        del function["name"]
    members: JsonObject = {"index": index, "id": call_id, "function": function}
    return {k: v for k, v in members.items() if v is not None}


def choice(number: int, delta: JsonObject | None, finish: str | None = None) -> JsonObject:
    return {"index": number, "delta": delta, "finish_reason": finish}


def message(*chunks: list[JsonObject], done: bool = False, asked: int = 1) -> AssistantMessage:
    made = assembler(asked)
    for choices in chunks:
        made.feed({"object": "chat.completion.chunk", "choices": list[JsonValue](choices)})
    return made.finish(done=done).message


class Answer(Struct, frozen=True):
    """Text in pieces, and calls with their arguments in pieces."""

    text: list[str]
    calls: list[list[str]]

    def units(self) -> list[list[JsonObject]]:
        """What stays together: the text, and each call (its index is its own choice's)."""
        text: list[JsonObject] = [{"content": piece} for piece in self.text]
        return [*([text] if text else []), *(self._call(i) for i in range(len(self.calls)))]

    def _call(self, number: int) -> list[JsonObject]:
        pieces = self.calls[number]
        first = part(0, f"c{number}", "echo", pieces[0])
        return [{"tool_calls": [f]} for f in (first, *(part(0, arguments=p) for p in pieces[1:]))]


def pieces_of(text: str, cut: int) -> list[str]:
    return [p for p in (text[:cut], text[cut:]) if p]


ANSWERS = st.builds(
    Answer,
    st.lists(st.text("ab ", min_size=1, max_size=3).map("x".__add__), max_size=3),
    st.lists(
        st.builds(
            lambda said, cut: pieces_of(dumps_text({"said": said}), cut),
            st.text("ab", max_size=4),
            st.integers(1, 8),
        ),
        min_size=1,
        max_size=3,
    ),
)


@given(ANSWERS, st.data())
def test_every_split_of_an_answer_over_choices_is_the_same_message(
    answer: Answer, data: st.DataObject
) -> None:
    units = answer.units()
    alone = [[choice(0, delta)] for unit in units for delta in unit]
    whole = message(*alone, [choice(0, {}, "tool_calls")])
    homes = [data.draw(st.integers(0, i), label="choice") if i else 0 for i in range(len(units))]
    said = [choice(home, d) for home, unit in zip(homes, units, strict=True) for d in unit]
    ends = [choice(home, {}, "tool_calls") for home in dict.fromkeys(homes)]
    # some of the choices in one chunk, as long as they keep their order
    marks = data.draw(st.lists(st.booleans(), min_size=len(said), max_size=len(said)))
    chunks = [
        [c for c, _ in run] for _, run in groupby(zip(said, marks, strict=True), lambda x: x[1])
    ]

    assert message(*chunks, ends) == whole
    assert message(*chunks, *([end] for end in ends)) == whole
    assert len(whole.tool_calls) == len(answer.calls)


@given(ANSWERS, st.data())
def test_every_split_of_a_completion_that_was_not_streamed_is_the_same_message(
    answer: Answer, data: st.DataObject
) -> None:
    calls: list[JsonValue] = [
        part(None, f"c{i}", "echo", "".join(pieces)) for i, pieces in enumerate(answer.calls)
    ]
    homes = sorted(data.draw(st.lists(st.integers(0, 3), min_size=len(calls), max_size=len(calls))))
    parts: dict[int, JsonObject] = {0: {"content": "".join(answer.text) or None}}
    for home in dict.fromkeys(homes):
        mine: list[JsonValue] = [c for c, h in zip(calls, homes, strict=True) if h == home]
        parts[home] = {**parts.get(home, {"content": None}), "tool_calls": mine}
    is_numbered = data.draw(st.booleans(), label="each has its own index")
    split: list[JsonObject] = [
        {"index": i if is_numbered else 0, "message": part, "finish_reason": "tool_calls"}
        for i, part in enumerate(parts.values())
    ]
    one: JsonObject = {"message": {**parts[0], "tool_calls": calls}, "finish_reason": "tool_calls"}

    assert message(split, done=True) == message([one], done=True)


def test_calls_whose_fragments_alternate_between_choices_keep_their_arguments() -> None:
    made = message(
        [
            choice(1, {"tool_calls": [part(0, "a", "echo", '{"x"')]}),
            choice(2, {"tool_calls": [part(0, "b", "echo", '{"y"')]}),
        ],
        [choice(1, {"tool_calls": [part(0, arguments=":1}")]})],
        [choice(2, {"tool_calls": [part(0, arguments=":2}")]})],
        [choice(1, None, "tool_calls"), choice(2, None, "tool_calls")],
    )

    assert [c.arguments for c in made.tool_calls] == [{"x": 1}, {"y": 2}]


def test_of_several_ends_the_one_that_is_no_good_end_counts() -> None:
    for reasons in (("length", "tool_calls"), ("stop", "length")):
        made = message(
            [choice(0, {"content": "a"})],
            [choice(1, {"tool_calls": [part(0, "a", "echo", "{}")]})],
            [choice(i, {}, reason) for i, reason in enumerate(reasons)],
        )
        assert made.stop_reason == "length"


def test_a_choice_that_has_not_ended_is_not_taken_for_the_end() -> None:
    made, ended = assembler(), []
    for one in (
        choice(0, {"content": "a"}, "stop"),
        choice(1, {"tool_calls": [part(0, "a", "echo", "{")]}),
        choice(1, {}, "tool_calls"),
    ):
        made.feed({"choices": [one]})
        ended.append(made.has_reason)

    assert ended == [True, False, True]


def test_where_several_answers_were_asked_for_the_first_is_read() -> None:
    made = message(
        [choice(1, {"content": "other"}), choice(0, {"content": "this"})],
        [choice(0, {}, "stop"), choice(1, {}, "stop")],
        asked=2,
    )
    assert made.text == "this"


def test_a_proxy_that_puts_the_calls_into_the_second_choice_is_understood() -> None:
    said: JsonObject = {"index": 0, "delta": {"content": "I look."}, "finish_reason": "tool_calls"}
    call: JsonObject = {"tool_calls": [part(0, "c1", "read", '{"path":"a"}')]}
    called: JsonObject = {"index": 1, "delta": call, "finish_reason": "tool_calls"}
    with serve(stream({"choices": [said, called]})) as server:
        _, made = ask(provider_for(server.base_url))

    assert made.text == "I look."
    assert [(c.name, c.arguments) for c in made.tool_calls] == [("read", {"path": "a"})]
    assert made.stop_reason == "toolUse"


def test_a_stream_whose_second_choice_broke_off_is_cut() -> None:
    with pytest.raises(StreamProtocolError):
        message([choice(1, {"tool_calls": [part(0, "a", "echo", "{")]})])

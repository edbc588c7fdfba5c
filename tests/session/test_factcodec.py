"""Facts: typed values in and out of `custom` entries, and when they forbid appending."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.session import facts as f
from agentsh.session.codec import decode_line, encode_entry
from agentsh.session.entries import Custom, Entry, EntryId
from agentsh.session.factcodec import decode_fact, encode_fact, refusal
from tests.session import strategies as s

_objects = st.dictionaries(s.texts, s.json_values, max_size=2)
_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "str": s.texts,
    "int": s.counts,
    "bool": st.booleans(),
    "JsonObject": _objects,
    "JsonValue": s.json_values,
    "EntryId": s.ids,
    "float": st.floats(0, 1e6),
    "tuple[JsonObject, ...]": st.lists(_objects, max_size=2).map(tuple),
    "tuple[EntryId, ...]": st.lists(s.ids, max_size=2).map(tuple),
    "Mapping[str, JsonValue]": _objects,
}


def _facts() -> st.SearchStrategy[f.Fact]:
    return st.one_of([_fact(kind) for kind in f.Fact.__args__])


def _fact(kind: type[Any]) -> st.SearchStrategy[Any]:
    fields = {}
    for name, note in kind.__annotations__.items():
        first, _, rest = note.partition(" | ")
        if first in {"TurnEndReason", "RequestReason", "Effect", "CheckpointTime"}:
            strategy = st.sampled_from(getattr(f, first).__args__)
        elif note.startswith("Literal["):
            words = [word.strip(" \"'") for word in note[8:-1].split(",")]
            strategy = st.sampled_from(words)
        else:
            strategy = _FIELDS[first]
        fields[name] = strategy | st.none() if rest == "None" else strategy
    return st.builds(kind, **fields)


@given(_facts())
def test_a_fact_comes_back_through_a_line(fact: f.Fact) -> None:
    entry = Entry(EntryId("a"), None, "t", encode_fact(fact))
    read = decode_line(encode_entry(entry))

    assert isinstance(read, Entry)
    assert isinstance(read.body, Custom)
    assert decode_fact(read.body) == fact


def test_every_kind_of_fact_has_a_persisted_form() -> None:
    kinds = {kind.__name__ for kind in f.Fact.__args__}

    from agentsh.session import factcodec

    assert {row.make.__name__ for row in factcodec._ROWS} == kinds


@pytest.mark.parametrize(
    "body",
    [
        Custom("other.turn", {"v": 1, "ev": "start", "no": 1}),
        Custom("agentsh.turn", {"v": 1, "ev": "paused", "no": 1}),
        Custom("agentsh.turn", {"v": 1, "ev": "start"}),
        Custom("agentsh.turn", {"v": 1, "ev": "start", "no": "one"}),
        Custom("agentsh.turn", {"v": 1, "ev": "end", "start": "a", "reason": "bored"}),
        Custom("agentsh.turn", [1]),
        Custom("agentsh.future", {"v": 1}),
    ],
)
def test_what_does_not_fit_is_no_fact_and_no_error(body: Custom) -> None:
    assert decode_fact(body) is None


def test_members_that_a_later_version_adds_do_no_harm() -> None:
    body = Custom("agentsh.turn", {"v": 1, "ev": "start", "no": 3, "mood": "good"})

    assert decode_fact(body) == f.TurnStarted(3)


@pytest.mark.parametrize(
    ("custom_type", "data", "is_refused"),
    [
        ("agentsh.future", {"v": 1}, False),
        ("agentsh.future", {"v": 1, "required": True}, True),
        ("agentsh.turn", {"v": 2, "ev": "start", "no": 1}, True),
        ("agentsh.turn", {"v": 1, "ev": "start", "no": 1, "required": True}, False),
        ("someone.else", {"v": 9, "required": True}, False),
    ],
)
def test_only_newer_or_required_facts_forbid_appending(
    custom_type: str, data: dict[str, Any], is_refused: bool
) -> None:
    assert (refusal(Custom(custom_type, data)) is not None) == is_refused

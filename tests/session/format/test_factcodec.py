"""Facts: what a class declares is what stands in a line; and when facts forbid appending."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import NODEFAULT
from msgspec.structs import fields

from agentsh.jsontext import JsonObject, loads_object
from agentsh.session.format import facts as f
from agentsh.session.format.codec import decode_line, encode_entry
from agentsh.session.format.entries import Custom, Entry, EntryId
from agentsh.session.format.factcodec import (
    FACT_VERSION,
    decode_fact,
    encode_fact,
    name_of,
    refusal,
    words_of,
)
from tests.session import strategies as s

KINDS = f.Fact.__subclasses__()
GOLDEN = Path(__file__).parents[2] / "data" / "facts.jsonl"
_objects = st.dictionaries(s.texts, s.json_values, max_size=2)
_PLAIN: Mapping[Any, st.SearchStrategy[Any]] = {
    str: s.texts,
    int: s.counts,
    float: st.floats(0, 1e6),
    bool: st.booleans(),
    EntryId: s.ids,
}


def _values(hint: Any) -> st.SearchStrategy[Any]:
    words = get_args(hint)
    origin = get_origin(hint)
    if NoneType in words:
        [*rest] = (word for word in words if word is not NoneType)
        return st.none() | _values(rest[0]) if len(rest) == 1 else s.json_values
    if origin is Literal:
        return st.sampled_from(words)
    if origin is Annotated:
        return st.from_regex(words[1].pattern, fullmatch=True, alphabet="0123456789abcdef")
    if origin is tuple:
        return st.lists(_values(words[0]), max_size=2).map(tuple)
    return _objects if origin in {dict, Mapping} else _PLAIN[hint]


def _fact(kind: type[f.Fact]) -> st.SearchStrategy[f.Fact]:
    return st.builds(kind, **{info.name: _values(info.type) for info in fields(kind)})


_facts = st.sampled_from(KINDS).flatmap(_fact)


def _line(fact: f.Fact) -> bytes:
    return encode_entry(Entry(EntryId("0000000a"), None, "t", encode_fact(fact)))[:-1]


def _read(line: bytes) -> f.Fact | None:
    entry = decode_line(line)
    if isinstance(entry, Entry) and isinstance(entry.body, Custom):
        return decode_fact(entry.body)
    return None


@given(_facts)
def test_a_fact_comes_back_through_a_line(fact: f.Fact) -> None:
    assert _read(_line(fact)) == fact


@pytest.mark.parametrize("line", GOLDEN.read_text("utf-8").rstrip("\n").split("\n"))
def test_a_fact_is_spelled_as_the_first_version_spelled_it(line: str) -> None:
    golden: dict[str, Any] = loads_object(line)
    [kind] = [kind for kind in KINDS if kind.__name__ == golden["fact"]]
    rows = {info.name for info in fields(kind) if get_origin(info.type) is tuple}
    said = {name: tuple(v) if name in rows else v for name, v in golden["fields"].items()}
    fact = kind(**said)

    assert _line(fact).decode() == golden["line"]
    assert _read(golden["line"].encode()) == fact


def test_each_fact_that_the_first_version_wrote_has_a_golden_line() -> None:
    shown = {str(loads_object(line)["fact"]) for line in GOLDEN.read_bytes().split(b"\n") if line}

    assert shown == {kind.__name__ for kind in KINDS if kind.since == "0.1"}


@given(_facts, st.data())
def test_a_line_that_is_cut_off_states_nothing_and_raises_nothing(
    fact: f.Fact, data: st.DataObject
) -> None:
    line = _line(fact)

    assert _read(line[: data.draw(st.integers(0, len(line) - 1))]) is None


@given(_facts, st.data())
def test_a_member_that_holds_anything_else_is_read_or_makes_it_no_fact(
    fact: f.Fact, data: st.DataObject
) -> None:
    body = encode_fact(fact)
    assert isinstance(body.data, dict)
    name = data.draw(st.sampled_from(sorted(body.data)))
    changed = Custom(body.custom_type, body.data | {name: data.draw(s.json_values | _HUGE)})
    read = decode_fact(changed)

    assert read is None or name_of(type(read)) == body.custom_type
    assert read is None or _read(_line(read)) == read


_HUGE = st.sampled_from([10**400, -(10**400)])  # more than a float holds


@given(_facts, s.extras)
def test_members_that_a_later_version_adds_do_no_harm(fact: f.Fact, more: JsonObject) -> None:
    body = encode_fact(fact)
    assert isinstance(body.data, dict)

    assert decode_fact(Custom(body.custom_type, body.data | more)) == fact


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_what_a_fact_declares_can_be_told_from_what_the_others_do(kind: type[f.Fact]) -> None:
    """Null is left out of a line, so it cannot mean anything but the default."""
    names = [info.encode_name for info in fields(kind)]
    nullable = [info for info in fields(kind) if NoneType in get_args(info.type)]
    [alike] = [k for k in KINDS if (k.family, k.ev) == (kind.family, kind.ev)]

    assert alike is kind
    assert len({*names, "v"}) == len(names) + 1
    assert ("ev" in names) <= (kind.ev is None)
    assert {info.default for info in nullable} <= {None, NODEFAULT}


@given(_fact(f.TurnEnded))
def test_the_words_of_a_field_are_found_in_the_bytes_of_a_line(fact: f.TurnEnded) -> None:
    assert words_of(f.TurnEnded, "start", b"[0-9a-f]{8}").findall(_line(fact)) == [
        fact.start.encode()
    ]


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


@pytest.mark.parametrize(
    ("custom_type", "data", "is_refused"),
    [
        ("agentsh.future", {"v": 1}, False),
        ("agentsh.future", {"v": 1, "required": True}, True),
        ("agentsh.turn", {"v": FACT_VERSION + 1, "ev": "start", "no": 1}, True),
        ("agentsh.turn", {"v": 1, "ev": "start", "no": 1, "required": True}, False),
        ("someone.else", {"v": 9, "required": True}, False),
    ],
)
def test_only_newer_or_required_facts_forbid_appending(
    custom_type: str, data: dict[str, Any], is_refused: bool
) -> None:
    assert (refusal(Custom(custom_type, data)) is not None) == is_refused


@pytest.mark.parametrize("name", ["--output=/x", "HEAD", "", "a" * 41, "A" * 40, "a" * 40 + "\n"])
def test_a_state_has_a_name_of_git_or_is_none(name: str) -> None:
    data: JsonObject = {"v": 1, "commit": name, "store": "s"}
    assert decode_fact(Custom("agentsh.checkpoint", data)) is None

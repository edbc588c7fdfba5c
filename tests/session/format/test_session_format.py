"""The page of the format: each example is what the code reads and writes; none is left out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from agentsh.session.format.codec import decode_line, encode_entry, encode_header
from agentsh.session.format.entries import (
    Body,
    Custom,
    Damaged,
    Entry,
    Header,
    MessageBody,
    Unknown,
)
from agentsh.session.format.factcodec import PREFIX, decode_fact, name_of
from agentsh.session.format.facts import Fact

_PAGE = (Path(__file__).parents[3] / "docs" / "session-format.md").read_text("utf-8")
_EXAMPLES = [
    line
    for block in re.findall(r"```json\n(.*?)```", _PAGE, re.DOTALL)
    for line in block.split("\n")
]
_LINES = [line.encode() for line in _EXAMPLES if line]
_ENTRIES = [entry for line in _LINES if isinstance(entry := decode_line(line), Entry)]


@pytest.mark.parametrize("line", _LINES, ids=lambda line: line[:40].decode())
def test_an_example_is_written_as_it_stands_there(line: bytes) -> None:
    found = decode_line(line)

    assert isinstance(found, Header | Entry)
    encode = encode_header(found) if isinstance(found, Header) else encode_entry(found)
    assert encode == line + b"\n"


def test_every_entry_type_has_an_example_and_a_heading() -> None:
    shown = {type(entry.body) for entry in _ENTRIES}

    assert shown == set(get_args(Body)) - {Unknown, Damaged}
    for kind in {line.split(b'"')[3].decode() for line in _LINES} - {"session"}:
        assert f"### {kind}\n" in _PAGE


def test_every_role_has_an_example() -> None:
    roles = {type(e.body.message).__name__ for e in _ENTRIES if isinstance(e.body, MessageBody)}

    assert len(roles) == 6


def test_every_fact_has_an_example_and_a_row() -> None:
    bodies = [entry.body for entry in _ENTRIES if isinstance(entry.body, Custom)]
    ours = [body for body in bodies if body.custom_type.startswith(PREFIX)]
    facts = [fact for body in ours if (fact := decode_fact(body)) is not None]

    assert {type(fact) for fact in facts} == set(Fact.__subclasses__())
    for fact in facts:
        assert f"| `{name_of(type(fact))}` | {fact.since} |" in _PAGE

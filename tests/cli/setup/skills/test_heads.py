"""Heads as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.cli.setup.skills.heads import one_line, read_fields, split_head
from agentsh.cli.setup.skills.yamltext import read_yaml


@pytest.mark.parametrize(
    ("text", "head", "body"),
    [
        ("---\na: b\n---\nBODY\n", "a: b", "BODY\n"),
        ("\ufeff---\r\na: b\r\n---\r\nBODY\r\n", "a: b", "BODY\n"),
        ("---\n---\nBODY", "", "BODY"),
        ("---  \na: b\n---   \nBODY", "a: b", "BODY"),
        ("just text\n---\n", None, "just text\n---\n"),
        ("---\nnever closed\n", None, "---\nnever closed\n"),
        ("", None, ""),
        ("----\na: b\n---\n", None, "----\na: b\n---\n"),
    ],
)
def test_the_head_ends_at_its_second_line_of_dashes(text: str, head: str | None, body: str) -> None:
    assert split_head(text) == (head, body)


@pytest.mark.parametrize(
    ("head", "fields"),
    [
        ("name: heron\ndescription: care", {"name": "heron", "description": "care"}),
        ("description: Use it when: he asks: now", {"description": "Use it when: he asks: now"}),
        ('d: x\nhint: [a] — e.g. "b"', {"d": "x", "hint": '[a] — e.g. "b"'}),
        ('d: "Say: \\"hi\\" # no"', {"d": 'Say: "hi" # no'}),
        ("d: >-\n  folded words\n  go on\nm:\n  a: b", {"d": "folded words go on", "m": "a: b"}),
        ("d: 2026-01-01\nn: 12\nb: yes", {"d": "2026-01-01", "n": "12", "b": "yes"}),
        ("a: 'it''s: x'\nb: c: d", {"a": "it''s: x", "b": "c: d"}),
        ("d: >\n  one: two: three\n  four\nx: [", {"d": "one: two: three four", "x": "["}),
        ("- a\n- b", {}),
        ("d: [a, b]", {"d": "[a, b]"}),
        ("d: !!python/object/apply:os.system [id]", {"d": "!!python/object/apply:os.system [id]"}),
    ],
)
def test_fields_are_texts_whatever_yaml_makes_of_them(head: str, fields: dict[str, str]) -> None:
    assert read_fields(head, read_yaml) == fields


@pytest.mark.parametrize("opened", ["[", "{a: ", "- "])
def test_a_head_that_is_nested_without_end_is_no_crash(opened: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        read_yaml(opened * 20_000)


@given(st.text(alphabet="ab:- #'\"[]{}>|&*!\n", max_size=60))
def test_any_head_can_be_read(head: str) -> None:
    assert all(isinstance(value, str) for value in read_fields(head, read_yaml).values())


def test_a_name_is_one_line() -> None:
    assert one_line(" a\n  b\tc ") == "a b c"

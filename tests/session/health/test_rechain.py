"""Another parent for a stored line, and not one other byte."""

from __future__ import annotations

import json

import pytest

from agentsh.jsontext import JsonError
from agentsh.session.format.entries import EntryId
from agentsh.session.health.rechain import with_parent

NEW = EntryId("abcd1234")


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        (b'{"id":"a","parentId":"b","x":1.50}', b'{"id":"a","parentId":"abcd1234","x":1.50}'),
        (b'{"id":"a","parentId":null}', b'{"id":"a","parentId":"abcd1234"}'),
        (b'{"x":{"parentId":"b"},"parentId":"b"}', b'{"x":{"parentId":"b"},"parentId":"abcd1234"}'),
        (b'{"t":"\\"parentId\\":null","parentId" : "b"}',
         b'{"t":"\\"parentId\\":null","parentId" : "abcd1234"}'),
        (b'{"id":"a"}', b'{"id":"a","parentId":"abcd1234"}'),
    ],
)  # fmt: skip
def test_only_the_parent_changes(line: bytes, changed: bytes) -> None:
    assert with_parent(line, NEW) == changed


def test_a_root_can_be_made() -> None:
    assert json.loads(with_parent(b'{"id":"a","parentId":"b"}', None)) == {
        "id": "a",
        "parentId": None,
    }


def test_what_is_no_object_is_refused() -> None:
    with pytest.raises(JsonError):
        with_parent(b"[1]", NEW)

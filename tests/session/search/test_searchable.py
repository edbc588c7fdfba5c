"""What can be found in a line is what somebody said, called, printed or summed up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.jsontext import JsonObject, JsonValue, dumps
from agentsh.session.search.searchable import MAX_TEXT, Saying, read_saying

TIME = "2026-01-01T00:00:00.000Z"


def line(kind: str, **members: JsonValue) -> bytes:
    return dumps({"type": kind, "id": "a1", "parentId": None, "timestamp": TIME, **members})


def text_of(kind: str, **members: JsonValue) -> tuple[str, str] | None:
    found = read_saying(line(kind, **members))
    return None if found is None else (found.role, found.text)


CALL: JsonObject = {
    "type": "toolCall",
    "id": "c1",
    "name": "edit",
    "arguments": {"path": "a.py", "edits": [{"new": "heron"}, 7, 2.5, True, None]},
    "rawArguments": "{raw",
}


@pytest.mark.parametrize(
    ("members", "found"),
    [
        ({"role": "user", "content": "plain words"}, ("user", "plain words")),
        (
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "I think"}]},
            ("assistant", "I think"),
        ),
        (
            {"role": "assistant", "content": [], "errorMessage": "no route"},
            ("assistant", "no route"),
        ),
        (
            {"role": "bashExecution", "command": "ls", "output": "a.py"},
            ("bashExecution", "ls\na.py"),
        ),
        ({"role": "system", "content": "be brief"}, None),
        ({"role": "user", "content": [{"type": "image", "data": "aGk="}, 7, "x"]}, None),
        ({"role": "user", "content": 7}, None),
    ],
)
def test_what_a_message_holds(members: JsonObject, found: tuple[str, str] | None) -> None:
    assert text_of("message", message=members) == found


def test_of_a_call_name_arguments_and_files_are_found() -> None:
    message: JsonObject = {"role": "assistant", "model": "m", "content": [CALL]}

    assert read_saying(line("message", message=message)) == Saying(
        id="a1",
        type="message",
        role="assistant",
        time=TIME,
        text="edit\npath\na.py\nedits\nnew\nheron\n7\n2.5\n{raw",
        tools=("edit",),
        files=("a.py",),
        model="m",
        calls=("c1",),
    )


@pytest.mark.parametrize(
    ("kind", "members", "found"),
    [
        (
            "compaction",
            {"summary": "in short", "retainedTail": [{"content": "kept"}, 7]},
            ("compaction", "in short\nkept"),
        ),
        ("branch_summary", {"summary": "left"}, ("branch_summary", "left")),
        ("custom_message", {"content": "from a hook"}, ("custom", "from a hook")),
        ("label", {"label": "good"}, ("label", "good")),
        ("session_info", {"name": "herons"}, ("name", "herons")),
        ("novel", {"text": "unknown"}, None),
        ("custom", {"data": {"text": "a fact"}}, None),
        ("label", {"label": None}, None),
    ],
)
def test_what_other_entries_hold(
    kind: str, members: JsonObject, found: tuple[str, str] | None
) -> None:
    assert text_of(kind, **members) == found


def test_a_summary_names_its_files_and_its_model() -> None:
    details: JsonObject = {
        "readFiles": ["a.py", 7],
        "modifiedFiles": "none",
        "ash": {"model": "m"},
    }
    found = read_saying(line("compaction", summary="s", details=details))

    assert found is not None
    assert (found.files, found.model) == (("a.py",), "m")


def test_of_what_is_too_large_the_two_ends_are_searched() -> None:
    text = "begin" + "x" * MAX_TEXT + "end"
    found = read_saying(line("message", message={"role": "user", "content": text}))

    assert found is not None
    assert found.is_cut
    assert (found.text[:5], found.text[-3:]) == ("begin", "end")
    assert len(found.text) == MAX_TEXT + 3


_JSON: st.SearchStrategy[JsonValue] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["type", "content", "text", "role"]), inner, max_size=3),
    ),
    max_leaves=8,
)


@given(
    st.sampled_from(["message", "compaction", "label", "custom_message"]),
    st.dictionaries(st.sampled_from(["message", "summary", "details", "content"]), _JSON),
)
def test_nothing_in_a_line_makes_it_raise(kind: str, members: JsonObject) -> None:
    found = read_saying(line(kind, **members))

    assert found is None or (found.id == "a1" and found.text)


@given(st.binary(max_size=60))
def test_bytes_that_are_no_entry_hold_nothing(data: bytes) -> None:
    assert read_saying(data) is None

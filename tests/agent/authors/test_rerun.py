from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.agent.authors.calls import RecordedCall, Replaced, Whole, Write
from agentsh.agent.authors.content import Content
from agentsh.agent.authors.rerun import added_lines, after, before
from agentsh.session.format.entries import EntryId
from agentsh.tools.files.diff import diff_texts

CALL = RecordedCall("s", EntryId("e"), "go", "c", "edit", "", "t")


def edit(old: str, new: str, *, patch: str = "", pre: str | None = None) -> Write:
    return Write(CALL, "f", Replaced(((old, new),), patch), pre)


LINES = st.lists(st.text("abc }", max_size=4), min_size=1, max_size=8)


@given(
    lines=LINES,
    ending=st.sampled_from(("\n", "\r\n")),
    last=st.booleans(),
    at=st.integers(0, 7),
    new=st.text("xy\n", max_size=5),
)
def test_what_an_edit_did_is_taken_back_by_its_patch(
    lines: list[str], ending: str, last: bool, at: int, new: str
) -> None:
    at %= len(lines)
    plain = "\n".join([*lines, ""] if last else lines)
    edited = "\n".join([*lines[:at], f"{new}!", *lines[at + 1 :], *([""] if last else [])])
    old, made = (Content(t.replace("\n", ending).encode()) for t in (plain, edited))
    if ending == "\r\n" and "\n" not in edited:
        return  # nothing says which ending the file had
    patch = diff_texts(plain, edited, "f").patch
    write = edit("not used", "not used either", patch=patch, pre=old.digest)
    if not patch:
        return

    found = before(write, made)

    assert found is not None
    assert found.data == old.data


@given(lines=LINES, at=st.integers(0, 7))
def test_forward_and_backward_by_the_arguments_alone(lines: list[str], at: int) -> None:
    lines[at % len(lines)] = "the only one"
    old = Content("\n".join(lines).encode())
    write = edit("the only one", "and its heir", pre=old.digest)

    made = after(write, old)

    assert made is not None
    back = before(write, made)
    assert back is not None
    assert back.data == old.data


def test_a_content_that_the_record_denies_is_none() -> None:
    old = Content(b"one\ntwo\n")
    denied = Write(CALL, "f", Replaced((("one", "1"),)), None, "0" * 64)

    assert after(denied, old) is None
    assert after(edit("nowhere", "x"), old) is None
    assert before(edit("x", "two", pre="0" * 64), old) is None


def test_without_a_patch_a_text_that_stands_twice_is_not_taken_back() -> None:
    assert before(edit("a", "b"), Content(b"b\nb\n")) is None


def test_a_write_makes_its_content_of_anything_and_tells_not_what_was_there() -> None:
    write = Write(CALL, "f", Whole(b"x\n"))
    made = after(write, None)

    assert made is not None
    assert made.data == b"x\n"
    assert before(write, made) is None


@pytest.mark.parametrize(("patch", "lines"), [("", None), (diff_texts("a\n", "", "f").patch, [])])
def test_a_record_that_tells_no_lines_is_another_one_than_one_of_no_lines(
    patch: str, lines: list[bytes] | None
) -> None:
    assert added_lines(edit("a", "", patch=patch)) == lines

"""The fold over a file says what the file says, forwards, in parts, and from the end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentsh.session.store.summary import (
    RestartedError,
    catch_up,
    last_conversation,
    read_header,
    summarize,
)
from tests.session.sealed import SESSION, lines_of, write_lines, write_session

HEADER = (
    b'{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"}'
)


def message(number: int, role: str, text: str, **more: object) -> bytes:
    content = [{"type": "text", "text": text}]
    return json.dumps(
        {
            "type": "message",
            "id": f"m{number}",
            "parentId": None,
            "timestamp": f"2026-01-01T00:00:{number:02d}.000Z",
            "message": {"role": role, "content": content, "timestamp": 1},
            **more,
        },
        separators=(",", ":"),
    ).encode()


def other(kind: str, number: int, **more: object) -> bytes:
    entry = {
        "type": kind,
        "id": f"o{number}",
        "parentId": None,
        "timestamp": f"2026-02-02T00:00:{number:02d}.000Z",
        **more,
    }
    return json.dumps(entry, separators=(",", ":")).encode()


def test_a_session_of_ours_is_told_without_its_labels_moving_it(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.jsonl", prompts=("alpha", "beta"), name="herons")

    summary = summarize(path)

    assert summary is not None
    assert (summary.id, summary.cwd, summary.name) == (SESSION, "/home/user/project", "herons")
    assert (summary.prompt, summary.messages) == ("alpha", 8)
    assert (summary.bytes, summary.lines) == (path.stat().st_size, len(lines_of(path)))


def test_labels_names_and_system_messages_do_not_count_as_conversation(tmp_path: Path) -> None:
    lines = [
        HEADER,
        message(1, "system", "you are"),
        message(2, "user", "hi"),
        other("label", 3, targetId="m2", label="x"),
        other("session_info", 4, name="first"),
        other("session_info", 5, name="second"),
        message(6, "system", "and now"),
    ]
    path = write_lines(tmp_path / "s.jsonl", lines)

    summary = summarize(path)

    assert summary is not None
    assert (summary.messages, summary.prompt, summary.name) == (1, "hi", "second")
    assert summary.updated == "2026-01-01T00:00:02.000Z" == last_conversation(path)


def test_a_cleared_name_is_none(tmp_path: Path) -> None:
    lines = [HEADER, other("session_info", 1, name="x"), other("session_info", 2, name="")]
    summary = summarize(write_lines(tmp_path / "s.jsonl", lines))

    assert summary is not None
    assert summary.name is None


def titled(number: int, title: object) -> bytes:
    return other(
        "custom", number, customType="agentsh.title", data={"v": 1, "title": title, "leaf": "a"}
    )


def test_the_latest_title_counts_and_a_name_wins_whichever_came_last(tmp_path: Path) -> None:
    lines = [HEADER, message(1, "user", "hi"), titled(2, "old"), titled(3, "new")]
    named = [*lines, other("session_info", 4, name="mine"), titled(5, "newer")]
    cleared = [*named, other("session_info", 6, name="")]
    shown = []
    for i, each in enumerate((lines, named, cleared)):
        summary = summarize(write_lines(tmp_path / f"{i}.jsonl", each))
        assert summary is not None
        shown.append((summary.name, summary.shown_name, summary.shown_title))
        assert (summary.messages, summary.updated) == (1, "2026-01-01T00:00:01.000Z")

    assert shown == [(None, "new", "new"), ("mine", "mine", None), (None, "newer", "newer")]


@pytest.mark.parametrize(
    "line",
    [
        titled(2, 7),
        titled(2, "torn")[:-4],
        other("custom", 2, customType="agentsh.title", data={"v": 9, "title": "x", "leaf": "a"}),
        other("custom", 2, customType="x", data={"said": '"customType":"agentsh.title"'}),
        message(2, "assistant", '{"type":"custom","customType":"agentsh.title"}'),
    ],
)
def test_what_is_no_title_of_ours_names_nothing(line: bytes, tmp_path: Path) -> None:
    summary = summarize(write_lines(tmp_path / "s.jsonl", [HEADER, line]))

    assert summary is not None
    assert summary.shown_name is None


def test_going_on_from_any_line_gives_the_same(tmp_path: Path) -> None:
    lines = lines_of(write_session(tmp_path / "whole.jsonl", name="n"))
    lines[9:9] = [titled(1, "early")]
    lines.append(titled(2, "late"))
    write_lines(tmp_path / "whole.jsonl", lines)
    whole = summarize(tmp_path / "whole.jsonl")
    for cut in range(1, len(lines)):
        path = write_lines(tmp_path / "s.jsonl", lines[:cut])
        known = summarize(path)
        assert known is not None
        write_lines(path, lines)

        assert catch_up(path, known) == whole


def test_a_session_that_began_with_a_skill_is_listed_by_what_was_typed(tmp_path: Path) -> None:
    frame = '<skill name="heron" location="/s/SKILL.md">\n' + "Feed it.\n" * 200 + "\n</skill>"
    path = tmp_path / "s.jsonl"
    prompts = []
    for said in (f"{frame}\n\ntwice a day", frame, "<skill name> is no skill"):
        path.write_bytes(HEADER + b"\n" + message(1, "user", said) + b"\n")
        summary = summarize(path)
        assert summary is not None
        prompts.append(summary.prompt)

    assert prompts == ["/skill:heron twice a day", "/skill:heron", "<skill name> is no skill"]


def test_an_unusual_key_order_and_a_missing_line_end_are_read(tmp_path: Path) -> None:
    odd = b'{"message":{"role":"user","content":"plain"},"id":"a","timestamp":"T","type":"message"}'
    path = tmp_path / "s.jsonl"
    path.write_bytes(HEADER + b"\n" + odd)

    summary = summarize(path)

    assert summary is not None
    assert (summary.messages, summary.prompt, summary.updated) == (1, "plain", "T")
    assert summary.bytes == len(HEADER) + 1
    assert last_conversation(path) == "T"


def test_a_torn_line_is_no_message(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", [HEADER, message(1, "user", "whole")])
    with path.open("ab") as file:
        file.write(message(2, "user", "torn")[:-20])

    summary = summarize(path)

    assert summary is not None
    assert summary.messages == 1
    assert last_conversation(path) == "2026-01-01T00:00:01.000Z"


def test_lines_that_were_written_twice_count_once(tmp_path: Path) -> None:
    once = [HEADER, message(1, "user", "a"), message(2, "assistant", "b")]
    path = write_lines(tmp_path / "s.jsonl", once)
    known = summarize(path)
    assert known is not None
    write_lines(path, once + once)

    with pytest.raises(RestartedError):
        catch_up(path, known)
    again = summarize(path)
    assert again is not None
    assert again.messages == 2


def test_a_long_header_behind_a_bad_line_is_found(tmp_path: Path) -> None:
    long = HEADER.replace(b'"/p"', b'"/' + b"d" * 5000 + b'"')
    path = write_lines(tmp_path / "s.jsonl", [b"\0" * 3000, long, message(1, "user", "hi")])

    header, summary = read_header(path), summarize(path)

    assert header is not None
    assert summary is not None
    assert (header.id, summary.messages) == ("s1", 1)


@pytest.mark.parametrize("data", [b"", b"dear diary\n", b"[1]\n", b"\0" * 100_000, HEADER[:40]])
def test_what_is_no_session_is_none(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(data)

    assert read_header(path) is None
    assert summarize(path) is None

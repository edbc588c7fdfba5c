"""`agentsh why` over whole runs: who wrote a line, in which form, with which exit code."""

from __future__ import annotations

import json

import pytest

from agentsh.jsontext import JsonObject
from tests.cli.program import agentsh
from tests.cli.working import Project


def rows(project: Project, place: str, *more: str) -> list[JsonObject]:
    found = agentsh("why", place, "--json", *more, cwd=project.tree).json()
    assert isinstance(found, list)
    return [row for row in found if isinstance(row, dict)]


def test_each_line_has_the_members_of_the_contract(project: Project) -> None:
    project.put("a.txt", "one\n")
    project.turn("add two\nand so on", "echo two >> a.txt")
    project.put("a.txt", "one\ntwo\nmine\n")

    one, two, mine = rows(project, "a.txt")

    assert (one["who"], one["session"], one["call"]) == ("before", None, None)
    assert (mine["who"], mine["prompt"]) == ("person", None)
    assert two["who"] == "agent"
    assert two["prompt"] == "add two"
    assert two["tool"] == "bash"
    assert two["command"] == "echo two >> a.txt"
    assert two["entry"] == project.prompt("add two")
    assert str(two["time"]).endswith("Z")
    assert two["call"] == "c0"


def test_asked_in_a_folder_below_the_sessions_of_the_project_are(project: Project) -> None:
    (project.tree / ".git").mkdir()
    project.put("src/a.txt", "one\n")
    project.turn("add two", "echo two >> src/a.txt")

    ended = agentsh("why", "a.txt:2", cwd=project.tree / "src")

    assert ended.out.split()[1:4] == [project.prompt("add two"), '"add', 'two"']
    assert f"by sessions of {project.tree}" in ended.err
    project.put("src/b.txt", "b\n")
    assert agentsh("why", "b.txt", cwd=project.tree / "src").out == "1  you  b\n"
    elsewhere = project.tree.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "c.txt").write_text("c\n")
    quiet = agentsh("why", "c.txt", cwd=elsewhere)
    assert (quiet.code, "no session of this folder touched c.txt" in quiet.err) == (0, True)


def test_no_person_is_named_for_what_a_session_of_another_folder_wrote(project: Project) -> None:
    """Of a folder above in the same repository, whose states hold the file, too."""
    (project.tree / ".git").mkdir()
    below = Project(project.tree / "sub", project.home, project.monkeypatch)
    below.put("x", "one\n")
    below.turn("from below", "echo two >> x")
    project.turn("from above", "echo three >> sub/x")
    below.turn("below again", "echo four >> x")
    below.put("x", "one\ntwo\nthree\nfour\nmine\n")

    told = [(row["who"], row["prompt"]) for row in rows(below, "x")]

    assert told == [
        ("before", None),
        ("agent", "from below"),
        ("agent", "from above"),
        ("agent", "below again"),
        ("person", None),
    ]
    assert [(row["who"], row["prompt"]) for row in rows(project, "sub/x")] == told
    assert f"by sessions of {project.tree}" in agentsh("why", "x", cwd=below.tree).err


def test_a_session_elsewhere_that_names_the_file_is_asked(project: Project) -> None:
    elsewhere = Project(project.tree.parent / "elsewhere", project.home, project.monkeypatch)
    elsewhere.tree.mkdir()
    with project.answering((("c", "write", {"path": "../elsewhere/x", "content": "one\n"}),)):
        project.run("--approve", "all", "over there")
    with (elsewhere.tree / "x").open("a") as file:
        file.write("two\n")

    assert [row["prompt"] for row in rows(elsewhere, "x")] == ["over there", None]
    elsewhere.turn("here", "echo three >> x")
    assert [(row["who"], row["prompt"]) for row in rows(elsewhere, "x")] == [
        ("agent", "over there"),
        ("before", None),
        ("agent", "here"),
    ]


def test_a_file_that_is_too_large_to_be_asked_about_is_exit_3(project: Project) -> None:
    with (project.tree / "big").open("wb") as file:
        file.truncate(1 << 30)

    ended = agentsh("why", "big", cwd=project.tree)

    assert (ended.code, ended.out) == (3, "")
    assert "big is larger than" in ended.err


def test_one_of_several_calls_says_so(project: Project) -> None:
    with project.answering(
        (("a", "bash", {"command": "echo 1 >> x"}), ("b", "bash", {"command": "echo 2 >> x"}))
    ):
        project.run("--approve", "all", "go")

    [first, _] = rows(project, "x")

    assert (first["call"], first["tool"], first["calls"]) == (None, "bash", ["a", "b"])
    assert "one of these calls" in agentsh("why", "x:1", cwd=project.tree).out


@pytest.mark.parametrize("place", ["nowhere", "a:3", "a:0", "a:2-1", ".", "binary", "a:x"])
def test_what_is_not_there_is_exit_3(project: Project, place: str) -> None:
    project.put("a", "1\n2\n")
    (project.tree / "binary").write_bytes(b"\0\1")

    ended = agentsh("why", place, cwd=project.tree)

    assert ended.code == 3
    assert ended.out == ""
    assert ended.err


def test_a_file_whose_name_looks_like_a_line_is_that_file(project: Project) -> None:
    project.put("a", "1\n2\n")
    project.put("a:2", "x\n")

    assert [row["text"] for row in rows(project, "a:2")] == ["x"]
    assert [row["text"] for row in rows(project, "a:2:1")] == ["x"]
    assert [row["text"] for row in rows(project, "a:1-2")] == ["1", "2"]


def test_looking_writes_nothing_anywhere(project: Project) -> None:
    project.turn("go", "echo two >> a.txt")
    roots = (project.home, project.tree)
    before = {p: p.read_bytes() for root in roots for p in root.rglob("*") if p.is_file()}

    agentsh("why", "a.txt", cwd=project.tree)
    rows(project, "a.txt:1", "--session", "last")

    assert before == {p: p.read_bytes() for root in roots for p in root.rglob("*") if p.is_file()}


def test_a_link_is_the_file_that_it_leads_to_and_a_line_is_data(project: Project) -> None:
    project.turn("go", "printf 'a\\033[2Jb\\r\\n' > real")
    (project.tree / "link").symlink_to("real")

    [row] = rows(project, "link")

    assert (row["who"], row["text"]) == ("agent", "a\x1b[2Jb")


def test_of_a_session_of_pi_its_calls_are_known(project: Project) -> None:
    """No states, no starts on record: what its edits and writes say, and no more."""
    project.put("src.py", "one\nTWO\nthree\n")
    folder = project.home / "sessions"
    call = {"type": "toolCall", "id": "t1", "name": "edit"}
    call["arguments"] = {"path": "src.py", "edits": [{"oldText": "two\n", "newText": "TWO\n"}]}  # type: ignore[assignment]
    patch = "--- src.py\n+++ src.py\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"
    messages = [
        {"role": "user", "content": "shout", "timestamp": 1},
        {
            "role": "assistant",
            "content": [call],
            "api": "x",
            "provider": "p",
            "model": "m",
            "usage": {
                "input": 1,
                "output": 1,
                "cacheRead": 0,
                "cacheWrite": 0,
                "totalTokens": 2,
                "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
            },
            "stopReason": "toolUse",
            "timestamp": 2,
        },
        {
            "role": "toolResult",
            "toolCallId": "t1",
            "toolName": "edit",
            "isError": False,
            "content": [{"type": "text", "text": "ok"}],
            "details": {"patch": patch},
            "timestamp": 3,
        },
    ]
    head = {
        "type": "session",
        "version": 3,
        "id": "019a0000-0000-7000-8000-000000000001",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "cwd": str(project.tree),
    }
    lines = [json.dumps(head)]
    for number, message in enumerate(messages, 1):
        above = f"0000000{number - 1}" if number > 1 else None
        lines.append(
            json.dumps(
                {
                    "type": "message",
                    "id": f"0000000{number}",
                    "parentId": above,
                    "timestamp": f"2026-01-01T00:00:0{number}.000Z",
                    "message": message,
                }
            )
        )
    place = folder / ("--" + str(project.tree).strip("/").replace("/", "-") + "--")
    place.mkdir(parents=True)
    (place / f"2026-01-01T00-00-00-000Z_{head['id']}.jsonl").write_text("\n".join(lines) + "\n")

    found = rows(project, "src.py")

    assert [(row["text"], row["who"], row["prompt"]) for row in found] == [
        ("one", "unknown", None),
        ("TWO", "agent", "shout"),
        ("three", "unknown", None),
    ]


def test_an_archived_session_still_tells_and_of_a_removed_one_nobody_is_named(
    project: Project,
) -> None:
    project.turn("heron", "echo one > a.txt")
    project.turn("badger", "echo two >> a.txt")
    first = str(rows(project, "a.txt:1")[0]["session"])
    second = str(rows(project, "a.txt:2")[0]["session"])

    agentsh("sessions", "archive", first, cwd=project.tree)
    assert [row["prompt"] for row in rows(project, "a.txt")] == ["heron", "badger"]

    agentsh("sessions", "rm", second, "--yes", cwd=project.tree)
    assert [row["who"] for row in rows(project, "a.txt")] == ["agent", "unknown"]


def test_where_a_session_cannot_be_read_nobody_else_is_named(project: Project) -> None:
    project.turn("heron", "echo one > a.txt")
    project.put("a.txt", "one\nmine\n")
    assert [row["who"] for row in rows(project, "a.txt")] == ["agent", "person"]
    archive = next(project.home.rglob("*.jsonl")).with_name("x.jsonl.zst")
    archive.write_bytes(b"no archive")

    ended = agentsh("why", "a.txt", "--json", cwd=project.tree)

    assert "x.jsonl.zst" in ended.err
    assert '"person"' not in ended.out

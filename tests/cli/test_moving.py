"""checkout, label, rename, tree: where one is, and what things are called."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.program import Talk, agentsh, make_talk


def path_texts(talk: Talk) -> list[str]:
    tree = agentsh("tree", "--json", str(talk.path)).json()
    assert isinstance(tree, dict)
    return [e["text"] for e in tree["entries"] if e["onPath"] and e["type"] == "message"]


@pytest.fixture
def talk(tmp_path: Path) -> Talk:
    return make_talk(tmp_path, "alpha", "beta")


def test_checkout_moves_on_to_an_answer_and_only_appends(talk: Talk) -> None:
    before = talk.path.read_bytes()

    moved = agentsh("checkout", talk.id, talk.ids["answer to alpha"])

    assert (moved.code, moved.out) == (0, "")
    assert path_texts(talk) == ["alpha", "answer to alpha"]
    assert talk.path.read_bytes().startswith(before)


def test_checkout_to_a_prompt_goes_before_it(talk: Talk) -> None:
    moved = agentsh("checkout", talk.id, talk.ids["beta"])

    assert path_texts(talk) == ["alpha", "answer to alpha"]
    assert "before your prompt “beta”" in moved.err


def test_checkout_root_goes_before_the_first_message(talk: Talk) -> None:
    assert agentsh("checkout", talk.id, "root").code == 0
    assert path_texts(talk) == []


def test_entries_go_by_label_and_by_steps_up(talk: Talk) -> None:
    assert agentsh("label", talk.id, talk.ids["answer to alpha"], "start here").code == 0
    assert agentsh("checkout", talk.id, "start here").code == 0
    assert path_texts(talk) == ["alpha", "answer to alpha"]
    assert agentsh("checkout", talk.id, f"{talk.ids['answer to beta']}~2").code == 0
    assert path_texts(talk) == ["alpha", "answer to alpha"]


@pytest.mark.parametrize("word", ["zzzzzzzz", "no such label", "leaf~99"])
def test_what_is_not_there_is_exit_3_and_writes_nothing(talk: Talk, word: str) -> None:
    before = talk.path.read_bytes()

    missed = agentsh("checkout", talk.id, word)

    assert (missed.code, missed.out) == (3, "")
    assert missed.err
    assert talk.path.read_bytes() == before


def test_a_label_can_be_cleared_and_does_not_move(talk: Talk) -> None:
    entry = talk.ids["answer to alpha"]
    agentsh("label", talk.id, entry, "mark")
    labelled = agentsh("tree", "--json", talk.id).json()
    agentsh("label", talk.id, entry)
    cleared = agentsh("tree", "--json", talk.id).json()

    assert isinstance(labelled, dict)
    assert isinstance(cleared, dict)
    assert [e.get("label") for e in labelled["entries"] if e["id"] == entry] == ["mark"]
    assert [e.get("label") for e in cleared["entries"] if e["id"] == entry] == [None]
    assert path_texts(talk)[-1] == "answer to beta"


def test_q02_leaf_names_what_was_said_last_and_not_a_fact_behind_it(talk: Talk) -> None:
    agentsh("checkout", talk.id, talk.ids["answer to alpha"])  # a fact is the leaf now
    assert agentsh("label", talk.id, "leaf", "here it is").code == 0

    shown = agentsh("tree", "--json", talk.id).json()
    assert isinstance(shown, dict)
    named = {e["id"]: e["label"] for e in shown["entries"] if e.get("label")}
    assert named == {talk.ids["answer to alpha"]: "here it is"}
    hits = agentsh("search", "--label", "here it is", "alpha", "--json").json()
    assert isinstance(hits, list)
    assert [hit["entry"] for hit in hits] == [talk.ids["answer to alpha"]]
    assert "[here it is] answer to alpha" in agentsh("tree", talk.id).out


def test_a_path_on_which_nothing_was_said_has_no_leaf_to_name(talk: Talk) -> None:
    agentsh("checkout", talk.id, "root")
    assert agentsh("label", talk.id, "leaf", "x").code == 3


def test_the_last_name_counts(talk: Talk, tmp_path: Path) -> None:
    agentsh("rename", talk.id, "one")
    agentsh("rename", talk.id, "two")

    [row] = json.loads(agentsh("sessions", "--json", cwd=tmp_path).out)
    assert row["name"] == "two"


def test_the_tree_as_text_marks_the_path_and_the_leaf(talk: Talk) -> None:
    agentsh("checkout", talk.id, talk.ids["answer to alpha"])

    shown = agentsh("tree", talk.id).out
    lines = {line.split(": ", 1)[1]: line for line in shown.rstrip("\n").split("\n")}

    assert shown == agentsh("tree", "--plain", talk.id).out
    assert lines["answer to alpha ← leaf"].startswith("●")
    assert lines["beta"].startswith("○")


def test_looking_writes_nothing(talk: Talk) -> None:
    before = {p: p.read_bytes() for p in talk.path.parent.iterdir()}

    for words in (
        ["tree", talk.id],
        ["tree", "--json", talk.id],
        ["lineage", talk.id],
        ["verify", talk.id],
        ["replay", talk.id],
        ["sessions", "--all"],
    ):
        assert agentsh(*words).code == 0, words

    assert {p: p.read_bytes() for p in talk.path.parent.iterdir()} == before


def test_replay_check_reports_as_json_too(talk: Talk) -> None:
    checked = agentsh("replay", talk.id, "--check", "--json")

    assert (checked.code, checked.json()) == (
        0,
        {"session": talk.id, "ok": True, "checked": 0, "mismatches": []},
    )


def test_verify_names_the_bad_line(talk: Talk) -> None:
    data = talk.path.read_bytes()
    talk.path.write_bytes(data.replace(b"answer to alpha", b"answer to alphx"))

    shown = agentsh("verify", talk.id, "--json")
    report = shown.json()

    assert shown.code == 5
    assert isinstance(report, dict)
    assert (report["ok"], report["files"][0]["ok"]) == (False, False)
    assert report["files"][0]["problems"][0]["line"] > 1
    assert "line " in agentsh("verify", talk.id).out


def test_a_session_that_is_being_written_is_refused_with_two_ways_on(
    talk: Talk,
) -> None:
    from agentsh.session.file.session import open_session

    with open_session(talk.path, write=True):
        refused = agentsh("checkout", talk.id, "root")
        seen = agentsh("tree", talk.id)

    assert (refused.code, seen.code) == (4, 0)
    assert "pid" in refused.err or "process" in refused.err
    assert f"`agentsh show {talk.id} --follow` watches it" in refused.err
    # a command each line: none is broken in the middle of a narrow window
    assert f"  `agentsh fork {talk.id}` goes on in a copy" in refused.err.split("\n")


def test_a_newer_version_is_shown_and_not_written(tmp_path: Path) -> None:
    file = tmp_path / "new.jsonl"
    lines = [
        {"type": "session", "version": 4, "id": "s", "timestamp": "t", "cwd": str(tmp_path)},
        {
            "type": "message",
            "id": "u1",
            "parentId": None,
            "timestamp": "t",
            "message": {"role": "user", "content": "from the future", "timestamp": 1},
        },
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    before = file.read_bytes()

    refused = agentsh("rename", str(file), "x")

    assert refused.code == 4
    assert "version" in refused.err
    assert "from the future" in agentsh("tree", str(file)).out
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    "word", ["./nope.jsonl", "zzzz", "../../etc/passwd", "..", "/etc/passwd", "a" * 300, "%2e%2e"]
)
def test_a_session_that_is_not_there_is_exit_3(tmp_path: Path, word: str) -> None:
    missed = agentsh("tree", word, cwd=tmp_path)

    assert (missed.code, missed.out) == (3, "")
    assert missed.err.startswith("agentsh: ")

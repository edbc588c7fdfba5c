"""sessions, lineage, fork: lists, places, and that nothing is lost."""

from __future__ import annotations

import re
from pathlib import Path

from agentsh.session.file.session import open_session
from agentsh.session.format.facts import HeadMoved, TurnEnded, TurnStarted
from tests.cli.program import agentsh, make_talk


def test_the_list_is_of_this_folder_newest_first(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    first, other, second = (
        make_talk(here, "first"),
        make_talk(there, "other"),
        make_talk(here, "second", "more"),
    )

    mine = agentsh("sessions", "--json", cwd=here).json()
    everything = agentsh("sessions", "--all", "--json", cwd=here).json()

    assert isinstance(mine, list)
    assert isinstance(everything, list)
    assert [(row["id"], row["prompt"], row["messages"]) for row in mine] == [
        (second.id, "second", 4),
        (first.id, "first", 2),
    ]
    assert {row["id"] for row in everything} == {first.id, second.id, other.id}
    assert set(mine[0]) >= {"id", "path", "cwd", "name", "prompt", "created", "updated", "messages"}
    assert re.fullmatch(r"[\d-]+T[\d:.]+Z", mine[0]["updated"])


def test_an_empty_list_is_an_empty_value_and_words_on_stderr(tmp_path: Path) -> None:
    assert agentsh("sessions", "--json", cwd=tmp_path).out == "[]\n"
    shown = agentsh("sessions", cwd=tmp_path)
    assert (shown.code, shown.out) == (0, "")
    assert "there is no session of" in shown.err


def test_names_and_prompts_cannot_act_on_the_terminal(tmp_path: Path) -> None:
    talk = make_talk(tmp_path, "\x1b]52;c;ZXZpbA==\x07\x1b[5n hello\u202e")
    agentsh("rename", str(talk.path), "name \x1b]0;title\x07 [red]x[/red]")

    shown = agentsh("sessions", cwd=tmp_path).out

    assert re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", shown) is None
    assert "[red]x[/red]" in shown


def test_path_prints_the_file(tmp_path: Path) -> None:
    talk = make_talk(tmp_path, "hello")

    assert agentsh("sessions", "path", talk.id).out == f"{talk.path}\n"
    assert agentsh("sessions", "path", "last", cwd=tmp_path).out == f"{talk.path}\n"


def test_rm_moves_the_file_to_the_trash_and_only_with_a_yes(
    tmp_path: Path, clean_environment: Path
) -> None:
    talk, other = make_talk(tmp_path, "hello"), make_talk(tmp_path, "other")
    before = talk.path.read_bytes()

    assert agentsh("sessions", "rm", talk.id).code == 2
    assert talk.path.exists()
    assert agentsh("sessions", "rm", "--yes", talk.id).code == 0

    assert not talk.path.exists()
    assert other.path.exists()
    [trashed] = (clean_environment / "agentsh/trash").glob("*/*.jsonl")
    assert trashed.read_bytes() == before
    assert talk.id not in agentsh("sessions", "--json", "--all").out


def test_rm_touches_nothing_outside_the_sessions_folder(tmp_path: Path) -> None:
    talk = make_talk(tmp_path, "hello")
    outside = tmp_path / "mine.jsonl"
    outside.write_bytes(talk.path.read_bytes())
    victim = tmp_path / "victim.jsonl"
    victim.write_text("precious")

    codes = [agentsh("sessions", "rm", "--yes", str(path)).code for path in (outside, victim)]

    assert codes == [4, 3]
    assert (outside.exists(), victim.read_text()) == (True, "precious")


def test_rm_refuses_what_another_process_writes(tmp_path: Path) -> None:
    talk = make_talk(tmp_path, "hello")
    from agentsh.session.file.session import open_session

    with open_session(talk.path, write=True):
        refused = agentsh("sessions", "rm", "--yes", talk.id)

    assert refused.code == 4
    assert talk.path.exists()


def test_relink_brings_a_session_to_this_folder_without_touching_it(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    new.mkdir()
    talk = make_talk(old, "hello")
    before = talk.path.read_bytes()

    assert agentsh("sessions", "relink", talk.id, cwd=new).code == 0

    assert agentsh("sessions", "path", "last", cwd=new).out == f"{talk.path}\n"
    assert agentsh("sessions", "--json", cwd=old).out == "[]\n"
    assert talk.path.read_bytes() == before


def test_fork_prints_the_new_id_and_leaves_the_parent(tmp_path: Path) -> None:
    talk = make_talk(tmp_path, "alpha", "beta")
    before = talk.path.read_bytes()

    made = agentsh("fork", talk.id, "--at", talk.ids["answer to alpha"])
    child = made.out.strip()

    assert (made.code, made.err) == (0, "")
    assert talk.path.read_bytes() == before
    lineage = agentsh("lineage", child, "--json").json()
    below = agentsh("lineage", talk.id, "--json").json()
    assert isinstance(lineage, dict)
    assert isinstance(below, dict)
    assert [(p["session"], p["path"]) for p in lineage["parents"]] == [(talk.id, str(talk.path))]
    assert [row["session"] for row in below["children"]] == [child]
    assert talk.id in agentsh("lineage", child).out


def test_fork_json(tmp_path: Path) -> None:
    talk = make_talk(tmp_path, "alpha")

    made = agentsh("fork", talk.id, "--json").json()

    assert isinstance(made, dict)
    assert made["parent"] == talk.id
    assert made["session"] in Path(made["path"]).name


def test_sessions_by_commit_are_those_whose_turns_were_there(tmp_path: Path) -> None:
    here, made, passed = "a1" * 20, "b2" * 20, "d4" * 20
    stood, other = make_talk(tmp_path, "stood"), make_talk(tmp_path, f'"commit":"{made}"')
    with open_session(stood.path, write=True) as session:
        start = session.append(TurnStarted(1, here, "main"))
        session.append(HeadMoved(made, "main", (passed,)))
        session.append(TurnEnded(start.id, "completed", None, made, "main"))
        session.barrier()

    def found(word: str) -> list[str]:
        rows = agentsh("sessions", "--commit", word, "--json", cwd=tmp_path).json()
        assert isinstance(rows, list)
        return [row["id"] for row in rows]

    assert found(here) == found(here[:7]) == found(made[:8].upper()) == [stood.id] != [other.id]
    assert found(passed[:9]) == [stood.id]
    assert found("c3" * 20) == []
    ended = agentsh("sessions", "--commit", "HEAD", cwd=tmp_path)
    assert ended.code == 2
    assert "is no commit" in ended.err

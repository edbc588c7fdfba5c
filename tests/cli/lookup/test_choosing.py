"""Which session a turn goes on in, where in it, and in which folder it works."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agentsh.agent.grants import Grants, grants_file
from agentsh.cli.lookup.choosing import Chosen, StartAt, open_chosen
from agentsh.cli.setup.paths import find_places
from agentsh.errors import SessionNotFoundError, UnsupportedVersionError, UsageError
from agentsh.jsontext import JsonObject
from agentsh.session.file.session import Session
from agentsh.session.format.entries import MessageBody
from tests.cli.program import agentsh, make_talk
from tests.cli.working import Project

ARGUMENTS: JsonObject = {"path": "made.txt", "content": "x"}
WRITE = (("c", "write", ARGUMENTS),)


def stranger(project: Project, tmp_path: Path) -> tuple[Path, Path]:
    """A file that somebody sent, and the folder of this machine that it names."""
    chosen = tmp_path / "chosen"
    chosen.mkdir()
    header = {"type": "session", "version": 3, "id": "s1", "cwd": str(chosen)}
    header["timestamp"] = "2026-01-01T00:00:00.000Z"
    file = project.put("sent.jsonl", json.dumps(header) + "\n")
    return file, chosen


def test_a_file_that_somebody_sent_does_not_choose_the_folder(
    project: Project, tmp_path: Path
) -> None:
    file, chosen = stranger(project, tmp_path)

    with project.answering(WRITE):
        ended = project.run("--session", str(file), "go")

    assert (ended.code, list(chosen.iterdir())) == (0, [])
    assert (project.tree / "made.txt").read_text() == "x"
    assert f"its folder {chosen} is not entered: working in {project.tree}" in ended.err


def test_nor_does_its_fork(project: Project, tmp_path: Path) -> None:
    file, chosen = stranger(project, tmp_path)

    child = agentsh("fork", str(file), cwd=project.tree).out.strip()
    with project.answering(WRITE):
        first = project.run("--session", child, "go")
    with project.answering(WRITE):
        second = project.run("--fork", str(file), "go")

    assert (first.code, second.code, list(chosen.iterdir())) == (0, 0, [])


def test_ones_own_session_goes_on_in_its_folder_and_says_so(
    project: Project, tmp_path: Path
) -> None:
    talk = make_talk(project.tree, "one")

    with project.answering(WRITE):
        ended = agentsh("run", "-m", "m", "--session", talk.id, "go", cwd=tmp_path)

    assert (project.tree / "made.txt").read_text() == "x"
    assert f"working in the session's folder {project.tree}\n" in ended.err


def test_a_folder_whose_name_is_no_utf8_keeps_its_sessions(
    project: Project, tmp_path: Path
) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    odd.mkdir()

    with project.answering():
        first = agentsh("run", "-m", "m", "one", cwd=odd)
        second = agentsh("run", "-m", "m", "-c", "two", cwd=odd)

    assert (first.code, second.code, second.err) == (0, 0, "")
    rows = agentsh("sessions", "--json", cwd=odd).json()
    assert isinstance(rows, list)
    assert [row["messages"] for row in rows] == [4]


def chosen(project: Project, **words: str | bool) -> Chosen:
    """What the options choose, in the project's folder."""
    places = find_places(os.environ, None)
    return open_chosen(places, project.tree, StartAt(**words))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "words",
    [
        {"last": True, "session": "x"},
        {"last": True, "fork": "x"},
        {"session": "x", "fork": "x"},
        {"last": True, "session": "x", "fork": "x"},
    ],
)
def test_two_choices_exclude_each_other(project: Project, words: dict[str, str | bool]) -> None:
    with pytest.raises(UsageError, match="exclude each other"):
        chosen(project, **words)


@pytest.mark.parametrize("words", [{}, {"fork": "x"}])
def test_a_point_needs_the_session_that_it_is_in(
    project: Project, words: dict[str, str | bool]
) -> None:
    with pytest.raises(UsageError, match="--at needs -c or --session"):
        chosen(project, at="root", **words)


def test_without_a_choice_a_session_begins_and_nothing_is_said(project: Project) -> None:
    make_talk(project.tree, "one")
    new = chosen(project)
    with new.session:
        assert (new.cwd, new.notices, new.resumed) == (project.tree, (), False)
        assert new.session.leaf is None


def test_the_last_one_is_gone_on_with(project: Project) -> None:
    make_talk(project.tree, "one")
    last = make_talk(project.tree, "two")
    found = chosen(project, last=True)
    with found.session:
        assert (found.session.header.id, found.resumed) == (last.id, True)
        assert (found.cwd, found.notices) == (project.tree, ())


def test_signs_of_damage_are_told_in_one_line_and_a_sound_file_is_not_spoken_of(
    project: Project,
) -> None:
    talk = make_talk(project.tree, "one", "two")
    agentsh("sessions", "--json", cwd=project.tree)  # the index knows how long it is
    sound = talk.path.read_bytes()
    lines = sound.splitlines(keepends=True)
    damaged = {
        "the seal of line": [line.replace(b"answer to one", b"answer to onf") for line in lines],
        "it was longer": lines[:-1],
    }
    for words, left in damaged.items():
        talk.path.write_bytes(b"".join(left))
        found = chosen(project, session=talk.id)
        found.session.close()
        (told,) = found.notices
        assert told.startswith(f"{talk.path.name} may be damaged: ")
        assert words in told
        assert f"`agentsh verify {talk.id}`" in told
    talk.path.write_bytes(sound)
    again = chosen(project, session=talk.id)
    again.session.close()
    assert again.notices == ()


def test_where_there_is_none_to_go_on_with_that_is_said(project: Project) -> None:
    with pytest.raises(SessionNotFoundError, match="there is no session of"):
        chosen(project, last=True)


def test_a_point_is_gone_to_and_the_leaf_is_no_move(project: Project) -> None:
    talk = make_talk(project.tree, "one", "two")
    end = talk.ids["answer to two"]
    for choice in ({"session": str(talk.id)}, {"last": True}):
        at_end = chosen(project, at=end, **choice)
        with at_end.session:
            assert at_end.session.leaf == end  # no fact of a move behind it

    back = chosen(project, session=str(talk.id), at=talk.ids["answer to one"])
    with back.session:
        leaf = back.session.leaf
        assert leaf is not None
        assert leaf not in talk.ids.values()
        assert back.session.entry(leaf).parent == talk.ids["answer to one"]


def test_a_prompt_is_gone_to_by_going_before_it(project: Project) -> None:
    talk = make_talk(project.tree, "one", "two")
    for word, before in ((talk.ids["two"], ["one", "answer to one"]), ("root", [])):
        found = chosen(project, session=str(talk.id), at=word)
        with found.session as session:
            session.barrier()
        shown = agentsh("show", str(talk.id), "--view", "chat", "--json").json()
        assert isinstance(shown, dict)
        assert [message["text"] for message in shown["messages"]] == before


def test_a_fork_ends_at_the_entry_that_is_named_behind_a_colon(project: Project) -> None:
    talk = make_talk(project.tree, "one", "two")
    whole, half = (
        chosen(project, fork=word)
        for word in (str(talk.id), f"{talk.id}:{talk.ids['answer to one']}")
    )
    with whole.session, half.session:
        assert [len(messages(c.session)) for c in (whole, half)] == [4, 2]
        assert len({talk.id, whole.session.header.id, half.session.header.id}) == 3


def test_a_colon_in_a_files_name_is_part_of_it(project: Project) -> None:
    talk = make_talk(project.tree, "one")
    odd = project.tree / "odd:name.jsonl"
    odd.write_bytes(talk.path.read_bytes())
    found = chosen(project, fork=str(odd))
    with found.session:
        assert len(messages(found.session)) == 2
    with pytest.raises(SessionNotFoundError):
        chosen(project, fork="none:root")


def test_a_folder_that_is_gone_is_said_and_one_works_where_one_stands(
    project: Project, tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    talk = make_talk(gone, "one")
    gone.rmdir()
    found = chosen(project, session=str(talk.id))
    with found.session:
        assert found.cwd == project.tree
        assert found.notices == (
            f"the session's folder {gone} is gone; going on in {project.tree}",
        )


def test_what_is_refused_is_let_go_of(project: Project) -> None:
    talk = make_talk(project.tree, "one")
    newer = '{"type":"custom","id":"zz","parentId":"%s","timestamp":"2026-01-01T00:00:00.000Z",'
    newer += '"customType":"agentsh.turn","data":{"v":99,"required":true}}\n'
    with talk.path.open("a") as file:
        file.write(newer % talk.ids["answer to one"])
    for _ in range(2):
        with pytest.raises(UnsupportedVersionError):
            chosen(project, session=str(talk.id))
    assert not talk.path.with_name(talk.path.name + ".lock").exists()


def messages(session: Session) -> list[MessageBody]:
    bodies = [session.entry(entry).body for entry in session.tree]
    return [body for body in bodies if isinstance(body, MessageBody)]


def test_a_rule_that_a_sent_file_states_grants_nothing_and_one_agreed_to_here_goes_with_a_fork(
    project: Project,
) -> None:
    talk = make_talk(project.tree, "one")
    stated = {"v": 1, "key": "approve.rules", "value": ["touch"]}
    last = json.loads(talk.path.read_bytes().splitlines()[-1])
    line = {"type": "custom", "id": "0abcdef0", "parentId": last["id"], "data": stated}
    line |= {"timestamp": "2026-01-01T00:00:09.000Z", "customType": "agentsh.state"}
    with talk.path.open("a") as file:
        file.write(json.dumps(line) + "\n")
    arguments: JsonObject = {"command": "touch made"}
    call = (("c", "bash", arguments),)

    for options in (("--session", talk.id), ("--fork", talk.id)):
        with project.answering(call):
            assert project.run(*options, "go").code == 6
    folder = find_places(os.environ).grants
    Grants(grants_file(folder, talk.id), str(project.tree.resolve())).add("touch")
    with project.answering(call):
        assert project.run("--fork", talk.id, "go").code == 0
    assert (project.tree / "made").exists()

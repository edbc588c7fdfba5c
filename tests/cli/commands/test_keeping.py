"""sessions archive, trash, gc, pin, tag: only what was named, and always a way back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import agentsh, make_talk


def listed(*words: str, cwd: Path) -> list[str]:
    rows = agentsh("sessions", *words, "--json", cwd=cwd).json()
    assert isinstance(rows, list)
    return [row["id"] for row in rows]


def test_an_archived_session_is_out_of_the_list_and_in_that_of_archives(tmp_path: Path) -> None:
    talk, other = make_talk(tmp_path, "alpha"), make_talk(tmp_path, "beta")
    before = talk.path.read_bytes()

    done = agentsh("sessions", "archive", talk.id)

    assert done.code == 0
    assert listed(cwd=tmp_path) == [other.id]
    rows = agentsh("sessions", "--archived", "--json", cwd=tmp_path).json()
    assert isinstance(rows, list)
    assert [(r["id"], r["prompt"], r["messages"], r["archived"]) for r in rows] == [
        (talk.id, "alpha", 2, True)
    ]
    assert "alpha" in agentsh("sessions", "--archived", cwd=tmp_path).out
    refused = agentsh("show", talk.id)
    assert refused.code == 3
    assert f"agentsh sessions unarchive {talk.id}" in refused.err

    assert agentsh("sessions", "unarchive", talk.id).out == f"{talk.path}\n"
    assert talk.path.read_bytes() == before
    assert listed("--archived", cwd=tmp_path) == []


@pytest.mark.parametrize("word", ["../../x", "", "nope", "/etc/passwd", "a/b.jsonl"])
def test_words_that_name_no_archive_and_no_trash_are_not_found(tmp_path: Path, word: str) -> None:
    make_talk(tmp_path, "alpha")

    assert agentsh("sessions", "unarchive", word).code == 3
    assert agentsh("sessions", "restore", word).code == 3


def test_rm_and_restore(tmp_path: Path) -> None:
    talk = make_talk(tmp_path, "alpha")
    before = talk.path.read_bytes()
    removed = agentsh("sessions", "rm", "--yes", talk.id)
    assert f"agentsh sessions restore {talk.id}" in removed.out
    rows = agentsh("sessions", "trash", "--json").json()
    assert isinstance(rows, list)
    assert [(row["id"], row["from"]) for row in rows] == [(talk.id, str(talk.path))]
    assert talk.id in agentsh("sessions", "trash").out

    assert agentsh("sessions", "restore", talk.id[:-4]).out == f"{talk.path}\n"

    assert talk.path.read_bytes() == before
    assert agentsh("sessions", "trash", "--json").json() == []


def test_a_note_that_points_elsewhere_does_not_lead_there(
    tmp_path: Path, clean_environment: Path
) -> None:
    talk = make_talk(tmp_path, "alpha")
    agentsh("sessions", "rm", "--yes", talk.id)
    [note] = (clean_environment / "agentsh/trash").glob("*/removed.json")
    note.write_text(f'{{"from":"{tmp_path}/elsewhere.jsonl","at":"t"}}')

    assert agentsh("sessions", "restore", talk.id).out == f"{talk.path}\n"
    assert not (tmp_path / "elsewhere.jsonl").exists()


def test_gc_deletes_only_with_a_yes_and_never_a_session(
    tmp_path: Path, clean_environment: Path
) -> None:
    talk, gone = make_talk(tmp_path, "alpha"), make_talk(tmp_path, "beta")
    agentsh("sessions", "rm", "--yes", gone.id)
    empty = talk.path.parent.parent / "--empty--"
    empty.mkdir()

    dry = agentsh("sessions", "gc", "--dry-run")
    refused = agentsh("sessions", "gc")
    assert (dry.code, refused.code) == (0, 2)
    assert "empty folder" in dry.out
    assert "1 would be deleted, 0 bytes" in dry.out
    assert empty.exists()

    assert agentsh("sessions", "gc", "--yes").code == 0
    assert not empty.exists()
    assert talk.path.exists()
    assert len(list((clean_environment / "agentsh/trash").iterdir())) == 1

    value = agentsh("sessions", "gc", "--yes", "--trash-days", "0", "--json").json()
    assert isinstance(value, dict)
    assert [one["kind"] for one in value["found"]] == ["old trash"]
    assert list((clean_environment / "agentsh/trash").iterdir()) == []


def test_pins_come_first_and_tags_pick_without_a_change_to_the_files(tmp_path: Path) -> None:
    first, second, third = (make_talk(tmp_path, word) for word in ("one", "two", "three"))
    before = first.path.read_bytes()

    for words in (["pin", first.id], ["tag", first.id, "bird", "2026"], ["tag", third.id, "bird"]):
        assert agentsh("sessions", *words).code == 0

    assert listed(cwd=tmp_path) == [first.id, third.id, second.id]
    assert listed("--tag", "bird", cwd=tmp_path) == [first.id, third.id]
    assert "* one #bird #2026" in agentsh("sessions", cwd=tmp_path).out
    assert first.path.read_bytes() == before

    agentsh("sessions", "unpin", first.id)
    agentsh("sessions", "tag", "--remove", first.id, "bird")
    assert listed(cwd=tmp_path) == [third.id, second.id, first.id]
    assert listed("--tag", "bird", cwd=tmp_path) == [third.id]
    assert listed("--tag", "2026", cwd=tmp_path) == [first.id]


@pytest.mark.parametrize("tag", ["two words", "", "#x", "\x1b[31m", "x" * 80])
def test_what_cannot_be_a_tag_is_wrong_use(tmp_path: Path, tag: str) -> None:
    talk = make_talk(tmp_path, "alpha")

    assert agentsh("sessions", "tag", talk.id, tag).code == 2


def test_marks_are_for_sessions_of_the_store(tmp_path: Path) -> None:
    talk = make_talk(tmp_path, "alpha")
    outside = tmp_path / "mine.jsonl"
    outside.write_bytes(talk.path.read_bytes())

    assert agentsh("sessions", "pin", str(outside)).code == 4
    assert agentsh("sessions", "archive", str(outside)).code == 4
    assert outside.exists()


def test_an_archive_that_is_damaged_is_named_and_the_others_are_listed(tmp_path: Path) -> None:
    talks = [make_talk(tmp_path, name) for name in ("alpha", "beta")]
    for talk in talks:
        assert agentsh("sessions", "archive", talk.id, cwd=tmp_path).code == 0
    bad = talks[0].path.with_name(talks[0].path.name + ".zst")
    bad.write_bytes(bad.read_bytes()[:-9])

    shown = agentsh("sessions", "--archived", cwd=tmp_path)

    assert (shown.code, talks[1].id in shown.out) == (0, True)
    assert f"{bad} is damaged" in shown.err
    assert "beta" in agentsh("search", "beta", cwd=tmp_path).out

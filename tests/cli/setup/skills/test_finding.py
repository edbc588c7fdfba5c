"""Skills and templates are found: where, whose name counts, what is left out and why."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from agentsh.cli.setup.skills.finding import Findings, find_skills, find_templates
from agentsh.cli.setup.skills.kept import KeptHeads
from agentsh.cli.setup.skills.places import SearchFolder
from agentsh.cli.setup.skills.walking import DEEPEST_GROUP


def put(folder: Path, name: str, description: str | None = "words", body: str = "BODY") -> Path:
    path = folder / name / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    head = "" if description is None else f"description: {description}\n"
    path.write_text(f"---\nname: {name}\n{head}---\n{body}\n")
    return path


def find(tmp_path: Path, *folders: Path, root: Path | None = None) -> Findings:
    kept = KeptHeads(tmp_path / "kept.json")
    return find_skills([SearchFolder(folder, "user", root) for folder in folders], kept)


def names(found: Findings) -> list[str]:
    return [file.name for file in found.files]


def test_groups_are_entered_and_what_lies_inside_a_skill_is_none(tmp_path: Path) -> None:
    put(tmp_path, "top")
    put(tmp_path / "group/deeper", "grouped")
    put(tmp_path / "top/examples", "inner")
    put(tmp_path / "node_modules", "packaged")
    put(tmp_path.joinpath(*"abcde"), "too-deep")

    assert names(find(tmp_path, tmp_path)) == ["top", "grouped"]
    assert DEEPEST_GROUP == 4


def test_the_nearest_of_one_name_counts_and_the_other_is_named(tmp_path: Path) -> None:
    near, far = put(tmp_path / "near", "care"), put(tmp_path / "far", "care")

    found = find(tmp_path, tmp_path / "near", tmp_path / "far")

    assert [file.path for file in found.files] == [str(near)]
    assert found.left_out == (f"{far} was left out: the skill care is that of {near}",)


def test_one_real_file_counts_once_and_silently_and_circles_end(tmp_path: Path) -> None:
    put(tmp_path / "a", "care")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    (tmp_path / "a/again").symlink_to(tmp_path / "a")

    found = find(tmp_path, tmp_path / "a", tmp_path / "b")

    assert (names(found), found.left_out) == (["care"], ())


def test_what_leads_out_of_the_project_is_left_out_by_name(tmp_path: Path) -> None:
    put(tmp_path / "outside", "stray")
    skills = tmp_path / "project/.agents/skills"
    put(skills, "own")
    (skills / "stray").symlink_to(tmp_path / "outside/stray")
    (skills / "file").mkdir()
    (skills / "file/SKILL.md").symlink_to(tmp_path / "outside/stray/SKILL.md")

    found = find(tmp_path, skills, root=tmp_path / "project")

    assert names(found) == ["own"]
    assert found.left_out == (
        f"{skills}/file/SKILL.md leads out of the project: left out",
        f"{skills}/stray leads out of the project: left out",
    )


def test_what_cannot_be_read_costs_itself_only(tmp_path: Path) -> None:
    put(tmp_path, "good")
    bad = put(tmp_path, "without", None)
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe/SKILL.md")
    (tmp_path / "gone").mkdir()
    (tmp_path / "gone/SKILL.md").symlink_to(tmp_path / "nowhere")

    found = find(tmp_path, tmp_path)

    assert names(found) == ["good"]
    why = "it has no description, so nobody could know when to use it"
    assert f"{bad} was left out: {why}" in found.left_out
    assert f"{tmp_path}/pipe/SKILL.md was left out: it is no regular file" in found.left_out
    assert f"{tmp_path}/gone/SKILL.md was left out: No such file or directory" in found.left_out


def test_an_odd_name_and_unseen_characters_are_told_and_it_counts(tmp_path: Path) -> None:
    put(tmp_path, "Odd_Name")
    path = put(tmp_path, "ghost", "Ghost\u200b\U000e0041 words")

    odd, ghost = sorted(find(tmp_path, tmp_path).files, key=lambda file: file.name)

    assert "is no name by the rules" in odd.warnings[0]
    assert ghost.description == "Ghost words"
    assert ghost.warnings == (f"{path}: 2 invisible characters were taken out",)


def test_x06_a_name_without_a_head_is_the_folders(tmp_path: Path) -> None:
    path = tmp_path / "heron/SKILL.md"
    path.parent.mkdir()
    path.write_text("---\ndescription: care\ndisable-model-invocation: true\n---\n")

    (file,) = find(tmp_path, tmp_path).files

    assert (file.name, file.is_hidden) == ("heron", True)


def settled(path: Path) -> None:
    """Its times are those of a while ago."""
    while time.time_ns() - path.stat().st_ctime_ns < 60_000_000:
        time.sleep(0.01)


def test_a_head_that_changed_is_read_anew(tmp_path: Path) -> None:
    path = put(tmp_path / "s", "heron", '"care: of herons"')
    settled(path)
    first = find(tmp_path, tmp_path / "s")
    assert find(tmp_path, tmp_path / "s") == first

    path.write_text(path.read_text().replace("care", "cure"))

    assert find(tmp_path, tmp_path / "s").files[0].description == "cure: of herons"


def test_of_what_changed_just_now_nothing_is_kept(tmp_path: Path) -> None:
    path = put(tmp_path / "s", "heron", "first")
    find(tmp_path, tmp_path / "s")

    assert b"heron" not in (tmp_path / "kept.json").read_bytes()
    settled(path)
    find(tmp_path, tmp_path / "s")
    assert b"heron" in (tmp_path / "kept.json").read_bytes()


@pytest.mark.parametrize("kept", [b"", b"[]", b'{"v":1,"heads":{"x":[1,2]}}', b"\xff"])
def test_whatever_was_kept_the_answer_is_the_same(tmp_path: Path, kept: bytes) -> None:
    settled(put(tmp_path / "s", "heron"))
    before = find(tmp_path, tmp_path / "s")
    (tmp_path / "kept.json").write_bytes(kept)

    assert find(tmp_path, tmp_path / "s") == before
    (tmp_path / "kept.json").unlink()
    assert find(tmp_path, tmp_path / "s") == before


def test_templates_are_direct_children_with_a_description_or_a_first_line(tmp_path: Path) -> None:
    (tmp_path / "ship.md").write_text("---\ndescription: Ship it\nargument-hint: <what>\n---\nx\n")
    (tmp_path / "plain.md").write_text("\nDo this.\nAnd that.\n")
    (tmp_path / "two words.md").write_text("x")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/deep.md").write_text("x")

    folders = [SearchFolder(tmp_path, "user")]
    found = find_templates(folders, KeptHeads(tmp_path / "kept.json"))

    assert [(f.name, f.description, f.arguments) for f in found.files] == [
        ("plain", "Do this.", ""),
        ("ship", "Ship it", "<what>"),
    ]
    assert "two words.md was left out" in found.left_out[0]


def test_a_file_of_another_spelling_and_one_without_a_whole_head_are_named(tmp_path: Path) -> None:
    (tmp_path / "lower").mkdir()
    (tmp_path / "lower/skill.md").write_text("---\ndescription: x\n---\n")
    (tmp_path / "open").mkdir()
    (tmp_path / "open/SKILL.md").write_text("---\ndescription: never closed\n\nText\n")

    left_out = find(tmp_path, tmp_path).left_out

    assert "lower/skill.md was left out: the file must be called SKILL.md" in left_out[0]
    assert "open/SKILL.md was left out: it has no head" in left_out[1]

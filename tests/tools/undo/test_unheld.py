"""What no state holds is neither passed over as equal nor touched as if it were new."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from agentsh.tools.base import PreImage
from agentsh.tools.files.paths import pre_image
from agentsh.tools.undo import undo
from agentsh.tools.undo.undo import Change
from agentsh.tools.undo.unheld import not_held
from tests.support.project import Project


def changes(project: Project, commit: str, *before: PreImage) -> tuple[Change, ...]:
    return undo.preview_restore(project.shadow, commit, before=before).changes


def test_what_the_agent_overwrote_and_no_state_holds_is_named_with_the_reason(
    project: Project, tmp_path: Path
) -> None:
    project.put(".gitignore", "*.local\n")
    outside = tmp_path.resolve() / "outside.txt"
    outside.write_text("1")
    inner = project.tree / "inner"
    inner.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=inner, check=True)
    places = [
        project.put("notes.local", "1"),
        project.put("big", b"x" * 6_000_000),
        project.put("inner/f", "1"),
        outside,
        project.put("held", "1"),
    ]
    state = project.snap()
    before = [pre_image(place.resolve()) for place in places]
    assert changes(project, state.commit, *before) == ()
    for place in places:
        place.write_text("2")

    found = changes(project, state.commit, *before)
    done = undo.restore_files(project.shadow, state.commit, before=before, overwrite=True)

    reasons = {c.path: c.conflict for c in found if not c.held}
    assert reasons == {
        "notes.local": "ignored, so what it was is not recorded",
        "inner/f": "in a repository of its own, so what it was is not recorded",
        str(outside): "outside of the folder, so what it was is not recorded",
    }
    assert {c.path: bool(c.conflict) for c in found if c.held} == {"held": False, "big": True}
    assert {c.path for c in done.skipped if not c.held} == set(reasons)
    assert [place.read_text() for place in places[2:]] == ["2", "2", "1"]
    assert (project.tree / "notes.local").read_text() == "2"


def test_what_is_as_it_was_again_is_not_named(project: Project) -> None:
    project.put(".gitignore", "*.local\n")
    place = project.put("a.local", "1")
    state = project.snap()
    there, none = pre_image(place), pre_image(project.tree / "b.local")

    place.write_text("2")
    project.put("b.local", "made")
    named = {(c.path, c.kind) for c in changes(project, state.commit, there, none)}
    place.write_text("1")
    (project.tree / "b.local").unlink()

    assert named == {("a.local", "change"), ("b.local", "delete")}
    assert changes(project, state.commit, there, none) == ()


def test_between_two_states_a_file_that_was_made_and_is_gone_again_is_not_named(
    project: Project,
) -> None:
    project.put(".gitignore", "*.local\n")
    names = ("notes/new.md", "a.local", "big")
    before = [pre_image(project.tree / name) for name in names]
    old = project.snap()
    for name in names:
        project.put(name, "made")
    for name in names:
        (project.tree / name).unlink()
    project.put("big", b"x" * 6_000_000)
    commits = [old.commit, project.snap().commit]

    named = [each.partition(":")[0] for each in not_held(project.shadow, commits, before)]

    assert named == ["a.local", "big"]


def test_a_mode_is_part_of_a_state(project: Project) -> None:
    key = project.put("key", "k")
    key.chmod(0o600)
    script = project.put("run", "#!")
    script.chmod(0o750)
    state = project.snap()
    key.chmod(0o644)
    script.chmod(0o700)

    shown = changes(project, state.commit)
    later = project.snap()
    made = undo.patch(project.shadow, state.commit, later.commit)
    project.back(state.commit)

    assert [(c.path, c.kind) for c in shown] == [("key", "change"), ("run", "change")]
    assert "old mode 100600\nnew mode 100644\n" in made
    assert [p.stat().st_mode & 0o777 for p in (key, script)] == [0o600, 0o750]


def test_a_pipe_in_the_place_of_a_file_is_left_out_and_named(project: Project) -> None:
    project.put("f", "1")
    project.put("g", "1")
    old = project.snap()
    (project.tree / "f").unlink()
    os.mkfifo(project.tree / "f")
    project.put("g", "2")

    state = project.snap()
    done = project.back(old.commit)

    assert state.left_out == len(state.refused) == 1
    assert [(c.path, bool(c.conflict)) for c in done.skipped] == [("f", True)]
    assert (project.tree / "g").read_text() == "1"


def test_a_path_that_git_refuses_is_left_out_and_the_rest_is_recorded(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads every file")
    project.put("good", "1")
    project.put("closed", "1").chmod(0)

    state = project.snap()

    assert state.refused == ("closed",)
    held = not_held(project.shadow, [state.commit], [pre_image(project.tree / "good")])
    assert held == ()


def test_file_folder_and_link_turn_into_each_other(project: Project) -> None:
    project.put("d/in", "i")
    (project.tree / "l").symlink_to("d")
    linked = project.snap()
    before = project.state()
    (project.tree / "l").unlink()
    project.put("l/q", "q")
    project.put("l/in", "other")
    folder = project.snap()
    between = project.state()

    project.back(linked.commit)
    assert project.state() == before
    project.back(folder.commit)
    assert project.state() == between
    assert (project.tree / "d/in").read_text() == "i"

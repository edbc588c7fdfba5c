from __future__ import annotations

from tests.cli.program import agentsh
from tests.cli.working import Project


def branched(project: Project) -> tuple[str, str]:
    """Two branches from the start; the leaf of each."""
    project.put("kept", "mine\n")
    project.turn("heron", "echo one > a; echo x > only_one")
    one = project.leaf()
    agentsh("checkout", "last", project.prompt("heron"), "--files", cwd=project.tree)
    project.turn("badger", "echo two > a", more=("-c",))
    return one, project.leaf()


def test_two_branches_differ_in_messages_and_files(project: Project) -> None:
    one, two = branched(project)

    found = agentsh("diff", "last", one, two, "--json", cwd=project.tree).json()

    assert isinstance(found, dict)
    assert [m["text"] for m in found["messages"]["a"] if m["role"] == "user"] == ["heron"]
    assert [m["text"] for m in found["messages"]["b"] if m["role"] == "user"] == ["badger"]
    assert found["files"] == [
        {"path": "a", "kind": "change"},
        {"path": "only_one", "kind": "delete"},
    ]
    assert "-one\n+two\n" in found["patch"]


def test_as_text_it_names_both_sides_and_shows_the_patch(project: Project) -> None:
    one, two = branched(project)

    shown = agentsh("diff", "last", one, two, cwd=project.tree)

    assert shown.code == 0
    # the files stand first, then what was said
    files, _, said = shown.out.partition("said on the way to A only")
    assert f"A is {one}" in said
    assert "said on the way to B only" in said
    assert "files, from A to B:\n  M a\n  D only_one\n" in files
    assert "-one\n+two\n" in files


def test_the_same_place_does_not_differ(project: Project) -> None:
    one, _ = branched(project)

    assert agentsh("diff", "last", one, one, cwd=project.tree).out == "no files differ\n"


def test_looking_writes_nothing(project: Project) -> None:
    one, two = branched(project)
    places = {p: p.read_bytes() for p in project.home.rglob("*") if p.is_file()}

    agentsh("diff", "last", one, two, cwd=project.tree)

    assert {p: p.read_bytes() for p in project.home.rglob("*") if p.is_file()} == places


def test_names_and_contents_that_draw_on_the_terminal_are_neutral(project: Project) -> None:
    project.turn("go", "printf '\\033]0;x\\007' > $'odd\\033[2J'")

    shown = agentsh("diff", "last", project.prompt("go"), "leaf", cwd=project.tree)

    assert shown.code == 0
    assert "\x1b" not in shown.out

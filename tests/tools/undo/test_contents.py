"""What recorded states hold of a path, asked of many states at once."""

from __future__ import annotations

import subprocess

from agentsh.tools.undo.contents import NONE, StoreContents, blob_name
from tests.support.project import Project


def test_each_state_says_what_it_holds_of_a_path(project: Project) -> None:
    empty = project.snap().commit
    project.put("d/a b", "one\n")
    one = project.snap().commit
    project.put("d/a b", "two\n")
    two = project.snap().commit
    store = StoreContents(project.shadow)

    found = store.of_path([empty, one, two, one, "0" * 40], "d/a b")

    assert {commit: blob.name for commit, blob in found.items()} == {
        empty: NONE,
        one: blob_name(b"one\n"),
        two: blob_name(b"two\n"),
    }
    assert list(store.read([found[one], found[two]])) == [
        (blob_name(b"one\n"), b"one\n"),
        (blob_name(b"two\n"), b"two\n"),
    ]
    assert store.of_path([one], "d\nx") == {}


def test_a_state_that_leaves_the_path_out_says_nothing(project: Project) -> None:
    seen = project.snap().commit
    project.put("build/out", "x")
    subprocess.run(["git", "init", "-q"], cwd=project.tree, check=True)
    project.put(".gitignore", "build/\n")
    ignored = project.snap().commit
    store = StoreContents(project.shadow)

    assert list(store.of_path([seen, ignored], "build/out")) == [seen]
    assert list(store.of_path([seen, ignored], "other")) == [seen, ignored]


def test_what_one_state_has_and_the_next_one_has_not(project: Project) -> None:
    for name in ("a", "b", "odd \u00fc"):
        project.put(name, name)
    one = project.snap().commit
    (project.tree / "a").rename(project.tree / "c")
    two = project.snap().commit
    (project.tree / "odd \u00fc").unlink()
    three = project.snap().commit
    store = StoreContents(project.shadow)

    found = store.gone([(one, two), (two, three), (one, one)])

    assert found == {
        (one, two): [("a", blob_name(b"a"))],
        (two, three): [("odd \u00fc", blob_name("odd \u00fc".encode()))],
        (one, one): [],
    }
    assert store.all_of(three) == {"b": blob_name(b"b"), "c": blob_name(b"a")}


def test_asking_writes_nothing(project: Project) -> None:
    project.put("a", "x")
    commit = project.snap().commit
    before = {p: p.read_bytes() for p in project.store.rglob("*") if p.is_file()}
    store = StoreContents(project.shadow)
    found = store.of_path([commit], "a")
    list(store.read(list(found.values())))
    store.gone([(commit, commit)])
    store.all_of(commit)

    assert {p: p.read_bytes() for p in project.store.rglob("*") if p.is_file()} == before

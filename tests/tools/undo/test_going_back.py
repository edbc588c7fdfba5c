"""State → anything → back is the state, or what is not is named. Real git, random folders."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsh.tools.undo import undo
from agentsh.tools.undo.checkpoint import snapshot
from agentsh.tools.undo.shadow import Shadow

Leaf: TypeAlias = tuple[str, bytes, int]
"""A file with bytes and mode; or a link with a target (mode 0)."""

NAMES = st.sampled_from(["a", "b", "a b", "-x", ":(top)", "\n", "é", "git~1", "con", '"q"'])
PLACES = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
MODES = st.sampled_from([0o644, 0o755, 0o600, 0o640, 0o700, 0o444, 0o664])
FILES = st.tuples(st.just("file"), st.binary(max_size=12), MODES)
LINKS = st.tuples(st.just("link"), st.sampled_from([b"a", b"b", b"..", b"nowhere"]), st.just(0))
FOLDERS = st.dictionaries(PLACES, st.one_of(FILES, FILES, LINKS), max_size=6)


def lay(tree: Path, leaves: dict[str, Leaf]) -> None:
    """Make the folder hold just these; of two that exclude each other the first is there."""
    for each in list(tree.iterdir()):
        shutil.rmtree(each) if each.is_dir() and not each.is_symlink() else each.unlink()
    for name, (kind, data, mode) in leaves.items():
        place = tree / name
        above = [p for p in place.parents if p != tree and p.is_relative_to(tree)]
        if os.path.lexists(place) or any(p.is_symlink() or p.is_file() for p in above):
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        if kind == "link":
            place.symlink_to(os.fsdecode(data))
        else:
            place.write_bytes(data)
            place.chmod(mode)


def seen(tree: Path) -> dict[str, Leaf]:
    found: dict[str, Leaf] = {}
    for folder, folders, names in os.walk(tree):
        for name in (*names, *folders):
            place = Path(folder, name)
            path = str(place.relative_to(tree))
            if place.is_symlink():
                found[path] = ("link", os.fsencode(place.readlink()), 0)
            elif place.is_file():
                mode = stat.S_IMODE(place.stat().st_mode)
                found[path] = ("file", place.read_bytes(), mode)
    return found


@pytest.mark.timeout(300)
@settings(max_examples=10, deadline=None)
@given(st.lists(FOLDERS, min_size=2, max_size=4), st.data())
def test_any_folder_goes_back_to_any_state_of_it(
    history: list[dict[str, Leaf]], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as place:
        root = Path(place).resolve()
        tree = root / "project"
        tree.mkdir()
        shadow = Shadow(root / "store", tree, os.environ)
        states = []
        for leaves in history:
            lay(tree, leaves)
            states.append((snapshot(shadow), seen(tree)))
        for _ in range(2):
            state, wanted = data.draw(st.sampled_from(states))

            shown = undo.preview_restore(shadow, state.commit)
            done = undo.restore_files(shadow, state.commit)

            assert done.done == shown.changes
            assert (done.skipped, done.failed, state.refused) == ((), (), ())
            assert seen(tree) == wanted
            assert undo.preview_restore(shadow, state.commit).changes == ()

"""A thousand random valid trees: what Pi makes of each path is what agentsh makes of it.

`AGENTSH_TREES=N` takes another number of trees, `AGENTSH_TREES_FROM=SEED` other ones.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentsh.session.file.session import open_session
from tests.interop.pi.beside import differing_places, differing_trees
from tests.interop.pi.peer import look, needs_pi
from tests.interop.pi.trees import Grower, tree

TREES = int(os.environ.get("AGENTSH_TREES") or 1000)
FIRST = int(os.environ.get("AGENTSH_TREES_FROM") or 0)
PLACES = 6
BATCH = 100
pytestmark = [*needs_pi, pytest.mark.slow, pytest.mark.timeout(300)]


def places(grower: Grower) -> list[str | None]:
    """The leaf and some other entries; now and then before the first one."""
    ids = [e["id"] for e in grower.entries]
    drawn = grower.rng.sample(ids, min(PLACES - 1, len(ids)))
    return [ids[-1], *drawn, *([None] if grower.chance(0.1) else [])]


@pytest.mark.parametrize("start", range(FIRST, FIRST + TREES, BATCH))
def test_r75_pi_and_agentsh_make_the_same_of_every_tree(start: int, tmp_path: Path) -> None:
    jobs = []
    for seed in range(start, min(start + BATCH, FIRST + TREES)):
        grower = tree(seed)
        path = tmp_path / f"{seed}.jsonl"
        path.write_bytes(grower.lines)
        jobs.append((path, places(grower)))
    answers = look(jobs, tmp_path)

    wrong = []
    for (path, _), answer in zip(jobs, answers, strict=True):
        with open_session(path, write=False) as session:
            assert session.notices == ()
            found = [*differing_trees(session, answer), *differing_places(session, answer)]
        wrong += [f"tree {path.stem}: {text}" for text in found]
    assert sum(len(a["contexts"]) for a in answers) > 3 * len(jobs)
    assert not wrong, f"{len(wrong)} differences:\n" + "\n".join(wrong[:5])

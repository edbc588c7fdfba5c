"""Trees with many compactions, agentsh's and Pi's: at every entry both say the same.

The rule is the last compaction above the place, what that kept, what came after it. What agentsh
read for one place is not all that another needs, so each file is asked for every entry, in an order
of its own. `AGENTSH_TREES=N` takes another number of trees, `AGENTSH_TREES_FROM=SEED` other ones.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentsh.session.file.session import open_session
from tests.interop.pi.beside import differing_places, differing_trees
from tests.interop.pi.folds import folded_tree
from tests.interop.pi.peer import look, needs_pi
from tests.interop.pi.trees import Grower

TREES = int(os.environ.get("AGENTSH_TREES") or 1000)
FIRST = int(os.environ.get("AGENTSH_TREES_FROM") or 0)
BATCH = 100
pytestmark = [*needs_pi, pytest.mark.slow, pytest.mark.timeout(300)]


def every_place(grower: Grower) -> list[str | None]:
    ids = [e["id"] for e in grower.entries]
    return list(grower.rng.sample(ids, len(ids)))


@pytest.mark.parametrize("start", range(FIRST, FIRST + TREES, BATCH))
def test_pi_and_agentsh_say_the_same_at_every_entry_between_compactions(
    start: int, tmp_path: Path
) -> None:
    jobs, folds = [], 0
    for seed in range(start, min(start + BATCH, FIRST + TREES)):
        grower = folded_tree(seed)
        folds += sum(e["type"] == "compaction" for e in grower.entries)
        path = tmp_path / f"{seed}.jsonl"
        path.write_bytes(grower.lines)
        jobs.append((path, every_place(grower)))
    answers = look(jobs, tmp_path)

    wrong = []
    for (path, _), answer in zip(jobs, answers, strict=True):
        with open_session(path, write=False) as session:
            found = [*differing_trees(session, answer), *differing_places(session, answer)]
        wrong += [f"tree {path.stem}: {text}" for text in found]
    assert folds > 2 * len(jobs)
    assert not wrong, f"{len(wrong)} differences:\n" + "\n".join(wrong[:5])

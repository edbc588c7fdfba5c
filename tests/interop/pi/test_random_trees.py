"""A thousand random valid trees: what Pi makes of each path is what agentsh makes of it.

`AGENTSH_TREES=N` takes another number of trees, `AGENTSH_TREES_FROM=SEED` other ones.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from agentsh.context.outbound import OutboundRules, prepare
from agentsh.context.pairing import problems
from agentsh.context.projection import Context, project
from agentsh.session.entries import EntryId
from agentsh.session.session import Session, open_session
from tests.interop.pi import meaning
from tests.interop.pi.peer import look, needs_pi
from tests.interop.pi.trees import Grower, tree

TREES = int(os.environ.get("AGENTSH_TREES") or 1000)
FIRST = int(os.environ.get("AGENTSH_TREES_FROM") or 0)
PLACES = 6
BATCH = 100
pytestmark = [*needs_pi, pytest.mark.slow, pytest.mark.timeout(900)]


def places(grower: Grower) -> list[str | None]:
    """The leaf and some other entries; now and then before the first one."""
    ids = [e["id"] for e in grower.entries]
    drawn = grower.rng.sample(ids, min(PLACES - 1, len(ids)))
    return [ids[-1], *drawn, *([None] if grower.chance(0.1) else [])]


def compared(seeds: Sequence[int], folder: Path) -> Iterator[tuple[int, str | None, str]]:
    """Of each place in each tree: seed, entry, what differs ("" for nothing)."""
    growers = [tree(seed) for seed in seeds]
    jobs = []
    for seed, grower in zip(seeds, growers, strict=True):
        path = folder / f"{seed}.jsonl"
        path.write_bytes(grower.lines)
        jobs.append((path, places(grower)))
    answers = look(jobs, folder)
    for seed, grower, (path, _), answer in zip(seeds, growers, jobs, answers, strict=True):
        with open_session(path, write=False) as session:
            yield seed, None, "; ".join(differing_trees(session, answer))
            for seen in answer["contexts"]:
                yield seed, seen["at"], "; ".join(differing(session, grower, seen))


def differing_trees(session: Session, answer: Any) -> Iterator[str]:
    wanted = {
        "leaf": (session.leaf, answer["leaf"]),
        "name": (session.tree.name or None, answer["name"]),
        "labels": (dict(session.tree.labels), answer["labels"]),
        "entries": (list(session.tree), [e["id"] for e in answer["entries"]]),
        "damage": (session.notices, ()),
    }
    yield from _unequal(wanted)


def differing(session: Session, grower: Grower, seen: Any) -> Iterator[str]:
    at = EntryId(seen["at"]) if seen["at"] is not None else None
    whole = session.branch(at, repaired=False)
    context = project(whole)
    cut = project(session.live(at, repaired=False))
    provider, model = (context.model.provider, context.model.model) if context.model else ("", "")
    sent = prepare(context, OutboundRules(provider, model))
    pi_model = seen["model"] or {"provider": "", "modelId": ""}
    stored = grower.by_id
    lone = [stored[e]["message"] for e in meaning.lone_results(seen["entries"], stored)]
    yield from _unequal(
        {
            "path": ([e.id for e in whole.entries], seen["path"]),
            "model": ((provider, model), (pi_model["provider"], pi_model["modelId"])),
            "thinking": (context.thinking, seen["thinking"]),
            "projection": (
                meaning.projection_of_ours(context),
                meaning.ours_of_pi(seen["entries"], stored),
            ),
            "sent": (meaning.sent_of_ours(sent), meaning.sent_of_pi(seen["sent"], lone)),
            "sound": (problems(sent), ()),
            "read from the tail": (cut.items, context.items),
        }
    )
    if _has_checkpoint(context, grower):
        ours, pis = meaning.system_of_ours(context), meaning.system_of_pi(seen["system"])
        yield from _unequal({"system": (ours, pis)})


def _has_checkpoint(context: Context, grower: Grower) -> bool:
    """Behind a compaction without `systemMessage` Pi has no prompt until it writes one anew;
    agentsh goes on with the one in force."""
    if context.compaction is None:
        return True
    return "systemMessage" in grower.by_id[context.compaction]


def _unequal(wanted: dict[str, tuple[Any, Any]]) -> Iterator[str]:
    for what, (ours, pis) in wanted.items():
        if ours != pis:
            yield f"{what}: {_first_difference(ours, pis)}"


def _first_difference(ours: Any, pis: Any) -> str:
    if isinstance(ours, Sequence) and isinstance(pis, Sequence) and not isinstance(ours, str):
        for i, (one, other) in enumerate(zip(ours, pis, strict=False)):
            if one != other:
                return f"[{i}]{_first_difference(one, other)}"
        return f"agentsh has {len(ours)}, Pi {len(pis)}: {[*ours[len(pis) :], *pis[len(ours) :]]!r}"
    return f"agentsh has {ours!r}, Pi {pis!r}"


@pytest.mark.parametrize("start", range(FIRST, FIRST + TREES, BATCH))
def test_pi_and_agentsh_make_the_same_of_every_tree(start: int, tmp_path: Path) -> None:
    seeds = range(start, min(start + BATCH, FIRST + TREES))
    found = list(compared(seeds, tmp_path))
    wrong = [f"tree {seed} at {at}: {text}" for seed, at, text in found if text]

    assert len(found) > 3 * len(seeds)
    assert not wrong, f"{len(wrong)} of {len(found)} differ:\n" + "\n".join(wrong[:5])

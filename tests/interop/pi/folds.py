"""Random files with many compactions, as agentsh writes them and as Pi does, each keeping from
nearby: often from before the compaction above it. A seed gives the same file for ever."""

from __future__ import annotations

from collections.abc import Callable

from tests.interop.pi.trees import CHOICES, Grower, Json


def fold(grower: Grower) -> None:
    """A compaction of an ancestor nearby, ours or Pi's."""
    path = grower.path()
    if not path:
        return
    is_ours = grower.chance(0.5)
    details: Json = {"readFiles": [], "modifiedFiles": []}
    grower.add(
        "compaction",
        summary=grower.words(),
        firstKeptEntryId=grower.rng.choice(path[-14:])["id"],
        tokensBefore=1234,
        details=details | ({"ash": in_force(path)} if is_ours else {}),
        fromHook=False,
        systemMessage=grower.prompt() if is_ours or grower.chance(0.3) else None,
    )


def in_force(path: list[Json]) -> Json:
    """What agentsh says in its compactions of the settings on that path."""
    found: Json = {"thinking": "off", "state": {}}
    for entry in path:
        message = entry.get("message", {})
        if entry["type"] == "thinking_level_change":
            found["thinking"] = entry["thinkingLevel"]
        elif entry["type"] == "model_change":
            found |= {"provider": entry["provider"], "model": entry["modelId"]}
        elif message.get("role") == "assistant":
            found |= {"provider": message["provider"], "model": message["model"]}
    return found


# fewer moves than elsewhere, so that one path holds several compactions
_CHOICES: list[tuple[Callable[[Grower], None], int]] = [
    *((a, w) for a, w in CHOICES if a not in (Grower.compact, Grower.move)),
    (Grower.move, 2),
    (fold, 8),
]
_ACTIONS = [action for action, _ in _CHOICES]
_WEIGHTS = [weight for _, weight in _CHOICES]


def folded_tree(seed: int) -> Grower:
    """The tree of this number."""
    grower = Grower(seed)
    grower.begin()
    for _ in range(8 + seed * 5 % 40):
        grower.rng.choices(_ACTIONS, _WEIGHTS)[0](grower)
    return grower

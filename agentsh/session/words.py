"""ENTRY words → an entry: id, unique prefix of one, label, `leaf`, `root`, and `WORD~N`."""

from __future__ import annotations

import re

from agentsh.errors import EntryNotFoundError
from agentsh.session.entries import EntryId
from agentsh.session.tree import Tree

_STEPS_UP = re.compile(r"(.+)~(\d{1,9})", re.DOTALL)


def find_entry(tree: Tree, leaf: EntryId | None, word: str) -> EntryId | None:
    """None is the place before the first entry (`root`). Raises EntryNotFoundError."""
    found = _find(tree, leaf, word)
    if found is not _NOTHING:
        return EntryId(found) if found is not None else None
    steps = _STEPS_UP.fullmatch(word)
    if steps is None:
        raise EntryNotFoundError(f"no entry {word}")
    base = _find(tree, leaf, steps[1])
    if base is _NOTHING:
        raise EntryNotFoundError(f"no entry {steps[1]}")
    return _ancestor(tree, EntryId(base) if base is not None else None, int(steps[2]), word)


_NOTHING = EntryId("")


def _find(tree: Tree, leaf: EntryId | None, word: str) -> EntryId | None:
    """`_NOTHING` where the word names nothing; raises where it names several."""
    if word in tree:
        return EntryId(word)
    if word == "leaf":
        return leaf
    if word == "root":
        return None
    if not word:
        return _NOTHING
    labelled = [entry for entry, label in tree.labels.items() if label == word]
    if len(labelled) == 1:
        return labelled[0]
    found = labelled or tree.starting_with(word)
    if len(found) > 1:
        shown = ", ".join(found[:5]) + (", …" if len(found) > 5 else "")
        raise EntryNotFoundError(f"{word} may be any of {shown}")
    return found[0] if found else _NOTHING


def _ancestor(tree: Tree, entry: EntryId | None, count: int, word: str) -> EntryId | None:
    at = entry
    for _ in range(count):
        at = tree.parent(at) if at is not None else None
        while at is not None and tree.kind(at) != "message":
            at = tree.parent(at)
        if at is None:
            raise EntryNotFoundError(f"{word} goes beyond the first message")
    return at

"""ENTRY words → an entry: id, unique prefix of one, label, `leaf`, `root`, and `WORD~N`.

It stands alone because a person's words are no part of a file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from agentsh.errors import EntryNotFoundError
from agentsh.messages import SystemMessage
from agentsh.session.file.tree import Tree
from agentsh.session.format.entries import (
    BranchSummary,
    Compaction,
    CustomMessage,
    Entry,
    EntryId,
    MessageBody,
)

_STEPS_UP: Final = r"(?s)(.+)~(\d{1,9})"


def find_entry(tree: Tree, leaf: EntryId | None, word: str) -> EntryId | None:
    """None is the place before the first entry (`root`). Raises EntryNotFoundError."""
    entry = _find(tree, leaf, word)
    if entry is not _NOTHING:
        return EntryId(entry) if entry is not None else None
    steps = re.fullmatch(_STEPS_UP, word)
    if steps is None:
        raise EntryNotFoundError(f"no entry {word}")
    base = _find(tree, leaf, steps[1])
    if base is _NOTHING:
        raise EntryNotFoundError(f"no entry {steps[1]}")
    return _ancestor(tree, EntryId(base) if base is not None else None, int(steps[2]), word)


def last_said(path: Sequence[Entry]) -> EntryId | None:
    """What `leaf` means where a name is given or something is hidden: the last conversation entry.

    Behind it stand facts, as a turn's end, that no tree shows. None: nothing was said yet.
    """
    for entry in reversed(path):
        match entry.body:
            case MessageBody(SystemMessage()):
                pass
            case MessageBody() | CustomMessage() | Compaction() | BranchSummary():
                return entry.id
            case _:
                pass
    return None


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
    matches = labelled or tree.starting_with(word)
    if len(matches) > 1:
        shown = ", ".join(matches[:5]) + (", …" if len(matches) > 5 else "")
        raise EntryNotFoundError(f"{word} may be any of {shown}")
    return matches[0] if matches else _NOTHING


def _ancestor(tree: Tree, entry: EntryId | None, count: int, word: str) -> EntryId | None:
    ancestor = entry
    for _ in range(count):
        ancestor = tree.parent(ancestor) if ancestor is not None else None
        while ancestor is not None and tree.kind(ancestor) != "message":
            ancestor = tree.parent(ancestor)
        if ancestor is None:
            raise EntryNotFoundError(f"{word} goes beyond the first message")
    return ancestor

"""Hides entries from the model, and dead branches in the tree: `hide`, `fold`, keys x and z.

What is edited for the model is context/hiding.py's decision. A fold is a fact about how the tree is
shown: no model hears of it, and what is on the path is never folded, whatever was folded before the
leaf came there. Nothing leaves the file. Refused is refused before anything is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from agentsh.context.hiding import Edited, edited_on, hiding, showing
from agentsh.errors import RefusedError
from agentsh.session.file.session import Session
from agentsh.session.format.entries import Branch, ContextEdit, Custom, Entry, EntryId
from agentsh.session.format.factcodec import decode_fact, name_of
from agentsh.session.format.facts import Folded

_MARK = f'"{name_of(Folded)}"'.encode()


def hide_entries(
    session: Session, targets: Sequence[EntryId], text: str | None = None
) -> tuple[Entry, ...]:
    """Hide entries of the current path, or let the model read `text` in their place; durable.

    Gives the edits. Raises RefusedError (context/hiding.py), SessionError.
    """
    return _edited(session, lambda branch: hiding(branch, targets, text))


def unhide_entries(session: Session, targets: Sequence[EntryId]) -> tuple[Entry, ...]:
    """Give these entries their own text back; durable. As `hide_entries`."""
    return _edited(session, lambda branch: showing(branch, targets))


def toggle_hidden(session: Session, target: EntryId) -> Mapping[EntryId, Edited]:
    """Hide an entry, or show one that is hidden or replaced; what is hidden on the path then."""
    if target in edited_on(session.branch().entries):
        unhide_entries(session, [target])
    else:
        hide_entries(session, [target])
    return edited_on(session.branch().entries)


def _edited(
    session: Session, plan: Callable[[Branch], tuple[ContextEdit, ...]]
) -> tuple[Entry, ...]:
    plan(session.branch())  # refused before an interrupted turn is closed
    session.check_writable()
    session.begin()
    entries = tuple(session.append(edit) for edit in plan(session.branch()))
    session.barrier()
    return entries


def folded_in(session: Session) -> frozenset[EntryId]:
    """Where the folded branches begin; of an entry the latest fact in the file counts."""
    folded: set[EntryId] = set()
    for entry in session.with_words(_MARK):
        fact = decode_fact(entry.body) if isinstance(entry.body, Custom) else None
        if not isinstance(fact, Folded):
            continue
        if fact.event == "folded":
            folded.add(fact.entry)
        else:
            folded.discard(fact.entry)
    return frozenset(folded)


def fold_branch(session: Session, target: EntryId) -> Entry:
    """Put away what begins at that entry; durable. Raises RefusedError for the path."""
    if target in session.tree.path(session.leaf):
        raise RefusedError(
            f"{target} is on the path, which is never folded",
            hint="a dead branch is named by its first entry (`agentsh tree`)",
        )
    if target in folded_in(session):
        raise RefusedError(f"the branch at {target} is folded already")
    return _noted(session, Folded("folded", target))


def unfold_branch(session: Session, target: EntryId) -> Entry:
    """Show the folded branch again that the entry belongs to. It is durable.

    Raises RefusedError: it is not folded.
    """
    above = reversed(session.tree.path(target))
    folded = folded_in(session)
    beginning = next((entry for entry in above if entry in folded), None)
    if beginning is None:
        raise RefusedError(f"the branch at {target} is not folded")
    return _noted(session, Folded("unfolded", beginning))


def toggle_folded(session: Session, target: EntryId) -> frozenset[EntryId]:
    """Fold, or unfold the folded branch that it lies in; where folded branches begin then."""
    on_path = frozenset(session.tree.path(session.leaf))
    folded = folded_in(session) - on_path
    if folded.intersection(session.tree.path(target)):
        unfold_branch(session, target)
    else:
        fold_branch(session, target)
    return folded_in(session)


def _noted(session: Session, fact: Folded) -> Entry:
    session.check_writable()
    session.begin()
    entry = session.append(fact)
    session.barrier()
    return entry

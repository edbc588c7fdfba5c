"""Fork: a new session file with the path to one entry; the parent is only read.

The child holds, in this order: a header that names the parent's file, its own root (Origin: from
where, how much, with which digest), the entries of the path with their ids and bytes, what closes a
turn that the path is inside of, the labels of copied entries, and a sealed mark. Copies keep the
stamp of the session that wrote them, which is how they are told from lines of the child. Labels
and lines that cannot be read are left out and their children re-chained (S22); nothing else of a
line changes, so the context at the fork is what it was in the parent, compactions included (S24).

Inside a turn (R42): at the parent's leaf the turn is closed as a crash would be, and called
`branched`; anywhere else we go back to before a message whose calls have not all been answered.
Read next: rechain.py, newfile.py, repair.py.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from agentsh import __version__
from agentsh.session.file.environment import HERE, Surroundings
from agentsh.session.file.newfile import NewFile
from agentsh.session.file.session import Session
from agentsh.session.format.entries import Compaction, Damaged, Entry, EntryId, Header, Label
from agentsh.session.format.facts import Opened, Origin, TurnEnded
from agentsh.session.format.times import iso_time
from agentsh.session.health.rechain import told_apart, with_parent
from agentsh.session.health.repair import Closing, plan
from agentsh.session.health.unfinished import plan_open_turn, plan_sound_end
from agentsh.session.store.store import Store


class _Seed(Struct, frozen=True):
    """What goes into the child, as bytes and as what was said about it."""

    entries: tuple[Entry, ...]
    lines: tuple[bytes, ...]

    @property
    def leaf(self) -> EntryId | None:
        return self.entries[-1].id if self.entries else None

    @property
    def sha256(self) -> str:
        state = hashlib.sha256()
        for line in self.lines:
            state.update(line + b"\n")
        return state.hexdigest()


def fork_session(
    session: Session,
    fork_point: EntryId | None,
    store: Store,
    *,
    cwd: str | None = None,
    tell: Callable[[str], None] = lambda _words: None,
    root: Callable[[Origin], Origin] = lambda origin: origin,
    around: Surroundings = HERE,
) -> Path:
    """Make the child in the store; its file. Empty without `fork_point`. Raises as NewFile does.

    `root` may say more of where it comes from. `tell` is given a sentence where the copy ends
    elsewhere than asked, or lacks something.
    """
    now = iso_time(around.clock())
    home = cwd if cwd is not None else store.cwd_of(session.header.id, session.header.cwd)
    header = Header(store.new_id(), now, home, parent_session=_path_of(session))
    copied, closings, is_short = _kept(session, fork_point, around)
    path = store.path_for(home, now, header.id)
    copied_ids: set[str] = {entry.id for entry in copied}
    with NewFile(path, header, disk=around.disk, copied_ids=copied_ids) as file:
        seed = _seed(session, copied, file.next_id())
        leaf: EntryId = file.add(root(_origin(header, session, seed)), parent=None, time=now)
        for entry, line in zip(seed.entries, seed.lines, strict=True):
            file.copy(line)
            leaf = entry.id
        leaf = file.close(closings, leaf)
        for target, label in _labels(session, seed):
            leaf = file.add(Label(target, label), parent=leaf, time=now)
        mark = Opened("fork", os.getpid(), os.uname().nodename, __version__, file.lines)
        file.add(mark, parent=leaf, time=now, seal=True)
        file.publish()
    if (damaged := sum(isinstance(e.body, Damaged) for e in copied)) > 0:
        tell(f"{damaged} entries could not be read and were left out")
    if is_short:
        where = "before the first entry" if seed.leaf is None else f"at {seed.leaf}"
        tell(f"{fork_point} is inside a step whose calls had no results yet: forked {where}")
    return path


def _path_of(session: Session) -> str | None:
    return None if session.path is None else str(session.path.absolute())


def _origin(header: Header, session: Session, seed: _Seed) -> Origin:
    return Origin(
        session_id=header.id,
        created_by=f"agentsh {__version__}",
        origin="fork",
        parent={"id": session.header.id, "path": _path_of(session), "leaf": session.leaf},
        seed={"count": len(seed.lines), "leaf": seed.leaf, "sha256": seed.sha256},
    )


def _kept(
    session: Session, fork_point: EntryId | None, around: Surroundings
) -> tuple[Sequence[Entry], tuple[Closing, ...], bool]:
    """The entries to copy, what closes the turn that they end in, and whether some are left out."""
    branch = session.branch(fork_point, repaired=False)
    whose = session.whose(branch.entries)
    if fork_point is not None and fork_point == session.leaf:
        evidence = around.gather(branch, session.path)
        return branch.entries, plan(branch, evidence, reason="branched", whose=whose), False
    entries = branch.entries[: plan_sound_end(branch.entries, whose)]
    is_short = len(entries) < len(branch.entries)
    turn = plan_open_turn(entries, whose)
    if turn is None:
        return entries, (), is_short
    end = Closing(TurnEnded(turn, "branched"), entries[-1].time, sources=(turn,))
    return entries, (end,), is_short


def _seed(session: Session, entries: Sequence[Entry], root: EntryId) -> _Seed:
    # Pi lets a kept range begin at a label: without that entry nothing would be kept
    begins = {e.body.first_kept for e in entries if isinstance(e.body, Compaction)}
    copied = tuple(
        e
        for e in entries
        if not isinstance(e.body, Damaged) and (e.id in begins or not isinstance(e.body, Label))
    )
    lines = []
    above = root
    for entry in copied:
        line = told_apart(session.raw(entry.id), session.tree, entry.id)
        lines.append(line if entry.parent == above else with_parent(line, above))
        above = entry.id
    return _Seed(copied, tuple(lines))


def _labels(session: Session, seed: _Seed) -> Iterator[tuple[EntryId, str | None]]:
    """What the copied entries are called in the parent now."""
    copied = {e.body.target for e in seed.entries if isinstance(e.body, Label)}
    for entry in seed.entries:
        label = session.tree.label(entry.id)
        if label is not None or entry.id in copied:
            yield entry.id, label

"""`repair SESSION --to FILE`: a new, sound file from what is good in a bad one. Never in place.

Every entry that can be read goes over with its id, its bytes and its place in the order; what
cannot is left out and named. The children of a lost entry hang on the nearest ancestor that is left
(its id and parent often survive in the damage), else they are a root of their own, as a reader of
the bad file sees them too. The new file has an id, a root and seals of its own; the copies keep
their stamps and are no longer claimed to be what was once written. A turn that the old file was cut
off in is closed. Read next: verify.py.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from agentsh import __version__
from agentsh.jsontext import JsonObject
from agentsh.session.file.environment import HERE, Surroundings
from agentsh.session.file.newfile import NewFile
from agentsh.session.file.session import Session, open_session
from agentsh.session.format.entries import Damaged, EntryId, Header, SessionId
from agentsh.session.format.facts import Opened, Origin
from agentsh.session.format.ids import session_id
from agentsh.session.format.times import iso_time
from agentsh.session.health.rechain import told_apart, with_parent
from agentsh.session.health.repair import Closing, plan
from agentsh.session.health.verify import Problem, Report, verify_file


class Salvaged(Struct, frozen=True):
    """`problems`: what was wrong with the old file. `lost`: entries that could not be read."""

    id: SessionId
    path: Path
    kept: int
    lost: int
    problems: tuple[Problem, ...]


def salvage(source: Path, target: Path, *, around: Surroundings = HERE) -> Salvaged:
    """Make the sound copy. Raises SessionNotFoundError, RefusedError for an existing target."""
    report = verify_file(source)
    with open_session(source, write=False, around=around) as session:
        now = iso_time(around.clock())
        old = session.header
        header = Header(
            id=session_id(around.clock(), os.urandom(10)),
            timestamp=old.timestamp or now,
            cwd=old.cwd,
            parent_session=str(source.absolute()),
        )
        copied_ids: set[str] = set(session.tree)
        with NewFile(target, header, disk=around.disk, copied_ids=copied_ids) as file:
            root = file.next_id()
            seed = _seed(session, root)
            origin = Origin(
                session_id=header.id,
                created_by=f"agentsh {__version__}",
                origin="repair",
                parent={"id": old.id, "path": str(source.absolute()), "leaf": session.leaf},
                seed=seed,
            )
            file.add(origin, parent=None, time=now)
            for line in _lines(session, root):
                file.copy(line)
            entries = file.lines - 2  # header and root are not from the old file
            leaf = file.close(_closings(session, around), _last(session) or root)
            mark = Opened("repair", os.getpid(), os.uname().nodename, __version__, file.lines)
            file.add(mark, parent=leaf, time=now, seal=True)
            file.publish()
        return Salvaged(header.id, target, entries, _lost(session, report), report.problems)


def _seed(session: Session, root: EntryId) -> JsonObject:
    """A first pass, so that a file of any size goes over line by line."""
    digest, count = hashlib.sha256(), 0
    for line in _lines(session, root):
        digest.update(line + b"\n")
        count += 1
    return {"count": count, "leaf": _last(session), "sha256": digest.hexdigest()}


def _closings(session: Session, around: Surroundings) -> tuple[Closing, ...]:
    """What ends the turn that the old file was cut off in: in the new one its start is a copy."""
    branch = session.branch(_last(session), repaired=False)
    evidence = around.gather(branch, session.path)
    return plan(branch, evidence, whose=session.whose(branch.entries))


def _is_sound(session: Session, entry: EntryId) -> bool:
    return not isinstance(session.entry(entry).body, Damaged)


def _last(session: Session) -> EntryId | None:
    """The leaf, or what is left above it."""
    entry = session.leaf
    while entry is not None and not _is_sound(session, entry):
        entry = session.tree.parent(entry)
    return entry


def _lines(session: Session, root: EntryId) -> Iterator[bytes]:
    """The lines of the sound entries, parents before their children."""
    tree = session.tree
    done: set[EntryId] = set()
    for id_ in tree:
        # a parent that stood behind its child goes first
        for entry in _unwritten_path(session, id_, done):
            done.add(entry)
            if not _is_sound(session, entry):
                continue
            above = tree.parent(entry)
            while above is not None and not _is_sound(session, above):
                above = tree.parent(above)
            line = told_apart(session.raw(entry), tree, entry)
            stated = tree.stated_parent(entry)
            parent = root if above is None else above
            yield line if stated == parent else with_parent(line, parent)


def _unwritten_path(session: Session, entry: EntryId, done: set[EntryId]) -> list[EntryId]:
    """The entry, and before it those of its ancestors that are not written yet."""
    path: list[EntryId] = []
    ancestor: EntryId | None = entry
    while ancestor is not None and ancestor not in done:
        path.append(ancestor)
        ancestor = session.tree.parent(ancestor)
    path.reverse()
    return path


def _lost(session: Session, report: Report) -> int:
    """Entries that were there and could not be read, as far as they can be counted."""
    damaged = sum(not _is_sound(session, e) for e in session.tree)
    return max(damaged, sum(p.kind == "json" for p in report.problems))

"""Another program's session file → a session of ours, in the folder one stands in.

The format is told by what the lines are, never by the file's name. Lines of Pi and its dialects go
over as they are, with their ids; those of other programs become entries of ours (claudefile.py,
codexfile.py). The new file has an id, a root and seals of its own; the root says where it came
from. Nothing of the source becomes a path, and nothing of it grants anything: facts of agentsh
(rules that were allowed, processes, checkpoints) stay behind. The source is only read.
Read next: thinned.py.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from agentsh import __version__
from agentsh.errors import SessionNotFoundError
from agentsh.jsontext import JsonError, JsonObject, dumps, loads_object
from agentsh.messages import SystemMessage
from agentsh.session.claudefile import is_claude, read_claude
from agentsh.session.codexfile import is_codex, read_codex
from agentsh.session.dialects import as_pi, format_of, header_title
from agentsh.session.entries import EntryId, Header, MessageBody, SessionInfo
from agentsh.session.facts import Opened, Origin
from agentsh.session.foreign import Foreign, iso
from agentsh.session.lines import forward_lines
from agentsh.session.newfile import NewFile
from agentsh.session.rechain import with_parent
from agentsh.session.session import Session, open_session
from agentsh.session.store import Store
from agentsh.session.surroundings import HERE, Surroundings
from agentsh.session.thinned import Kept, Thinned
from agentsh.session.times import iso_time

# lines that are looked at to tell a format: such files begin with lines of several kinds
_LOOKED_AT = 200


class Arrival(Struct, frozen=True):
    """What came, or would come (`path` None). `dropped`: what stays behind, and how often."""

    format: str
    source_id: str
    source_cwd: str
    title: str | None
    entries: int
    messages: int
    branches: int
    dropped: dict[str, int] = field(default_factory=dict)
    session: str | None = None
    path: Path | None = None


def import_file(
    source: Path, store: Store, cwd: str, *, dry_run: bool, around: Surroundings = HERE
) -> Arrival:
    """Raises SessionNotFoundError for what is no session file that we know."""
    kind = _kind(source)
    if kind == "pi":
        return _import_pi(source, store, cwd, dry_run, around)
    read = read_claude if kind == "claude-code" else read_codex
    bad = Counter[str]()
    foreign = read(_objects(source, bad))
    return _import_foreign(foreign, source, store, cwd, dry_run, around, bad)


def _kind(source: Path) -> str:
    for number, value in enumerate(_objects(source, Counter())):
        if value.get("type") == "session" and isinstance(value.get("id"), str):
            return "pi"
        if number == 0 and is_codex(value):
            return "codex"
        if is_claude(value):
            return "claude-code"
        if number >= _LOOKED_AT:
            break
    raise SessionNotFoundError(
        f"not a session file of a program that is known: {source}",
        path=str(source),
        hint="known are Pi, oh-my-pi, Claude Code, Codex and agentsh",
    )


def _objects(source: Path, bad: Counter[str]) -> Iterator[JsonObject]:
    try:
        with source.open("rb") as file:
            fd = file.fileno()
            size = os.fstat(fd).st_size
            for line in forward_lines(lambda a, b: os.pread(fd, b - a, a), 0, size):
                if not line.data.strip():
                    continue
                try:
                    yield loads_object(line.data.removeprefix(b"\xef\xbb\xbf"))
                except JsonError:
                    bad["lines that could not be read"] += 1
    except OSError as e:
        raise SessionNotFoundError(f"cannot read {source}: {e.strerror}", path=str(source)) from e


# ---- Pi and its dialects -------------------------------------------------------------------------


def _import_pi(
    source: Path, store: Store, cwd: str, dry_run: bool, around: Surroundings
) -> Arrival:
    with open_session(source, write=False, around=around) as session:
        thin = Thinned(session)
        if dry_run:
            return _arrival(session, thin, [_told(each.value) for each in _converted(thin)])
        now = iso_time(around.clock())
        header = Header(store.new_id(), iso(session.header.timestamp, now), cwd)
        path = store.path_for(cwd, header.timestamp, header.id)
        known: set[str] = set(session.tree)
        told: list[JsonObject] = []
        with NewFile(path, header, disk=around.disk, known=known) as file:
            root = file.next_id()
            origin = _origin(header, format_of(session), session.header.id, source, session)
            file.add(origin, parent=None, time=now)
            for each in _converted(thin):
                file.copy(_line(session, each, root))
                told.append(_told(each.value))
            leaf = thin.nearest(session.leaf) or root
            if session.tree.name is None and (title := header_title(session.header)):
                leaf = file.add(SessionInfo(title), parent=leaf, time=now)
            _end(file, leaf, now)
            file.publish()
        return _arrival(session, thin, told, header.id, path)


def _converted(thin: Thinned) -> Iterator[Kept]:
    for kept in thin.lines():
        value = as_pi(kept.value)
        is_changed = kept.is_changed or value is not kept.value
        yield Kept(kept.id, kept.parent, value, is_changed)


def _line(session: Session, kept: Kept, root: EntryId) -> bytes:
    """Their bytes where they need no change, so that nothing is lost on the way."""
    parent = root if kept.parent is None else kept.parent
    if kept.is_changed:
        return dumps({**kept.value, "parentId": parent})
    line = session.raw(kept.id).removesuffix(b"\r")
    return line if session.tree.stated_parent(kept.id) == parent else with_parent(line, parent)


def _told(value: JsonObject) -> JsonObject:
    """As much of a line as is counted."""
    message = value.get("message")
    role = message.get("role") if isinstance(message, dict) else None
    return {"id": value.get("id"), "parentId": value.get("parentId"), "role": role}


def _arrival(
    session: Session,
    thin: Thinned,
    told: list[JsonObject],
    new: str | None = None,
    path: Path | None = None,
) -> Arrival:
    parents = {row["parentId"] for row in told}
    return Arrival(
        format=format_of(session),
        source_id=session.header.id,
        source_cwd=session.header.cwd,
        title=session.tree.name or header_title(session.header),
        entries=len(told),
        messages=sum(row["role"] not in (None, "system") for row in told),
        branches=sum(row["id"] not in parents for row in told),
        dropped=dict(thin.left_out),
        session=new,
        path=path,
    )


# ---- other programs ------------------------------------------------------------------------------


def _import_foreign(
    foreign: Foreign,
    source: Path,
    store: Store,
    cwd: str,
    dry_run: bool,
    around: Surroundings,
    bad: Counter[str],
) -> Arrival:
    if not foreign.entries:
        raise SessionNotFoundError(f"nothing is said in {source}", path=str(source))
    arrival = _expected(foreign, bad)
    if dry_run:
        return arrival
    now = iso_time(around.clock())
    header = Header(store.new_id(), foreign.time or now, cwd)
    path = store.path_for(cwd, header.timestamp, header.id)
    with NewFile(path, header, disk=around.disk, known=set()) as file:
        origin = _origin(header, foreign.format, foreign.id, source, None, foreign.cwd)
        root = file.add(origin, parent=None, time=now)
        _end(file, _write(file, foreign, root, foreign.time or now), now)
        file.publish()
    return replace(arrival, session=header.id, path=path)


def _expected(foreign: Foreign, bad: Counter[str]) -> Arrival:
    parents = {entry.parent for entry in foreign.entries}
    return Arrival(
        format=foreign.format,
        source_id=foreign.id,
        source_cwd=foreign.cwd,
        title=foreign.title,
        entries=len(foreign.entries),
        messages=sum(
            isinstance(e.body, MessageBody) and not isinstance(e.body.message, SystemMessage)
            for e in foreign.entries
        ),
        branches=sum(entry.name not in parents for entry in foreign.entries),
        dropped={**foreign.dropped, **bad},
    )


def _write(file: NewFile, foreign: Foreign, root: EntryId, time: str) -> EntryId:
    """The entries below the root, and the title; the leaf."""
    ids: dict[str, EntryId] = {}
    for entry in foreign.entries:
        time = entry.time or time
        above = root if entry.parent is None else ids[entry.parent]
        ids[entry.name] = file.add(entry.body, parent=above, time=time)
    leaf = root if foreign.leaf is None else ids[foreign.leaf]
    if foreign.title:
        leaf = file.add(SessionInfo(foreign.title[:200]), parent=leaf, time=time)
    return leaf


def _origin(
    header: Header,
    kind: str,
    name: str,
    source: Path,
    session: Session | None,
    cwd: str = "",
) -> Origin:
    parent: JsonObject = {"format": kind, "id": name, "path": str(source.absolute())}
    parent["cwd"] = cwd if session is None else session.header.cwd
    return Origin(header.id, f"agentsh {__version__}", "import", parent=parent)


def _end(file: NewFile, leaf: EntryId, now: str) -> None:
    """The last line: the leaf is here, and all before it is sealed."""
    mark = Opened("import", os.getpid(), os.uname().nodename, __version__, file.lines)
    file.add(mark, parent=leaf, time=now, seal=True)

"""Another program's session file → a session of ours, in the folder one stands in.

The format is told by what the lines are, never by the file's name. Lines of Pi and its dialects go
over as they are, with their ids; those of other programs become entries of ours (claude_code.py,
codex.py). The new file has an id, a root and seals of its own; the root says where it came
from. Nothing of the source becomes a path, and nothing of it grants anything: facts of agentsh
(rules that were allowed, processes, checkpoints) stay behind. The source is only read.
Read next: subset.py.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from agentsh import __version__
from agentsh.errors import SessionNotFoundError
from agentsh.filekinds import foreign_kind_of_file
from agentsh.files import open_foreign
from agentsh.jsontext import DEEPEST_FOREIGN, JsonError, JsonObject, dumps, loads_object
from agentsh.messages import SystemMessage
from agentsh.session.exchange.claude_code import is_claude, read_claude
from agentsh.session.exchange.codex import is_codex, read_codex
from agentsh.session.exchange.foreign import Foreign, iso
from agentsh.session.exchange.oh_my_pi import as_pi, format_of, header_title
from agentsh.session.exchange.subset import Kept, Thinned
from agentsh.session.exchange.unwrapping import unwrapped
from agentsh.session.file.environment import HERE, Surroundings
from agentsh.session.file.newfile import NewFile
from agentsh.session.file.session import Session, open_session
from agentsh.session.format.entries import (
    Body,
    BranchSummary,
    Compaction,
    EntryId,
    Header,
    MessageBody,
    ModelChange,
    SessionInfo,
    ThinkingLevelChange,
)
from agentsh.session.format.facts import Opened, Origin
from agentsh.session.format.lines import forward_lines
from agentsh.session.format.times import iso_time
from agentsh.session.health.rechain import told_apart, with_parent
from agentsh.session.store.store import Store

# lines that are looked at to tell a format: such files begin with lines of several kinds
_LOOKED_AT = 200


class Arrival(Struct, frozen=True):
    """What came, or would come (`path` None).

    `dropped`: what stays behind, and how often; `joined`: what was hung on another place.
    """

    format: str
    source_id: str
    source_cwd: str
    title: str | None
    entries: int
    messages: int
    branches: int
    dropped: dict[str, int] = field(default_factory=dict)
    joined: dict[str, int] = field(default_factory=dict)
    session: str | None = None
    path: Path | None = None


def import_file(
    source: Path, store: Store, cwd: str, *, dry_run: bool, around: Surroundings = HERE
) -> Arrival:
    """Raises SessionNotFoundError for what is no session file that we know.

    RefusedError: it is compressed, and damaged.
    """
    with unwrapped(source) as inside:
        kind = _kind(inside, source)
        if kind == "pi":
            return _import_pi(inside, source, store, cwd, dry_run, around)
        read = read_claude if kind == "claude-code" else read_codex
        bad = Counter[str]()
        foreign = read(_objects(inside, bad))
    if kind == "claude-code":
        bad["talks of subagents, in files of their own beside it"] = _beside(source)
    foreign = replace(foreign, dropped={**foreign.dropped, **+bad})
    return _import_foreign(foreign, source, store, cwd, dry_run, around)


def _beside(source: Path) -> int:
    """How many files of subagents lie in the folder that goes with a file of Claude Code."""
    return sum(1 for _ in source.with_suffix("").glob("subagents/*.jsonl"))


def _kind(inside: Path, source: Path) -> str:
    for number, value in enumerate(_objects(inside, Counter())):
        if value.get("type") == "session" and isinstance(value.get("id"), str):
            return "pi"
        if number == 0 and is_codex(value):
            return "codex"
        if is_claude(value):
            return "claude-code"
        if number >= _LOOKED_AT:
            break
    what = foreign_kind_of_file(inside)
    reason = f"not a session file of a program that is known{f', but {what}' if what else ''}"
    raise SessionNotFoundError(
        f"{reason}: {source}",
        path=str(source),
        hint="known are Pi, oh-my-pi, Claude Code, Codex and agentsh",
    )


def _objects(source: Path, bad: Counter[str]) -> Iterator[JsonObject]:
    try:
        with open_foreign(source) as file:
            fd = file.fileno()
            size = os.fstat(fd).st_size
            for line in forward_lines(lambda a, b: os.pread(fd, b - a, a), 0, size):
                if not line.data.strip():
                    continue
                try:
                    # what a power cut leaves around a line is none of it
                    text = line.data.removeprefix(b"\xef\xbb\xbf").strip(b"\0")
                    yield loads_object(text, deepest=DEEPEST_FOREIGN)
                except JsonError:
                    bad["lines that could not be read"] += 1
    except OSError as e:
        raise SessionNotFoundError(f"cannot read {source}: {e.strerror}", path=str(source)) from e


# ---- Pi and its dialects -------------------------------------------------------------------------


def _import_pi(
    inside: Path, source: Path, store: Store, cwd: str, dry_run: bool, around: Surroundings
) -> Arrival:
    with open_session(inside, write=False, around=around) as session:
        thin = Thinned(session)
        bad = _unread(inside, session)
        if dry_run:
            return _arrival(session, thin, bad, [_told(each.value) for each in _converted(thin)])
        now = iso_time(around.clock())
        header = Header(store.new_id(), iso(session.header.timestamp, now), cwd)
        path = store.path_for(cwd, header.timestamp, header.id)
        copied_ids: set[str] = set(session.tree)
        rows: list[JsonObject] = []
        with NewFile(path, header, disk=around.disk, copied_ids=copied_ids) as file:
            root = file.next_id()
            origin = _origin(header, format_of(session), session.header.id, source, session)
            file.add(origin, parent=None, time=now)
            for each in _converted(thin):
                file.copy(_line(session, each, root))
                rows.append(_told(each.value))
            leaf = thin.nearest(session.leaf) or root
            if session.tree.name is None and (title := header_title(session.header)):
                leaf = file.add(SessionInfo(title), parent=leaf, time=now)
            _end(file, leaf, now)
            file.publish()
        return _arrival(session, thin, bad, rows, header.id, path)


def _unread(inside: Path, session: Session) -> Counter[str]:
    """The lines that hold no entry; the file is looked through only if its reader found any."""
    bad = Counter[str]()
    if any(notice.kind in ("damage", "torn") for notice in session.notices):
        for _ in _objects(inside, bad):
            pass
    return bad


def _converted(thin: Thinned) -> Iterator[Kept]:
    for line in thin.lines():
        value = as_pi(line.value)
        is_changed = line.is_changed or value is not line.value
        yield Kept(line.id, line.parent, value, is_changed)


def _line(session: Session, thinned: Kept, root: EntryId) -> bytes:
    """Their bytes where they need no change, so that nothing is lost on the way."""
    parent = root if thinned.parent is None else thinned.parent
    if thinned.is_changed:
        return dumps({**thinned.value, "parentId": parent})
    line = told_apart(session.raw(thinned.id).removesuffix(b"\r"), session.tree, thinned.id)
    return line if session.tree.stated_parent(thinned.id) == parent else with_parent(line, parent)


def _told(value: JsonObject) -> JsonObject:
    """As much of a line as is counted."""
    message = value.get("message")
    role = message.get("role") if isinstance(message, dict) else None
    return {"id": value.get("id"), "parentId": value.get("parentId"), "role": role}


def _arrival(
    session: Session,
    thin: Thinned,
    bad: Counter[str],
    rows: list[JsonObject],
    new: str | None = None,
    path: Path | None = None,
) -> Arrival:
    parents = {row["parentId"] for row in rows}
    return Arrival(
        format=format_of(session),
        source_id=session.header.id,
        source_cwd=session.header.cwd,
        title=session.tree.name or header_title(session.header),
        entries=len(rows),
        messages=sum(row["role"] not in (None, "system") for row in rows),
        branches=sum(row["id"] not in parents for row in rows),
        dropped={**thin.left_out, **bad},
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
) -> Arrival:
    if all(isinstance(e.body, ModelChange | ThinkingLevelChange) for e in foreign.entries):
        raise SessionNotFoundError(f"nothing is said in {source}", path=str(source))
    arrival = _expected(foreign)
    if dry_run:
        return arrival
    now = iso_time(around.clock())
    header = Header(store.new_id(), foreign.time or now, cwd)
    path = store.path_for(cwd, header.timestamp, header.id)
    with NewFile(path, header, disk=around.disk, copied_ids=set()) as file:
        origin = _origin(header, foreign.format, foreign.id, source, None, foreign.cwd)
        root = file.add(origin, parent=None, time=now)
        _end(file, _write(file, foreign, root, foreign.time or now), now)
        file.publish()
    return replace(arrival, session=header.id, path=path)


def _expected(foreign: Foreign) -> Arrival:
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
        dropped=dict(foreign.dropped),
        joined=dict(foreign.joined),
    )


def _write(file: NewFile, foreign: Foreign, root: EntryId, time: str) -> EntryId:
    """The entries below the root, and the title; the leaf."""
    ids: dict[str, EntryId] = {}
    for entry in foreign.entries:
        time = entry.time or time
        above = root if entry.parent is None else ids[entry.parent]
        ids[entry.name] = file.add(_pointing(entry.body, ids), parent=above, time=time)
    leaf = root if foreign.leaf is None else ids[foreign.leaf]
    if foreign.title:
        leaf = file.add(SessionInfo(foreign.title[:200]), parent=leaf, time=time)
    return leaf


def _pointing(body: Body, ids: Mapping[str, EntryId]) -> Body:
    """With the ids of the entries that it names; what it names is above it, or is not named."""
    match body:
        case Compaction(first_kept=str(name)):
            return replace(body, first_kept=ids.get(name))
        case BranchSummary(from_id=str(name)):
            return replace(body, from_id=ids.get(name, "root"))
        case _:
            return body


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

"""Commands about sessions and their tree: new, other, forked, named, listed; labels, files.

Whatever takes the session in front away waits for nothing: while something runs it is refused as
busy. Entries are named as everywhere: an id, the beginning of one, a label, `root`, `leaf`.
Read next: agent/driven/host.py, sessionvalues.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from agentsh.agent.driven.remotehost import RemoteHost
from agentsh.agent.moving import destination
from agentsh.errors import EntryNotFoundError, UsageError
from agentsh.remote.rpc.commands import (
    CloneSession,
    ForkSession,
    GetEntries,
    GetForkMessages,
    GetTree,
    ListSessions,
    NewSession,
    SessionCommand,
    SetLabel,
    SetSessionName,
    SwitchSession,
    TreeCommand,
    UndoFiles,
)
from agentsh.remote.rpc.replies import DONE, Outcome
from agentsh.remote.rpc.running import Runner, Say
from agentsh.remote.rpc.sessionvalues import entries_since, prompts_of, tree_of
from agentsh.remote.values.rpcdata import (
    ChangedData,
    FileBackData,
    FileLeftData,
    FilesUndoneData,
    ForkedData,
    ForkPointsData,
    RpcData,
    SessionPageData,
)
from agentsh.remote.values.rpcrecords import LeafRecord, SessionNameRecord
from agentsh.remote.values.sessions import listed_session
from agentsh.session.format.entries import EntryId
from agentsh.session.store.marks import UNMARKED

_CHANGED = ChangedData(cancelled=False)


class SessionCommands:
    """What a client wants of sessions. `came` is called once another one is in front."""

    def __init__(
        self, host: RemoteHost, runner: Runner, say: Say, came: Callable[[], None]
    ) -> None:
        self._host = host
        self._runner = runner
        self._say = say
        self._came = came

    def obey(self, command: SessionCommand) -> Outcome:
        match command:
            case NewSession(parent_session=parent):
                return self._change(lambda: self._new(parent), _CHANGED)
            case SwitchSession(session_path=word):
                return self._change(lambda: self._switch(word), _CHANGED)
            case ForkSession(entry_id=word):
                return self._fork(word)
            case CloneSession():
                leaf = self._host.front.session.leaf
                if leaf is None:
                    raise UsageError("there is nothing in this session that could be copied")
                return self._change(lambda: self._forked(leaf), _CHANGED)
            case SetSessionName(name=name):
                return self._named(name.strip())
            case ListSessions():
                return Outcome(self._listed(command))
            case _:
                assert_never(command)

    def look(self, command: TreeCommand) -> Outcome:
        session = self._host.front.session
        match command:
            case SetLabel(entry_id=word, label=label):
                self._host.front.label(self._entry(word), label or None)
                return DONE
            case UndoFiles():
                return Outcome(self._undone(command))
            case GetForkMessages():
                return Outcome(ForkPointsData(prompts_of(session.branch())))
            case GetEntries(since=since):
                return Outcome(
                    entries_since(session, None if since is None else self._entry(since))
                )
            case GetTree():
                return Outcome(tree_of(session))
            case _:
                assert_never(command)

    def _entry(self, word: str) -> EntryId:
        entry = self._host.front.session.resolve(word)
        if entry is None:
            raise EntryNotFoundError(f"{word}: there is nothing before the first entry")
        return entry

    # ---- another session in front ----------------------------------------------------------------

    def _change(self, change: Callable[[], None], data: RpcData) -> Outcome:
        with self._runner.alone("session"):
            change()
            self._came()
        leaf = self._host.front.session.leaf
        return Outcome(data, lambda: self._say(LeafRecord(leaf, "session")))

    def _new(self, parent: str | None) -> None:
        self._host.new_session(None if parent is None else self._host.find_session(parent))

    def _switch(self, word: str) -> None:
        path = self._host.find_session(word)
        if path != self._host.front.session.path:
            self._host.open_session(path)

    def _fork(self, word: str) -> Outcome:
        session = self._host.front.session
        fork_point, text = destination(session.entry(self._entry(word)))
        data = ForkedData(text or "", cancelled=False)
        return self._change(lambda: self._forked(fork_point), data)

    def _forked(self, at: EntryId | None) -> None:
        self._host.open_session(self._host.fork(at))

    # ---- others ----------------------------------------------------------------------------------

    def _named(self, name: str) -> Outcome:
        if not name:
            raise UsageError("a session's name cannot be empty")
        self._host.front.rename(name)
        return Outcome(after=lambda: self._say(SessionNameRecord(name)))

    def _listed(self, command: ListSessions) -> SessionPageData:
        rows = self._host.sessions(everywhere=command.scope == "all")
        marks = self._host.marks()
        first = max(0, command.offset or 0)
        most = None if command.limit is None else first + max(0, command.limit)
        listed = [listed_session(row, marks.get(row.id, UNMARKED)) for row in rows[first:most]]
        return SessionPageData((*listed,), len(rows))

    def _undone(self, command: UndoFiles) -> FilesUndoneData:
        target = self._host.front.session.resolve(command.target_id)
        overwrite = command.overwrite is True
        with self._runner.alone("navigation"):
            files = self._host.front.files
            plan = files.plan(target)
            dry = command.dry_run is True
            notices = plan.lines() if dry else files.restore(target, overwrite=overwrite)
        done = (*plan.doable, *(plan.conflicts if overwrite else ()))
        left = (*plan.lost, *(() if overwrite else plan.conflicts))
        return FilesUndoneData(
            tuple([FileBackData(each.path, each.kind) for each in done]),
            tuple([FileLeftData(each.path, each.conflict) for each in left]),
            (*notices,),
        )

"""Lines in, responses out: which command goes where, and that each gets one response.

It is called in one thread, in the order of the lines; what takes a while goes on beside it.
Whatever goes wrong in a command is its response, a bug as well, and the next command is taken. It
does no IO: `write` is handed in. Read next: commands.py, replies.py, running.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from agentsh.agent.driven.remotehost import RemoteHost
from agentsh.errors import AgentshError
from agentsh.remote.rpc.commands import (
    PARSE,
    AbortBash,
    AbortRetry,
    AbortTurn,
    BadLine,
    ClearQueue,
    CloneSession,
    CompactSession,
    DialogAnswer,
    FollowUp,
    ForkSession,
    GetEntries,
    GetForkMessages,
    GetTree,
    ListSessions,
    LookCommand,
    NavigateTree,
    NewSession,
    Prompt,
    Received,
    RpcCommand,
    RunBash,
    SetLabel,
    SetSessionName,
    SettingCommand,
    Shutdown,
    Steer,
    SwitchSession,
    UndoFiles,
    read_command,
)
from agentsh.remote.rpc.dialogs import Dialogs
from agentsh.remote.rpc.lookcommands import LookCommands
from agentsh.remote.rpc.replies import DONE, Outcome, Reply
from agentsh.remote.rpc.running import Runner, Say
from agentsh.remote.rpc.sessioncommands import SessionCommands
from agentsh.remote.rpc.settingcommands import ClientModes, SettingCommands
from agentsh.remote.rpc.turncommands import TurnCommands, move_leaf
from agentsh.remote.stdio.framing import TooLong

_TOO_LONG = "this line is longer than 64 MiB, and was not read"


class Dispatcher:
    """One client's commands. `report` puts a bug on record, and gives words for it."""

    def __init__(
        self,
        host: RemoteHost,
        runner: Runner,
        dialogs: Dialogs,
        write: Callable[[bytes], None],
        say: Say,
        report: Callable[[Exception], str],
    ) -> None:
        self.ending: Shutdown | None = None
        """What was asked for; nothing is taken any more."""
        self._host = host
        self._runner = runner
        self._dialogs = dialogs
        self._write = write
        self._say = say
        self._report = report
        modes = ClientModes()
        modes.apply(host)
        self._turns = TurnCommands(host, runner, say)
        self._sessions = SessionCommands(host, runner, say, lambda: modes.apply(host))
        self._settings = SettingCommands(host, runner, say, modes)
        self._looks = LookCommands(host, runner, modes)

    def take(self, line: bytes | TooLong) -> None:
        """One line, and all that is to be said of it at once."""
        if isinstance(line, TooLong):
            Reply(PARSE, None, self._write).failed(_TOO_LONG, "usage")
            return
        read = read_command(line)
        reply = Reply(read.kind, read.id, self._write)
        if isinstance(read, BadLine):
            reply.failed(read.words, "usage")
            return
        try:
            self._do(read, reply)
        except AgentshError as e:
            reply.refused(e)
        except OSError:
            raise
        except Exception as e:  # noqa: BLE001  # the door of a command: a bug is its response
            reply.failed(self._report(e), "bug")

    def _do(self, read: Received, reply: Reply) -> None:
        match read.said:
            case DialogAnswer() as answer:
                if not self._dialogs.answer(answer):
                    reply.failed(f"no question {answer.id[:80]!r} is open", "not_found")
            case RunBash() | CompactSession() | NavigateTree(summarize=True) as command:
                self._turns.begin(command, reply)
            case Shutdown() as command:
                self.ending = command
                reply.done(DONE)
            case command:
                reply.done(self._outcome(command))

    def _outcome(self, command: RpcCommand) -> Outcome:
        match command:
            case (
                Prompt()
                | Steer()
                | FollowUp()
                | AbortTurn()
                | ClearQueue()
                | AbortRetry()
                | AbortBash()
            ):
                return self._turns.obey(command)
            case NavigateTree():
                with self._runner.alone("navigation"):
                    return move_leaf(self._host, command, self._say)
            case (
                NewSession()
                | SwitchSession()
                | ForkSession()
                | CloneSession()
                | SetSessionName()
                | ListSessions()
            ):
                return self._sessions.obey(command)
            case SetLabel() | UndoFiles() | GetForkMessages() | GetEntries() | GetTree():
                return self._sessions.look(command)
            case RunBash() | CompactSession() | Shutdown():
                raise AssertionError(command)  # taken before
            case _:
                return self._asked(command)

    def _asked(self, command: LookCommand | SettingCommand) -> Outcome:
        if isinstance(command, LookCommand):
            return self._looks.obey(command)
        if isinstance(command, SettingCommand):
            return self._settings.obey(command)
        assert_never(command)

"""Commands about what runs: prompts, what waits, stops, a command of the person, a compaction.

What takes a while answers when it is done, from its own thread; the others answer at once.
Read next: running.py, dispatcher.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, assert_never

from msgspec import UNSET

from agentsh.agent.driven.remotehost import RemoteHost
from agentsh.errors import AgentshError, BusyError, UsageError
from agentsh.messages import BashExecutionMessage, Image
from agentsh.remote.rpc.commands import (
    AbortBash,
    AbortRetry,
    AbortTurn,
    ClearQueue,
    CompactSession,
    FollowUp,
    NavigateTree,
    PictureBlock,
    Prompt,
    RunBash,
    Steer,
    TalkCommand,
)
from agentsh.remote.rpc.compaction import compaction_result
from agentsh.remote.rpc.replies import DONE, Outcome, Reply
from agentsh.remote.rpc.running import Occupation, Runner, Say
from agentsh.remote.values.givenpicture import given_picture
from agentsh.remote.values.rpcdata import AcceptedData, NavigatedData, ShellData, TakenBackData
from agentsh.remote.values.rpcrecords import LeafRecord, ShellRecord


class TurnCommands:
    """What a client wants of the turn, and of what takes its place."""

    def __init__(self, host: RemoteHost, runner: Runner, say: Say) -> None:
        self._host = host
        self._runner = runner
        self._say = say

    def obey(self, command: TalkCommand) -> Outcome:
        match command:
            case Prompt():
                return self._prompt(command)
            case Steer() | FollowUp():
                return self._queued(command)
            case AbortTurn():
                self._runner.stop()
                return DONE
            case ClearQueue():
                return self._cleared()
            case AbortRetry():
                self._host.stop_retrying()
                return DONE
            case AbortBash():
                if self._runner.activity == "bash":
                    self._runner.stop()
                return DONE
            case _:
                assert_never(command)

    def _prompt(self, command: Prompt) -> Outcome:
        text, images = command.message, pictures(command.images)
        if not text.strip() and not images:
            raise UsageError("there is nothing in this prompt")
        meanwhile = command.streaming_behavior
        if meanwhile is not None and self._runner.queue(meanwhile, text, images):
            return self._waits()
        try:
            turn = self._runner.claim_turn(text, images)
        except BusyError as e:
            hint = "streamingBehavior steer or followUp says it in the turn that runs"
            raise BusyError(e.message, hint=hint) from e
        return Outcome(AcceptedData("started"), lambda: self._runner.start_turn(turn))

    def _queued(self, command: Steer | FollowUp) -> Outcome:
        text, images = command.message, pictures(command.images)
        if not text.strip() and not images:
            raise UsageError("there is nothing in this message")
        agent = self._host.front
        kind: Literal["steer", "followUp"] = "steer" if isinstance(command, Steer) else "followUp"
        if not self._runner.queue(kind, text, images):
            (agent.steer if kind == "steer" else agent.follow_up)(text, images)
        return self._waits()

    def _waits(self) -> Outcome:
        return Outcome(AcceptedData("queued"), self._runner.tell_queue)

    def _cleared(self) -> Outcome:
        queues: dict[str, list[str]] = {"steer": [], "follow-up": []}
        for item in self._host.front.take_back():
            queues[item.kind].append(item.text)
        data = TakenBackData((*queues["steer"],), (*queues["follow-up"],))
        return Outcome(data, self._runner.tell_queue)

    # ---- what answers when it is done ------------------------------------------------------------

    def begin(self, command: RunBash | CompactSession | NavigateTree, reply: Reply) -> None:
        """Raises BusyError."""
        match command:
            case RunBash():
                if not command.command.strip():
                    raise UsageError("there is no command")
                self._beside("bash", reply, lambda: self._shell(command, reply))
            case CompactSession(custom_instructions=focus):
                self._beside("compaction", reply, lambda: self._compact(focus))
            case NavigateTree():
                self._beside("navigation", reply, lambda: self._navigate(command))
            case _:
                assert_never(command)

    def _beside(self, activity: Occupation, reply: Reply, job: Callable[[], Outcome]) -> None:
        self._runner.claim(activity)

        def work() -> Callable[[], None]:
            try:
                outcome = job()
            except AgentshError as e:
                error = e
                return lambda: reply.refused(error)
            return lambda: reply.done(outcome)

        self._runner.beside(work, activity)

    def _shell(self, command: RunBash, reply: Reply) -> Outcome:
        named = UNSET if reply.id is None else reply.id

        def progress(text: str) -> None:
            self._say(ShellRecord(text, named))

        message = self._host.front.shell(
            command.command, excluded=command.exclude_from_context is True, progress=progress
        )
        return Outcome(shell_result(message))

    def _compact(self, focus: str | None) -> Outcome:
        done = self._runner.compact(focus)
        assert done.entry is not None
        return Outcome(compaction_result(self._host.front.session.entry(done.entry), done))

    def _navigate(self, command: NavigateTree) -> Outcome:
        return move_leaf(self._host, command, self._say)


def move_leaf(host: RemoteHost, command: NavigateTree, say: Say) -> Outcome:
    """Move the leaf: to a prompt means before it. Raises AgentshError: nothing moved."""
    agent = host.front
    target = agent.session.resolve(command.target_id)
    moved = agent.checkout(
        target,
        summarize=command.summarize is True,
        focus=command.custom_instructions,
        files=command.files is True,
        overwrite=command.overwrite is True,
    )
    labelled = moved.summary or target
    if command.label is not None and labelled is not None:
        agent.label(labelled, command.label)
    data = NavigatedData(
        cancelled=False,
        leaf_id=agent.session.leaf,
        notices=moved.notices,
        editor_text=UNSET if moved.editor_text is None else moved.editor_text,
        summary_entry_id=UNSET if moved.summary is None else moved.summary,
    )
    return Outcome(data, lambda: say(LeafRecord(agent.session.leaf, "navigate")))


def shell_result(message: BashExecutionMessage) -> ShellData:
    """Pi's BashResult."""
    path = message.full_output_path
    return ShellData(
        message.output,
        message.exit_code,
        message.cancelled,
        message.truncated,
        UNSET if path is None else path,
    )


def pictures(given: tuple[PictureBlock, ...] | None) -> tuple[Image, ...]:
    """Pictures that may be sent. Raises UsageError for what is none, whatever it is called."""
    numbered = enumerate(given or (), 1)
    return tuple(given_picture(each.data, f"image {number}") for number, each in numbered)

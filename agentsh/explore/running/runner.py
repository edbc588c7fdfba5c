"""One branch in its process: setup, turn, capture, check. Lines in, lines out.

It runs in the view, so its folder is the folder's own path. It writes its session alone; what it
needs of the outside it asks its coordinator for. When the coordinator goes (end of input, or
nothing heard for the lease) the turn is aborted, what it started is ended, and so is it: no branch
runs on unowned. Agents are made by whoever calls. Read next: lines.py, gate.py, checking.py.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import BinaryIO, Protocol

from agentsh import __version__
from agentsh.abort import Abort
from agentsh.agent.agent import Agent
from agentsh.agent.events import (
    AgentEvent,
    ApprovalNeeded,
    MessageDone,
    Notice,
    StepEnd,
    TurnEnd,
)
from agentsh.errors import AgentshError, RequestDeniedError, ToolFailedError
from agentsh.explore.log.facts import BranchEnd, TurnFact
from agentsh.explore.running.checking import (
    CommandSurroundings,
    capture_result,
    run_check,
    run_setup,
)
from agentsh.explore.running.gate import GatedProvider, Gating
from agentsh.explore.running.lines import (
    LEASE,
    BeatLine,
    BeganLine,
    BranchJob,
    CaptureLine,
    CheckLine,
    DenialLine,
    FromRunner,
    FullLine,
    HelloLine,
    HowStopped,
    KeyLine,
    KeysLine,
    NeedLine,
    OverLine,
    PermitLine,
    RefusedLine,
    StepLine,
    StopLine,
    ToldLine,
    ToRunner,
    TurnLine,
    UsedLine,
    encode_runner_line,
    read_to_runner,
)
from agentsh.explore.running.spending import spent_in
from agentsh.explore.workspace.capture import is_for_want_of_room
from agentsh.messages import AssistantMessage, Text, Usage, UserMessage
from agentsh.session.file.session import Session
from agentsh.session.format.entries import MessageBody
from agentsh.session.format.facts import TurnEndReason
from agentsh.shellwords import shell_word

_GRACE = 8.0
"""Seconds that it takes at most to end well."""
CUT = (
    "You were cut off in the middle of this task. What you did so far stands above and in the"
    " folder; commands that were running have ended. Go on from there."
)
_STATUS: dict[TurnEndReason, BranchEnd] = {
    "completed": "completed",
    "blocked": "blocked",
    "max_steps": "limit",
    "aborted": "aborted",
}


class AgentMaker(Protocol):
    """The composition root, seen from here."""

    def around(self, job: BranchJob) -> CommandSurroundings:
        """What a branch's commands get. Raises AgentshError."""

    def agent(self, job: BranchJob, gating: Gating) -> AbstractContextManager[Agent]:
        """An agent with the branch's session, whose provider went through `gating`."""


class CoordinatorChannel:
    """The coordinator, seen from a runner. Its thread reads; anybody writes."""

    def __init__(self, incoming: BinaryIO, outgoing: BinaryIO, leave: Callable[[], None]) -> None:
        """`leave` ends this process, with all that it started, when nothing else did."""
        self.abort = Abort()
        self.keys: Mapping[str, str] = {}
        """Variable → key, where they were sent along."""
        self.stopped: HowStopped | None = None
        self.denied: DenialLine | None = None
        self._incoming, self._outgoing, self._leave = incoming, outgoing, leave
        self._answer: PermitLine | DenialLine | None = None
        self._heard = threading.Condition()
        self._writing = threading.Lock()
        self._last_heard = time.monotonic()
        self._is_over = False

    def job(self) -> BranchJob | None:
        """The first line, after what keys were sent. Raises BadLineError; None: nobody asks."""
        line = self._incoming.readline()
        first = read_to_runner(line) if line else None
        if isinstance(first, KeysLine):
            self.keys = first.keys
            line = self._incoming.readline()
            first = read_to_runner(line) if line else None
        if isinstance(first, BranchJob):
            threading.Thread(target=self._listen, daemon=True).start()
            threading.Thread(target=self._watch, daemon=True).start()
            return first
        return None

    def say(self, line: FromRunner) -> None:
        """A coordinator that is gone hears nothing, and that is seen at the other end."""
        try:
            with self._writing:
                self._outgoing.write(encode_runner_line(line))
                self._outgoing.flush()
        except OSError:
            self._stop("aborted")

    def over(self, status: BranchEnd, error: str | None) -> None:
        self._is_over = True
        self.say(OverLine(status, error))

    # ---- permits -------------------------------------------------------------------------------

    def wait_for(self, endpoint: str, tokens: int, cost: float, group: str | None) -> None:
        """Raises RequestDeniedError; returns where it was stopped."""
        self.say(NeedLine(endpoint, tokens, cost, group))
        with self._heard:
            self._heard.wait_for(lambda: self._answer is not None or self.abort.is_set)
            answer, self._answer = self._answer, None
        if isinstance(answer, DenialLine):
            self.denied = answer
            raise RequestDeniedError(answer.why, endpoint=endpoint)

    # ---- inside --------------------------------------------------------------------------------

    def _listen(self) -> None:
        for data in self._incoming:
            try:
                line = read_to_runner(data)
            except AgentshError:
                break
            self._last_heard = time.monotonic()
            self._take(line)
        self._gone()

    def _take(self, line: ToRunner) -> None:
        match line:
            case PermitLine() | DenialLine():
                with self._heard:
                    self._answer = line
                    self._heard.notify_all()
            case StopLine(how):
                self._stop(how)
            case BeatLine() | BranchJob() | KeysLine():
                pass

    def _stop(self, how: HowStopped) -> None:
        self.stopped = self.stopped or how
        self.abort.set()
        with self._heard:
            self._heard.notify_all()

    def _watch(self) -> None:
        while time.monotonic() - self._last_heard < LEASE:
            time.sleep(1.0)
        self._gone()

    def _gone(self) -> None:
        """Nobody is there any more: end well, or else end."""
        if self._is_over:
            return
        self._stop("aborted")
        time.sleep(_GRACE)
        self._leave()


class _Permits:
    """What the gate asks (gate.py), over the channel."""

    def __init__(self, channel: CoordinatorChannel, group: str | None) -> None:
        self._channel = channel
        self._group = group

    def wait_for(self, endpoint: str, tokens: int, cost: float, abort: Abort) -> None:
        del abort  # the channel's is set first, and sets that of the turn
        self._channel.wait_for(endpoint, tokens, cost, self._group)

    def began(self) -> None:
        self._group = None  # only a branch's first request is led, or leads
        self._channel.say(BeganLine())

    def used(self, usage: Usage) -> None:
        self._channel.say(UsedLine(usage))

    def refused(self, seconds: float, why: str) -> None:
        self._channel.say(RefusedLine(seconds, why))

    def key_refused(self, why: str) -> None:
        self._channel.say(KeyLine(why))


def run_job(channel: CoordinatorChannel, job: BranchJob, maker: AgentMaker) -> None:
    """Do it all, and say how it ended. Raises nothing that is a branch's own trouble."""
    try:
        status, error = _run(channel, job, maker)
    except (AgentshError, OSError) as e:
        status, error = "failed", str(e)
    channel.over(status, error)


def _run(
    channel: CoordinatorChannel, job: BranchJob, maker: AgentMaker
) -> tuple[BranchEnd, str | None]:
    around = maker.around(job)
    if job.kind == "check":
        channel.say(_hello(None))
        channel.say(CheckLine(run_check(job, around, channel.abort)))
        return "completed", None
    turn = job.turn
    if turn is None:
        trouble = run_setup(job, around, channel.abort)
        if trouble is not None:
            channel.say(_hello(None))
            return "failed", trouble
        turn = _turn(channel, job, maker)
    else:
        channel.say(_hello(None))
    try:
        captured = capture_result(job, around)
    except (ToolFailedError, OSError) as e:
        if is_for_want_of_room(e):
            channel.say(FullLine(f"what branches did cannot be kept: {e}"))
        raise
    channel.say(CaptureLine(captured))
    if job.check is not None and turn.status == "completed":
        channel.say(CheckLine(run_check(job, around, channel.abort, captured)))
    return turn.status, turn.error


def _hello(session: Session | None) -> HelloLine:
    name = "" if session is None else session.header.id
    path = "" if session is None or session.path is None else str(session.path)
    return HelloLine(__version__, os.getpid(), socket.gethostname(), name, path)


def _turn(channel: CoordinatorChannel, job: BranchJob, maker: AgentMaker) -> TurnFact:
    """The turn, to its rest."""
    permits = _Permits(channel, job.group)
    with maker.agent(job, lambda provider: GatedProvider(provider, permits)) as agent:
        channel.say(_hello(agent.session))
        timer = threading.Timer(job.seconds, lambda: _end_for_time(channel))
        timer.daemon = True
        timer.start()
        try:
            with channel.abort.calling(agent.abort):
                return _talk(channel, job, agent)
        finally:
            timer.cancel()


def _end_for_time(channel: CoordinatorChannel) -> None:
    channel.stopped = channel.stopped or "limit"
    channel.abort.set()


def _talk(channel: CoordinatorChannel, job: BranchJob, agent: Agent) -> TurnFact:
    """What the agent's events come to."""
    end: TurnEnd | None = None
    text, blocked = "", None
    for event in _events(job, agent):
        match event:
            case MessageDone(message=message):
                text = _said(message) or text
            case StepEnd(usage=usage):
                channel.say(StepLine(usage))
            case ApprovalNeeded(shown=shown, rule_hint=rule):
                blocked = f"not approved: {shown}"
                would = f"--allow {shell_word(rule)} would allow it"
                channel.say(ToldLine(f"branch {job.n}: not approved: {shown}; {would}"))
            case Notice(text=words, level="warning"):
                channel.say(ToldLine(words))
            case TurnEnd():
                end = event
            case _:
                pass
    status, error = _how(channel, end, blocked)
    spent = spent_in(agent.session)
    leaf = agent.session.leaf
    done = TurnFact(job.n, status, leaf, text, spent.usage, spent.requests, error)
    channel.say(TurnLine(done, None if end is None else end.hint))
    return done


def _events(job: BranchJob, agent: Agent) -> Iterator[AgentEvent]:
    """A new branch is asked its prompt; one that was cut goes on where it is."""
    if job.session is None:
        return agent.prompt(job.prompt)
    messages = [
        e.body.message for e in agent.session.live().entries if isinstance(e.body, MessageBody)
    ]
    if messages and isinstance(messages[-1], UserMessage):
        return agent.again()  # it was said, and never answered
    return agent.prompt(CUT)


def _how(
    channel: CoordinatorChannel, end: TurnEnd | None, blocked: str | None
) -> tuple[BranchEnd, str | None]:
    if channel.denied is not None:
        return "limit" if channel.denied.is_limit else "failed", channel.denied.why
    if end is None:
        return "failed", "the turn did not end"
    if end.reason == "aborted" and channel.stopped == "limit":
        return "limit", "the time limit of a branch"
    if end.reason == "blocked" and blocked is not None:
        return "blocked", blocked
    return _STATUS.get(end.reason, "failed"), end.error


def _said(message: AssistantMessage) -> str:
    return "".join(block.text for block in message.content if isinstance(block, Text)).strip()

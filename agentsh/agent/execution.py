"""The tool calls of one step: order, approval, start on record, run, results in the calls' order.

Reading calls that stand together run at once, each in a thread; everything else runs alone, in
order (a command may touch anything). Before a body runs its start is durable (B2); its result is in
the file as soon as it and all results before it are there. Every call gets exactly one result,
whatever happens: refusal, abort, crash of a tool. Read next: approvals.py, tools/base.py.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct, field

from agentsh.abort import Abort
from agentsh.agent.approvals import Approvals, Denied, Granted, Unanswered
from agentsh.agent.events import AgentEvent, ApprovalNeeded, ToolEnd, ToolProgress, ToolStart
from agentsh.agent.recorder import Recorder
from agentsh.agent.workbench import Workbench, failed
from agentsh.errors import ToolAbortedError, ToolError
from agentsh.jsontext import JsonObject
from agentsh.messages import ToolCall, ToolResultMessage
from agentsh.session.entries import EntryId
from agentsh.session.facts import ToolProcess
from agentsh.tools.base import Effect, StartedProcess, Tool, ToolOutcome

Ended: TypeAlias = Literal["done", "blocked", "aborted"]

NOT_APPROVED = "not approved: nobody was there to ask, and the turn stopped before this call"
NOT_STARTED = "not started: the turn was stopped by the user before this call"


class _Job(Struct):
    """One call on its way. `outcome` is set as soon as it has one."""

    call: ToolCall
    tool: Tool | None = None
    arguments: JsonObject = field(default_factory=dict)
    outcome: ToolOutcome | None = None
    approval: EntryId | None = None
    start: EntryId | None = None
    code: str | None = None


class Executor:
    """Runs the calls of one session."""

    def __init__(self, recorder: Recorder, workbench: Workbench, approvals: Approvals) -> None:
        self._recorder = recorder
        self._bench = workbench
        self._approvals = approvals

    def run(
        self, calls: Sequence[ToolCall], asked_in: EntryId, abort: Abort
    ) -> Generator[AgentEvent, None, Ended]:
        """All calls of one answer. Ends "blocked" where a person was needed and none was there."""
        jobs = [self._look_up(call) for call in calls]
        while jobs:
            if abort.is_set:
                yield from self._close(jobs, asked_in, NOT_STARTED, "aborted")
                return "aborted"
            group, jobs = self._next_group(jobs)
            blocked = yield from self._admit(group)
            if blocked:
                yield from self._close(group, asked_in, NOT_APPROVED, "not_approved")
                yield from self._close(jobs, asked_in, NOT_APPROVED, "not_approved")
                return "blocked"
            yield from self._work(group, abort)
            for job in group:
                yield self._store(job, asked_in)
        return _how(abort)

    # ---- before --------------------------------------------------------------------------------

    def _look_up(self, call: ToolCall) -> _Job:
        """Find the tool and check the arguments; what is wrong with them is the outcome."""
        job = _Job(call)
        try:
            job.tool, job.arguments = self._bench.look_up(call)
        except ToolError as e:
            job.outcome = failed(str(e))
        return job

    def _next_group(self, jobs: list[_Job]) -> tuple[list[_Job], list[_Job]]:
        """The calls that may run together, and the rest."""
        count = 0
        for job in jobs:
            if job.tool is not None and job.tool.effect is not Effect.READ:
                break
            count += 1
        count = max(count, 1)
        return jobs[:count], jobs[count:]

    def _admit(self, group: list[_Job]) -> Generator[AgentEvent, None, bool]:
        """Ask about each; True: the turn must stop before this group."""
        for job in group:
            if job.tool is None:
                continue
            rules = self._approvals.rules()
            decision, diff = self._bench.decide(job.tool, job.arguments, rules)
            match self._approvals.settle(job.call, decision, diff):
                case Granted(entry):
                    job.approval = entry
                case Denied(words):
                    job.outcome = failed(words)
                case Unanswered(shown, hint):
                    yield ApprovalNeeded(job.call, shown, hint)
                    return True
        return False

    # ---- running -------------------------------------------------------------------------------

    def _work(self, group: list[_Job], abort: Abort) -> Generator[AgentEvent, None, None]:
        """Start what has no outcome yet, and wait for all of it."""
        ready = [job for job in group if job.outcome is None]
        facts = [
            self._bench.start_fact(job.call, job.tool, job.arguments, job.approval)
            for job in ready
            if job.tool is not None
        ]
        if not ready:
            return
        entries = self._recorder.tools_started_durably(facts)
        news: queue.SimpleQueue[AgentEvent | None] = queue.SimpleQueue()
        for job, entry in zip(ready, entries, strict=True):
            job.start = entry.id
            yield ToolStart(job.call, entry.id)
            threading.Thread(
                target=self._body, args=(job, abort, news.put), name=f"tool {job.call.name}"
            ).start()
        running = len(ready)
        while running:
            event = news.get()
            if event is None:
                running -= 1
            else:
                yield event

    def _body(self, job: _Job, abort: Abort, tell: Callable[[AgentEvent | None], None]) -> None:
        """One tool's body, in its own thread. Nothing that it raises gets out."""
        call, tool = job.call, job.tool
        assert tool is not None

        def started(process: StartedProcess) -> None:
            fact = ToolProcess(call.id, process.pgid, process.start, process.boot)
            self._recorder.tool_process(call, fact)

        try:
            context = self._bench.context(
                call, abort, lambda text: tell(ToolProgress(call, text)), started
            )
            job.outcome = tool.run(job.arguments, context)
        except ToolAbortedError as e:
            job.outcome, job.code = failed(str(e)), "aborted"
        except ToolError as e:
            job.outcome = failed(str(e))
        except Exception as e:  # noqa: BLE001 - a tool's crash is its result (style.md §4.5 rule 6)
            job.outcome = failed(f"the tool {call.name} crashed: {type(e).__name__}: {e}")
        finally:
            tell(None)

    # ---- after ---------------------------------------------------------------------------------

    def _store(self, job: _Job, asked_in: EntryId) -> ToolEnd:
        outcome = job.outcome
        assert outcome is not None
        message = ToolResultMessage(
            job.call.id, job.call.name, outcome.content, outcome.is_error, outcome.details
        )
        sources = (asked_in,) if job.start is None else (asked_in, job.start)
        entry = self._recorder.result(message, sources, job.code)
        self._bench.forget(job.call)
        return ToolEnd(job.call, message, entry.id)

    def _close(
        self, jobs: list[_Job], asked_in: EntryId, words: str, code: str
    ) -> Generator[AgentEvent, None, None]:
        """Give what will not run its result."""
        for job in jobs:
            if job.outcome is None:
                job.outcome, job.code = failed(words), code
            yield self._store(job, asked_in)


def _how(abort: Abort) -> Ended:
    return "aborted" if abort.is_set else "done"

"""The tool calls of one step: order, approval, start on record, run, results in the calls' order.

Reading calls that stand together run at once, each in a thread; everything else runs alone, in
order (a command may touch anything). Before a body runs its start is durable (B2); its result is in
the file as soon as it and all results before it are there. Every call gets exactly one result,
whatever happens: refusal, abort, crash of a tool, a disk that refuses, a listener that went away.
Read next: approvals.py, tools/base.py.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.agent.events import (
    AgentEvent,
    ApprovalNeeded,
    Notice,
    ToolEnd,
    ToolProgress,
    ToolStart,
)
from agentsh.agent.turn.approvals import Approvals, Denied, Granted, Unanswered
from agentsh.agent.turn.recorder import Recorder
from agentsh.agent.turn.repeated_calls import Repeats
from agentsh.agent.workbench import Workbench, failed
from agentsh.errors import SessionError, ToolAbortedError, ToolError
from agentsh.jsontext import JsonError, JsonObject
from agentsh.messages import OWN_DETAILS, Text, ToolCall, ToolResultMessage
from agentsh.session.format.entries import EntryId
from agentsh.session.format.facts import JobEnded, ToolProcess, ToolStarted
from agentsh.tools.approval.policy import Asked, Decision
from agentsh.tools.base import Effect, JobEnd, StartedProcess, Tool, ToolOutcome

Ended: TypeAlias = Literal["done", "blocked", "aborted", "stuck"]

# more threads than this only wait for one another
MAX_AT_ONCE = 16

NOT_APPROVED = "not approved: nobody was there to ask, and the turn stopped before this call"
REPEATED = "not started: it is the same call once more, and the turn was stopped before it"
NOT_STARTED = "not started: the turn was stopped by the user before this call"
NOT_SAVED = "not started: the session could not be saved, and nothing is done that is not on record"


class _Job(Struct):
    """One call on its way. `outcome` is set as soon as it has one."""

    call: ToolCall
    tool: Tool | None = None
    arguments: JsonObject = field(default_factory=dict)
    touched: tuple[Path, ...] = ()
    outcome: ToolOutcome | None = None
    approval: EntryId | None = None
    start: EntryId | None = None
    code: str | None = None
    stored: bool = False
    is_refused: bool = False
    note: str | None = None
    """What the model is told before the result."""
    again: str | None = None
    """Why the person is asked about a call that comes again and again."""

    def allow(self, approval: EntryId | None, changed: ToolCall | None) -> None:
        """The person may have changed the command: what runs is what was agreed to."""
        self.approval = approval
        if changed is not None:
            self.call, self.arguments = changed, {**self.arguments, **changed.arguments}
            self.note = f"(the user changed the command; this ran: {changed.arguments['command']})"


class Executor:
    """Runs the calls of one session."""

    def __init__(
        self,
        recorder: Recorder,
        workbench: Workbench,
        approvals: Approvals,
        before_change: Callable[[EntryId, Abort], None] = lambda _step, _abort: None,
    ) -> None:
        self._before_change = before_change
        self._recorder = recorder
        self._repeats = Repeats(recorder.session)
        self._bench = workbench
        self._approvals = approvals

    def run(
        self,
        calls: Sequence[ToolCall],
        asked_in: EntryId,
        abort: Abort,
        note: str | None = None,
        again: str | None = None,
    ) -> Generator[AgentEvent, None, Ended]:
        """All calls of one answer; `note` goes with the last result.

        `again`: why the person is asked whether it goes on.

        Ends "blocked" where a person was needed and none was there; "stuck" where the calls come
        again too often and nobody could say that it goes on.
        """
        jobs = [self._look_up(call) for call in calls]
        if jobs:
            jobs[0].again = again
        if note is not None and jobs:
            jobs[-1].note = note
        try:
            return (yield from self._run(jobs, asked_in, abort))
        except SessionError:
            self._give_up(jobs, asked_in, NOT_SAVED, "not_saved")
            raise
        except GeneratorExit:
            self._give_up(jobs, asked_in, NOT_STARTED, "aborted")
            raise

    def _run(
        self, jobs: list[_Job], asked_in: EntryId, abort: Abort
    ) -> Generator[AgentEvent, None, Ended]:
        while jobs:
            group, later = self._next_group(jobs)
            ended = "done" if abort.is_set else (yield from self._admit(group))
            if ended == "blocked":
                yield from self._close(jobs, asked_in, NOT_APPROVED, "not_approved")
                return "blocked"
            if ended in ("stuck", "aborted"):
                yield from self._close(jobs, asked_in, REPEATED, "aborted")
                return ended
            if abort.is_set:
                yield from self._close(jobs, asked_in, NOT_STARTED, "aborted")
                return "aborted"
            yield from self._work(group, asked_in, abort)
            jobs = later
        return "aborted" if abort.is_set else "done"

    def note_jobs(self) -> None:
        """Put on record which background jobs have ended meanwhile."""
        for end in self._bench.ended_jobs(self._bench.session_id):
            self._recorder.fact(job_fact(end))

    # ---- before --------------------------------------------------------------------------------

    def _look_up(self, call: ToolCall) -> _Job:
        """Find the tool and check the arguments; what is wrong with them is the outcome."""
        job = _Job(call)
        try:
            job.tool, job.arguments = self._bench.look_up(call)
            from agentsh.tools.arguments import passed_over  # loaded with the first tool

            job.note = passed_over(job.tool.schema, call.arguments, job.arguments)
        except ToolError as e:
            job.outcome = failed(str(e))
        return job

    def _next_group(self, jobs: list[_Job]) -> tuple[list[_Job], list[_Job]]:
        """The calls that may run together, and the rest."""
        count = 0
        for job in jobs[:MAX_AT_ONCE]:
            if job.tool is not None and job.tool.effect is not Effect.READ:
                break
            count += 1
        count = max(count, 1)
        return jobs[:count], jobs[count:]

    def _admit(self, group: list[_Job]) -> Generator[AgentEvent, None, Ended]:
        """Ask about each; not "done": the turn must stop before this group."""
        for job in group:
            judged = self._judge(job)
            if job.again is not None:
                if self._approvals.approver is None:
                    return "stuck"
                if judged is not None and isinstance(judged[0], Asked):  # one question, not two
                    judged = (replace(judged[0], why=job.again), judged[1])
                else:
                    verdict = self._approvals.go_on(job.call, job.again)
                    if isinstance(verdict, Denied):
                        job.outcome, judged = failed(verdict.words), None
                        if verdict.reason is None:
                            return "aborted"
            if judged is None:
                continue
            match self._approvals.settle(job.call, *judged):
                case Granted(entry, changed):
                    job.allow(entry, changed)
                case Denied(text, reason):
                    job.outcome, job.is_refused = failed(text), True
                    if job.again is not None and reason is None:
                        return "aborted"
                case Unanswered(shown, hint):
                    yield ApprovalNeeded(job.call, shown, hint)
                    return "blocked"
        return "done"

    def _judge(self, job: _Job) -> tuple[Decision, str | None] | None:
        """The policy's decision; None where the call has its outcome already."""
        if job.tool is None:
            return None
        try:
            job.touched = self._bench.touched(job.tool, job.arguments)
            rules = self._approvals.rules()
            return self._bench.decide(job.tool, job.arguments, job.touched, rules)
        except Exception as e:  # noqa: BLE001 - arguments that a tool chokes on are its result
            job.outcome = _crashed(job.call, e)
            return None

    def _start_fact(self, job: _Job) -> ToolStarted | None:
        assert job.tool is not None
        try:
            return self._bench.start_fact(
                job.call, job.tool, job.arguments, job.touched, job.approval
            )
        except Exception as e:  # noqa: BLE001 - arguments that a tool chokes on are its result
            job.outcome = _crashed(job.call, e)
            return None

    def _count_repeats(
        self, facts: list[tuple[_Job, ToolStarted]]
    ) -> Generator[AgentEvent, None, None]:
        """Count calls that were made before, and say so of those that were done (R57)."""
        for i, (job, fact) in enumerate(facts):
            if fact.effect == "read":
                continue
            repeat = self._repeats.take(fact.key)
            facts[i] = (job, replace(fact, attempt=repeat.starts + 1))
            if repeat.done is not None:
                text = f"{fact.name} runs again as it did before: {repeat.done} is its result then"
                yield Notice(text, "warning")

    # ---- running -------------------------------------------------------------------------------

    def _work(
        self, group: list[_Job], asked_in: EntryId, abort: Abort
    ) -> Generator[AgentEvent, None, None]:
        """Start what has no outcome yet, wait for all of it, store what is done in order."""
        from queue import SimpleQueue

        open_jobs = [job for job in group if job.outcome is None]
        facts = [(job, fact) for job in open_jobs if (fact := self._start_fact(job)) is not None]
        yield from self._count_repeats(facts)
        if facts:
            if any(fact.effect != "read" for _, fact in facts):
                self._before_change(asked_in, abort)
            entries = self._recorder.tools_started_durably([fact for _, fact in facts])
            for (job, _), entry in zip(facts, entries, strict=True):
                job.start = entry.id
        news: SimpleQueue[AgentEvent | None] = SimpleQueue()
        running = 0
        try:
            for job, _ in facts:
                yield ToolStart(job.call, job.start)
                threading.Thread(
                    target=self._body, args=(job, abort, news.put), name=f"tool {job.call.name}"
                ).start()
                running += 1
            yield from self._finished(group, asked_in)
            while running:
                event = news.get()
                if event is None:
                    running -= 1
                    yield from self._finished(group, asked_in)
                else:
                    yield event
        except BaseException:
            abort.set()
            while running:
                running -= news.get() is None
            raise

    def _body(self, job: _Job, abort: Abort, tell: Callable[[AgentEvent | None], None]) -> None:
        """One tool's body, in its own thread. Nothing that it raises gets out."""
        call, tool = job.call, job.tool
        assert tool is not None

        def started(process: StartedProcess) -> None:
            fact = ToolProcess(call.id, process.pgid, process.start, process.boot)
            self._recorder.tool_process(call, fact)

        try:
            context = self._bench.context(
                call, abort, lambda text: tell(ToolProgress(call, text)), started, job.touched
            )
            job.outcome = tool.run(job.arguments, context)
        except ToolAbortedError as e:
            job.code, job.outcome = "aborted", failed(str(e))
        except ToolError as e:
            job.outcome = failed(str(e))
        except BaseException as e:  # noqa: BLE001 - a tool's crash is its result
            job.outcome = _crashed(call, e)
        finally:
            tell(None)

    # ---- after ---------------------------------------------------------------------------------

    def _finished(self, group: list[_Job], asked_in: EntryId) -> Generator[AgentEvent, None, None]:
        """Store what is done, as far as all before it is done as well."""
        for job in group:
            if job.outcome is None:
                return
            if not job.stored:
                yield self._store(job, asked_in)

    def _store(self, job: _Job, asked_in: EntryId) -> ToolEnd:
        call, outcome = job.call, job.outcome
        assert outcome is not None
        sources = (asked_in,) if job.start is None else (asked_in, job.start)
        job.stored = True
        message = self._message(call, noted(outcome, job.note))
        try:
            entry = self._recorder.result(message, sources, job.code)
        except (JsonError, TypeError) as e:
            message = self._message(call, failed(f"the result of {call.name} cannot be kept: {e}"))
            entry = self._recorder.result(message, sources, job.code)
        if job.tool is not None and job.tool.effect is Effect.EXEC:
            self._recorder.note_head()
        self._bench.forget(call)
        return ToolEnd(call, message, entry.id, job.is_refused)

    def _message(self, call: ToolCall, outcome: ToolOutcome) -> ToolResultMessage:
        return ToolResultMessage(
            call.id,
            call.name,
            outcome.content,
            outcome.is_error,
            outcome.details,
            timestamp=self._recorder.now_ms(),
        )

    def _close(
        self, jobs: list[_Job], asked_in: EntryId, text: str, code: str
    ) -> Generator[AgentEvent, None, None]:
        """Give what will not run its result."""
        for job in jobs:
            if job.outcome is None:
                job.outcome, job.code = failed(text), code
            yield self._store(job, asked_in)

    def _give_up(self, jobs: list[_Job], asked_in: EntryId, text: str, code: str) -> None:
        """The same where nobody listens, or nothing can be saved: in the queue at least."""
        for _ in self._close([job for job in jobs if not job.stored], asked_in, text, code):
            pass


def job_fact(end: JobEnd) -> JobEnded:
    """What is put on record of a background job's end."""
    return JobEnded(end.call_id, end.pgid, end.seconds, end.bytes, end.code)


def noted(outcome: ToolOutcome, note: str | None) -> ToolOutcome:
    """The outcome with a line of ours before it; the details say that it is no output."""
    if note is None:
        return outcome
    details = {} if outcome.details is None else outcome.details
    ours = details.get(OWN_DETAILS, {}) if isinstance(details, dict) else None
    if isinstance(details, dict) and isinstance(ours, dict):
        details = {**details, OWN_DETAILS: {**ours, "note": True}}
    return replace(outcome, content=(Text(note), *outcome.content), details=details)


def _crashed(call: ToolCall, error: BaseException) -> ToolOutcome:
    if isinstance(error, ToolError):
        return failed(str(error))
    return failed(f"the tool {call.name} crashed: {type(error).__name__}: {error}")

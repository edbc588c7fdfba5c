"""Runs the plans of context/summaries/compaction.py and of its neighbour for branches.

A request for a summary is on record like any other, and durable before it is sent. A summary that
fails, is empty, is cut, or frees nothing leaves no entry; a bracket (`agentsh.compaction` start,
end) says that it was tried (R70). Read next: context/summaries/compaction.py, requests.py.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Iterator
from typing import TypeAlias

from msgspec import Struct

from agentsh.abort import Abort
from agentsh.agent.events import AgentEvent, Compacted, Compacting, Retry
from agentsh.agent.summaries.requests import SummaryKind, summary_request
from agentsh.agent.turn.projector import Projector
from agentsh.agent.turn.recorder import Recorder
from agentsh.agent.turn.requests import Prepared, Target, Where, request_fact
from agentsh.context.projection import Context, SummaryMessage, project
from agentsh.context.summaries.branching import (
    branch_transcript,
    finish_branch,
    plan_branch_summary,
)
from agentsh.context.summaries.compaction import (
    Cut,
    NothingToCompact,
    SummaryOrigin,
    cut_files,
    finish,
    plan_cut,
    plan_cut_before,
    plan_summary,
    replaced_entries,
    shrinks,
    smaller_plan,
)
from agentsh.context.summaries.summaries import source_range
from agentsh.context.tokens import (
    context_tokens,
    estimate_context,
    estimate_messages,
    keep_tokens,
)
from agentsh.errors import (
    AgentshError,
    ContextOverflowError,
    EmptyAnswerError,
    ProviderError,
    RefusedError,
    UnfinishedAnswerError,
)
from agentsh.jsontext import JsonObject
from agentsh.messages import AssistantMessage, Usage
from agentsh.providers.base import Finished, Provider
from agentsh.providers.wire.retry import plan_retry
from agentsh.session.file.session import Session
from agentsh.session.format.entries import Branch, BranchSummary, Entry, EntryId
from agentsh.session.format.facts import AttemptEnded, CompactionMark
from agentsh.session.store.naming import command_hint

MAX_ATTEMPTS = 8


SummedUp: TypeAlias = tuple[BranchSummary, Entry]
"""A summary of a branch, and the request that it answers."""


class StoppedError(AgentshError):
    """The person stopped the summary; nothing was changed."""


class Job(Struct, frozen=True):
    """Who summarises, and within which bounds."""

    target: Target
    window: int | None
    keep: int | None
    focus: str | None
    abort: Abort
    turn: int
    weigh: Callable[[Context], int] = context_tokens
    """The tokens of a context; whoever has weighed it already need not do it again."""
    spent: Callable[[], Usage | None] = lambda: None
    """What the path took so far."""
    until: EntryId | None = None
    """Summarise what stands before this entry of the path, whatever `keep` says."""
    named: tuple[str, ...] = ()
    """The words that name this session in a command."""


class Compactor:
    """Makes summaries for one session."""

    def __init__(
        self, recorder: Recorder, projector: Projector, provider: Provider, max_retries: int
    ) -> None:
        self._recorder = recorder
        self._projector = projector
        self._provider = provider
        self._max_retries = max_retries

    # ---- compaction ----------------------------------------------------------------------------

    def run(self, job: Job, why: str | None = None) -> Generator[AgentEvent, None, None]:
        """Append a compaction. Raises RefusedError where it would free nothing, ProviderError."""
        self._recorder.begin()
        context = self._projector.now()
        cut = self._cut(context, job)
        yield Compacting(job.weigh(context), why)
        yield from self._compact(context, cut, job)

    def _cut(self, context: Context, job: Job) -> Cut:
        """Raises RefusedError."""
        if job.until is not None:
            path = [entry.id for entry in self._recorder.session.branch().entries]
            cut = plan_cut_before(context, path, job.until)
            if isinstance(cut, NothingToCompact):
                raise RefusedError(cut.reason)
            return cut
        keep = job.keep if job.keep is not None else keep_tokens(job.window, job.target.max_tokens)
        cut = plan_cut(context, keep)
        if isinstance(cut, NothingToCompact):
            raise self._refused(context, keep, cut, job)
        return cut

    def _refused(
        self, context: Context, keep: int, why: NothingToCompact, job: Job
    ) -> RefusedError:
        """Why there is nothing to do; where all of it is kept, in figures, and how to keep less."""
        is_fresh = context.compaction is not None and context.tail == len(context.items)
        messages = (item.message for item in context.items)
        said = estimate_messages(m for m in messages if not isinstance(m, SummaryMessage))
        if is_fresh or not 0 < said < keep:
            return RefusedError(why.reason)
        named = job.named or (self._recorder.session.header.id,)
        less = str(max(said // 4, 1))
        outside = command_hint("compact", named, "--keep", less)
        return RefusedError(
            f"There is nothing to compact: what was said here is about {said} tokens, and the last"
            f" {keep} are always kept. (Instructions and tools count in the status, but cannot be"
            " compacted.)",
            hint=f"to keep less: /compact --keep {less} in a chat, or `{outside}`",
        )

    def try_run(self, job: Job, why: str) -> Generator[AgentEvent, None, bool]:
        """The same for an automatic one: what goes wrong is told, and False."""
        before = self._projector.now()
        try:
            yield from self.run(job, why)
        except (RefusedError, ProviderError, StoppedError) as e:
            yield Compacted(None, job.weigh(before), job.weigh(before), str(e))
            return False
        return True

    def _compact(self, context: Context, cut: Cut, job: Job) -> Iterator[AgentEvent]:
        before = job.weigh(context)
        plan = plan_summary(context, cut, window=job.window, focus=job.focus)
        files = cut_files(context, cut)
        self._recorder.fact(CompactionMark("start"))
        try:
            answer, request = yield from self._summary(context, "compaction", plan, job)
            if not shrinks(context, cut, answer.text, files):
                raise RefusedError("the summary is not smaller than what it would stand for")
        except AgentshError as e:
            self._recorder.fact(CompactionMark("end", str(e)))
            self._recorder.settle()
            raise
        origin = SummaryOrigin(
            self._provenance(replaced_entries(self._branch(), context, cut)),
            answer.usage,
            self._recorder.now_ms(),
            job.turn,
            job.spent(),
        )
        body = finish(context, cut, answer.text, origin, tokens_before=before, files=files)
        entry = self._recorder.derived(body, request)
        self._recorder.fact(CompactionMark("end"))
        self._recorder.settle()
        left = self._projector.now()
        share = estimate_context(left) / max(estimate_context(context), 1)
        after = min(job.weigh(left), round(before * share))  # before was measured, this was not
        yield Compacted(entry.id, before, after, usage=answer.usage)

    # ---- branches ------------------------------------------------------------------------------

    def summarize_branch(
        self, target: EntryId | None, job: Job
    ) -> Generator[AgentEvent, None, SummedUp | None]:
        """What is left when the leaf moves to `target`, and the request that it answers.

        None where nothing was said there.
        """
        self._recorder.begin()
        session = self._recorder.session
        old = session.leaf
        path = [entry.id for entry in session.branch().entries]
        stays = set() if target is None else {e.id for e in session.branch(target).entries}
        left = [i for i in path if i not in stays]
        context = self._projector.now()
        plan = plan_branch_summary(context, left, window=job.window, focus=job.focus)
        if plan is None or old is None:
            return None
        try:
            answer, request = yield from self._summary(context, "branch", plan, job)
        except AgentshError:
            self._recorder.settle()
            raise
        summary = finish_branch(
            context,
            plan,
            answer.text,
            from_id=old,
            source=self._provenance(tuple(left)),
            usage=answer.usage,
        )
        return summary, request

    def summarize_other(
        self, source: Session, target: EntryId, job: Job
    ) -> Generator[AgentEvent, None, SummedUp | None]:
        """What the branch of `source` that ends at `target` says and this path does not; as above.

        Of another session the plan holds the words themselves, so that this file alone rebuilds
        the request (R33).
        """
        self._recorder.begin()
        session = self._recorder.session
        path = [entry.id for entry in source.branch(target, repaired=False).entries]
        is_own = source is session
        here = {entry.id for entry in session.branch().entries} if is_own else set()
        left = [i for i in path if i not in here]
        context = project(source.live(target, repaired=False))
        plan = plan_branch_summary(context, left, window=job.window, focus=job.focus)
        if plan is None:
            return None
        asked, leaf = context, target
        if not is_own:
            assert session.leaf is not None
            asked, leaf = self._projector.now(), session.leaf
            plan["transcript"] = branch_transcript(context, plan)
        try:
            answer, request = yield from self._summary(asked, "branch", plan, job, leaf)
        except AgentshError:
            self._recorder.settle()
            raise
        lines = self._provenance(tuple(left)) if is_own else None
        summary = finish_branch(
            context, plan, answer.text, from_id=target, source=lines, usage=answer.usage
        )
        return summary, request

    # ---- the request ---------------------------------------------------------------------------

    def _summary(
        self,
        context: Context,
        kind: SummaryKind,
        plan: JsonObject,
        job: Job,
        leaf: EntryId | None = None,
    ) -> Generator[AgentEvent, None, tuple[AssistantMessage, Entry]]:
        """Ask for it. A request that does not fit is asked again in a smaller form (S35).

        `context` is that of the entry `leaf`, by default the leaf.
        """
        failures = cuts = 0
        target = job.target
        for attempt in range(1, MAX_ATTEMPTS + 1):
            prepared = summary_request(context, target, kind, plan)
            where = Where(job.turn, attempt, leaf or self._recorder.session.leaf, kind)
            fact = request_fact(prepared, self._provider.endpoint, where)
            entry = self._recorder.request_durably(fact)
            try:
                return self._ask(prepared, job.abort), entry
            except ProviderError as e:
                error = e
            self._recorder.attempt_failed(AttemptEnded(entry.id, str(error), error.status))
            shape = self._provider.learn(target.model, target.shape, error)
            # offered tools, a model may call one instead of summarising: ask without them
            smaller = self._smaller(plan, error, cuts)
            cuts += isinstance(error, UnfinishedAnswerError)
            if shape is not None:
                target = target.shaped(shape)
            elif smaller is not None:
                plan = smaller
            else:
                failures += 1
                yield from self._wait(error, failures, job.abort)
        raise error

    @staticmethod
    def _smaller(plan: JsonObject, error: ProviderError, cuts: int) -> JsonObject | None:
        """Another form of the request, where one may help; after a cut answer once."""
        match error:
            case UnfinishedAnswerError() if cuts:
                return None
            case UnfinishedAnswerError() | ContextOverflowError() | EmptyAnswerError():
                return smaller_plan(plan)
            case _:
                return None

    def _wait(self, error: ProviderError, failures: int, abort: Abort) -> Iterator[AgentEvent]:
        """Until the next try; where there is to be none, raises the error, or StoppedError."""
        wait = plan_retry(
            error,
            attempt=failures,
            max_retries=self._max_retries,
            jitter=random.random(),
            from_stored_state=True,
        )
        if wait is None:
            raise error
        yield Retry(failures, wait, str(error))
        if abort.wait(wait):
            raise StoppedError("the summary was stopped")

    def _ask(self, prepared: Prepared, abort: Abort) -> AssistantMessage:
        message: AssistantMessage | None = None
        for event in self._provider.stream(prepared.body, prepared.request, abort):
            if isinstance(event, Finished):
                message = event.message
        if abort.is_set or message is None or message.stop_reason == "aborted":
            raise StoppedError("the summary was stopped")
        if message.stop_reason == "length":
            raise UnfinishedAnswerError(
                "the summary was cut at the output limit, so it is not used (--max-tokens, or"
                " max_tokens in the settings, may give it more room)"
            )
        if message.tool_calls:  # what stands before a call is no end of anything
            raise UnfinishedAnswerError(
                "the model called a tool instead of giving the summary, so its words are not used"
            )
        if not message.text.strip():
            raise EmptyAnswerError("the model gave no summary", retryable=False)
        return message

    # ---- provenance ----------------------------------------------------------------------------

    def _branch(self) -> Branch:
        return self._recorder.session.live()

    def _provenance(self, ids: tuple[EntryId, ...]) -> JsonObject | None:
        return source_range(ids, self._recorder.session.lines(ids))

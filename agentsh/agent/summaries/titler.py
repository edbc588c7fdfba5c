"""The automatic title of a session: asked for once, after a turn, where the person wants titles.

One small request, on record before it is sent like any other. It never holds anybody up: it ends
with the person's abort, with the next thing that is typed, and after LIMIT_SECONDS; and it never
fails anything. A session that has a name or a title is not asked about, and a result is dropped
where the person named the session, or left the place, meanwhile (R71). What was asked in vain too
often is on record, so that no later process begins anew.
Read next: context/summaries/titles.py, requests.py.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.agent.events import AgentEvent, Notice
from agentsh.agent.growth import grown, last_entry
from agentsh.agent.summaries.requests import summary_request
from agentsh.agent.turn.budget import Budget
from agentsh.agent.turn.inbox import Inbox
from agentsh.agent.turn.projector import Projector
from agentsh.agent.turn.recorder import Recorder
from agentsh.agent.turn.requests import Prepared, Target, Where, request_fact
from agentsh.context.summaries.titles import plan_title, title_of
from agentsh.errors import ProviderError, SessionError
from agentsh.messages import AssistantMessage, Usage
from agentsh.providers.base import Finished, Provider
from agentsh.session.file.session import Session
from agentsh.session.format.entries import Custom, Entry, EntryId, UsageRecord
from agentsh.session.format.factcodec import decode_fact
from agentsh.session.format.facts import AttemptEnded, RequestSent, Titled

LIMIT_SECONDS: Final = 20.0
MAX_ASKED: Final = 3
"""Requests for a title that one session may have on record."""


class _Failure(Struct, frozen=True):
    words: str
    status: int | None = None
    is_told: bool = True


class Titler:
    """Gives one session its title."""

    def __init__(
        self,
        recorder: Recorder,
        projector: Projector,
        provider: Provider,
        inbox: Inbox,
        budget: Budget,
        *,
        verify: Callable[[EntryId], None] | None = None,
        limit: float = LIMIT_SECONDS,
    ) -> None:
        self._recorder = recorder
        self._projector = projector
        self._provider = provider
        self._inbox = inbox
        self._budget = budget
        self._verify = verify
        self._limit = limit
        self._is_over = False
        self._asking: Abort | None = None

    def use(self, provider: Provider) -> None:
        """Ask that one from now on."""
        self._provider = provider

    def give_way(self) -> None:
        """Something else is to be asked now. Thread-safe."""
        asking = self._asking
        if asking is not None:
            asking.set()

    def run(self, target: Target, turn: int, abort: Abort) -> Iterator[AgentEvent]:
        """At rest, after a turn. Never raises for what the network or the disk does."""
        if self._is_over or abort.is_set or not self._is_wanted():
            return
        self._asking = own = Abort()
        timer = threading.Timer(self._limit, own.set)
        timer.daemon = True
        try:
            with abort.calling(own.set):
                if self._inbox.waiting():
                    return  # typed before there was anything to give way
                timer.start()
                failure = self._titled(replace(target, thinking="off"), turn, own)
        except SessionError:
            return  # the recorder has told of it
        finally:
            timer.cancel()
            self._asking = None
        gave_way = own.is_set and bool(self._inbox.waiting())
        self._is_over = not gave_way
        if failure is not None and failure.is_told and not gave_way and not abort.is_set:
            yield Notice(f"this session got no title: {failure.words}")

    def _is_wanted(self) -> bool:
        session = self._recorder.session
        if session.tree.name:
            return False  # it may lose its name later
        is_titled, asked = _on_record(session)
        self._is_over = is_titled or asked >= MAX_ASKED
        return not self._is_over and self._budget.verdict().stop is None

    def _titled(self, target: Target, turn: int, own: Abort) -> _Failure | None:
        """Ask, and store what came of it. Raises SessionError."""
        context = self._projector.now()
        leaf, plan = self._recorder.session.leaf, plan_title(context)
        if plan is None or leaf is None:
            return None
        prepared = summary_request(context, target, "title", plan)
        where = Where(turn, 1, leaf, "title")
        fact = request_fact(prepared, self._provider.endpoint, where)
        request = self._recorder.request_durably(fact)
        if self._verify is not None:
            self._verify(request.id)
        failure = self._stored(prepared, request, leaf, own)
        if failure is not None:
            ended = AttemptEnded(request.id, failure.words, failure.status)
            self._recorder.attempt_failed(ended)
        self._recorder.settle()
        return failure

    def _stored(
        self, prepared: Prepared, request: Entry, leaf: EntryId, own: Abort
    ) -> _Failure | None:
        """What the answer took, and its title."""
        session = self._recorder.session
        asked_at = last_entry(session)
        try:
            answer = self._answer(prepared, own)
        except ProviderError as e:
            answer, failure = None, _Failure(str(e), e.status)
        else:
            is_cut = answer is not None and answer.stop_reason == "length"
            failure = _Failure(
                "it was cut at the output limit" if is_cut else "the model gave none"
            )
        if answer is not None and answer.usage != Usage():
            self._recorder.derived(
                UsageRecord("title", answer.provider, answer.model, answer.usage), request
            )
        if own.is_set:
            return _Failure("it was stopped, or took too long")
        is_whole = answer is not None and answer.stop_reason == "stop"
        title = title_of(answer.text) if answer is not None and is_whole else None
        if title is None:
            return failure
        if session.tree.name or grown(session, asked_at) is None:
            return _Failure("the session was named, or left, meanwhile", is_told=False)
        self._recorder.derived(Titled(title, leaf), request)
        return None

    def _answer(self, prepared: Prepared, own: Abort) -> AssistantMessage | None:
        """Raises ProviderError."""
        message: AssistantMessage | None = None
        for event in self._provider.stream(prepared.body, prepared.request, own):
            if isinstance(event, Finished):
                message = event.message
        return message


def _on_record(session: Session) -> tuple[bool, int]:
    """(has the file a title, how often one was asked for)"""
    is_titled, asked = False, 0
    tree = session.tree
    for entry in tuple(tree):
        if tree.kind(entry) != "custom" or b"title" not in session.raw(entry):
            continue
        body = session.entry(entry).body
        fact = decode_fact(body) if isinstance(body, Custom) else None
        is_titled = is_titled or isinstance(fact, Titled)
        asked += isinstance(fact, RequestSent) and fact.kind == "title"
    return is_titled, asked

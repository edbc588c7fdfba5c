"""What is done to the tree of one session while no turn runs: compact, move, sum up, ask again.

An automatic compaction is one of these, too. Each is asked for at one moment and goes by the
settings of then, so that nothing is kept here: agent.py makes a TreeActions where one is called
for, and only then is loaded what asks for summaries.
Read next: agent/summaries/compactor.py, moving.py.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.agent.config import Config
from agentsh.agent.events import AgentEvent, Compacted, Notice
from agentsh.agent.moving import Moved, Mover, Sibling, returned
from agentsh.agent.summaries.compactor import Compactor, Job, StoppedError, SummedUp
from agentsh.agent.turn.inbox import Inbox
from agentsh.agent.turn.pressure import Gauge
from agentsh.agent.turn.projector import Projector
from agentsh.agent.turn.recorder import Recorder
from agentsh.agent.turn.requests import Target
from agentsh.messages import Usage
from agentsh.providers.base import Provider
from agentsh.session.file.session import Session
from agentsh.session.format.entries import EntryId

if TYPE_CHECKING:  # handed in where files are to come back, too
    from agentsh.agent.files.rewinding import Rewinder


class TreeActions(Struct, frozen=True):
    """By the settings of one moment. `turn`: the number of the newest one."""

    recorder: Recorder
    projector: Projector
    inbox: Inbox
    provider: Provider
    config: Config
    target: Target
    gauge: Gauge
    abort: Abort
    turn: int
    spent: Callable[[], Usage | None]

    def compact(
        self, focus: str | None, keep: int | None, until: EntryId | None
    ) -> Generator[AgentEvent, None, None]:
        """Append a compaction; one that the person stops is told. Raises ProviderError,
        RefusedError: there is nothing to do."""
        try:
            yield from self._know_window()
            yield from self._compactor.run(replace(self._job(focus, keep), until=until))
            self.inbox.restate()
        except StoppedError as e:
            tokens = self.gauge.weigh(self.projector.now())
            yield Compacted(None, tokens, tokens, str(e))

    def _know_window(self) -> Iterator[AgentEvent]:
        """Where it is not known, the endpoint is asked. Raises StoppedError."""
        context = self.projector.now()
        if endpoint := self.gauge.waits_for(context):
            yield Notice(f"{endpoint} is asked how much {self.target.model} holds")
            self.gauge.read(context, self.abort)
        if self.abort.is_set:
            raise StoppedError("the compaction was stopped")

    def make_room(self, why: str) -> Generator[AgentEvent, None, bool]:
        """An automatic compaction; its failure is told, never fatal by itself."""
        made = yield from self._compactor.try_run(self._job(), why)
        if made:
            self.inbox.restate()
        return made

    def checkout(
        self,
        target: EntryId | None,
        *,
        summarize: bool,
        focus: str | None,
        files: Rewinder | None,
        overwrite: bool,
        arrived: Callable[[], tuple[str, ...]],
    ) -> Moved:
        """Move the leaf, and with `files` the working files, to that place (R74).

        `arrived` is called between the two, and says what is to be told. Raises ProviderError,
        RefusedError, ToolFailedError before anything moves.
        """
        plan = None if files is None else files.plan(target)
        if files is not None and plan is not None:
            files.leave(plan)
        mover = Mover(self.recorder, self._compactor)
        moved = mover.move(target, self._job(focus) if summarize else None)
        notices = (*moved.notices, *arrived())
        if files is not None and plan is not None:
            notices += files.bring_back(plan, overwrite=overwrite)
        return replace(moved, notices=notices)

    def step_back(self, word: str | None) -> Sibling:
        """To where an answer was asked for (the last one). Raises EntryNotFoundError, RefusedError:
        there is none."""
        old = Sibling.of(self.recorder.session, word)
        self.recorder.by_hand(lambda session: session.move(old.place, "tree"))
        return old

    def sum_up(self, source: Session, target: EntryId, focus: str | None) -> SummedUp | None:
        """Summarise the branch of a session that ends there (picking.py). Raises ProviderError."""
        with self.recorder.watching():
            return returned(self._compactor.summarize_other(source, target, self._job(focus)))

    @property
    def _compactor(self) -> Compactor:
        return Compactor(self.recorder, self.projector, self.provider, self.config.max_retries)

    def _job(self, focus: str | None = None, keep: int | None = None) -> Job:
        return Job(
            target=self.target,
            window=self.gauge.known_window(),  # perhaps only now, from the endpoint's own list
            keep=keep if keep is not None else self.config.keep,
            focus=focus,
            abort=self.abort,
            turn=self.turn,
            weigh=self.gauge.weigh,
            spent=self.spent,
            named=self.config.named,
        )

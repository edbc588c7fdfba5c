"""When the state of the working files is recorded.

A state is taken before the first change of a turn, before that of later steps as far as their
share of the time stays small, and at the turn's end; each is a fact on the path (session/facts.py,
Checkpoint). A turn that changes nothing costs nothing; a state that cannot be taken is told once,
and stops no turn. The git behind it (`Keeper`, tools/keeper.py) is handed in, made when first used.
Bringing a state back is rewinding.py's. Read next: filestates.py, rewinding.py.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Protocol

from agentsh.abort import Abort
from agentsh.agent.config import Config
from agentsh.agent.events import Notice
from agentsh.agent.recorder import Recorder
from agentsh.errors import RefusedError, ToolAbortedError, ToolError
from agentsh.session.entries import Custom, EntryId
from agentsh.session.factcodec import decode_fact
from agentsh.session.facts import Checkpoint, CheckpointTime

if TYPE_CHECKING:  # they bring git's plumbing along, which most runs never need
    from agentsh.tools.checkpoint import Checkpointed
    from agentsh.tools.undo import Change, Preview, Restored

TOLD_SECONDS = 2.0
SHOWN = 20


class Keeper(Protocol):
    """Records and restores one folder (tools/keeper.py)."""

    @property
    def store(self) -> str: ...

    def has(self, store: str) -> bool: ...

    def take(self, store: str, abort: Abort | None = None) -> Checkpointed: ...

    def difference(self, store: str, old: str, new: str) -> tuple[Change, ...]: ...

    def preview(
        self, store: str, commit: str, *, last: str | None, foreign: Collection[str]
    ) -> Preview: ...

    def restore(
        self,
        store: str,
        commit: str,
        *,
        last: str | None,
        foreign: Collection[str],
        overwrite: bool,
    ) -> Restored: ...


class Checkpoints:
    """The states of one session's folder."""

    def __init__(
        self,
        recorder: Recorder,
        open_keeper: Callable[[], Keeper] | None,
        tell: Callable[[Notice], None],
        *,
        recording: bool = True,
        clock: Callable[[], float],
        share: int,
    ) -> None:
        """`share`: a later step gets a state of its own once that many times the last one's time
        has passed, so that states stay a small part of a turn however quick its steps are."""

        self._recorder = recorder
        self._open = open_keeper
        self._tell = tell
        self._recording = recording and open_keeper is not None
        self._clock = clock
        self._share = share
        self._keeper: Keeper | None = None
        self._store: str | None = None
        self._step: EntryId | None = None
        self._taken = False
        self._seconds = 0.0
        self._taken_at = 0.0
        self._stated = False

    # ---- recording -----------------------------------------------------------------------------

    def before_change(self, step: EntryId, abort: Abort) -> None:
        """Something that may change files is about to start; `step` is the answer that asked."""
        if not self._recording or self._step == step:
            return
        if self._step is not None and self._clock() - self._taken_at < self._share * self._seconds:
            return
        self._step = step
        self._record("step" if self._taken else "turn", abort)

    def at_rest(self) -> None:
        """The turn is about to end."""
        changed, self._step = self._step is not None, None
        if changed and self._recorder.in_turn and self._recording:
            self._record("end", None)
        self._taken = False

    def _record(self, when: CheckpointTime, abort: Abort | None) -> None:
        began = self._clock()
        try:
            state = self.keeper.take(self._its_store(), abort)
        except ToolAbortedError:
            return
        except ToolError as e:
            self._recording = False
            self._tell(Notice(f"changes cannot be taken back from here on: {e}", "warning"))
            return
        self._taken = True
        self._taken_at = self._clock()
        self._seconds = self._taken_at - began
        self._recorder.fact(Checkpoint(state.commit, self._its_store(), state.left_out, when))
        if self._seconds > TOLD_SECONDS:
            self._tell(Notice(f"the files' state was recorded for undo in {self._seconds:.1f} s"))
        if state.large and not self._stated:
            self._stated = True
            names = ", ".join(state.large[:SHOWN])
            self._tell(Notice(f"undo leaves out what is over 5 MB, and ignored files: {names}"))

    # ---- made of ---------------------------------------------------------------------------------

    @property
    def keeper(self) -> Keeper:
        """Made at its first use. Raises RefusedError: there is none."""
        if self._keeper is None:
            if self._open is None:
                raise RefusedError("the states of the files are not recorded here")
            self._keeper = self._open()
        return self._keeper

    def _its_store(self) -> str:
        """Where the session's states are, so that a folder may move; else the folder's own."""
        if self._store is None:
            known = _last_store(self._recorder)
            self._store = known if known and self.keeper.has(known) else self.keeper.store
        return self._store


def states_of(
    recorder: Recorder,
    open_keeper: Callable[[], Keeper] | None,
    tell: Callable[[Notice], None],
    config: Config,
    clock: Callable[[], float],
) -> Checkpoints:
    """Those of a session, as the settings want them."""
    return Checkpoints(
        recorder,
        open_keeper,
        tell,
        recording=config.record_files,
        clock=clock,
        share=config.record_share,
    )


def _last_store(recorder: Recorder) -> str | None:
    for entry in reversed(recorder.session.live(repaired=False).entries):
        if isinstance(entry.body, Custom) and entry.body.custom_type == "agentsh.checkpoint":
            fact = decode_fact(entry.body)
            if isinstance(fact, Checkpoint):
                return fact.store
    return None

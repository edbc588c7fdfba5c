"""When the state of the working files is recorded.

A state is taken before the first change of a turn, before that of later steps as far as their share
of the time stays small, and at the turn's end; each is a fact on the path (session/format/facts.py,
Checkpoint). A turn that changes nothing costs nothing; a state that cannot be taken is told once,
and stops no turn. The git behind it (tools/undo/checkpointer.py) is handed in and made at its
first use. Bringing a state back is rewinding.py's. Read next: filestates.py, rewinding.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from agentsh.abort import Abort
from agentsh.agent.config import Config
from agentsh.agent.events import Notice
from agentsh.agent.turn.recorder import Recorder
from agentsh.errors import RefusedError, ToolAbortedError, ToolError
from agentsh.session.format.entries import Custom, EntryId
from agentsh.session.format.factcodec import decode_fact, name_of
from agentsh.session.format.facts import Checkpoint, CheckpointTime

if TYPE_CHECKING:  # they bring git's plumbing along, which most runs never need
    from agentsh.tools.undo.checkpoint import Checkpointed
    from agentsh.tools.undo.checkpointer import Checkpointer

TOLD_SECONDS = 2.0
SHOWN = 20
_CHECKPOINT = name_of(Checkpoint)
RENEWED = (
    "the store of the files' states was damaged and is set aside; a new one is begun, and earlier"
    " states are there as far as they can still be read"
)


class Checkpoints:
    """The states of one session's folder."""

    def __init__(
        self,
        recorder: Recorder,
        open_checkpointer: Callable[[], Checkpointer] | None,
        tell: Callable[[Notice], None],
        *,
        recording: bool = True,
        clock: Callable[[], float],
        share: int,
    ) -> None:
        """`share`: a later step gets a state of its own once that many times the last one's time
        has passed, so that states stay a small part of a turn however quick its steps are."""

        self._recorder = recorder
        self._open = open_checkpointer
        self._tell = tell
        self._recording = recording and open_checkpointer is not None
        self._clock = clock
        self._share = share
        self._checkpointer: Checkpointer | None = None
        self._store: str | None = None
        self._step: EntryId | None = None
        self._taken = False
        self._seconds = 0.0
        self._taken_at = 0.0
        self._stated = False
        self._told: set[str] = set()

    # ---- recording -----------------------------------------------------------------------------

    def before_change(self, step: EntryId, abort: Abort) -> None:
        """Something that may change files is about to start; `step` is the answer that asked."""
        if not self._recording or self._step == step:
            return
        if self._step is not None and self._clock() - self._taken_at < self._share * self._seconds:
            return
        self._step = step
        self._record("step" if self._taken else "turn", abort)

    def at_rest(self) -> EntryId | None:
        """The turn is about to end; the state that it leaves, where it may have changed one."""
        changed, self._step = self._step is not None, None
        state: EntryId | None = None
        if changed and self._recorder.in_turn and self._recording:
            state = self._record("end", None)
        self._taken = False
        return state

    def _record(self, when: CheckpointTime, abort: Abort | None) -> EntryId | None:
        began = self._clock()
        try:
            state = self.checkpointer.take(self._its_store(), abort)
        except ToolAbortedError:
            return None
        except ToolError as e:
            self._recording = False
            self._tell(Notice(f"changes cannot be taken back from here on: {e}", "warning"))
            return None
        self._taken = True
        self._taken_at = self._clock()
        self._seconds = self._taken_at - began
        fact = Checkpoint(state.commit, self._its_store(), state.left_out, when)
        entry = self._recorder.fact(fact)
        if self._seconds > TOLD_SECONDS:
            self._tell(Notice(f"the files' state was recorded for undo in {self._seconds:.1f} s"))
        if state.large and not self._stated:
            self._stated = True
            names = ", ".join(state.large[:SHOWN])
            self._tell(Notice(f"undo leaves out what is over 5 MB, and ignored files: {names}"))
        self._tell_what_went_wrong(state)
        return entry.id

    def _tell_what_went_wrong(self, state: Checkpointed) -> None:
        if state.renewed:
            self._tell(Notice(RENEWED, "warning"))
        new = [name for name in state.refused if name not in self._told]
        if new:
            self._told.update(new)
            self._tell(Notice(f"undo leaves out what cannot be read: {', '.join(new)}", "warning"))

    # ---- made of ---------------------------------------------------------------------------------

    @property
    def checkpointer(self) -> Checkpointer:
        """Made at its first use. Raises RefusedError: there is none."""
        if self._checkpointer is None:
            if self._open is None:
                raise RefusedError("the states of the files are not recorded here")
            self._checkpointer = self._open()
        return self._checkpointer

    def _its_store(self) -> str:
        """Where the session's states are, so that a folder may move; else the folder's own."""
        if self._store is None:
            recorded = _last_store(self._recorder)
            self._store = (
                recorded
                if recorded and self.checkpointer.has(recorded)
                else self.checkpointer.store
            )
        return self._store


def states_of(
    recorder: Recorder,
    open_checkpointer: Callable[[], Checkpointer] | None,
    tell: Callable[[Notice], None],
    config: Config,
    clock: Callable[[], float],
) -> Checkpoints:
    """Those of a session, as the settings want them."""
    return Checkpoints(
        recorder,
        open_checkpointer,
        tell,
        recording=config.record_files,
        clock=clock,
        share=config.record_share,
    )


def _last_store(recorder: Recorder) -> str | None:
    for entry in reversed(recorder.session.live(repaired=False).entries):
        if isinstance(entry.body, Custom) and entry.body.custom_type == _CHECKPOINT:
            fact = decode_fact(entry.body)
            if isinstance(fact, Checkpoint):
                return fact.store
    return None

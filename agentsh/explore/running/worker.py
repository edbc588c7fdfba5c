"""The seam to whoever starts runners: few calls. What goes over it are lines of JSON.

A worker knows nothing of what the lines say. It calls back from threads of its own. Read next:
local.py, coordinator.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from agentsh.explore.running.lines import BranchJob

HearLine: TypeAlias = Callable[[bytes | None], None]
"""Given each line of a runner; None: it has ended, however."""
RunnerEnding: TypeAlias = Literal["terminate", "kill"]


class CommandView(Protocol):
    """How the processes of a branch see the machine (explore/workspace/view.py)."""

    def __call__(self, argv: Sequence[str], cwd: Path) -> list[str]: ...


class RunnerHandle(Protocol):
    """One runner, for whoever started it."""


class RunnerWorker(Protocol):
    """One machine's."""

    @property
    def name(self) -> str: ...

    @property
    def slots(self) -> int:
        """How many runners at once."""

    def start(
        self,
        job: BranchJob,
        view: CommandView | None,
        prepare: Callable[[], None],
        hear: HearLine,
    ) -> RunnerHandle:
        """Begin a runner, once `prepare` has made its workspace; what fails is heard as its end.

        A worker whose machines are elsewhere makes view and workspace there, and calls neither.
        """

    def say(self, handle: RunnerHandle, line: bytes) -> None:
        """Nothing is raised where it has ended."""

    def end(self, handle: RunnerHandle, how: RunnerEnding) -> None:
        """End it with all that it started."""

    def close(self) -> None:
        """Nothing is started any more; what it holds is let go."""

"""The seam to whoever starts runners: five calls. What goes over it are lines of JSON.

A worker knows nothing of what the lines say. It calls back from threads of its own. Read next:
local.py, coordinator.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol, TypeAlias

from agentsh.explore.running.lines import BranchJob
from agentsh.explore.workspace.view import WorkspaceView

HearLine: TypeAlias = Callable[[bytes | None], None]
"""Given each line of a runner; None: it has ended, however."""
RunnerEnding: TypeAlias = Literal["terminate", "kill"]


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
        view: WorkspaceView | None,
        prepare: Callable[[], None],
        hear: HearLine,
    ) -> RunnerHandle:
        """Begin a runner, once `prepare` has made its workspace; what fails is heard as its end."""

    def say(self, handle: RunnerHandle, line: bytes) -> None:
        """Nothing is raised where it has ended."""

    def end(self, handle: RunnerHandle, how: RunnerEnding) -> None:
        """End it with all that it started."""

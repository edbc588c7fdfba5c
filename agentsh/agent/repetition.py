"""A tool loop that makes no progress: the same calls, step after step.

Pure. The bound is generous: polling a build twenty times is work, a hundred times the same is not
(users.md §0 rule 8). Read next: loop.py.
"""

from __future__ import annotations

from agentsh.jsontext import dumps
from agentsh.messages import ToolCall

MAX_SAME = 30
NOTED_FROM = 3


class Repetition:
    """Counts how often the last step's calls were the very same."""

    def __init__(self) -> None:
        self._last: bytes | None = None
        self._count = 0

    def stuck(self, calls: tuple[ToolCall, ...]) -> bool:
        """Take the calls of one more step; True once they were the same too often."""
        now = dumps([[call.name, call.arguments] for call in calls])
        self._count = self._count + 1 if now == self._last else 1
        self._last = now
        return self._count >= MAX_SAME

    def note(self) -> str | None:
        """What the model is told from the third time on: small ones go in circles."""
        if self._count < NOTED_FROM:
            return None
        return (
            f"[The same call was made {self._count} times in a row. Use its result: answer now, or"
            " do something else.]"
        )

    def words(self) -> str:
        return f"stopped: the model made the same tool call {self._count} times in a row"

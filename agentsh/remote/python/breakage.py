"""What broke in a script's own code during a turn: kept until the turn has ended well.

It stands alone: its callbacks and its tools break alike, and neither knows the other. Read next:
talk.py.
"""

from __future__ import annotations


class Breakage:
    """Holds the first exception; may be told from several threads."""

    def __init__(self) -> None:
        self._error: BaseException | None = None

    def take(self, error: BaseException) -> None:
        if self._error is None:
            self._error = error

    def forget(self) -> None:
        self._error = None

    def raise_again(self) -> None:
        """Raise what was taken, once."""
        error, self._error = self._error, None
        if error is not None:
            raise error

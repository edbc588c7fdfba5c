"""A line now and then while something takes long, for whoever cannot see a clock on the screen.

Read next: plainchat.py.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SECONDS = 15.0


@contextmanager
def beating(say: Callable[[str], None], seconds: float = SECONDS) -> Iterator[None]:
    """Say every so many seconds that it still works, until the block ends."""
    over = threading.Event()
    began = time.monotonic()

    def beat() -> None:
        while not over.wait(seconds):
            say(f"still working, {time.monotonic() - began:.0f} s; Ctrl-C stops")

    thread = threading.Thread(target=beat, name="agentsh-heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(1)

"""A child that runs one turn of the real agent and stops at a named point, to be killed there.

    crash_driver.py POINT MARKER new|last PROMPT

Everything is the program's own but two seams that it has anyway: the disk of the session and
whoever looks at the events. At the point it writes MARKER and waits for its SIGKILL (crash.py).
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import NoReturn

from agentsh.agent.events import TextPart
from agentsh.cli.assembly.restoring import restored
from agentsh.cli.assembly.wiring import assemble, providing
from agentsh.cli.lookup.choosing import Chosen
from agentsh.cli.parsing.modeloptions import TurnOptions
from agentsh.cli.setup.configuration import configure
from agentsh.session.file.disk import Disk
from agentsh.session.file.environment import Surroundings
from agentsh.session.file.session import open_session
from agentsh.session.store.store import Store

USER = b'"message":{"role":"user"'
REQUEST = b'"customType":"agentsh.request"'
ASSISTANT = b'"message":{"role":"assistant"'
START = b'"customType":"agentsh.tool","data":{"v":1,"ev":"start"'
RESULT = b'"message":{"role":"toolResult"'
END = b'"customType":"agentsh.turn","data":{"v":1,"ev":"end"'


class StoppingDisk(Disk):
    """Does what a disk does, up to the point."""

    def __init__(self, point: str, marker: Path) -> None:
        self._point = point
        self._marker = marker
        self._last = b""

    def write(self, fd: int, data: bytes | memoryview) -> int:
        batch = bytes(data)
        if self._point == "before turn end" and END in batch:
            self.stop()
        if self._point == "after user" and USER in batch:
            # a batch is one write; this is what is left of it if the power goes behind the prompt
            super().write(fd, batch[: batch.index(b"\n", batch.index(USER)) + 1])
            self.stop()
        if self._point == "mid-write" and RESULT in batch:
            super().write(fd, batch[: batch.index(RESULT) + 60])
            self.stop()
        done = super().write(fd, data)
        self._last = batch
        if self._point == "after assistant" and ASSISTANT in batch:
            self.stop()
        if self._point == "after result" and RESULT in batch:
            self.stop()
        return done

    def fdatasync(self, fd: int) -> None:
        super().fdatasync(fd)
        self._synced()

    def fsync(self, fd: int) -> None:
        super().fsync(fd)
        self._synced()

    def _synced(self) -> None:
        if self._point == "after request" and REQUEST in self._last:
            self.stop()
        if self._point == "after tool start" and START in self._last:
            self.stop()

    def stop(self) -> NoReturn:
        self._marker.write_text(self._point)
        while True:
            time.sleep(60)


def main(point: str, marker: Path, which: str, prompt: str) -> None:
    """Run the turn. It never comes back if the point is reached."""
    cwd = Path.cwd()
    options = TurnOptions(approve="all")
    configuration = configure(options, os.environ, cwd)
    disk = StoppingDisk(point, marker)
    around = Surroundings(disk=disk)
    store = Store(configuration.places.sessions, around=around)
    if which == "new":
        session = store.create(str(cwd))
    else:
        path = store.latest(str(cwd))
        assert path is not None
        session = open_session(path, write=True, around=around)
    with providing(configuration, options) as provider:
        chosen = Chosen(session, cwd, resumed=which != "new")
        back = restored(configuration, options, session, resumed=chosen.resumed)
        wired = assemble(back, options, chosen, provider)
        for event in wired.agent.prompt(prompt):
            if point == "mid-stream" and isinstance(event, TextPart):
                disk.stop()
    raise SystemExit(f"the turn ended without the point {point!r}")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], sys.argv[4])

"""Machines in this very process, behind the link that a cluster's have; they can be lost."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from agentsh.errors import MachineLostError
from agentsh.explore.away.arrivals import Arrivals
from agentsh.explore.away.crew import MachineCrew
from agentsh.explore.away.machine import AwayMachine, MachineHello, MachineOrder
from agentsh.explore.away.packing import PIECE, PackPart, base_parts, write_pack
from agentsh.explore.running.worker import RunnerEnding
from tests.explore.running.worker_contract import Stage


class HereLink:
    """Satisfies crew.MachineLink."""

    def __init__(self, machine: AwayMachine, pack: Callable[[], Path]) -> None:
        self.machine, self._pack = machine, pack
        self.hello_says: MachineHello | None = None
        self.is_node_there = True
        self._out: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()

    def hello(self, tell: Callable[[str], None]) -> MachineHello:
        del tell
        return self.hello_says or self.machine.hello()

    def hand(self, keys: Mapping[str, str]) -> None:
        self.machine.keep_keys(keys)
        with self._pack().open("rb") as pack:
            while piece := pack.read(PIECE):
                self.machine.take_piece(piece)
        self.machine.unpack()
        threading.Thread(target=self._hear, daemon=True).start()

    def start(self, job: bytes) -> None:
        self.machine.start(job)

    def say(self, n: int, line: bytes) -> None:
        self.machine.say(n, line)

    def end(self, n: int, how: RunnerEnding) -> None:
        self.machine.end(n, how)

    def take_away(self, n: int) -> None:
        self.machine.take_away(n)

    def happened(self) -> Iterator[bytes]:
        while (data := self._out.get()) is not None:
            yield data
        raise MachineLostError("it was unplugged")

    def unplug(self) -> None:
        """Nothing is heard of it any more."""
        self._out.put(None)

    def has_ended_input(self) -> bool:
        return self.is_node_there

    def let_go(self) -> None:
        self.machine.close()

    def close(self) -> None:
        self.machine.close()

    def _hear(self) -> None:
        for data in self.machine.happened():
            self._out.put(data)
        self._out.put(None)


class HereCluster:
    """Satisfies crew.MachineCluster. `links`: all that were asked for."""

    def __init__(self, stage: Stage, slots: int) -> None:
        self._stage = stage
        self._order = MachineOrder(
            data=str(stage.data),
            sessions=str(stage.sessions),
            exploration=str(stage.folders.data),
            branches=str(stage.folders.sessions),
            slots=slots,
            environ={},
        )
        self._packing = threading.Lock()
        self.links: list[HereLink] = []
        self.prepare: Callable[[HereLink], None] = lambda _link: None

    def machine(self) -> HereLink:
        link = HereLink(AwayMachine(self._order, lambda: dict(os.environ)), self._pack)
        self.prepare(link)
        self.links.append(link)
        return link

    def close(self) -> None:
        for link in self.links:
            link.close()

    def _pack(self) -> Path:
        """One for all, whoever asks first: two machines may come at once."""
        stage, pack = self._stage, self._stage.data / "pack"
        with self._packing:
            if not pack.exists():
                inside = stage.folders.data.relative_to(stage.data)
                store = PackPart(stage.folders.store, f"data/{inside}/store.git")
                write_pack(pack, [store, *base_parts(stage.base, f"data/{inside}/base/0", ())])
        return pack


def crew_of(
    stage: Stage,
    cluster: HereCluster,
    slots: int,
    taking: type[Arrivals] = Arrivals,
    **more: object,
) -> MachineCrew:
    def arrivals(hear: Callable[[int, bytes | None], None]) -> Arrivals:
        return taking(stage.machine.git, stage.folders.sessions, stage.folders.data, hear)

    values: dict[str, object] = {
        "slots": slots, "most": 3, "keys": {}, "is_loopback": True, "waits": (0.2, 0.4),
    }  # fmt: skip
    return MachineCrew("here", cluster, arrivals, **{**values, **more})  # type: ignore[arg-type]

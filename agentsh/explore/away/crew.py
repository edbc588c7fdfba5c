"""The machines of one exploration: which branch is where, and what is done when one is lost.

It satisfies explore/running/worker.py for any number of machines, reached by links that whoever
knows the cluster makes (onray.py). Machines come as branches need them; each has a thread that
waits for it, hands it the pack and hears it out. When one is lost its branches are told to have
ended only once nothing of them can run any more: a runner ends itself when its input ends, or when
it has heard nothing for its lease. So no branch runs twice at once. Read next: machine.py,
arrivals.py.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Literal, Protocol

import msgspec

from agentsh import __version__
from agentsh.errors import AgentshError, MachineLostError
from agentsh.explore.away.arrivals import Arrivals
from agentsh.explore.away.machine import MachineHello, loopback_here
from agentsh.explore.running.lines import (
    LEASE,
    BranchJob,
    FullLine,
    OverLine,
    ToldLine,
    encode_runner_line,
)
from agentsh.explore.running.worker import (
    CommandView,
    HearLine,
    RunnerEnding,
    RunnerHandle,
)
from agentsh.explore.workspace.capture import is_for_want_of_room

INPUT_ENDED = 12.0
"""Seconds after which a runner whose machine's process died has ended."""
LEASE_OVER = LEASE + INPUT_ENDED
"""Seconds after which one has ended that nobody can reach."""

_LEAVING = 10.0
_MOST_IN_VAIN = 3
"""Machines that never came, before no more are asked for."""


class MachineLink(Protocol):
    """One machine, seen from here. What it calls for raises MachineLostError."""

    def hello(self, tell: Callable[[str], None]) -> MachineHello:
        """Returns once it is up; `tell` says what is waited for."""

    def hand(self, keys: Mapping[str, str]) -> None:
        """What its branches begin with: the pack, and keys where they are sent."""

    def start(self, job: bytes) -> None: ...

    def say(self, n: int, line: bytes) -> None: ...

    def end(self, n: int, how: RunnerEnding) -> None: ...

    def take_away(self, n: int) -> None: ...

    def happened(self) -> Iterator[bytes]: ...

    def has_ended_input(self) -> bool:
        """Of one that was lost: whether it is sure that its runners' input has ended."""

    def let_go(self) -> None:
        """Nothing runs there; whoever waits for it hears that it is lost."""

    def close(self) -> None:
        """It ends what it runs; returns when it is gone, or soon after."""


class MachineCluster(Protocol):
    """Where machines come from."""

    def machine(self) -> MachineLink:
        """One more; it need not be up yet."""

    def close(self) -> None: ...


class _Machine:
    """A link and what runs over it."""

    def __init__(self) -> None:
        self.link: MachineLink | None = None
        self.busy: dict[int, AwayHandle] = {}
        self.state: Literal["coming", "ready", "lost"] = "coming"
        self.host = ""
        self.thread: threading.Thread | None = None


class AwayHandle:
    """One branch, from before it has a machine until it has ended."""

    def __init__(self, job: BranchJob, hear: HearLine) -> None:
        self.job, self.hear = job, hear
        self.machine: _Machine | None = None
        self.is_unwanted = False


class MachineCrew:
    """Satisfies explore/running/worker.py, and jobs.AwayWorkspaces."""

    def __init__(
        self,
        name: str,
        cluster: MachineCluster,
        arrivals: Callable[[Callable[[int, bytes | None], None]], Arrivals],
        *,
        slots: int,
        most: int,
        keys: Mapping[str, str],
        is_loopback: bool,
        waits: tuple[float, float] = (INPUT_ENDED, LEASE_OVER),
    ) -> None:
        """`slots`: branches of a machine. `most`: at once over all. `is_loopback`: the endpoint is
        an address such as 127.0.0.1, which means another one on other machines."""
        self.name = name
        self.slots = most
        self._cluster, self._of_each, self._keys = cluster, slots, keys
        self._is_loopback, self._waits = is_loopback, waits
        self._arrivals = arrivals(self._heard)
        self._machines: list[_Machine] = []
        self._homes: dict[int, _Machine] = {}
        """Where a branch's workspace is."""
        self._running: dict[int, AwayHandle] = {}
        self._waiting: list[AwayHandle] = []
        self._changed = threading.Condition()
        self._trouble = ""
        self._never: list[str] = []
        self._is_closing = threading.Event()

    # ---- the worker's calls --------------------------------------------------------------------

    def start(
        self,
        job: BranchJob,
        view: CommandView | None,
        prepare: Callable[[], None],
        hear: HearLine,
    ) -> AwayHandle:
        del view, prepare  # made where it runs
        handle = AwayHandle(job, hear)
        threading.Thread(target=self._begin, args=(handle,), daemon=True).start()
        return handle

    def say(self, handle: RunnerHandle, line: bytes) -> None:
        assert isinstance(handle, AwayHandle)
        machine = handle.machine
        if machine is not None and machine.link is not None and machine.state == "ready":
            machine.link.say(handle.job.n, line)

    def end(self, handle: RunnerHandle, how: RunnerEnding) -> None:
        assert isinstance(handle, AwayHandle)
        with self._changed:
            handle.is_unwanted = True
            machine = handle.machine
            self._changed.notify_all()
        if machine is None or machine.link is None:
            return
        if machine.state == "ready":
            machine.link.end(handle.job.n, how)
        else:
            self._heard_of(handle, None)  # nobody waits for one that cannot be reached

    def close(self) -> None:
        self._is_closing.set()
        with self._changed:
            states = [(machine, machine.state) for machine in self._machines]
        for machine, state in states:
            if machine.link is not None and state == "ready":
                machine.link.close()
            elif machine.link is not None and state == "coming":
                machine.link.let_go()
        for machine, _ in states:
            if machine.thread is not None:
                machine.thread.join(_LEAVING)
        self._cluster.close()

    # ---- where workspaces are ------------------------------------------------------------------

    def has_workspace(self, n: int) -> bool:
        """Whether the machine that has it can be reached."""
        machine = self._homes.get(n)
        return machine is not None and machine.state == "ready"

    def take_workspace_away(self, n: int) -> None:
        with self._changed:
            machine = self._homes.pop(n, None)
        if machine is not None and machine.link is not None and machine.state == "ready":
            machine.link.take_away(n)

    # ---- a branch finds its machine ------------------------------------------------------------

    def _begin(self, handle: AwayHandle) -> None:
        with self._changed:
            self._waiting.append(handle)
            machine = self._machine_for(handle)
            while machine is None and not handle.is_unwanted and not self._trouble:
                self._ask_for_more()
                self._changed.wait()
                machine = self._machine_for(handle)
            self._waiting.remove(handle)
            if machine is not None and not handle.is_unwanted:
                machine.busy[handle.job.n] = handle
                handle.machine = self._homes[handle.job.n] = machine
                self._running[handle.job.n] = handle
        if handle.machine is None:
            if not handle.is_unwanted:
                handle.hear(encode_runner_line(OverLine("failed", self._trouble)))
            handle.hear(None)
            return
        assert machine is not None
        assert machine.link is not None
        try:
            machine.link.start(msgspec.json.encode(handle.job))
        except MachineLostError:
            return  # whoever hears the machine out tells the end

    def _machine_for(self, handle: AwayHandle) -> _Machine | None:
        """Its own, where its workspace is; else the one with the most room."""
        home = self._homes.get(handle.job.n)
        if home is not None and home.state == "ready":
            return home
        ready = [m for m in self._machines if m.state == "ready" and len(m.busy) < self._of_each]
        return min(ready, key=lambda m: len(m.busy), default=None)

    def _ask_for_more(self) -> None:
        if self._is_closing.is_set() or len(self._never) >= _MOST_IN_VAIN:
            return
        there = [machine for machine in self._machines if machine.state != "lost"]
        needed = len(self._waiting) + sum(len(machine.busy) for machine in there)
        most = -(-min(needed, self.slots + 1) // self._of_each)  # the check of the base besides
        for _ in range(most - len(there)):
            machine = _Machine()
            self._machines.append(machine)
            machine.thread = threading.Thread(target=self._live, args=(machine,), daemon=True)
            machine.thread.start()

    # ---- the life of a machine -----------------------------------------------------------------

    def _live(self, machine: _Machine) -> None:
        """Wait for it, hand it what it needs, hear it out."""
        try:
            machine.link = self._cluster.machine()
            self._welcome(machine, machine.link.hello(self._tell))
            machine.link.hand(self._keys)
        except (AgentshError, OSError) as e:
            self._never_came(machine, str(e))
            return
        with self._changed:
            machine.state = "ready"
            self._changed.notify_all()
        why = "it ended"
        try:
            for data in machine.link.happened():
                self._arrivals.take(data)
        except MachineLostError as e:
            why = str(e)
        except (AgentshError, OSError, ValueError) as e:
            why = f"what it sent could not be taken: {e}"
            if is_for_want_of_room(e):  # nor could that of others
                self._say_full(machine, why)
            machine.link.close()
        if not self._is_closing.is_set():
            self._lost(machine, why)

    def _welcome(self, machine: _Machine, hello: MachineHello) -> None:
        machine.host = hello.host
        if hello.version != __version__:
            raise MachineLostError(f"{hello.host} has agentsh {hello.version}, not {__version__}")
        if hello.trouble is not None:
            raise MachineLostError(hello.trouble)
        if self._is_loopback and hello.loopback != loopback_here():
            raise MachineLostError(f"the endpoint is this machine's own: {hello.host} has it not")

    def _never_came(self, machine: _Machine, why: str) -> None:
        """The others do; where there are none, no branch waits for ever."""
        with self._changed:
            machine.state = "lost"
            self._never.append(why)
            if self._is_alone():
                self._trouble = why
            self._changed.notify_all()
        if not self._is_closing.is_set():
            self._tell(why)

    def _lost(self, machine: _Machine, why: str) -> None:
        with self._changed:
            machine.state = "lost"
            self._homes = {n: home for n, home in self._homes.items() if home is not machine}
            handles = tuple(machine.busy.values())
            if len(self._never) >= _MOST_IN_VAIN and self._is_alone():
                self._trouble = why  # no more are asked for
            self._changed.notify_all()
        assert machine.link is not None
        seconds = self._waits[0] if machine.link.has_ended_input() else self._waits[1]
        if handles:
            text = f"{machine.host} is lost ({why}); its branches have ended in {seconds:.0f} s"
            handles[0].hear(encode_runner_line(ToldLine(text)))
        self._is_closing.wait(seconds)
        for handle in handles:
            self._heard_of(handle, None)

    def _say_full(self, machine: _Machine, why: str) -> None:
        with self._changed:
            handles = tuple(machine.busy.values())
        for handle in handles:
            handle.hear(encode_runner_line(FullLine(why)))

    def _is_alone(self) -> bool:
        return all(each.state == "lost" for each in self._machines)

    # ---- what is heard -------------------------------------------------------------------------

    def _heard(self, n: int, line: bytes | None) -> None:
        handle = self._running.get(n)
        if handle is not None:  # of one that was given up, nothing more is heard
            self._heard_of(handle, line)

    def _heard_of(self, handle: AwayHandle, line: bytes | None) -> None:
        machine = handle.machine
        if line is None:
            with self._changed:
                if machine is None or machine.busy.pop(handle.job.n, None) is not handle:
                    return  # it was told already
                self._running.pop(handle.job.n, None)
                self._changed.notify_all()
        handle.hear(line)

    def _tell(self, text: str) -> None:
        """To whoever shows the exploration, by a branch that waits."""
        with self._changed:
            handle = next(iter(self._waiting), None)
        if handle is not None:
            handle.hear(encode_runner_line(ToldLine(text)))

"""One machine of an exploration, seen from within: its place on the disk, runners, what goes back.

It is handed a pack, lays it out, and runs the same runners as the local engine does; whoever asked
hears one stream of what happened. Session bytes go before the line that follows from them, and a
branch's objects before the line that names them, so that what is heard is never ahead of what is
there. The place goes with the machine; one that a killed machine left is swept by the next.
It knows nothing of Ray, and runs in any process. Read next: mounts.py, crew.py,
explore/running/local.py.
"""

from __future__ import annotations

import fcntl
import os
import queue
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from agentsh import __version__
from agentsh.explore.away.mounts import MachineView
from agentsh.explore.away.packing import COMMON, SHARED, read_pack
from agentsh.explore.away.shipping import Shipment, Shipping
from agentsh.explore.running.lines import BranchJob
from agentsh.explore.running.local import LocalHandle, LocalWorker, RunnerPlace
from agentsh.explore.running.worker import RunnerEnding
from agentsh.explore.workspace.basing import HALF, WORK, lay_out_workspace
from agentsh.explore.workspace.copying import remove_tree
from agentsh.explore.workspace.gitcalls import find_git
from agentsh.explore.workspace.view import find_view
from agentsh.files import (
    boot_id,
    create_private,
    is_folder,
    is_there,
    open_regular,
    private_folder,
)

_PACKAGE = str(Path(__file__).parents[3])
RUNNER_CODE = (
    "import sys; sys.path.insert(0, sys.argv.pop(1));"
    " from agentsh.__main__ import main; raise SystemExit(main())"
)
"""A runner is of the very package that the machine itself was given."""
_CLUSTERS = ("RAY_",)
_LEFT_BEHIND = 120.0
"""Seconds after which nothing of a machine that was killed can be running."""
_ENDING = 12.0
_PREFIX, _HELD = "agentsh-machine-", "held"


class MachineOrder(Struct, frozen=True):
    """What all machines of an exploration are told. Paths are those of whoever explores.

    `exploration`, `branches`: its folders below `data` and `sessions`. `lent`: base folder → paths
    that its branches see read-only. `environ`: what runners are given beside the machine's own.
    """

    data: str
    sessions: str
    exploration: str
    branches: str
    slots: int
    environ: Mapping[str, str]
    lent: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    trunk: str | None = None


class MachineHello(Struct, frozen=True):
    """`loopback`: what tells whether an address such as 127.0.0.1 means the same as elsewhere."""

    version: str
    host: str
    pid: int
    loopback: str
    trouble: str | None = None


def loopback_here() -> str:
    """The same for processes that reach the same loopback addresses."""
    try:
        return f"{boot_id()} {os.stat('/proc/self/ns/net').st_ino}"  # noqa: PTH116
    except OSError:
        return socket.gethostname()


class AwayMachine:
    """Made where it runs. Calls come from any thread."""

    def __init__(self, order: MachineOrder, environment: Callable[[], Mapping[str, str]]) -> None:
        """`environment` tells the machine's own, where it is called."""
        self._order = order
        self._environ = {k: v for k, v in environment().items() if not k.startswith(_CLUSTERS)}
        self._keys: dict[str, str] = {}
        self._bwrap = find_view(self._environ, Path("/"))
        self._place: Path | None = None
        self._held = -1
        self._handles: dict[int, LocalHandle] = {}
        self._out: queue.SimpleQueue[Shipment | None] = queue.SimpleQueue()
        self._worker: LocalWorker | None = None
        self._shipping: Shipping | None = None
        self._lock = threading.Lock()

    def hello(self) -> MachineHello:
        """Who it is; `trouble`: why it cannot work, in words."""
        trouble = None if self._bwrap else f"bubblewrap (bwrap) does not work on {_host()}"
        return MachineHello(__version__, _host(), os.getpid(), loopback_here(), trouble)

    # ---- what it is given ----------------------------------------------------------------------

    def take_piece(self, piece: bytes) -> None:
        """The next piece of the pack. Raises OSError."""
        with (self._own_place() / "pack").open("ab") as file:
            file.write(piece)

    def unpack(self) -> None:
        """The pack is whole. Raises OSError, ToolFailedError: there is no git."""
        pack = self._own_place() / "pack"
        read_pack(pack, pack.parent)
        pack.unlink()
        git = find_git(self._environ, Path("/"), lists=False)
        order = self._order
        self._shipping = Shipping(
            git,
            private_folder(self._here(order.branches)),
            self._here(order.exploration),
            self._out.put,
        )
        environ = {**self._environ, **order.environ, "AGENTSH_HOME": order.data}
        command = (sys.executable, "-P", "-c", RUNNER_CODE, _PACKAGE, "--explore-runner")
        self._worker = LocalWorker(
            order.slots, command, RunnerPlace(self._here, environ, self._keys)
        )

    def keep_keys(self, keys: Mapping[str, str]) -> None:
        """In memory, for the runners that it starts."""
        self._keys.update(keys)

    # ---- what it does --------------------------------------------------------------------------

    def start(self, data: bytes) -> None:
        """Begin a branch. What fails is heard as its end."""
        job = msgspec.json.decode(data, type=BranchJob)
        assert self._worker is not None
        assert self._shipping is not None
        assert self._bwrap is not None
        job = replace(job, own_processes=self._bwrap)
        shipping, n = self._shipping, job.n
        self._handles[n] = self._worker.start(
            job, self._view(job), lambda: self._prepare(job), lambda line: shipping.hear(n, line)
        )

    def say(self, n: int, line: bytes) -> None:
        """Nothing is raised where it has ended."""
        handle = self._handles.get(n)
        if handle is not None and self._worker is not None:
            self._worker.say(handle, line)

    def end(self, n: int, how: RunnerEnding) -> None:
        """End it with all that it started."""
        handle = self._handles.get(n)
        if handle is not None and self._worker is not None:
            self._worker.end(handle, how)

    def take_away(self, n: int) -> None:
        """Its workspace, and what belongs to it. Raises OSError."""
        branch = self._here(self._order.exploration) / str(n)
        for each in (HALF, WORK, "borrowed", "setup"):
            remove_tree(branch / each)

    def happened(self) -> Iterator[bytes]:
        """What happened, in its order, until `close`: shipments, encoded."""
        while (shipment := self._out.get()) is not None:
            yield msgspec.msgpack.encode(shipment)

    def close(self) -> None:
        """End what runs, take the place away."""
        for n in tuple(self._handles):
            self.end(n, "terminate")
        until = time.monotonic() + _ENDING
        while any(map(_runs, self._handles.values())) and time.monotonic() < until:
            time.sleep(0.05)
        for n in tuple(self._handles):
            self.end(n, "kill")
        self._out.put(None)
        with self._lock:
            if self._place is not None:
                remove_tree(self._place)
                os.close(self._held)
                self._place = None

    # ---- inside --------------------------------------------------------------------------------

    def _own_place(self) -> Path:
        """A folder of its own, held by a lock for as long as this process lives."""
        with self._lock:
            if self._place is None:
                sweep(Path(tempfile.gettempdir()))
                self._place = Path(tempfile.mkdtemp(prefix=_PREFIX))
                self._held = create_private(self._place / _HELD)
                fcntl.flock(self._held, fcntl.LOCK_EX)
            return self._place

    def _here(self, path: str) -> Path:
        """Where a path of whoever explores lies on this disk."""
        own, order = self._own_place(), self._order
        if Path(path).is_relative_to(order.data):
            return own / "data" / Path(path).relative_to(order.data)
        assert Path(path).is_relative_to(order.sessions)
        return own / "sessions" / Path(path).relative_to(order.sessions)

    def _prepare(self, job: BranchJob) -> None:
        """Make the workspace, if it is not there. Raises OSError."""
        base = self._here(job.base_index).parent
        lay_out_workspace(base, self._here(job.branch), Path(job.branch) / "borrowed")

    def _view(self, job: BranchJob) -> MachineView:
        assert self._bwrap is not None
        order, base = self._order, self._here(job.base_index).parent
        mounts = [(self._here(job.branch) / WORK, Path(job.root), True)]
        mounts.append((self._here(order.data), Path(order.data), True))
        if not Path(order.sessions).is_relative_to(order.data):
            mounts.append((self._here(order.sessions), Path(order.sessions), True))
        if is_folder(base / COMMON):
            mounts.append((base / COMMON, Path(job.branch) / "borrowed", False))
        lent = order.lent.get(str(Path(job.base_index).parent), ())
        for number, path in enumerate(lent):
            mounts.append((base / SHARED / str(number), Path(path), False))
        if order.trunk is not None:
            mounts.append((self._own_place() / "trunk", Path(order.trunk), False))
        return MachineView(self._bwrap, tuple(mounts))


def sweep(parent: Path) -> None:
    """Take away what killed machines left, once nothing can run in it: marked first, then gone."""
    for each in parent.glob(f"{_PREFIX}*"):
        try:
            held = open_regular(each / _HELD, os.O_RDWR, follow=False)
        except OSError:
            continue  # it is being made or taken away, or somebody else's
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            mark = each / "left"
            if not is_there(mark):
                mark.touch()
            elif time.time() - mark.stat().st_mtime > _LEFT_BEHIND:
                remove_tree(each)
        except OSError:
            continue  # somebody holds it
        finally:
            os.close(held)


def _runs(handle: LocalHandle) -> bool:
    return handle.process is not None and handle.process.poll() is None


def _host() -> str:
    return socket.gethostname()

"""Machines of a Ray cluster: an actor each, that is never begun anew and no call of it repeated.

The only module that knows Ray; it is loaded with `--engine ray` and never else. The agentsh that
asks goes along as the actors' module. A key is in no runtime environment, since those are kept and
logged: it goes as an argument of a call. Read next: crew.py, machine.py.
"""

from __future__ import annotations

import math
import os
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ray
from ray import exceptions

from agentsh.errors import MachineLostError, UsageError
from agentsh.explore.away.machine import AwayMachine, MachineHello, MachineOrder
from agentsh.explore.away.packing import PIECE
from agentsh.explore.running.worker import RunnerEnding

_PACKAGE = str(Path(__file__).parents[2])
_PATIENCE = 20.0
_OBJECTS = 200 * 1024 * 1024
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\x04\0\0\0\0\0"
"""What a client of Ray's protocol begins with; whoever speaks it answers in kind (RFC 9113 3.4)."""
_LOOPBACK = ("127.", "localhost", "::1", "[::1]")


class RayMachine(AwayMachine):
    """The actor."""

    def node(self) -> str:
        """Ray's name of the machine that it runs on."""
        return str(ray.get_runtime_context().get_node_id())


class RayLink:
    """Satisfies crew.MachineLink."""

    def __init__(self, actor: Any, pieces: Callable[[], list[Any]], cpus: float) -> None:
        self._actor, self._pieces, self._cpus = actor, pieces, cpus
        self._node: str | None = None

    def hello(self, tell: Callable[[str], None]) -> MachineHello:
        asked = self._actor.hello.remote()
        ready, _ = ray.wait([asked], timeout=_PATIENCE)
        if not ready:
            free = ray.available_resources().get("CPU", 0.0)
            tell(f"waiting for a machine with {self._cpus:g} CPUs free: there are {free:g}")
        said: MachineHello = _got(asked)
        self._node = _got(self._actor.node.remote())
        return said

    def hand(self, keys: Mapping[str, str]) -> None:
        if keys:
            _got(self._actor.keep_keys.remote(dict(keys)))
        for piece in self._pieces():
            _got(self._actor.take_piece.remote(piece))
        _got(self._actor.unpack.remote())

    def start(self, job: bytes) -> None:
        _got(self._actor.start.remote(job))

    def say(self, n: int, line: bytes) -> None:
        self._actor.say.remote(n, line)

    def end(self, n: int, how: RunnerEnding) -> None:
        self._actor.end.remote(n, how)

    def take_away(self, n: int) -> None:
        self._actor.take_away.remote(n)

    def happened(self) -> Iterator[bytes]:
        try:
            for each in self._actor.happened.remote():
                yield _got(each)
        except exceptions.RayError as e:
            raise MachineLostError(_words(e)) from e

    def has_ended_input(self) -> bool:
        """The process is gone and its machine is not: the input of its children has ended."""
        ray.kill(self._actor, no_restart=True)
        return any(node["NodeID"] == self._node and node["Alive"] for node in ray.nodes())

    def let_go(self) -> None:
        ray.kill(self._actor, no_restart=True)

    def close(self) -> None:
        try:
            ray.wait([self._actor.close.remote()], timeout=_PATIENCE)
            ray.kill(self._actor, no_restart=True)
        except exceptions.RayError:
            return  # it is gone


class RayCluster:
    """Satisfies crew.MachineCluster. One at a time in a process."""

    def __init__(
        self,
        address: str | None,
        slots: int,
        most: int,
        environment: Callable[[], Mapping[str, str]],
    ) -> None:
        """`address` None: one of this machine's own, which goes with us. Raises UsageError.

        `environment` tells that of the machine where it is called.
        """
        self._environment = environment
        self._slots = slots
        self._own = None if address else tempfile.mkdtemp(prefix="ray-")
        self._order: Callable[[], MachineOrder] | None = None
        self._make_pack: Callable[[], Path] | None = None
        self._refs: list[Any] | None = None
        self._packing = threading.Lock()
        try:
            if address:
                _must_listen(address, is_tls=environment().get("RAY_USE_TLS", "0") != "0")
            _join(address, self._own, math.ceil(0.5 * slots * math.ceil((most + 1) / slots)))
        except (OSError, RuntimeError, ValueError, exceptions.RayError) as e:
            self.close()
            where = f"--ray-address {address}" if address else "a cluster of this machine's own"
            raise UsageError(f"{where}: {_words(e)}") from e

    @property
    def is_on_loopback(self) -> bool:
        """Whether no other machine can be in it."""
        nodes = [node["NodeManagerAddress"] for node in ray.nodes() if node["Alive"]]
        head = str(ray.get_runtime_context().gcs_address)
        return all(each.startswith(_LOOPBACK) for each in (*nodes, head))

    @property
    def is_elsewhere(self) -> bool:
        """Whether a machine that is in it now is none of ours."""
        own = ray.util.get_node_ip_address()
        nodes = [node["NodeManagerAddress"] for node in ray.nodes() if node["Alive"]]
        return any(each != own and not each.startswith(_LOOPBACK) for each in nodes)

    def prepare(self, order: Callable[[], MachineOrder], make_pack: Callable[[], Path]) -> None:
        """What its machines are told and handed; the pack is made when the first one is there."""
        self._order, self._make_pack = order, make_pack

    def machine(self) -> RayLink:
        assert self._order is not None
        cpus = 0.5 * self._slots
        actor = ray.remote(RayMachine).options(
            num_cpus=cpus,
            max_concurrency=2 * self._slots + 16,
            max_restarts=0,
            max_task_retries=0,
            scheduling_strategy="SPREAD",
        )
        return RayLink(actor.remote(self._order(), self._environment), self._pieces, cpus)

    def close(self) -> None:
        ray.shutdown()
        if self._own is not None:
            shutil.rmtree(self._own, ignore_errors=True)

    def _pieces(self) -> list[Any]:
        """The pack, put into the object store once."""
        with self._packing:
            if self._refs is None:
                assert self._make_pack is not None
                pack = self._make_pack()
                with pack.open("rb") as file:
                    self._refs = [ray.put(piece) for piece in iter(lambda: file.read(PIECE), b"")]
                pack.unlink()
            return self._refs


def _join(address: str | None, own: str | None, cpus: int) -> None:
    """`own`: the folder of a cluster that is begun here, of so many CPUs."""
    here = {
        "include_dashboard": False,
        "num_cpus": cpus,
        "object_store_memory": _OBJECTS,
        "_temp_dir": own,
        "_node_ip_address": "127.0.0.1",
    }
    with _hushed():
        ray.init(
            address=address or "local",
            log_to_driver=False,
            logging_level="ERROR",
            configure_logging=False,
            runtime_env={"py_modules": [_PACKAGE], "excludes": ["__pycache__"]},
            **({} if address else here),
        )


def _must_listen(address: str, *, is_tls: bool) -> None:
    """Ray waits for minutes where nobody is, or somebody else. Raises OSError."""
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if not colon or not port.isdigit():
        return
    with socket.create_connection((host, int(port)), timeout=5.0) as asked:
        if is_tls:
            return
        asked.sendall(_PREFACE)
        if asked.recv(9)[3:4] != b"\x04":
            raise ConnectionError("who listens there is not Ray")


@contextmanager
def _hushed() -> Iterator[None]:
    """What Ray's own code prints while it begins; what fails is raised."""
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123
        streams = {number: os.dup(number) for number in (1, 2)}
        try:
            for number in streams:
                os.dup2(nowhere.fileno(), number)
            yield
        finally:
            for number, before in streams.items():
                os.dup2(before, number)
                os.close(before)


def _got(ref: Any) -> Any:
    """Raises MachineLostError."""
    try:
        return ray.get(ref)
    except exceptions.RayError as e:
        raise MachineLostError(_words(e)) from e


def _words(error: BaseException) -> str:
    """Ray's own are long, and hold whole tracebacks."""
    cause = getattr(error, "cause", None)
    lines = str(cause or error).strip().split("\n")
    return f"{type(cause or error).__name__}: {lines[0]}"

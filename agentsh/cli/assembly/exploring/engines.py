"""Where branches run: processes of this machine, or machines of a Ray cluster.

Whether a cluster can be had, and may have what it is to be given, is said before anything is made.
Of Ray nothing is loaded unless it is asked for. Read next: sending.py, explore/away/crew.py,
explore/running/local.py.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from agentsh.cli.assembly.exploring.sending import SentSettings, sent_settings
from agentsh.cli.setup.configuration import Configuration
from agentsh.errors import UsageError
from agentsh.explore.log.facts import ClusterPlace, ExploreLimits
from agentsh.explore.log.folder import ExplorationLog, ExploreFolders
from agentsh.explore.running.jobs import BranchJobs
from agentsh.explore.running.local import LocalWorker
from agentsh.explore.running.worker import RunnerWorker
from agentsh.providers.endpoint import read_endpoint
from agentsh.settings import EndpointSettings

if TYPE_CHECKING:
    from agentsh.explore.away.arrivals import Arrivals
    from agentsh.explore.away.machine import MachineOrder
    from agentsh.explore.away.onray import RayCluster
    from agentsh.explore.away.packing import PackPart

ENGINES = ("local", "ray")
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS": "1",
    "RAY_DEDUP_LOGS_SKIP_REGEX": "^",
}
"""Ray tells nobody of its use, and prints nothing on our stdout, whatever dies in the cluster."""
_TEXTS = ("AGENTS.md", "CLAUDE.md", "trusted", "skills", "prompts")
"""What of the user's folder of settings a branch reads, beside the settings."""


class EngineWish(Struct, frozen=True):
    """`cluster`: of `ray`."""

    name: str = "local"
    cluster: ClusterPlace | None = None
    sends_key: bool = False


class ExploreEngine(Struct, frozen=True):
    """The engine that an exploration runs on. `cluster` None: this machine."""

    wish: EngineWish
    configuration: Configuration
    parallel: int
    cluster: RayCluster | None = None
    sent: SentSettings | None = None
    is_loopback: bool = False

    @property
    def notices(self) -> tuple[str, ...]:
        """What of the settings stays here."""
        left = () if self.sent is None else self.sent.left_out
        return tuple(f"not sent to other machines: {words}" for words in left)

    def close(self) -> None:
        if self.cluster is not None:
            self.cluster.close()


def open_engine(
    configuration: Configuration,
    wish: EngineWish,
    limits: ExploreLimits,
    models: Collection[str],
) -> ExploreEngine:
    """Raises UsageError: it is not to be had, or may not have what it would be given."""
    parallel = limits.parallel
    if wish.name == "local":
        return ExploreEngine(wish, configuration, parallel)
    if find_spec("ray") is None:
        raise UsageError(
            "--engine ray needs the package ray", hint="pip install 'agentsh[ray]' brings it"
        )
    if limits.is_kept:
        raise UsageError("--keep: with --engine ray workspaces go with the machines they are on")
    hosts = [_host(each) for each in _endpoints(configuration, models)]
    os.environ.update(_QUIET)  # Ray reads them when it is loaded
    from agentsh.explore.away.onray import RayCluster

    meant = wish.cluster or ClusterPlace()
    sent = sent_settings(configuration, models, with_keys=wish.sends_key)
    cluster = RayCluster(meant.address, meant.slots, parallel, environment_here)
    try:
        is_loopback = any(map(_is_loopback, hosts))
        _must_fit(cluster, wish, is_loopback=is_loopback)
    except BaseException:
        cluster.close()
        raise
    return ExploreEngine(wish, configuration, parallel, cluster, sent, is_loopback)


def environment_here() -> Mapping[str, str]:
    """Of the machine that it is called on, without what a cluster sets for its own processes.

    Ray sets more than variables of its name (threads of libraries, the path of modules): what its
    daemon was started with is the machine's own.
    """
    daemon = os.environ.get("RAY_RAYLET_PID", "")
    try:
        rows = Path("/proc", daemon, "environ").read_bytes().split(b"\0") if daemon else []
    except OSError:
        rows = []
    pairs = (os.fsdecode(row).partition("=") for row in rows if row)
    return {name: value for name, _, value in pairs} or dict(os.environ)


def _must_fit(cluster: RayCluster, wish: EngineWish, *, is_loopback: bool) -> None:
    """Raises UsageError: it may not have what it would be given."""
    if is_loopback and cluster.is_elsewhere:
        raise UsageError(
            "the endpoint is this machine's own, and machines of the cluster are others",
            hint="name it as they can reach it",
        )
    has_token = os.environ.get("RAY_AUTH_MODE") == "token"
    if wish.sends_key and not has_token and not cluster.is_on_loopback:
        raise UsageError(
            "--send-key: whoever reaches this cluster could read the key",
            hint="Ray asks for no password unless RAY_AUTH_MODE=token is set",
        )


def _endpoints(configuration: Configuration, models: Collection[str]) -> Iterator[EndpointSettings]:
    settings = configuration.settings
    yield settings.endpoint
    for name in dict.fromkeys(model.partition("/")[0] for model in models):
        if name in settings.endpoints:
            yield settings.endpoints[name]


def _host(endpoint: EndpointSettings) -> str:
    """Raises UsageError: a password is in the address, where it would go along."""
    if endpoint.base_url is None:
        return ""
    parsed = read_endpoint(endpoint.base_url)
    if parsed.password:
        raise UsageError(
            f"{parsed.shown}: the password in this address would go to other machines",
            hint="api_key_env names a variable that holds it",
        )
    return parsed.host.lower().rstrip(".")


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


# ---- the worker ----------------------------------------------------------------------------------


class Hands(Struct, frozen=True):
    """Whoever starts runners, and what knows of their workspaces."""

    worker: RunnerWorker
    jobs: BranchJobs


def hands_of(
    engine: ExploreEngine, folders: ExploreFolders, log: ExplorationLog, here: BranchJobs
) -> Hands:
    """`here`: jobs that know the bases of this machine. Nothing is made before one is there."""
    if engine.cluster is None:
        return Hands(LocalWorker(engine.parallel), here)
    from agentsh.explore.away.arrivals import Arrivals
    from agentsh.explore.away.crew import MachineCrew

    assert engine.sent is not None
    meant = engine.wish.cluster or ClusterPlace()

    def arrivals(hear: Callable[[int, bytes | None], None]) -> Arrivals:
        return Arrivals(here.git, folders.sessions, folders.data, hear)

    crew = MachineCrew(
        "ray",
        engine.cluster,
        arrivals,
        slots=meant.slots,
        most=engine.parallel,
        keys=engine.sent.keys,
        is_loopback=engine.is_loopback,
    )
    engine.cluster.prepare(
        lambda: _order(engine, folders, log, here), lambda: _pack(engine, folders, log, here)
    )
    return Hands(crew, here.elsewhere(crew))


def _order(
    engine: ExploreEngine, folders: ExploreFolders, log: ExplorationLog, here: BranchJobs
) -> MachineOrder:
    from agentsh.explore.away.machine import MachineOrder

    assert engine.sent is not None
    places, now = engine.configuration.places, log.now
    environ = dict(engine.sent.environ)
    if not places.sessions.is_relative_to(places.data):
        environ["AGENTSH_SESSION_DIR"] = str(places.sessions)
    trunk = None if now.plan.trunk is None else Path(now.plan.trunk.path)
    return MachineOrder(
        data=str(places.data),
        sessions=str(places.sessions),
        exploration=str(folders.data),
        branches=str(folders.sessions),
        slots=(engine.wish.cluster or ClusterPlace()).slots,
        environ=environ,
        lent={
            str(folders.base(number)): tuple(map(str, here.shared(now, base)))
            for number, base in enumerate(now.plan.bases)
        },
        trunk=None if trunk is None else str(trunk),
    )


def _pack(
    engine: ExploreEngine, folders: ExploreFolders, log: ExplorationLog, here: BranchJobs
) -> Path:
    """All that machines are handed, as a file. Raises OSError, ToolFailedError."""
    from agentsh.explore.away.packing import write_pack

    pack, settings = folders.data / "pack", folders.data / "sent.toml"
    assert engine.sent is not None
    settings.write_text(engine.sent.text, "utf-8")
    try:
        write_pack(pack, _parts(engine, folders, log, here, settings))
    finally:
        settings.unlink()
    return pack


def _parts(
    engine: ExploreEngine,
    folders: ExploreFolders,
    log: ExplorationLog,
    here: BranchJobs,
    settings: Path,
) -> Iterator[PackPart]:
    from agentsh.explore.away.packing import PackPart, base_parts

    places, now = engine.configuration.places, log.now
    inside = Path("data") / folders.data.relative_to(places.data)
    yield PackPart(settings, f"data/{places.settings.name}")
    for name in _TEXTS:
        if os.path.lexists(places.config / name):
            yield PackPart(places.config / name, f"data/{name}")
    if now.plan.trunk is not None:
        yield PackPart(Path(now.plan.trunk.path), "trunk")
    yield PackPart(folders.store, str(inside / folders.store.name))
    for number, (base, frozen) in enumerate(here.bases(now).items()):
        name = str(inside / folders.base(number).relative_to(folders.data))
        yield from base_parts(frozen, name, here.shared(now, base))

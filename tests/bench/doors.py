"""The doors for programs: servers, skills, rpc, the Python API and ACP beside a plain run.

Everything has its turn in each round; what is told is the ratio of the leasts. The bars that these
figures are held against are of the contract, and beside each figure. The environment of the command
under test must have the extras `acp` and `mcp`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from tests.bench.measure import (
    Program,
    Ran,
    agentsh,
    alternately,
    environment,
    launch,
    ours,
    table,
    workplace,
)
from tests.support.endpoint import Endpoint, calls, serve, text
from tests.support.mcpservers import SCRIPT

SERVERS = ("birds", "fish", "frogs")
STATE = {"type": "get_state"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": 1, "clientCapabilities": {}},
}


def main() -> None:
    python = [agentsh()[0].replace("bin/agentsh", "bin/python")]
    with workplace() as root:
        homes = {name: root / name for name in ("plain", "servers", "skills")}
        for home in homes.values():
            (home / "agentsh").mkdir(parents=True)
        server = shutil.copyfile(SCRIPT, root / SCRIPT.name)
        tables = "".join(_table(name, python[0], server, root) for name in SERVERS)
        (homes["servers"] / "agentsh/config.toml").write_text(tables)
        _write_skills(homes["skills"] / ".agents/skills", 30)
        runs(root, homes, python)
        firsts(root, homes["plain"], python)
        first_call(root, homes, python, server)


def runs(root: Path, homes: dict[str, Path], python: Sequence[str]) -> None:
    """A one-word run beside what it must not pay for; and the import of a script."""
    clean = environment(homes["plain"])
    with serve(text("Hello")) as endpoint:
        _listed(root, homes["servers"], endpoint)
        each: dict[str, Callable[[], Ran]] = {
            "run": _run(endpoint, homes["plain"], root),
            "run, 3 servers known (1.10)": _run(endpoint, homes["servers"], root),
            "run, 30 skills (1.15)": _run(endpoint, homes["skills"], root),
            "from agentsh import Session (1.00)": partial(
                launch, Program([*python, "-c", "from agentsh import Session"], clean), root
            ),
        }
        shown = alternately(each)
    table("beside a one-word run: CPU, ms", shown, "cpu", against="run")


def firsts(root: Path, home: Path, python: Sequence[str]) -> None:
    """From the start to the first sign of life of each door."""
    clean = environment(home)
    with serve(text("Hello")) as endpoint:
        rpc = ours(endpoint, home, "rpc", "--no-session")
        acp = ours(endpoint, home, "acp")
        each: dict[str, Callable[[], Ran]] = {
            "run: first request": _run(endpoint, home, root),
            "rpc: get_state (1.10)": partial(answered, rpc, root / "work", STATE),
            "import acp, to its end": partial(
                ended, Program([*python, "-c", "import acp"], clean), root
            ),
            "acp: initialize": partial(answered, acp, root / "work", INITIALIZE),
        }
        shown = alternately(each)
    table("start → first sign of life: wall, ms", shown, "first", against="run: first request")
    parts = ("run: first request", "import acp, to its end")
    whole = sum(min(ran.wall for ran in shown[name]) for name in parts)
    sign = min(ran.first for ran in shown["acp: initialize"])
    print(f"\nacp: initialize over (import acp + one-word run): {sign / whole:.2f} × (1.25)")


def first_call(root: Path, homes: dict[str, Path], python: Sequence[str], server: Path) -> None:
    """A call of a server over a call of our own: the client library, and the server's start."""
    clean, home = environment(homes["plain"]), homes["servers"]
    start = [*python, str(server), "good", str(root)]
    own = calls(("c1", "ls", {}))
    served = calls(("c1", "mcp__birds__count", {"bird": "owl"}))
    with (
        serve(*(own, text("Hello")) * 100) as plain,
        serve(*(served, text("Hello")) * 100) as calling,
    ):
        each: dict[str, Callable[[], Ran]] = {
            "python": partial(launch, Program([*python, "-c", "pass"], clean), root),
            "import mcp": partial(launch, Program([*python, "-c", "import mcp"], clean), root),
            "the server alone": partial(launch, Program(start, clean), root),
            "run, a call of ours": _run(plain, home, root),
            "run, a call of a server": _run(calling, home, root),
        }
        shown = alternately(each)
    table("first call of a server: CPU, ms", shown, "cpu", against="run, a call of ours")
    least = {name: min(ran.cpu for ran in ran_all) for name, ran_all in shown.items()}
    took = least["run, a call of a server"] - least["run, a call of ours"]
    bar = least["import mcp"] - least["python"] + least["the server alone"]
    print(
        f"\nthe call's own share over (import mcp + the server's start): {took / bar:.2f} × (1.50)"
    )


def ended(program: Program, cwd: Path) -> Ran:
    """Run it; its end is its first sign of life."""
    ran = launch(program, cwd)
    return replace(ran, first=ran.wall)


def answered(program: Program, cwd: Path, said: object) -> Ran:
    """Start it, say one line, and wait for its first; `first` is when that came."""
    began = time.monotonic()
    process = subprocess.Popen(
        program.argv,
        env=dict(program.environ),
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(said).encode() + b"\n")
    process.stdin.flush()
    line = process.stdout.readline()
    first = time.monotonic() - began
    process.stdin.close()
    process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    if process.returncode or not line:
        raise RuntimeError(f"{program.argv}: exit {process.returncode}, {line[:200]!r}")
    return Ran(time.monotonic() - began, used.ru_utime + used.ru_stime, first=first)


def _run(endpoint: Endpoint, home: Path, root: Path) -> Callable[[], Ran]:
    words = ("run", "--approve", "all", "Say hello")
    return partial(launch, ours(endpoint, home, *words), root / "work", endpoint)


def _listed(root: Path, home: Path, endpoint: Endpoint) -> None:
    """Ask each server once, so that its list is kept."""
    program = ours(endpoint, home, "mcp")
    subprocess.run(
        program.argv,
        env=dict(program.environ),
        cwd=root / "work",
        check=True,
        stdout=subprocess.DEVNULL,
    )


def _table(name: str, python: str, server: Path, root: Path) -> str:
    arguments = json.dumps([str(server), "good", str(root)])
    return f"[mcp.servers.{name}]\ncommand = {json.dumps(python)}\nargs = {arguments}\n"


def _write_skills(folder: Path, count: int) -> None:
    for number in range(count):
        place = folder / f"skill-{number:02}"
        place.mkdir(parents=True)
        head = (
            f"---\nname: skill-{number:02}\ndescription: what one does with herons, {number}\n---\n"
        )
        (place / "SKILL.md").write_text(head + "\nFeed them.\n")


if __name__ == "__main__":
    main()

"""Runs programs in turn and compares what they took.

On a shared machine only a ratio of things that ran alternately in one run means anything, and the
least of several better than their mean: so every program has its turn in each round, and a table
shows least and median. CPU and memory are the kernel's own count of the finished process.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from tests.support.endpoint import Endpoint

_SUBREAPER = 36
"""Of Linux's prctl: what a program leaves behind when it ends becomes ours."""
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "7"))


class Ran(Struct, frozen=True):
    """One run. Seconds and bytes; `first`: from the start to the first request, if there was one.

    `gap`: the mean time from one request to the next.
    """

    wall: float
    cpu: float
    memory: int = 0
    first: float = 0.0
    gap: float = 0.0


class Program(Struct, frozen=True):
    """What to start, and with which environment."""

    argv: Sequence[str]
    environ: Mapping[str, str]


def agentsh() -> list[str]:
    """The command under test: AGENTSH, else the one of this interpreter."""
    named = os.environ.get("AGENTSH")
    return [named] if named else [sys.executable, "-m", "agentsh"]


def environment(home: Path, **more: str) -> dict[str, str]:
    """A clean one, which lets Python keep its bytecode."""
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
    return {**kept, "HOME": str(home), "LANG": "C.UTF-8", "TERM": "xterm-256color", **more}


def ours(endpoint: Endpoint, home: Path, *words: str) -> Program:
    """agentsh with these words, in a home of its own."""
    return Program(
        [*agentsh(), *words],
        environment(
            home,
            OPENAI_BASE_URL=endpoint.base_url,
            OPENAI_API_KEY="bench-key",
            AGENTSH_MODEL="m",
            AGENTSH_HOME=str(home / "agentsh"),
        ),
    )


def launch(program: Program, cwd: Path, endpoint: Endpoint | None = None) -> Ran:
    """Run it to its end. Raises RuntimeError where it fails.

    What it leaves to end by itself counts for its CPU: the last branches of an exploration do.
    """
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    if endpoint is not None:
        endpoint.requests.clear()
    argv = [shutil.which(program.argv[0], path=program.environ["PATH"]) or "", *program.argv[1:]]
    with tempfile.TemporaryFile() as said:
        began = time.monotonic()
        process = subprocess.Popen(
            argv,
            env=dict(program.environ),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
        )
        _, status, used = os.wait4(process.pid, 0)
        wall = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        cpu = used.ru_utime + used.ru_stime + _of_orphans()
        if process.returncode:
            said.seek(0)
            raise RuntimeError(f"{argv}: {said.read()[-2000:].decode('utf-8', 'replace')}")
    times = [request.at for request in endpoint.requests] if endpoint is not None else []
    return Ran(
        wall,
        cpu,
        used.ru_maxrss * 1024,
        times[0] - began if times else 0.0,
        (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else 0.0,
    )


def _of_orphans() -> float:
    """CPU of what a program left; whoever calls has no other children."""
    taken = 0.0
    while True:
        try:
            _, _, used = os.wait4(-1, 0)
        except ChildProcessError:
            return taken
        taken += used.ru_utime + used.ru_stime


def timed(work: Callable[[], object]) -> Ran:
    """The same of a piece of work in this process."""
    wall, cpu = time.monotonic(), time.process_time()
    work()
    return Ran(time.monotonic() - wall, time.process_time() - cpu)


def alternately(
    work: Mapping[str, Callable[[], Ran]], rounds: int = ROUNDS
) -> dict[str, list[Ran]]:
    """Each of them once a round; the first round only warms up."""
    kept: dict[str, list[Ran]] = {name: [] for name in work}
    for number in range(rounds + 1):
        for name, run in work.items():
            ran = run()
            if number:
                kept[name].append(ran)
    return kept


def table(
    title: str, runs: Mapping[str, Sequence[Ran]], member: str, *, against: str, scale: float = 1e3
) -> None:
    """least / median of one member, and the ratio of the leasts. `scale`: 1e3 shows ms."""
    print(f"\n### {title}\n\n| | least | median | of {against} |\n|---|---:|---:|---:|")
    base = min(getattr(ran, member) for ran in runs[against])
    for name, ran_all in runs.items():
        values = [getattr(ran, member) for ran in ran_all]
        least, middle = min(values), statistics.median(values)
        ratio = f"{least / base:.2f} ×" if base else "–"
        print(f"| {name} | {least * scale:,.1f} | {middle * scale:,.1f} | {ratio} |")


@contextmanager
def workplace() -> Iterator[Path]:
    """A folder with a `home` and a small repository `work`."""
    with tempfile.TemporaryDirectory(prefix="agentsh-bench-") as name:
        root = Path(name)
        for each in ("home", "work"):
            (root / each).mkdir()
        (root / "work" / "README.md").write_text("# A small project\n")
        subprocess.run(["git", "init", "-q", str(root / "work")], check=True)
        yield root

"""How long a key takes to show, idle and while 200 tokens a second come; what streaming costs.

Run it by itself: `python -m tests.bench.keys`. A chat with a scripted agent runs in a
pseudo-terminal; each key is a letter that stands nowhere else, and its time ends when its bytes
come back. The second part compares the CPU of the chat for 20,000 tokens that come one by one with
that for the same text in one piece, which prints the same blocks once. A pace costs by itself,
since a thread wakes up 20,000 times; so the same pace is measured with nothing to show till then.
"""

from __future__ import annotations

import os
import pty
import random
import select
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

ROOT = Path(__file__).resolve().parents[2]
LETTERS = [chr(c) for c in range(0x0400, 0x0460)]


@contextmanager
def chat(script: str, folder: Path) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """A chat in a terminal of its own: (the terminal's other end, the process)."""
    folder = Path(mkdtemp(dir=folder))  # with its own drafts
    master, slave = pty.openpty()
    env = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "HOME": str(folder),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.ui.driver", script],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=env,
        cwd=folder,
        start_new_session=True,
    )
    os.close(slave)
    try:
        until(master, b"approve edits")
        yield master, process
    finally:
        process.kill()
        process.wait()
        os.close(master)


def until(master: int, wanted: bytes, seconds: float = 120.0) -> float:
    """Read until the bytes came; how long that took."""
    began = time.perf_counter()
    seen = b""
    while time.perf_counter() - began < seconds:
        if select.select([master], [], [], 0.5)[0]:
            seen = seen[-len(wanted) :] + os.read(master, 65536)
            if wanted in seen:
                return time.perf_counter() - began
    raise TimeoutError(f"{wanted!r} did not come")


def drain(master: int, seconds: float) -> None:
    """Take what comes in so long."""
    end = time.perf_counter() + seconds
    while (left := end - time.perf_counter()) > 0:
        if select.select([master], [], [], left)[0]:
            os.read(master, 65536)


def key_times(master: int, keys: int) -> list[float]:
    """Seconds from each key to its echo; keys come at uneven times, as a person types."""
    times: list[float] = []
    chance = random.Random(1)
    for number in range(keys):
        drain(master, 0.08 + 0.08 * chance.random())
        letter = LETTERS[number % len(LETTERS)].encode()
        os.write(master, letter)
        times.append(until(master, letter, 10))
        if number % 40 == 39:
            os.write(master, b"\x15")  # Ctrl-U: the line does not grow for ever
    return times


def p95(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]


def cpu_of(process: subprocess.Popen[bytes]) -> float:
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure_keys(keys: int, folder: Path) -> None:
    with chat("echo", folder) as (master, _):
        drain(master, 1.5)  # the renderer is loaded meanwhile
        idle = key_times(master, keys)
    with chat("stream", folder) as (master, _):
        os.write(master, b"go\r")
        until(master, b"working")
        drain(master, 1.5)
        busy = key_times(master, keys)
    for name, times in (("idle", idle), ("200 tokens/s", busy)):
        print(
            f"{name:<13} median {statistics.median(times) * 1000:5.1f} ms   "
            f"p95 {p95(times) * 1000:5.1f} ms   max {max(times) * 1000:5.1f} ms"
        )
    print(f"ratio of the p95s: {p95(busy) / p95(idle):.2f}")


def measure_cpu(folder: Path) -> None:
    spent: dict[str, float] = {}
    took: dict[str, float] = {}
    for script in ("whole", "tokens", "silent", "paced"):
        with chat(script, folder) as (master, process):
            drain(master, 2.0)
            before = cpu_of(process)
            os.write(master, b"go\r")
            took[script] = until(master, b"THE-END", 300)
            drain(master, 1.0)
            spent[script] = cpu_of(process) - before
    print(f"20,000 tokens, CPU of the chat: in one piece {spent['whole']:.2f} s")
    for script, words in (
        ("tokens", "one by one, as fast as can be"),
        ("paced", "one by one, at some 200 a second"),
        ("silent", "in one piece after as many waits"),
    ):
        ratio, share = spent[script] / spent["whole"], spent[script] / took[script]
        print(f"{words}: {spent[script]:.2f} s, ratio {ratio:.2f}, {share:.1%} of a core")
    shown = spent["paced"] - spent["silent"] + spent["whole"]
    print(f"showing it at that pace: {shown:.2f} s, ratio {shown / spent['whole']:.2f}")


def main() -> None:
    keys = int(os.environ.get("BENCH_KEYS", "200"))
    with TemporaryDirectory() as folder:
        measure_keys(keys, Path(folder))
        measure_cpu(Path(folder))


if __name__ == "__main__":
    main()

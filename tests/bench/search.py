"""Measures search: `python -m tests.bench.search [--sessions 3000] [--mb 1000] [--folder F]`.

It makes sessions out of the Python source that lies on this machine, files them, and asks whole
commands, `agentsh search` and `rg` over the same files, in turns and in one run, so that what else
the machine does touches both. Not a test: figures of one machine are no limits for another.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from agentsh.cli.setup.paths import find_places
from agentsh.jsontext import JsonObject, dumps, loads
from agentsh.session.search.fulltext import TextIndex
from agentsh.session.search.searchable import read_saying
from agentsh.session.store.catalog import Index
from agentsh.session.store.reader import open_reader
from agentsh.session.store.store import Store

ROUNDS = 3


def texts() -> str:
    """All the source that is here, as one text."""
    roots = {Path(sysconfig.get_path("stdlib")), Path(sysconfig.get_path("purelib"))}
    found = sorted({file for root in roots for file in root.rglob("*.py")})
    return "".join(file.read_text("utf-8", "replace") for file in found)


def session_lines(
    name: str, day: int, size: int, pool: str, dice: random.Random
) -> Iterator[bytes]:
    """Turns with a tool call each, until they are about `size` bytes; a branch now and then."""

    def some(least: int, most: int) -> str:
        start = dice.randrange(len(pool) - most)
        return pool[start : start + dice.randint(least, most)]

    stamp = f"2026-{1 + day // 28 % 12:02d}-{1 + day % 28:02d}T10:00:00.000Z"
    yield dumps({"type": "session", "version": 3, "id": name, "timestamp": stamp, "cwd": "/p"})
    above: str | None = None
    earlier: list[str] = []
    made = number = 0
    while made < size:
        needle = f"needle{dice.randrange(10**9)}"
        parts: list[JsonObject] = [
            {"role": "user", "content": f"{needle} {some(40, 400)}", "timestamp": 1},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": some(40, 600)},
                    {"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "x"}},
                ],
                "api": "a", "provider": "p", "model": "m", "stopReason": "toolUse", "timestamp": 2,
            },
            {
                "role": "toolResult", "toolCallId": "c", "toolName": "bash", "isError": False,
                "content": [{"type": "text", "text": some(500, 12000)}], "timestamp": 3,
            },
        ]  # fmt: skip
        for message in parts:
            entry = f"{number:08x}"
            line = dumps(
                {"type": "message", "id": entry, "parentId": above, "timestamp": stamp}
                | {"message": message}
            )
            yield line
            earlier.append(entry)
            made += len(line)
            above, number = entry, number + 1
        if dice.random() < 0.05:
            above = dice.choice(earlier)


def generate(root: Path, sessions: int, size: int) -> None:
    pool, dice = texts(), random.Random(7)
    root.mkdir(parents=True)
    share = size // sessions
    for n in range(sessions):
        name = f"00000000-0000-7000-8000-{n:012d}"
        file = root / f"2026-01-01T00-00-00-000Z_{name}.jsonl"
        part = int(share * dice.uniform(0.2, 1.8))
        file.write_bytes(b"\n".join(session_lines(name, n, part, pool, dice)) + b"\n")


def measured(words: Sequence[str], environ: dict[str, str]) -> tuple[float, int, int]:
    """(seconds, most memory in KB, bytes of output) of a command."""
    with tempfile.TemporaryFile() as out:
        begin = time.perf_counter()
        process = subprocess.Popen(words, env=environ, stdout=out, stderr=subprocess.DEVNULL)
        _, _, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        process.returncode = 0
        return seconds, used.ru_maxrss, out.seek(0, os.SEEK_END)


def queries(store: Store) -> list[str]:
    """Rare and common words, parts of identifiers, phrases, beginnings; one that is nowhere."""
    needles = []
    for path in store.files()[:: max(1, len(store.files()) // 6)]:
        with open_reader(path) as source:
            line = next(iter(source.lines()))
            saying = read_saying(line.data)
            needles.append("" if saying is None else saying.text.split()[0])
    fixed = ["self", "return", "asyncio", "iterdir", "get_event_loop", "deprecated", "unicodedata"]
    fixed += ["import os", '"raise ValueError"', "Timeout*", "nosuchwordanywhere", "EventLoop"]
    return needles + fixed


def build(store: Store, index: Path) -> None:
    """Rates by processor time, for others may be at work; the index's also by the clock."""
    files = store.files()
    size = sum(file.stat().st_size for file in files)
    for _ in range(2):  # the second time from memory
        begin = time.process_time()
        for file in files:
            for line in file.read_bytes().splitlines():
                loads(line)
        parsed = time.process_time() - begin
    begin = time.process_time()
    Index(index).summaries(files)
    listed = time.process_time() - begin
    before = index.stat().st_size
    clock, begin = time.perf_counter(), time.process_time()
    TextIndex(index).look(files, ())
    built, waited = time.process_time() - begin, time.perf_counter() - clock
    said = 0
    for file in files:
        with open_reader(file) as source:
            said += sum(len(s.text) for line in source.lines() if (s := read_saying(line.data)))
    filed = index.stat().st_size - before
    print(f"files {len(files)}, {size / 1e6:.0f} MB, of which text {said / 1e6:.0f} MB")
    print(f"read + parse {size / parsed / 1e6:.0f} MB/s; list {size / listed / 1e6:.0f} MB/s")
    print(
        f"index build {size / built / 1e6:.1f} MB/s ({built:.0f} s, by the clock {waited:.0f} s),"
        f" {built / parsed:.1f} times read + parse; {filed / 1e6:.0f} MB, {filed / said:.0%} of the"
        " text"
    )


def catch_up(store: Store, index: Path) -> None:
    file = store.files()[0]
    size = file.stat().st_size
    with file.open("ab") as end:
        end.write(
            dumps({"type": "message", "id": "ffff0000", "parentId": None, "timestamp": "2027"}
            | {"message": {"role": "user", "content": "one more needle"}}) + b"\n"
        )  # fmt: skip
    gained = file.stat().st_size - size
    text = TextIndex(index)
    begin = time.perf_counter()
    text.look(store.files(), (("needle", False),))
    seconds = time.perf_counter() - begin
    print(f"catch-up: {gained} bytes came, {text.bytes_read} read, {seconds * 1000:.0f} ms in all")


def compare(home: Path, sessions: Path, asked: Sequence[str]) -> None:
    environ = {**os.environ, "AGENTSH_HOME": str(home), "AGENTSH_SESSION_DIR": str(sessions)}
    scripts = Path(sys.executable).parent
    rg = shutil.which("rg", path=f"{scripts}{os.pathsep}{os.environ['PATH']}")
    times: dict[str, list[float]] = {"agentsh": [], "rg": []}
    memory = {"agentsh": 0, "rg": 0}
    for query in list(asked) * ROUNDS:
        commands = {"agentsh": [str(scripts / "agentsh"), "search", "--json", "--", query]}
        if rg is not None:
            plain = query.strip('"').rstrip("*")
            commands["rg"] = [rg, "--no-config", "-i", "-F", "-c", plain, str(sessions)]
        for name, words in commands.items():
            seconds, most, _ = measured(words, environ)
            times[name].append(seconds)
            memory[name] = max(memory[name], most)
    for name, found in times.items():
        if found:
            p95 = statistics.quantiles(found, n=20)[-1]
            print(
                f"{name}: median {statistics.median(found) * 1000:.0f} ms, p95 {p95 * 1000:.0f} ms,"
                f" max {max(found) * 1000:.0f} ms, memory {memory[name] / 1000:.0f} MB"
            )
    if times["rg"]:
        ratio = (
            statistics.quantiles(times["rg"], n=20)[-1]
            / statistics.quantiles(times["agentsh"], n=20)[-1]
        )
        print(f"p95 of rg / p95 of agentsh: {ratio:.1f}")


STEPS = ("generate", "build", "compare")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=3000)
    parser.add_argument("--mb", type=int, default=1000)
    parser.add_argument("--folder", type=Path, help="kept and used again")
    parser.add_argument("--step", choices=STEPS, help="one of them only")
    given = parser.parse_args()
    if given.step is None:
        with tempfile.TemporaryDirectory() as scratch:
            folder = given.folder or Path(scratch)
            words = ["--sessions", str(given.sessions), "--mb", str(given.mb)]
            for step in STEPS:
                # each in a process of its own: a child's memory is counted from its parent's on
                call = [sys.executable, "-m", __spec__.name, "--step", step, "--folder", folder]
                subprocess.run([*call, *words], check=True)
        return
    sessions, home = given.folder / "sessions", given.folder / "home"
    store = Store(sessions)
    index = find_places({"AGENTSH_HOME": str(home)}).index
    match given.step:
        case "generate" if not sessions.exists():
            generate(sessions, given.sessions, given.mb * 1_000_000)
        case "build":
            shutil.rmtree(home, ignore_errors=True)
            build(store, index)
            catch_up(store, index)
        case "compare":
            compare(home, sessions, queries(store))


if __name__ == "__main__":
    main()

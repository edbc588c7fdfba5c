"""`sessions` over 3,000 files of 1 GB, warm, against a look at each file and Python's start."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from tests.bench.material import write_session
from tests.bench.measure import (
    Program,
    Ran,
    agentsh,
    alternately,
    environment,
    launch,
    table,
    workplace,
)

FILES = 3_000
SIZE = 333_000
_LOOK = (
    "import os, sys\n"
    "for folder in os.scandir(sys.argv[1]):\n"
    "    for file in os.scandir(folder.path): os.stat(file.path)\n"
)


def main() -> None:
    with workplace() as root:
        home, cwd = root / "home", root / "work"
        store = home / "agentsh" / "sessions" / "--bench--"
        _fill(store, str(cwd))
        environ = environment(home, AGENTSH_HOME=str(home / "agentsh"))
        python = agentsh()[0].replace("bin/agentsh", "bin/python")
        look = Program([python, "-c", _LOOK, str(store.parent)], environ)
        listed = Program([*agentsh(), "sessions", "--all"], environ)
        runs: dict[str, list[Ran]] = alternately(
            {
                "start, scandir, stat": partial(launch, look, cwd),
                "sessions": partial(launch, listed, cwd),
            },
            5,
        )
        against = "start, scandir, stat"
        table(f"sessions --all over {FILES:,} files: wall, ms", runs, "wall", against=against)
        table("the same: CPU, ms", runs, "cpu", against=against)


def _fill(folder: Path, cwd: str) -> None:
    folder.mkdir(parents=True)
    first = folder / "first"
    write_session(first, SIZE, "whole", cwd)
    head, rest = first.read_bytes().split(b"\n", 1)
    first.unlink()
    for number in range(FILES):
        name = f"01890000-0000-7000-8000-{number:012x}"
        path = folder / f"2026-01-01T00-00-00-000Z_{name}.jsonl"
        path.write_bytes(head.replace(b'"bench"', f'"{name}"'.encode()) + b"\n" + rest)


if __name__ == "__main__":
    main()

"""Resume → first request: long files, against reading and decoding each line, and a short file."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.bench.material import Shape, write_session
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
from tests.bench.peers import has_pi, pi
from tests.support.endpoint import Endpoint, serve, text

MB = 1_000_000
_DECODE = (
    "import orjson, sys; data = open(sys.argv[1], 'rb').read();"
    "kept = [orjson.loads(line) for line in data.split(b'\\n') if line]"
)
# no list names a window: nothing is compacted, and the whole path is sent
ROUNDS = 3


def main() -> None:
    with workplace() as root, serve(text("Hello")) as endpoint:
        _compacted(root, endpoint, "compacted")
        _compacted(root, endpoint, "own")
        _whole(root, endpoint)


def _compacted(root: Path, endpoint: Endpoint, shape: Shape) -> None:
    """100 MB with a short live path against 1 MB with one as long."""
    small, large = root / f"{shape}-1.jsonl", root / f"{shape}-100.jsonl"
    write_session(small, MB, shape, str(root / "work"))
    write_session(large, 100 * MB, shape, str(root / "work"))
    if shape == "own":  # a file that agentsh wrote to has a seal at its end
        for path in (small, large):
            words = ("run", "--approve", "all", "--session", str(path), "Begin")
            launch(ours(endpoint, root / "home", *words), root / "work", endpoint)
    runs = alternately(
        {
            "1 MB": partial(_resumed, root, endpoint, small),
            "100 MB": partial(_resumed, root, endpoint, large),
        },
        ROUNDS,
    )
    by = "Pi" if shape == "compacted" else "agentsh"
    table(f"compacted by {by}: → first request, ms", runs, "first", against="1 MB")
    table("the same: CPU, ms", runs, "cpu", against="1 MB")
    table("the same: peak memory, MB", runs, "memory", against="1 MB", scale=1e-6)
    large.unlink()


def _whole(root: Path, endpoint: Endpoint) -> None:
    """One path of 100 MB, all of it in the request."""
    path = root / "whole.jsonl"
    write_session(path, 100 * MB, "whole", str(root / "work"))
    decode = [agentsh()[0].replace("bin/agentsh", "bin/python"), "-c", _DECODE, str(path)]
    floor = Program(decode, environment(root / "home"))
    work: dict[str, Callable[[], Ran]] = {
        "read, orjson": partial(_floor, floor, root / "work"),
        "agentsh": partial(_resumed, root, endpoint, path),
    }
    if has_pi():
        work["pi"] = partial(_resumed_by_pi, root, endpoint, path)
    runs = alternately(work, ROUNDS)
    table("one path of 100 MB: → first request, ms", runs, "first", against="read, orjson")
    table("the same: CPU to the end, ms", runs, "cpu", against="read, orjson")
    table("the same: peak memory, MB", runs, "memory", against="read, orjson", scale=1e-6)


def _floor(program: Program, cwd: Path) -> Ran:
    ran = launch(program, cwd)
    return Ran(ran.wall, ran.cpu, ran.memory, ran.wall)


def _resumed(root: Path, endpoint: Endpoint, path: Path) -> Ran:
    """In a fresh copy, as a turn appends to it."""
    copy = root / "copy.jsonl"
    shutil.copy(path, copy)
    words = ("run", "--approve", "all", "--session", str(copy), "Go on")
    return launch(ours(endpoint, root / "home", *words), root / "work", endpoint)


def _resumed_by_pi(root: Path, endpoint: Endpoint, path: Path) -> Ran:
    copy = root / "copy.jsonl"
    shutil.copy(path, copy)
    program = pi(endpoint, root / "pi", "--session", str(copy), "-p", "Go on")
    return launch(program, root / "work", endpoint)


if __name__ == "__main__":
    main()

"""--version, start → first byte of the request, start → exit, memory; floors: Python, libraries."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

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
from tests.support.endpoint import serve, text


def main() -> None:
    with workplace() as root, serve(text("Hello")) as endpoint:
        home, cwd = root / "home", root / "work"
        python = [agentsh()[0].replace("bin/agentsh", "bin/python"), "-c"]
        clean = environment(home)
        floor = {
            "Python": Program([*python, "pass"], clean),
            "Python, typer, httpx": Program([*python, "import typer, httpx"], clean),
        }
        version = {"agentsh": Program([*agentsh(), "--version"], clean)}
        run = {"agentsh": ours(endpoint, home, "run", "--approve", "all", "Say hello")}
        if has_pi():
            version["pi"] = pi(endpoint, root / "pi", "--version")
            run["pi"] = pi(endpoint, root / "pi", "-p", "Say hello")
        against = "pi" if has_pi() else "agentsh"

        def each(programs: dict[str, Program], *, asks: bool) -> dict[str, Callable[[], Ran]]:
            to = endpoint if asks else None
            return {n: partial(launch, p, cwd, to) for n, p in programs.items()}

        shown = alternately(each({**floor, **version}, asks=False))
        table("--version: wall, ms", shown, "wall", against=against)
        table("--version: CPU, ms", shown, "cpu", against=against)
        asked = alternately(each(run, asks=True))
        table("start → first byte of the request, ms", asked, "first", against=against)
        table("start → exit, one word: wall, ms", asked, "wall", against=against)
        table("the same: CPU, ms", asked, "cpu", against=against)
        table("peak memory, MB", asked, "memory", against=against, scale=1e-6)


if __name__ == "__main__":
    main()

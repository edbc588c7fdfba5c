"""A turn of 50 steps, each a trivial command: wall and CPU of a step, with all that is synced."""

from __future__ import annotations

from functools import partial

from tests.bench.measure import alternately, launch, ours, table, workplace
from tests.bench.peers import has_pi, pi
from tests.support.endpoint import calls, serve, text

STEPS = 50


def main() -> None:
    script = [calls((f"call_{n}", "bash", {"command": f"echo hi {n}"})) for n in range(STEPS)]
    with workplace() as root, serve(*script, text("Done.")) as endpoint:
        home, cwd = root / "home", root / "work"
        programs = {"agentsh": ours(endpoint, home, "run", "--approve", "all", "Run the loop")}
        if has_pi():
            programs["pi"] = pi(endpoint, root / "pi", "-p", "Run the loop")
        runs = alternately(
            {n: partial(launch, p, cwd, endpoint) for n, p in programs.items()},
            rounds=3,
        )
        against = "pi" if has_pi() else "agentsh"
        table("from one request to the next, ms", runs, "gap", against=against)
        table(f"{STEPS} steps with the start: CPU, ms", runs, "cpu", against=against)


if __name__ == "__main__":
    main()

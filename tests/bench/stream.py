"""An answer of 20,000 tokens, one a chunk, as fast as it goes: CPU over that of a word."""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from tests.bench.measure import Program, Ran, alternately, launch, ours, table, workplace
from tests.bench.peers import has_pi, pi
from tests.support.endpoint import chunk, serve, stream, text

TOKENS = 20_000


def main() -> None:
    long = stream(*[chunk({"content": " token"}) for _ in range(TOKENS)], chunk({}, "stop"))
    with workplace() as root, serve(text("Hello")) as endpoint:
        home, cwd = root / "home", root / "work"
        programs = {"agentsh": ours(endpoint, home, "run", "--approve", "all", "Write")}
        if has_pi():
            programs["pi"] = pi(endpoint, root / "pi", "-p", "Write")

        def over(program: Program) -> Ran:
            endpoint.script = [text("Hello")]
            word = launch(program, cwd, endpoint)
            endpoint.script = [long]
            whole = launch(program, cwd, endpoint)
            return replace(whole, cpu=whole.cpu - word.cpu, wall=whole.wall - word.wall)

        runs = alternately({n: partial(over, p) for n, p in programs.items()})
        against = "pi" if has_pi() else "agentsh"
        table(f"{TOKENS:,} tokens over one word: CPU, ms", runs, "cpu", against=against)
        table("the same: wall, ms", runs, "wall", against=against)


if __name__ == "__main__":
    main()

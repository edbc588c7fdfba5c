"""`explore` beside plain runs: one branch, 64 at once; plans, logs and permits of many rows."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

from agentsh.explore.log.facts import (
    AnyExploreFact,
    BaseState,
    BranchFact,
    CaptureFact,
    EndFact,
    ExploreLimits,
    PlanFact,
    StartFact,
    StopFact,
    TaskFact,
    TurnFact,
)
from agentsh.explore.log.folder import ExploreFolders, create_exploration, folders_of
from agentsh.explore.plan import ExploreTask, PlannedBranch, plan_branches, read_tasks
from agentsh.explore.running.lines import (
    NeedLine,
    PermitLine,
    encode_runner_line,
    read_from_runner,
)
from agentsh.explore.running.permits import Go, PermitBook, PermitNeed
from agentsh.explore.running.runner import CoordinatorChannel
from agentsh.messages import Usage
from agentsh.session.store.store import Store
from tests.bench.measure import Program, Ran, alternately, launch, ours, table, timed, workplace
from tests.support.endpoint import serve, text

CROWD, AT_ONCE = 64, 8
PLANNED, FINISHED, IN_MEMORY = 10_000, 10_000, 1_000
PERMITS = 2_000
_NOW = "2026-01-01T00:00:00.000Z"


def main() -> None:
    with workplace() as root, serve(text("word")) as endpoint:
        home, cwd = root / "home", root / "work"
        plain = ours(endpoint, home, "run", "hi")
        one = ours(endpoint, home, "explore", "-n", "1", "hi")
        runs = alternately({"run": partial(launch, plain, cwd), "-n 1": partial(launch, one, cwd)})
        table("one branch: wall, ms", runs, "wall", against="run")
        table("the same: CPU, ms", runs, "cpu", against="run")
        words = ("explore", "-n", str(CROWD), "-j", str(AT_ONCE), "hi")
        crowd = ours(endpoint, home, *words)
        against, beside = f"{CROWD} × run, in turn", f"-n {CROWD} -j {AT_ONCE}"
        in_turn = partial(_all_of, partial(launch, plain, cwd))
        runs = alternately({against: in_turn, beside: partial(launch, crowd, cwd)}, 2)
        table(f"{CROWD} branches: CPU, s", runs, "cpu", against=against, scale=1)
        least = min(ran.cpu for ran in runs[against]) / (os.cpu_count() or 1)
        wall = min(ran.wall for ran in runs[beside])
        print(f"\nwall {wall:.1f} s: {wall / least:.2f} × of what the runs' CPU takes on all cores")
        _of_many_rows(root)
    _permits()


def _all_of(run: Callable[[], Ran]) -> Ran:
    each = [run() for _ in range(CROWD)]
    return Ran(sum(ran.wall for ran in each), sum(ran.cpu for ran in each))


# ---- many rows -----------------------------------------------------------------------------------


def _of_many_rows(root: Path) -> None:
    with serve(text("word")) as endpoint:
        home, cwd = root / "home", root / "work"
        tasks = root / "tasks.jsonl"
        tasks.write_text("".join(f'{{"prompt": "task {n}"}}\n' for n in range(PLANNED)))
        held = ours(endpoint, home, "explore", "--tasks", str(tasks), "--token-limit", "1")
        print(f"\n### {PLANNED:,} tasks\n\n| | seconds | MB |\n|---|---:|---:|")
        _row("read and planned", timed(partial(_planned, tasks)))
        argv = ["sh", "-c", '"$@"; test $? = 6', "sh", *held.argv]
        stopped = launch(Program(argv, held.environ), cwd)
        _row("planned, on record, the first refused by a limit, all ended", stopped)
        for rows in (IN_MEMORY, FINISHED):
            name = f"{rows:08x}"
            _finished(home, cwd, name, rows)
            resumed = ours(endpoint, home, "explore", "resume", name)
            _row(f"`resume` of a finished one, {rows:,} rows", launch(resumed, cwd))
            listed = ours(endpoint, home, "explore", "show", name, "--json")
            _row(f"`show` of it, {rows:,} rows", launch(listed, cwd))


def _row(what: str, ran: Ran) -> None:
    print(f"| {what} | {ran.wall:.2f} | {ran.memory / 1e6:.0f} |")


def _planned(file: Path) -> tuple[PlannedBranch, ...]:
    tasks = read_tasks(file.read_text(), str(file), {}, _Anywhere())
    return plan_branches(tasks, ["m"], None)


class _Anywhere:
    """Satisfies plan.TaskPlaces."""

    def folder(self, word: str) -> str | None:
        return word

    def has_revision(self, folder: str | None, word: str) -> bool:
        return True


def _finished(home: Path, cwd: Path, name: str, rows: int) -> ExploreFolders:
    """The log of an exploration whose branches all ended, as its coordinator leaves it."""
    store = Store(home / "agentsh" / "sessions")
    folders = folders_of(store, home / "agentsh", cwd, name)
    log = create_exploration(folders, store, cwd, _NOW)
    base = BaseState(str(cwd), str(cwd), "c" * 40, 1, 1, is_repository=True)
    log.note(
        PlanFact(str(cwd), (base,), ExploreLimits(), options={}),
        *(TaskFact(n, ExploreTask(str(n), f"task {n}")) for n in range(rows)),
        *(BranchFact(PlannedBranch(n + 1, n, "m", 1)) for n in range(rows)),
    )
    for n in range(1, rows + 1, 500):
        records: list[AnyExploreFact] = []
        for each in range(n, min(n + 500, rows + 1)):
            path = str(folders.sessions / f"{each}.jsonl")
            records += [
                StartFact(each, 1, "local", each, "h", f"s{each}", path),
                TurnFact(each, "completed", "leaf", "done", Usage(input=10), 1),
                CaptureFact(each, "c" * 40, "t" * 40, (("a.txt", "change"),), 1, 1),
                EndFact(each, "completed", 1.0),
            ]
        log.note(*records)
    log.note(StopFact("ended", 0))
    log.close()
    return folders


# ---- permits -------------------------------------------------------------------------------------


def _permits() -> None:
    """There and back over pipes, as between a runner and its coordinator; and the book alone."""
    to_us, from_runner = os.pipe()
    to_runner, from_us = os.pipe()
    incoming, outgoing = os.fdopen(to_runner, "rb"), os.fdopen(from_runner, "wb", buffering=0)
    channel = CoordinatorChannel(incoming, outgoing, lambda: None)
    listening = threading.Thread(target=channel._listen, daemon=True)
    listening.start()
    answering = threading.Thread(target=_answer, args=(to_us, from_us), daemon=True)
    answering.start()

    def ask() -> None:
        for _ in range(PERMITS):
            channel.wait_for("e", 100, 0.0, None)

    there = timed(ask).wall / PERMITS * 1e3
    busy = timed(_book_of_many).wall / PERMITS * 1e3
    print(f"\n### a permit\n\nthere and back {there:.3f} ms; the book's part, with 1,000 branches")
    print(f"at work and 900 of them held back by a rate: {busy:.3f} ms")


def _answer(read: int, write: int) -> None:
    book = PermitBook({}, cost=None, tokens=10**12, lead=0.0)
    with os.fdopen(read, "rb") as lines:
        for number, line in enumerate(lines):
            need = read_from_runner(line)
            assert isinstance(need, NeedLine)
            book.ask(PermitNeed(1, need.endpoint, need.tokens, need.cost), float(number))
            decisions, _ = book.decide(float(number))
            assert isinstance(decisions[0], Go)
            os.write(write, encode_runner_line(PermitLine()))
            book.used(1, 0.0, 100)


def _book_of_many() -> None:
    from agentsh.explore.running.permits import EndpointBounds

    bounds = {"e": EndpointBounds(requests=100, requests_per_minute=6_000_000)}
    book = PermitBook(bounds, cost=1e9, tokens=10**12, lead=20.0)
    for n in range(1_000):
        book.ask(PermitNeed(n, "e", 100, 0.01), 0.0)
    at_work = [decision.n for decision in book.decide(0.0)[0]]
    for step in range(PERMITS):
        n = at_work[step % len(at_work)]
        book.used(n, 0.01, 100)
        book.ask(PermitNeed(n, "e", 100, 0.01), step / 100)
        at_work[step % len(at_work)] = book.decide(step / 100)[0][0].n


if __name__ == "__main__":
    main()

"""docs/reliability.md, made from what the harnesses find. `python -m tests.reliability --write`.

With `--rules` nothing is measured: the words and the list of rules are made anew, no more.
Each cell of its tables is measured again by the tests (tests/e2e/test_crash_matrix.py and its
neighbours), which compare with the page: so the page is that of the code.
"""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests import rules
from tests.session.sealed import lines_of
from tests.support import crash, faults, longer_sessions, mutations
from tests.support.endpoint import serve, text

PAGE: Final = Path(__file__).resolve().parents[1] / "docs/reliability.md"
HEAD: Final = """# What a session survives

Made by `python -m tests.reliability --write`; the tests measure every cell again. Nothing here is
"exactly once": a crash can come between an effect and the record of it. So a call whose start is
on record and whose result is not is called unknown, never done, and nothing is run a second time
by itself. What is promised: what was acknowledged is in the file, what is in the file is read, what
the model was told it is told again, and where something is missing it is said.

## Killed

SIGKILL in a real process, at nine points of a turn that calls a command. In every cell: the old
bytes stay as they are; all views open and write nothing; the next request is what `show --view
model` had shown, with the new prompt; the model's context is what it was but for the answers to
open calls; the repair that readers showed is the one that was written; the second opening writes
nothing; `verify` and `replay --check` pass; no command has run twice.
"""
_ERRORS = ", ".join(errno.errorcode[error] for error in faults.ERRORS)
_RUNS = len(faults.CALLS) * len(faults.ERRORS) * len(faults.PLACES)
FAULTS: Final = f"""
## A disk that fails

A write, half a write, or a sync that fails with {_ERRORS} at a barrier, in the first
turn and in a later one ({_RUNS} runs a row). The person hears at once that the session is no longer
saved, once, and once that it is saved again. Meanwhile the file is sound. Then the same prompt is
typed again: in every run the turn completes, another process reads what this one shows, and every
request can be rebuilt. `requests` counts those of the turn in trouble, the rest is of both turns.
"""
MUTATIONS: Final = """
## One line changed

Each line before the last seal of three sessions, deleted, doubled, swapped with the next, preceded
by a foreign one, changed in one letter, emptied, cut in half: the share that `verify` finds (exit
5) and names by line or sealed range. Lines that another program appended are a warning (exit 0),
a later version's file is a refusal (exit 4).
"""
REST: Final = """
## Two writers, and a write cut anywhere

Two processes write 500 turns each into one session, taking turns by its lock: no line is lost,
mixed or on a branch that nobody asked for (`tests/e2e/test_two_writers.py`). A write that was cut
at any byte is shown up to its last whole line, and the next write stands on a line of its own
(`tests/e2e/test_cut_anywhere.py`).
"""
RULES: Final = """
## Rules and their tests

"""


# ---- rows ----------------------------------------------------------------------------------------


def crash_row(point: str, found: crash.Found) -> list[str]:
    """What of a cell is the same wherever the turn stands."""
    return [point, ", ".join(found.kept), found.code or "nothing was open"]


def crash_cell(found: crash.Found) -> str:
    return "1 repair" if found.repairs == 1 else f"{found.repairs} repairs"


def fault_row(barrier: str, suffered: faults.Suffered) -> list[str]:
    return [
        barrier,
        "at once" if suffered.told else "no",
        str(suffered.asked),
        str(suffered.ran),
        str(suffered.prompts),
    ]


def share(verdicts: Sequence[mutations.Verdict]) -> str:
    good = sum(v.found and v.named for v in verdicts)
    return (
        f"{100 * good / len(verdicts):.0f} %"
        if good == len(verdicts)
        else f"{good} of {len(verdicts)}"
    )


def mutation_row(name: str, lines: list[bytes], folder: Path) -> list[str]:
    """A session's row, measured."""
    verdicts: dict[str, list[mutations.Verdict]] = {kind: [] for kind in mutations.KINDS}
    for mutation in mutations.mutations(lines):
        verdicts[mutation.kind].append(mutations.judge(mutation, folder))
    return [name, *(share(verdicts[kind]) for kind in mutations.KINDS)]


def rule_rows() -> list[list[str]]:
    rows = [[rule, "<br>".join(f"`{t}`" for t in tests)] for rule, tests in rules.TESTS.items()]
    rows += [[rule, why] for rule, why in rules.ELSEWHERE.items()]
    return sorted(rows)


# ---- the page ------------------------------------------------------------------------------------


def page(crashes: list[list[str]], failed: list[list[str]], changed: list[list[str]]) -> str:
    """All of it."""
    return "".join(
        (
            HEAD,
            _table(["killed", "in the file of that turn", "of the call", *crash.PLACES], crashes),
            FAULTS,
            _table(["barrier", "told", "requests", "command ran", "prompt stands"], failed),
            MUTATIONS,
            _table(["session", *mutations.KINDS], changed),
            REST,
            RULES.rstrip("\n") + "\n",
            _table(["rule", "test in `tests/`, or why there is none"], rule_rows()),
        )
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def documented(first: str) -> list[str]:
    """The row of the page that begins with that word."""
    for line in PAGE.read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] == first:
            return cells
    raise LookupError(f"{PAGE.name} has no row {first!r}")


def tables() -> tuple[list[list[str]], list[list[str]], list[list[str]]]:
    """The measured tables as the page has them."""
    return (
        [documented(point) for point in crash.POINTS],
        [documented(barrier) for barrier in faults.BARRIERS],
        [documented(name) for name in longer_sessions.NAMES],
    )


# ---- measuring -----------------------------------------------------------------------------------


def measure() -> str:
    """Run everything that the tables tell of. Raises AssertionError where a promise is broken."""
    crashes = [_crashes(point) for point in crash.POINTS]
    failed = [_faults(barrier) for barrier in faults.BARRIERS]
    return page(crashes, failed, [_mutations(name) for name in longer_sessions.NAMES])


def _crashes(point: str) -> list[str]:
    row: list[str] = []
    for place in crash.PLACES:
        with _home() as folder, serve(text("unused")) as endpoint:
            found = crash.crash(place, point, folder, endpoint)
        same = crash_row(point, found)
        assert not row or row[:3] == same, f"{point} differs {place}"
        row = [*(row or same), crash_cell(found)]
    return row


def _faults(barrier: str) -> list[str]:
    rows = []
    for place in faults.PLACES:
        for call in faults.CALLS:
            for error in faults.ERRORS:
                with _home() as folder:
                    rows.append(
                        fault_row(barrier, faults.trouble(place, barrier, call, error, folder))
                    )
    assert all(row == rows[0] for row in rows), f"{barrier} differs"
    return rows[0]


def _mutations(name: str) -> list[str]:
    with _home() as folder, serve(text("unused")) as endpoint:
        project = folder / "project"
        project.mkdir()
        lines = lines_of(longer_sessions.write(name, project, endpoint))
        return mutation_row(name, lines, folder)


@contextmanager
def _home() -> Iterator[Path]:
    """A home for one cell, and the folder to work in."""
    with tempfile.TemporaryDirectory() as name:
        os.environ["AGENTSH_HOME"] = str(Path(name) / "home")
        folder = Path(name) / "work"
        folder.mkdir()
        yield folder


if __name__ == "__main__":
    for variable in [v for v in os.environ if v.startswith(("AGENTSH_", "OPENAI_"))]:
        del os.environ[variable]
    made = page(*tables()) if "--rules" in sys.argv else measure()
    if "--write" in sys.argv:
        PAGE.write_text(made, "utf-8")
    else:
        sys.stdout.write(made)

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
TWO: Final = """
## One file, two programs, any place

At each entry of a file the model is told what the format says: the last compaction above it, what
that kept, what came after. Held against a plain reading of the rule on any tree, with our
compactions and Pi's, before and after going to places and going on there
(`tests/context/test_places.py`); and against the real Pi 1.6 at every entry of 1,000 such trees
(`tests/interop/pi/test_folds.py`).

Another program moves in the tree without a fact about it. A turn that it entered or left anywhere
is not called interrupted, and nothing is made up to close it: a turn is cut off only where the file
has no end of it and nobody went on below it (`tests/session/health/test_unfinished.py`).

## The files' states

Undo keeps the states of a project's files in a store of its own. What a fact of the session names
is on the disk by then. A store that a power cut damaged is set aside and told once, a new one is
begun, and older states are had as far as they can still be read. Going back makes each file what it
was, bytes, kind and mode, whole or not at all: on a full disk, or killed in the middle, each is old
or new, and the same command does the rest. What no state holds (ignored, over 5 MB, in a repository
of its own, outside of the folder) and the agent overwrote is named in the dry run, in undo and in
`diff`, never passed over. Not recorded: empty folders, modes of folders, owners, times
(`tests/tools/undo`).

## Who wrote a line

`agentsh why` is exact or silent: over histories of edits, writes, commands, moves, `git checkout`,
going back and a person in between, nothing that it says of a line is wrong
(`tests/agent/authors/test_histories.py`; what cannot be told is `unknown`). It reads the record and
writes nothing. Its limits are told where they apply: files that no state holds (ignored, over 5 MB,
outside of the folder, larger than 32 MB not at all) are known by `edit` and `write` calls alone,
and states that are gone by none. Sessions of other folders are asked: of those above the file up to
the repository's, and of any folder where one names its path (archived ones are not looked into).
Not told, for nobody can know: what two commands of one step did
and undid again; a change that a person or a formatter made while the agent's own command ran counts
as that command's; and the lines of a session that is in no trash any more look like a person's.
Archived sessions are asked, of removed ones nothing is told, and where one cannot be read, what it
may have done is unknown ([adr/0042](adr/0042-who-wrote-a-line.md)).
"""
MERGED: Final = """
## Gone on with in two places, and junk

A file that was gone on with from one state by several writers and merged line by line holds each
turn under its own path, with our ids and with those of files that took ids by the line; one goes on
from any of them, and `repair` keeps them all (`tests/session/file/test_twins.py`). Bytes around a
record (NULs of a power cut) cost nothing but themselves, and no object inside a torn record passes
for one (`tests/session/format/test_junk.py`).

## What could not be read

No count and no "nothing found" covers what nobody looked at. A search of files names those that
could not be read, are binary or too large, and the folders that are closed; a list, a search or a
sum of sessions names the files that it lacks, and a word that finds none says what is closed; a
context file that was cut, converted or left out is named with the reason
(`tests/tools/search/test_grep.py`, `tests/cli/commands/test_unread.py`,
`tests/cli/setup/test_contextfiles.py`).
"""
DISKS: Final = """
## A disk that is full, slow, old or somebody else's

- What is made anew (a fork, an import, a repair, an archive, a page) is there whole or not at all,
  and never over a file that is there, also where there are no hard links (`tests/test_files.py`,
  `tests/session/file/test_newfile.py`, `tests/session/store/test_archive.py`).
- To the trash and back, also to another disk: a removal or a restoring that fails or is killed
  half-way loses nothing, and the next try ends it (`tests/session/store/test_trash.py`).
- A session whose file lost its name, to an editor's backup or a removal, is not written on in
  silence (`tests/session/file/test_log.py`).
- Only regular files are read, at most so many bytes, and nothing waits for a pipe; an archive that
  stands for any number of bytes is left out and named (`tests/test_files.py`,
  `tests/session/store/test_archive.py`, `tests/session/file/test_lock.py`).
- A file that may not be read is named, not called absent (`tests/cli/commands/test_unread.py`).
- A value of a wrong kind or nested without end is an unknown message or a named line, and the rest
  of the file is there (`tests/test_jsontext.py`, `tests/e2e/test_mutated_files.py`).
- A working folder that was deleted is not made anew by a tool
  (`tests/tools/files/test_anchored.py`).
- Standard streams that are closed, full, or of any bytes end no command as a bug
  (`tests/cli/setup/test_standard_streams.py`).
"""
SERVERS: Final = """
## Servers that refuse, wait, or stop half-way

- A refusal for the prompt's length is known by its numbers, in any words: one compaction, one more
  try. One for the answer's limit, a rate, a quota or a picture folds nothing
  (`tests/providers/wire/test_overflow.py`).
- A wait is kept wherever it is named, within its bounds; one of hours fails at once and says until
  when; a server that stays silent is asked once more at most (`tests/providers/wire/test_waits.py`,
  `tests/providers/wire/test_retry.py`).
- The reason for a refusal is shown whatever member holds it, and a field that is named beside the
  words is found (`tests/providers/wire/test_explanation.py`).
- However an answer is cut into pieces, it is the same answer: halves of a character, tags of
  thoughts, arguments that repeat themselves (`tests/providers/api/test_textgate.py`,
  `tests/providers/api/test_thinktags.py`, `tests/providers/api/test_assemble_dialects.py`).
- What of an answer must go back is stored and goes back to the same model
  (`tests/providers/api/test_echoes.py`); ids that a call got from one model are sent to another in
  a form that every server takes (`tests/context/test_pairing.py`).
- A summary that was cut, or calls a tool, is asked for once more in a smaller form, and never
  stored as a whole one; a failure leaves the context as it was (`tests/agent/test_compactor.py`).
- A spending limit that cannot be kept, since no price is known, is said to be one
  (`tests/agent/turn/test_budget.py`).
- Going on with a session keeps its model, its level of thinking and its tools
  (`tests/agent/test_restoring.py`).
"""
BROUGHT: Final = """
## What is brought in from other programs

Every line of the file is in the session or counted; what one goes on from is what the other program
would go on from, compactions and rolled back turns included; a compressed file under any name is
the plain one, and a file of another kind is named as what it is (`tests/session/exchange`).
"""
KEYS: Final = """
## At the terminal

- Whatever the terminal sends, and however it is cut, is its key or nothing
  (`tests/ui/input/test_sequences.py`); lines that come at once are one message or a draft
  (`tests/ui/input/test_bursts.py`); no keys in any order end the chat as a bug
  (`tests/e2e/test_random_keys.py`).
- Ended, stopped or continued from outside, a chat leaves a sane terminal, an ended turn in the log,
  and its draft; so does one by lines (`tests/ui/test_signals.py`,
  `tests/cli/lookup/test_interrupted.py`).
- Whatever an editor leaves, the draft is there (`tests/ui/input/test_external_editor.py`); an
  unknown command stays in it (`tests/ui/input/test_commands.py`); the cursor never stands inside a
  character (`tests/ui/input/test_clusters.py`).
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
            TWO,
            MERGED,
            DISKS,
            SERVERS,
            BROUGHT,
            KEYS,
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

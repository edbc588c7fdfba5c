"""Histories of a folder whose every line has a known author: real turns, real states, real git.

A history is a list of small numbers; each is read as something that a person, a turn or going back
does to the files that there are by then. All lines are different, so that a line's text says who
wrote it.
"""

from __future__ import annotations

import atexit
import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from hypothesis import strategies as st
from msgspec import Struct, field

from agentsh.agent.agent import Agent
from agentsh.agent.authors.calls import Author
from agentsh.agent.authors.why import Origins, origins
from agentsh.agent.authors.witness import Witness, read_witness
from agentsh.agent.files.filestates import state_wanted
from agentsh.messages import UserMessage
from agentsh.session.file.environment import Surroundings
from agentsh.session.file.session import Session, new_session, open_session
from agentsh.session.format.entries import EntryId, Header, MessageBody, SessionId
from agentsh.session.store.reader import open_reader
from agentsh.tools.undo.checkpointer import Checkpointer
from tests.agent.builders import make_agent, run, text_of
from tests.agent.files.desk import Grown
from tests.session.disks import Clock, QuickDisk, no_evidence
from tests.support.scripted import Call

GIT = ("-c", "user.name=a", "-c", "user.email=a@localhost")


class Wrote(Struct, frozen=True):
    """Who wrote a line: `prompt` "" is a person, or with `before` nobody on record."""

    prompt: str = ""
    call: str = ""
    before: bool = False


BEFORE = Wrote(before=True)
PERSON = Wrote()

Lines = list[str]


class Tally(Struct):
    """How many lines were right to the prompt, to the call, not known; which were wrong."""

    lines: int = 0
    prompt: int = 0
    call: int = 0
    unknown: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.lines += other.lines
        self.prompt += other.prompt
        self.call += other.call
        self.unknown += other.unknown
        self.wrong += other.wrong


_FIRST = {f"f{i}.txt": [f"line {6 * i + j}" for j in range(1, 7)] for i in range(3)}


@cache
def _begun() -> Path:
    """A repository with the first files, committed; made once, removed at the end."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _git(folder, "init", "-q", "--template=")
    for name, lines in _FIRST.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    _git(folder, "add", "-A")
    _git(folder, "commit", "-q", "-m", "now")
    return folder


def _git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *GIT, *words], cwd=folder, check=True, capture_output=True)


class World:
    """A folder with git, two sessions that work in it by turns, and a person."""

    def __init__(self, root: Path, share: int, states: type[Checkpointer] = Checkpointer) -> None:
        """`share`: as Config.record_share; 0 gives each step a state, a large one none."""
        self.tree = root / "project"
        self.state = root / "home"
        shutil.copytree(_begun(), self.tree)
        self.state.mkdir()
        self.files: dict[str, Lines] = {name: list(lines) for name, lines in _FIRST.items()}
        self.committed: dict[str, Lines] = dict(_FIRST)
        self.by: dict[str, Wrote] = {line: BEFORE for lines in _FIRST.values() for line in lines}
        self.made = len(self.by)
        self.calls = 0
        self.has_run = False
        """Whether a command has run since the last state."""
        self.share = share
        self.clock = Clock()
        self.checkpointer = states(self.tree, self.state / "checkpoints", os.environ)
        self.providers = [Grown(), Grown()]
        self.agents = [self._agent(i) for i in range(2)]
        self.states: list[tuple[EntryId, dict[str, Lines], dict[str, Wrote]]] = []

    def _agent(self, number: int) -> Agent:
        name = SessionId(f"01890000-0000-7000-8000-00000000ab{number:02}")
        chance = random.Random(number).randbytes
        around = Surroundings(QuickDisk(), self.clock, no_evidence, chance)
        header = Header(name, f"2026-01-0{1 + number}T00:00:00Z", str(self.tree))
        session = new_session(self.state / f"{number}.jsonl", header, around=around)
        return make_agent(
            session,
            self.providers[number],
            self.tree,
            open_checkpointer=lambda: self.checkpointer,
            verified=False,
            record_share=self.share,
        )

    # ---- the files -----------------------------------------------------------------------------

    def _line(self, by: Wrote) -> str:
        self.made += 1
        text = f"line {self.made}"
        self.by[text] = by
        return text

    def _put(self, name: str, lines: Lines) -> None:
        self.files[name] = lines
        place = self.tree / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("".join(f"{line}\n" for line in lines))

    def _commit(self) -> None:
        _git(self.tree, "add", "-A")
        _git(self.tree, "commit", "-q", "-m", "now", "--allow-empty")
        self.committed = {name: list(lines) for name, lines in self.files.items()}

    def _name(self, pick: int) -> str:
        names = sorted(self.files)
        return names[pick % len(names)]

    # ---- what is done --------------------------------------------------------------------------

    def person(self, picks: Sequence[int]) -> None:
        name = self._name(picks[0])
        lines = self.files[name]
        at = picks[1] % (len(lines) + 1)
        me = PERSON if self.calls else BEFORE
        match picks[2] % 6:
            case 0 | 1:
                new = [self._line(me) for _ in range(1 + picks[3] % 3)]
                self._put(name, [*lines[:at], *new, *lines[at:]])
            case 2:
                self._put(name, [*lines[:at], self._line(me), *lines[at + 1 :]])
            case 3:
                self._put(name, [*lines[:at], *lines[at + 2 :]])
            case 4:
                self._move(name, f"p{self.made}.txt")
                (self.tree / name).rename(self.tree / f"p{self.made}.txt")
            case _:
                self._commit()

    def _move(self, name: str, to: str) -> None:
        self.files[to] = self.files.pop(name)

    def turn(self, who: int, steps: Sequence[Sequence[int]]) -> None:
        """A prompt and its calls, each a step of its own or two in one message."""
        self.calls += 1
        prompt = f"prompt {self.calls}"
        before = {name: list(lines) for name, lines in self.files.items()}
        before_by = dict(self.by)
        script: list[tuple[Call, ...]] = []
        self.has_run = False
        shared: list[Call] = []
        for number, picks in enumerate(steps):
            if not self.share and not picks[4] % 2:
                self.has_run = False  # a state before it
            shared += self._call(prompt, picks)
            if number + 1 == len(steps) or not (picks[5] % 3 == 0 and not self.share):
                script.append(tuple(shared))
                shared = []
                if not self.share:
                    self.has_run = False
        provider = self.providers[who]
        provider.script = [*provider.script, *script, "done"]
        run(self.agents[who], prompt)
        if who == 0:
            self.states.append((self.entry(prompt), before, before_by))
        else:
            self.states.clear()  # what the other one did is not this one's to take back

    def entry(self, prompt: str) -> EntryId:
        """That of a prompt of the first session."""
        return next(
            e.id
            for e in self.agents[0].session.entries()
            if isinstance(e.body, MessageBody)
            and isinstance(e.body.message, UserMessage)
            and text_of(e.body.message) == prompt
        )

    def _call(self, prompt: str, picks: Sequence[int]) -> list[Call]:
        self.calls += 1
        mine = Wrote(prompt, f"call {self.calls}")
        name = self._name(picks[0])
        lines = self.files[name]
        at = picks[1] % max(len(lines), 1)
        kind = picks[2] % 8
        if kind < 3 and lines:
            return [self._edit(name, lines, at, picks[3], mine)]
        if kind == 3:
            return self._write(name, lines, at, picks[3], mine)
        return [self._bash(name, lines, at, picks, mine)]

    def _edit(self, name: str, lines: Lines, at: int, pick: int, mine: Wrote) -> Call:
        count = 1 + pick % 2
        old = lines[at : at + count]
        new = [self._line(mine) for _ in range(pick % 3)]
        if pick % 4 == 0:
            new = [old[0], *new]  # it goes on after the line that it names
        if not new or new == old:
            new = [self._line(mine)]
        self.files[name] = [*lines[:at], *new, *lines[at + count :]]
        edit = {"oldText": "\n".join(old), "newText": "\n".join(new)}
        # a line's text may be the beginning of another one's
        edit = {key: f"{text}\n" for key, text in edit.items()}
        return Call(mine.call, "edit", {"path": name, "edits": [edit]})

    def _write(self, name: str, lines: Lines, at: int, pick: int, mine: Wrote) -> list[Call]:
        """What changed since it was read is not written over, so it is read first."""
        reading = Call(f"read {mine.call}", "read", {"path": name})
        if pick % 3 == 0:
            name, lines = f"w{self.made}.txt", []
        new = [self._line(mine) for _ in range(1 + pick % 3)]
        made = [*lines[:at], *new, *lines[at + pick % 2 :]]
        self.files[name] = made
        content = "".join(f"{line}\n" for line in made)
        return [reading, Call(mine.call, "write", {"path": name, "content": content})]

    def _bash(self, name: str, lines: Lines, at: int, picks: Sequence[int], mine: Wrote) -> Call:
        kind = picks[3] % 6
        had_run, self.has_run = self.has_run, True
        if kind == 0 and name in self.committed and not had_run:
            back = self.committed[name]
            for line in back:
                if line not in lines:
                    self.by[line] = mine
            self.files[name] = list(back)
            command = f"git checkout -q -- {name}"
        elif kind == 1:
            to = f"d{self.calls}/{name.rpartition('/')[2]}"
            self._move(name, to)
            command = f"mkdir -p d{self.calls} && mv {name} {to}"
            if lines and picks[1] % 2 and len(lines) > 3:
                new = self._line(mine)
                self.files[to] = [*lines[:at], new, *lines[at + 1 :]]
                command += f" && sed -i 's/^{lines[at]}$/{new}/' {to}"
        elif kind == 2 and lines:
            new = self._line(mine)
            self.files[name] = [*lines[:at], new, *lines[at + 1 :]]
            command = f"sed -i 's/^{lines[at]}$/{new}/' {name}"
        elif kind == 3 and lines:
            self.files[name] = [*lines[:at], *lines[at + 1 :]]
            command = f"sed -i '/^{lines[at]}$/d' {name}"
        else:
            new = self._line(mine)
            self.files[name] = [*lines, new]
            command = f"echo '{new}' >> {name}"
        return Call(mine.call, "bash", {"command": command})

    def back(self, pick: int) -> None:
        """The first session goes back before one of its prompts, with the files."""
        if not self.states:
            return
        at = pick % len(self.states)
        entry, files, by = self.states[at]
        self.agents[0].checkout(entry, files=True, overwrite=True)
        self.states = self.states[:at]
        self.files = {name: list(lines) for name, lines in files.items()}
        self.by |= by

    # ---- what is known of it -------------------------------------------------------------------

    def records(self) -> list[Witness]:
        found = []
        for agent in self.agents:
            path = agent.session.path
            assert path is not None
            if path.exists():
                with open_reader(path) as source, open_session(path, write=False) as session:

                    def wanted(entry: EntryId, session: Session = session) -> EntryId | None:
                        state = state_wanted(session, entry)
                        return None if state is None else state.entry

                    found.append(read_witness(source, wanted))
        return found

    def why(self, name: str, records: Sequence[Witness], only: str | None = None) -> Origins:
        data = (self.tree / name).read_bytes()
        return origins(name, data, records, self.checkpointer, self.tree, only=only)

    def tally(self) -> Tally:
        """Compare what is said of all lines with what is so."""
        total = Tally()
        records = self.records()
        for name, lines in self.files.items():
            assert (self.tree / name).read_text() == "".join(f"{x}\n" for x in lines), name
            found = self.why(name, records)
            untouched = any("no session" in notice for notice in found.notices)
            for line, text in zip(found.lines, lines, strict=True):
                self._judge(total, f"{name}: {text}", line.author, self.by[text], untouched)
        return total

    def _judge(self, total: Tally, place: str, said: Author, so: Wrote, untouched: bool) -> None:
        who = "before" if so.before else "agent" if so.prompt else "person"
        total.lines += 1
        if said.who == "unknown":
            total.unknown += not untouched
            total.prompt += untouched
            total.call += untouched
            if untouched and so.prompt:
                total.wrong.append(f"{place}: untouched, but by {so}")
            return
        calls = [call.id for call in said.calls]
        prompts = {call.prompt for call in said.calls}
        if said.who != who or prompts - {so.prompt} or (so.call and so.call not in calls):
            total.wrong.append(f"{place}: {said.who} {prompts} {calls}, but {so}")
            return
        total.prompt += 1
        total.call += len(calls) < 2


PICKS = st.lists(st.integers(0, 23), min_size=6, max_size=6)
DEEDS = st.one_of(
    st.tuples(st.just("person"), PICKS),
    st.tuples(st.just("turn"), st.integers(0, 3), st.lists(PICKS, min_size=1, max_size=4)),
    st.tuples(st.just("turn"), st.integers(0, 3), st.lists(PICKS, min_size=1, max_size=4)),
    st.tuples(st.just("back"), st.integers(0, 5)),
)
HISTORIES = st.tuples(st.sampled_from((0, 10**9)), st.lists(DEEDS, min_size=2, max_size=10))
"""(share, what is done)."""


History: TypeAlias = tuple[int, list[tuple[Any, ...]]]


def lived(root: Path, history: History, states: type[Checkpointer] = Checkpointer) -> World:
    """The world in which all that was done."""
    share, deeds = history
    world = World(root, share, states)
    for kind, *rest in deeds:
        match kind:
            case "person":
                world.person(rest[0])
            case "turn":
                world.turn(0 if rest[0] else 1, rest[1])
            case _:
                world.back(rest[0])
    return world

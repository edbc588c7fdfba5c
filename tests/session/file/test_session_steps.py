"""Any sequence of steps: the file only grows, and reading it anew gives what memory showed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from agentsh.session.file.session import Session, new_session, open_session
from agentsh.session.format.codec import decode_line
from agentsh.session.format.entries import Entry, EntryId, Header, MessageBody, SessionId
from tests.session.builders import user
from tests.session.disks import QuickDisk, around

HEADER = Header(SessionId("01a2-5e551011"), "2026-01-01T00:00:00.000Z", "/p")
_STEPS = st.lists(
    st.tuples(
        st.sampled_from(["say", "say", "say", "move", "label", "flush", "barrier", "reopen"]),
        st.integers(0, 30),
    ),
    max_size=25,
)


class _Model:
    """What a naive program would remember: each entry with its parent, and the last one."""

    def __init__(self) -> None:
        self.parents: dict[EntryId, EntryId | None] = {}
        self.leaf: EntryId | None = None

    def follow(self, session: Session, before: int) -> None:
        """Take over what the session added by itself and by our step, and check its parents."""
        for each in list(session.tree)[before:]:
            self.parents[each] = session.tree.stated_parent(each)
            self.leaf = each

    def path(self, at: EntryId | None) -> list[EntryId]:
        found: list[EntryId] = []
        while at is not None:
            found.insert(0, at)
            at = self.parents[at]
        return found


def _step(session: Session, model: _Model, kind: str, number: int) -> None:
    before = len(session.tree)
    places: list[EntryId | None] = [*model.parents, None]
    target = places[number % len(places)]
    match kind:
        case "say":
            expected = session.leaf
            entry = session.append(MessageBody(user(f"say {number}")))
            # the writer's own opening may stand between
            assert entry.parent == expected or session.entry(entry.parent).parent == expected  # type: ignore[arg-type]
        case "move":
            assert session.move(target, "tree").parent == target
        case "label":
            if target is not None:
                session.label(target, "l")
        case "flush":
            session.flush()
        case _:
            session.barrier()
    model.follow(session, before)


@given(_STEPS)
@settings(max_examples=60)
def test_reading_anew_gives_what_was_shown(
    tmp_path_factory: object, steps: list[tuple[str, int]]
) -> None:
    path = tmp_path_factory.mktemp("steps") / "s.jsonl"  # type: ignore[attr-defined]
    model = _Model()
    session = new_session(path, HEADER, around=around(QuickDisk()))
    old = b""
    for kind, number in [*steps, ("reopen", 0)]:
        if kind != "reopen":
            _step(session, model, kind, number)
        else:
            shown = session.branch(repaired=False)
            session.close()
            if not path.exists():
                session = new_session(path, HEADER, around=around(QuickDisk()))
                continue
            session = open_session(path, write=True, around=around(QuickDisk()))
            assert session.branch(repaired=False) == _unsealed(session, shown.entries)
            assert list(session.tree) == list(model.parents)
            assert session.leaf == model.leaf
            for each in model.parents:
                assert list(session.tree.path(each)) == model.path(each)
        data = path.read_bytes() if path.exists() else b""
        assert data.startswith(old)
        old = data
    session.close()


def _unsealed(session: Session, entries: tuple[Entry, ...]) -> object:
    """The shown entries as they were written: a seal comes to a stamp with the barrier."""
    from agentsh.session.format.entries import Branch

    read = [decode_line(session.raw(entry.id)) for entry in entries]
    for shown, written in zip(entries, read, strict=True):
        assert isinstance(written, Entry)
        assert (shown.id, shown.parent, shown.body) == (written.id, written.parent, written.body)
    return Branch(tuple(entry for entry in read if isinstance(entry, Entry)))


_WRITER = """
import sys
from pathlib import Path
from agentsh.session.format.entries import Header, MessageBody, SessionId
from agentsh.session.file.session import new_session
from agentsh.messages import Text, UserMessage
header = Header(SessionId("01a2-5e551011"), "2026-01-01T00:00:00.000Z", "/p")
with new_session(Path(sys.argv[1]), header) as session:
    for number in range(300):
        session.append(MessageBody(UserMessage((Text("x" * (number * 37 % 5000)),))))
        session.flush()
        if number == 0:
            print("begun", flush=True)
"""


def test_a_reader_sees_a_growing_prefix_of_whole_entries(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "begun\n"
        seen: list[EntryId] = []
        while writer.poll() is None:
            with open_session(path, write=False, around=around()) as session:
                # as stored: a line that is half there would show the repair that it may need
                now = [entry.id for entry in session.branch(repaired=False).entries]
            assert now[: len(seen)] == seen
            seen = now
    with open_session(path, write=False, around=around()) as session:
        assert session.notices == ()
        assert len(session.tree) == 301

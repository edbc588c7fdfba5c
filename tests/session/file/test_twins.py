"""Different lines with one id: each is reached, by its own path; and ids that do not meet."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from agentsh.messages import Text, UserMessage
from agentsh.session.exchange.salvage import salvage
from agentsh.session.file.memory_log import MemoryLog
from agentsh.session.file.scan import read_opening
from agentsh.session.file.session import Session, open_session
from agentsh.session.format.codec import encode_entry, encode_header
from agentsh.session.format.entries import (
    Entry,
    EntryId,
    Header,
    Label,
    MessageBody,
    SessionId,
)
from agentsh.session.format.ids import drawn_names, entry_id
from tests.session.disks import QuickDisk, around
from tests.session.talks import made_session

HEADER = Header(SessionId("01a2-5e551011"), "2026-01-01T00:00:00.000Z", "/p")
AROUND = around(QuickDisk())
shapes = st.lists(st.integers(0, 4), min_size=1, max_size=5)


def _lines(before: list[bytes], ids: list[EntryId], shape: list[int], words: str) -> list[bytes]:
    """A continuation: ids are a function of the line number, as those of old files are."""
    names, found = list(ids), []
    for number, up in enumerate(shape):
        name = entry_id(len(before) + number + 1, 7)
        parent = names[-1 - up] if up < len(names) else None
        body = MessageBody(UserMessage((Text(f"{words} {number}"),)))
        found.append(encode_entry(Entry(name, parent, "2026-01-01T00:00:00.000Z", body)))
        names.append(name)
    return found


def _session(lines: list[bytes]) -> Session:
    log = MemoryLog(encode_header(HEADER) + b"".join(lines))
    opening = read_opening(log.read, log.size, "x")
    return Session(log, opening, path=None, lock=None, writable=True, origin=None, around=AROUND)


def _text(session: Session, entry: EntryId) -> str:
    body = session.entry(entry).body
    assert isinstance(body, MessageBody)
    assert isinstance(body.message, UserMessage)
    return body.message.content[0].text  # type: ignore[union-attr]


def _paths(session: Session) -> dict[str, list[str]]:
    """What each entry says → what its path says."""
    tree = session.tree
    assert len(set(tree)) == len(list(tree))
    said = [e for e in tree if isinstance(session.entry(e).body, MessageBody)]
    found = {_text(session, e): [_text(session, a.id) for a in _said(session, e)] for e in said}
    assert len(found) == len(said)
    for entry in said:
        assert session.entry(entry).parent == tree.parent(entry)
        assert session.branch(entry).entries[-1].id == entry
    return found


def _said(session: Session, at: EntryId) -> list[Entry]:
    return [e for e in session.branch(at).entries if isinstance(e.body, MessageBody)]


@st.composite
def merged(draw: st.DrawFn) -> tuple[list[list[bytes]], list[bytes]]:
    """Files that were gone on with from one state, and all of them in one; some lines doubled."""
    base = _lines([], [], draw(shapes), "base")
    ids = [entry_id(n + 1, 7) for n in range(len(base))]
    parts = [_lines(base, ids, draw(shapes), words) for words in ("laptop", "desktop", "phone")]
    order = draw(st.lists(st.integers(0, 2), min_size=1, max_size=5))
    whole = [*base, *(line for part in order for line in parts[part])]
    return [[*base, *parts[part]] for part in set(order)], whole


@given(merged())
def test_merged_continuations_are_each_what_they_were_alone(
    files: tuple[list[list[bytes]], list[bytes]],
) -> None:
    alone, whole = files
    wanted = {text: path for lines in alone for text, path in _paths(_session(lines)).items()}

    tail = _session(whole)
    last = [json.loads(line)["message"]["content"][0]["text"] for line in whole[-1:]]
    from_the_end = [b for b in tail.live().entries if isinstance(b.body, MessageBody)]
    assert [_text(tail, e.id) for e in from_the_end] == wanted[last[0]]

    session = _session(whole)
    assert _paths(session) == wanted
    twins = [n for n in session.notices if "different line" in n.text]
    assert len(twins) == (len(alone) > 1)


@given(merged(), st.integers(0, 20))
@settings(max_examples=60)
def test_one_goes_on_from_each_of_them_and_a_salvage_keeps_them_all(
    tmp_path_factory: object, files: tuple[list[list[bytes]], list[bytes]], goal: int
) -> None:
    folder = tmp_path_factory.mktemp("twins")  # type: ignore[attr-defined]
    path, sound = folder / "s.jsonl", folder / "sound.jsonl"
    alone, whole = files
    path.write_bytes(encode_header(HEADER) + b"".join(whole))
    wanted = {text: path for lines in alone for text, path in _paths(_session(lines)).items()}
    with open_session(path, write=True, around=AROUND) as session:
        at = session.tree.at(goal % len(session.tree))
        here = wanted[_text(session, at)]
        session.move(at, "tree")
        session.append(MessageBody(UserMessage((Text("and on"),))))
        session.append(Label(at, "there"))
    wanted["and on"] = [*here, "and on"]

    with open_session(path, write=False, around=AROUND) as session:
        live = [_text(session, e.id) for e in session.live().entries if _is_said(e)]
        assert live == wanted["and on"]
        assert _paths(session) == wanted
        assert session.tree.labels == {at: "there"}

    salvage(path, sound, around=AROUND)
    with open_session(sound, write=False, around=AROUND) as session:
        assert session.notices == ()
        assert _paths(session) == wanted
        assert session.tree.labels == {at: "there"}


def _is_said(entry: Entry) -> bool:
    return isinstance(entry.body, MessageBody)


# ---- ids that do not meet ------------------------------------------------------------------------


def test_two_that_go_on_from_one_state_take_other_ids(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    made_session(path, "base")
    state = path.read_bytes()
    ids = []
    for number in range(2):
        path.write_bytes(state)
        here = replace(AROUND, chance=Random(number).randbytes)
        with open_session(path, write=True, around=here) as session:
            before = set(session.tree)
            session.rename("on")
            ids.append(set(session.tree) - before)

    assert len(ids[0]) == len(ids[1]) == 2
    assert not ids[0] & ids[1]


@given(st.binary(min_size=8, max_size=8), st.sets(st.integers(0, 1 << 31), max_size=50))
def test_one_opening_takes_no_id_twice_and_wide_ones_are_no_short_ones(
    drawn: bytes, lines: set[int]
) -> None:
    for are_wide in (False, True):
        names = drawn_names(drawn, are_wide=are_wide)
        ids = {names.at(line) for line in lines}
        assert len(ids) == len(lines)
        assert {len(each) for each in ids} <= {16 if are_wide else 8}

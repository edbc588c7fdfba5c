"""R33, R47: every request that was sent is rebuilt from the file alone, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsh.agent.replay import body, check, find_request, recorded, verifier
from agentsh.errors import EntryNotFoundError
from agentsh.jsontext import JsonObject
from agentsh.session.file.session import Session, open_session
from agentsh.session.format.entries import EntryId
from agentsh.session.health.verify import verify_file
from tests.agent.builders import make_agent, path_of, reopen, run, start_session, unpaired
from tests.agent.talks import TALKS, Act, Compact, Go, Label, LostError, Say, Set, play, play_on
from tests.support.scripted import Call, ScriptedProvider


def fresh(folder: Path) -> Session:
    return open_session(folder / "session.jsonl", write=False)


EVERYTHING: list[Act] = [
    Say("hello", ((Call("a", "echo", {"say": "x" * 4000}),), "an answer"), steer="mind this"),
    Label("here"),
    Say("more", (LostError(), "again")),
    Compact(1),
    Say("after", ("yes",)),
    Set("model", "model-2"),
    Set("thinking", "high"),
    Set("section", "Be long."),
    Set("tools", "one"),
    Say("other", ((Call("a", "no such tool", {}),), "end")),
    Go(0.3, summarize=True),
    Say("on the side", ("fine",)),
    Go(1.0),
    Say("from the start", ("fine",)),
]


def test_every_kind_of_request_is_rebuilt_in_another_session(tmp_path: Path) -> None:
    played = play(tmp_path, EVERYTHING, tmp_path)
    played.agent.close()
    with fresh(tmp_path) as session:
        items = recorded(session)
        assert {item.fact.kind for item in items} == {"step", "compaction", "branch"}
        assert {"initial", "resume", "change", "retry"} <= {item.fact.reason for item in items}
        assert [body(session, item) for item in items] == played.provider.bodies
        assert list(check(session)) == []
        answered = [item for item in items if item.reply is not None]
        assert len(answered) == len(items) - 1  # all but the attempt that was lost


@settings(max_examples=150)
@given(TALKS)
def test_any_talk_is_rebuilt(tmp_path_factory: pytest.TempPathFactory, acts: list[Act]) -> None:
    folder = tmp_path_factory.mktemp("talk")
    played = play(folder, acts, folder)
    played.agent.close()
    if not played.provider.bodies:
        return
    with fresh(folder) as session:
        assert [body(session, item) for item in recorded(session)] == played.provider.bodies
        assert list(check(session)) == []
    assert verify_file(folder / "session.jsonl").problems == ()


@settings(max_examples=60)
@given(TALKS)
def test_a_session_that_is_never_saved_sends_the_same(
    tmp_path_factory: pytest.TempPathFactory, acts: list[Act]
) -> None:
    folder = tmp_path_factory.mktemp("talk")
    assert play(folder, acts, folder).provider.bodies == play(None, acts, folder).provider.bodies


@settings(max_examples=120)
@given(TALKS, st.floats(0, 1), TALKS)
def test_a_talk_that_was_cut_anywhere_goes_on_and_is_rebuilt(
    tmp_path_factory: pytest.TempPathFactory, before: list[Act], share: float, after: list[Act]
) -> None:
    folder = tmp_path_factory.mktemp("talk")
    play(folder, before, folder).agent.close()
    path = folder / "session.jsonl"
    if not path.exists():
        return
    data = path.read_bytes()
    head = data.index(b"\n") + 1
    path.write_bytes(data[: head + int(share * (len(data) - head))])
    with reopen(folder) as session:
        played = play_on(session, after, folder)
    with fresh(folder) as session:
        assert list(check(session)) == []
        # a person may go to a place between a call and its result
        if not any(isinstance(act, Go) for act in (*before, *after)) and played.provider.bodies:
            assert unpaired(path_of(session)) == []
    if played.provider.bodies:  # until something is written, a torn line stays as it is
        assert verify_file(path).problems == ()


# ---- what was altered ----------------------------------------------------------------------------


def altered(folder: Path, old: bytes, new: bytes) -> None:
    path = folder / "session.jsonl"
    data = path.read_bytes()
    assert data.count(old) == 1
    path.write_bytes(data.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"the first prompt", b"the FIRST prompt"),
        (b"You are a test.", b"You are a pest."),
        (b"an early answer", b"an EARLY answer"),
    ],
)
def test_an_altered_entry_is_found_by_the_requests_that_held_it(
    old: bytes, new: bytes, tmp_path: Path
) -> None:
    acts: list[Act] = [Say("the first prompt", ("an early answer",)), Say("2", ("later",))]
    play(tmp_path, acts, tmp_path).agent.close()
    altered(tmp_path, old, new)
    with fresh(tmp_path) as session:
        wrong = list(check(session))
        items = recorded(session)
    held = items[1:] if b"answer" in old else items
    assert [w.entry for w in wrong] == [item.entry for item in held]
    assert all(f"request {w.entry}" in w.words for w in wrong)


def test_an_altered_digest_is_named(tmp_path: Path) -> None:
    play(tmp_path, [Say("1", ("one",)), Say("2", ("two",))], tmp_path).agent.close()
    path = tmp_path / "session.jsonl"
    with fresh(tmp_path) as session:
        second = recorded(session)[1]
    altered(tmp_path, second.fact.body_sha256.encode(), b"0" * 64)
    with fresh(tmp_path) as session:
        assert [w.entry for w in check(session)] == [second.entry]
    assert path.exists()


def test_a_plan_that_makes_no_sense_any_more_is_named_not_a_crash(tmp_path: Path) -> None:
    play(tmp_path, [Say("y" * 4000, ("one",)), Compact(1)], tmp_path).agent.close()
    path = tmp_path / "session.jsonl"
    lines = path.read_bytes().split(b"\n")
    for i, line in enumerate(lines):
        if b'"plan"' in line:
            value: JsonObject = json.loads(line)
            data = value["data"]
            assert isinstance(data, dict)
            data["plan"] = {"form": "prefix", "firstKept": "no such entry"}
            lines[i] = json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
    path.write_bytes(b"\n".join(lines))
    with fresh(tmp_path) as session:
        (wrong,) = check(session)
    assert "cannot be rebuilt" in wrong.words
    assert wrong.entry in wrong.words


# ---- one of them ---------------------------------------------------------------------------------


def test_a_request_is_found_by_its_entry_and_by_its_reply(tmp_path: Path) -> None:
    play(tmp_path, [Say("1", ("one",))], tmp_path).agent.close()
    with fresh(tmp_path) as session:
        (item,) = recorded(session)
        assert item.reply is not None
        assert find_request(session, item.entry) == find_request(session, item.reply) == item
        with pytest.raises(EntryNotFoundError):
            find_request(session, EntryId("00000000"))


def test_the_debug_switch_passes_what_is_in_entries_and_stops_what_is_not(tmp_path: Path) -> None:
    session = start_session(tmp_path)
    provider = ScriptedProvider("hello")
    agent = make_agent(session, provider, tmp_path)
    run(agent)
    assert session.path is not None
    verify = verifier(session.path)
    request = recorded(session)[0].entry
    verify(request)
    altered(tmp_path, b"Be brief.", b"Be crisp.")
    with pytest.raises(AssertionError, match=f"request {request}"):
        verify(request)


def test_a_body_with_something_of_its_own_is_never_sent(tmp_path: Path) -> None:
    """What the switch is for: a prompt that is not what the file holds."""
    session = start_session(tmp_path)
    provider = ScriptedProvider("hello")
    agent = make_agent(session, provider, tmp_path)
    run(agent, "first")
    altered(tmp_path, b'"text":"first"', b'"text":"fIrst"')
    with pytest.raises(AssertionError, match="others are rebuilt"):
        run(agent, "second")
    assert len(provider.requests) == 1

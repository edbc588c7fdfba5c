"""What comes back from a place of a session, and what a move of the leaf changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from agentsh.agent.config import Config
from agentsh.agent.opening import CHOSEN, Wanted, chosen_tools, plan_opening
from agentsh.agent.restoring import InForce, going_on, in_force
from agentsh.agent.turn.usage import Meter, spent
from agentsh.context.projection import Context
from agentsh.messages import ModelRef, Usage
from agentsh.session.file.session import open_session
from agentsh.session.format.codec import encode_entry, encode_header
from agentsh.session.format.entries import (
    Body,
    Compaction,
    Custom,
    Entry,
    EntryId,
    Header,
    MessageBody,
    ModelChange,
    SessionId,
    ThinkingLevelChange,
)
from agentsh.session.format.factcodec import decode_fact
from agentsh.session.format.facts import StateSet
from tests.agent.builders import make_agent, run, start_session
from tests.session.builders import said, user
from tests.session.disks import CountingDisk, around
from tests.support.scripted import ScriptedProvider

HERON, STORK = ModelRef("p", "heron"), ModelRef("p", "stork")
FOLLOWS = frozenset({"model", "thinking", "tools"})
LONG = (*["x" * 20_000] * 4, "a summary") * 2 + ("after",)
NOW = Config(HERON, "low", {}, tools=("read",), restored=FOLLOWS)
BEFORE = InForce(HERON, "e", "low", ("read",))
THERE = InForce(STORK, "e", "high", None)


def test_what_a_turn_had_in_force_is_read_from_its_path(tmp_path: Path) -> None:
    session = start_session(tmp_path)
    provider = ScriptedProvider("one")
    agent = make_agent(session, provider, tmp_path, thinking="high")
    agent.config = replace(agent.config, tools=("read", "ls"))
    run(agent)

    there = in_force(session)

    assert there == InForce(agent.model, provider.endpoint, "high", ("read", "ls"))


def test_a_path_that_says_nothing_brings_nothing(tmp_path: Path) -> None:
    assert in_force(start_session(tmp_path)) == InForce()


def test_a_level_that_there_is_not_is_none(tmp_path: Path) -> None:
    session = start_session(tmp_path)
    session.append(ThinkingLevelChange("colossal"))

    assert in_force(session).thinking is None


def test_a_model_whose_requests_stand_before_a_compaction_keeps_its_endpoint(
    tmp_path: Path,
) -> None:
    session = start_session(tmp_path)
    provider = ScriptedProvider("one")
    agent = make_agent(session, provider, tmp_path)
    run(agent)
    state: dict[str, object] = {"provider": agent.model.provider, "model": agent.model.model}
    session.append(Compaction("SUMMARY", None, 1, details={"ash": state}))  # type: ignore[dict-item]
    session.barrier()

    assert in_force(session).endpoint == provider.endpoint


def pi_compacted(path: Path) -> None:
    """A long talk that another program summed up, without saying what was in force before."""
    answer = replace(said("one"), provider="p", model="heron", usage=Usage(input=3, output=2))
    bodies: list[Body] = [ThinkingLevelChange("high")]
    bodies += [MessageBody(user("x")), MessageBody(answer)] * 2000
    bodies += [Compaction("SUMMARY", EntryId("00000f9f"), 1), MessageBody(user("y"))]
    names = [None, *(EntryId(f"{n:08x}") for n in range(len(bodies)))]
    made = zip(names[1:], names, bodies, strict=False)
    entries = [Entry(name, parent, "t", body) for name, parent, body in made if name is not None]
    header = Header(SessionId("s"), "2026-01-01T00:00:00.000Z", "/p")
    path.write_bytes(encode_header(header) + b"".join(map(encode_entry, entries)))


def test_a_file_that_pi_compacted_is_gone_on_with_in_a_few_passes(tmp_path: Path) -> None:
    path, disk = tmp_path / "s.jsonl", CountingDisk()
    pi_compacted(path)
    size, header_block = path.stat().st_size, 1 << 20

    with open_session(path, write=True, around=around(disk)) as session:
        there = in_force(session)
        assert disk.bytes_read <= size + header_block + 1024
        run(make_agent(session, ScriptedProvider("one"), tmp_path))

    assert there == InForce(HERON, thinking="high")
    # from its end to the path, its seal, the ids that are taken; nothing line by line
    assert disk.bytes_read <= 3 * size + header_block + (1 << 16)


def test_what_was_said_before_a_compaction_of_pi_counts_in_what_the_path_took(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.jsonl"
    pi_compacted(path)

    with open_session(path, write=False) as session:
        assert not session.live().complete
        assert Meter(session).total() == spent(session.branch().entries)
        assert Meter(session).total().input == 3 * 2000


def test_what_the_path_took_is_known_from_its_compaction_without_the_lines_before(
    tmp_path: Path,
) -> None:
    disk = CountingDisk()
    agent = make_agent(start_session(tmp_path), ScriptedProvider(*LONG), tmp_path)
    for _ in range(2):
        for _ in range(4):
            run(agent, "y" * 20_000)
        list(agent.compact(keep=1))
    run(agent)
    took = agent.report().usage
    agent.close()

    with open_session(tmp_path / "session.jsonl", write=False, around=around(disk)) as session:
        assert not session.live().complete
        before = disk.bytes_read
        assert Meter(session).total() == took
        assert disk.bytes_read == before
        assert took == spent(session.branch().entries)


def test_a_move_takes_model_level_and_tools_along() -> None:
    now, words = going_on(NOW, BEFORE, THERE, "e")

    assert (now.model, now.thinking, now.tools) == (STORK, "high", None)
    assert words == ("as it was here: model stork, thinking high, tools all",)


def test_what_the_person_changed_since_stays() -> None:
    changed = replace(NOW, model=ModelRef("p", "crane"), thinking="max", tools=None)

    assert going_on(changed, BEFORE, replace(THERE, tools=("ls",)), "e") == (changed, ())


@pytest.mark.parametrize("name", sorted(FOLLOWS))
def test_what_an_option_said_stays(name: str) -> None:
    fixed = replace(NOW, restored=FOLLOWS - {name})

    now, _ = going_on(fixed, BEFORE, THERE, "e")

    assert getattr(now, name) == getattr(fixed, name)


def test_a_model_of_another_endpoint_is_left_and_told() -> None:
    now, words = going_on(NOW, BEFORE, replace(THERE, endpoint="other"), "e")

    assert now.model == HERON
    assert words[0] == "the model stork is left: it is of another endpoint"


@pytest.mark.parametrize("chosen", [None, (), ("read", "ls")])
def test_a_choice_of_tools_is_a_fact_that_is_written_once(chosen: tuple[str, ...] | None) -> None:
    context = Context(model=HERON, state={CHOSEN: ["bash"]})
    wanted = Wanted(HERON, "off", {}, (), chosen)

    [body] = plan_opening(context, wanted)
    assert isinstance(body, Custom)
    fact = decode_fact(body)
    assert isinstance(fact, StateSet)
    after = replace(context, state={fact.key: fact.value})

    assert chosen_tools(after.state) == chosen
    assert plan_opening(after, wanted) == ()


def test_no_choice_writes_nothing() -> None:
    assert plan_opening(Context(model=HERON), Wanted(HERON, "off", {}, ())) == ()


def test_the_model_changes_with_the_place_of_the_leaf(tmp_path: Path) -> None:
    session = start_session(tmp_path)
    agent = make_agent(session, ScriptedProvider("one", "two"), tmp_path, restored=FOLLOWS)
    run(agent, "first")
    place = session.leaf
    agent.use(agent.provider, "stork")
    agent.set_thinking("high")
    run(agent, "second")

    moved = agent.checkout(place)

    assert (agent.model.model, agent.config.thinking) == ("model-1", "off")
    assert moved.notices == ("as it was here: model model-1, thinking off",)
    assert not any(
        isinstance(entry.body, ModelChange) and entry.body.model_id == "stork"
        for entry in session.live().entries
    )

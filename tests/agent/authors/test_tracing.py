"""Real turns, real states: where a line's author is looked for, and where not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from agentsh.agent.authors.content import Content
from agentsh.agent.authors.statefiles import StateFiles
from agentsh.agent.authors.timeline import Past
from agentsh.agent.authors.tracing import Tracer, Version
from agentsh.session.format.entries import EntryId
from agentsh.tools.undo.contents import blob_name
from tests.agent.authors.histories import World
from tests.agent.builders import run
from tests.support.scripted import Call


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path, 0)


def turn(world: World, prompt: str, *commands: str, who: int = 0) -> None:
    """A turn of one command a step."""
    provider = world.providers[who]
    steps: list[tuple[Call, ...]] = []
    for command in commands:
        world.calls += 1
        steps.append((Call(f"c{world.calls}", "bash", {"command": command}),))
    provider.script = [*provider.script, *steps, "done"]
    run(world.agents[who], prompt)


def leaf(world: World) -> EntryId:
    found = world.agents[0].session.leaf
    assert found is not None
    return found


def said(world: World, name: str, only: str | None = None) -> list[tuple[str, str]]:
    """(text, prompt or who) of each line."""
    found = world.why(name, world.records(), only)
    return [
        (line.text, line.author.calls[0].prompt if line.author.calls else line.author.who)
        for line in found.lines
    ]


def test_a_person_changed_what_no_call_touched(world: World) -> None:
    turn(world, "one", "echo a >> f0.txt")
    assert said(world, "f1.txt") == [(f"line {n}", "unknown") for n in range(7, 13)]

    (world.tree / "f1.txt").write_text("line 7\nmine\n")
    assert said(world, "f1.txt") == [("line 7", "before"), ("mine", "person")]
    turn(world, "two", "echo b >> f0.txt")
    assert said(world, "f1.txt") == [("line 7", "before"), ("mine", "person")]


def read_for(world: World, name: str) -> int:
    """How many contents of states are read to find the authors."""
    data = (world.tree / name).read_bytes()
    files = StateFiles(world.checkpointer, world.tree)
    tracer = Tracer(
        Past(world.records()), files, Content(data), Version(blob_name(data), len(data))
    )
    tracer.authors(name)
    return files.read


def test_what_a_branch_made_that_was_left_is_not_read(world: World) -> None:
    turn(world, "one", "echo one > a")
    here = leaf(world)
    world.agents[0].checkout(here, files=True)
    before = read_for(world, "a")
    turn(world, "left", *(f"echo left {i} >> a" for i in range(4)))
    with_branch = read_for(world, "a")
    world.agents[0].checkout(here, files=True)

    assert said(world, "a") == [("one", "one")]
    assert read_for(world, "a") == before
    assert with_branch > before + 2


def test_what_a_left_branch_wrote_is_still_its_own_where_only_the_talk_went_back(
    world: World,
) -> None:
    turn(world, "one", "echo one > a")
    here = leaf(world)
    turn(world, "left", "echo two >> a")
    world.agents[0].checkout(here)
    turn(world, "three", "echo three >> a")

    assert said(world, "a") == [("one", "one"), ("two", "left"), ("three", "three")]


def test_where_the_files_are_as_they_were_there_already_the_branch_that_was_left_is_not_asked(
    world: World,
) -> None:
    turn(world, "one", "echo one > a")
    here = leaf(world)
    turn(world, "two", "echo two > a", "echo one > a; echo b > b")
    assert said(world, "a") == [("one", "two")]
    world.agents[0].checkout(here, files=True)

    assert said(world, "a") == [("one", "one")]


def test_files_that_went_back_where_the_talk_stood_are_by_whoever_wrote_them(world: World) -> None:
    turn(world, "one", "echo one > a")
    turn(world, "two", "echo two > a")
    prompt = world.entry("two")
    world.agents[0].files.restore(prompt)

    assert said(world, "a") == [("one", "one")]


def test_a_move_of_a_person_and_one_onto_a_file_that_was_there_are_followed(world: World) -> None:
    turn(world, "one", "echo one > a; echo other > b")
    (world.tree / "a").rename(world.tree / "c")
    assert said(world, "c") == [("one", "one")]

    turn(world, "move", "mv c b")
    turn(world, "more", "echo more >> b")

    assert said(world, "b") == [("one", "one"), ("more", "more")]


def test_of_two_files_that_it_may_have_been_nothing_is_said_that_only_one_has(
    world: World,
) -> None:
    turn(world, "one", "echo same > x1")
    turn(world, "two", "echo same > x2")
    turn(world, "move", "mv x1 y1; mv x2 y2")

    assert said(world, "y1") == [("same", "unknown")]


def test_where_nothing_changed_nothing_is_read(world: World) -> None:
    for number in range(5):
        turn(world, f"other {number}", f"echo {number} >> other.txt")

    assert read_for(world, "f0.txt") <= 1


def test_two_sessions_and_one_that_is_asked_alone(world: World) -> None:
    turn(world, "one", "echo one > a")
    turn(world, "two", "echo two >> a", who=1)
    turn(world, "three", "echo three >> a")
    first, second = (agent.session.header.id for agent in world.agents)

    assert said(world, "a") == [("one", "one"), ("two", "two"), ("three", "three")]
    assert said(world, "a", first) == [("one", "one"), ("two", "unknown"), ("three", "three")]
    assert said(world, "a", second) == [("one", "before"), ("two", "two"), ("three", "unknown")]


def test_what_a_job_in_background_may_have_done_is_nobodys(world: World) -> None:
    job = Call("job", "bash", {"command": "sleep 0.05; echo job >> a", "background": True})
    provider = world.providers[0]
    provider.script = [*provider.script, (job,), "done"]
    run(world.agents[0], "background")
    (world.tree / "a").write_text("person\n")

    found: Sequence[tuple[str, str]] = said(world, "a")

    assert found == [("person", "unknown")]

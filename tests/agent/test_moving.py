"""Moves in the tree: where they end, what they give back, and the summary of what is left."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from agentsh.agent.agent import Agent
from agentsh.agent.moving import destination
from agentsh.errors import EntryNotFoundError, RefusedError, RequestRejectedError
from agentsh.messages import AssistantMessage, CustomRoleMessage, Image, Text, UserMessage
from agentsh.session.format.entries import BranchSummary, CustomMessage, EntryId, MessageBody
from agentsh.session.format.facts import Navigated, RequestSent
from tests.agent.builders import (
    facts,
    make_agent,
    path_of,
    prompts,
    reopen,
    run,
    start_session,
    text_of,
)
from tests.support.pictures import png
from tests.support.scripted import ScriptedProvider, Step


def talked(folder: Path, *script: Step) -> tuple[Agent, ScriptedProvider]:
    """Two turns; the script is for what comes then."""
    provider = ScriptedProvider("one", "two", *script)
    agent = make_agent(start_session(folder), provider, folder)
    run(agent, "first")
    run(agent, "second")
    return agent, provider


def entry(agent: Agent, text: str) -> EntryId:
    """The message with that text."""
    for each in agent.session.entries():
        body = each.body
        if (
            isinstance(body, MessageBody)
            and isinstance(body.message, UserMessage | AssistantMessage)
            and text_of(body.message) == text
        ):
            return each.id
    raise LookupError(text)


def test_a_prompt_means_before_it_with_its_text_for_the_editor(tmp_path: Path) -> None:
    agent, provider = talked(tmp_path)
    moved = agent.checkout(entry(agent, "second"))
    assert moved.editor_text == "second"
    assert moved.leaf == agent.session.leaf
    run(agent, "instead")
    assert prompts(agent.session) == ["first", "instead"]
    said = [text_of(m) for m in provider.requests[-1].messages if isinstance(m, UserMessage)]
    assert said == ["first", "instead"]


def test_the_pictures_of_a_prompt_come_back_with_it(tmp_path: Path) -> None:
    agent, _ = talked(tmp_path, "three")
    picture = Image(base64.b64encode(png(8, 8)).decode(), "image/png")
    list(agent.prompt("look", (picture,)))

    assert agent.checkout(entry(agent, "look")).images == (picture,)
    assert agent.checkout(entry(agent, "two")).images == ()


def test_anything_else_means_on_to_it(tmp_path: Path) -> None:
    agent, _ = talked(tmp_path)
    moved = agent.checkout(entry(agent, "one"))
    assert moved.editor_text is None
    run(agent, "instead")
    assert prompts(agent.session) == ["first", "instead"]


def test_before_everything_the_next_prompt_states_the_settings_again(tmp_path: Path) -> None:
    agent, provider = talked(tmp_path)
    assert agent.checkout(None).editor_text is None
    run(agent, "afresh")
    assert prompts(agent.session) == ["afresh"]
    assert provider.requests[-1].system == provider.requests[0].system
    sent = [f for f in facts(path_of(agent.session)) if isinstance(f, RequestSent)]
    assert [f.reason for f in sent] == ["initial"]


def test_a_move_is_durable_with_nothing_typed_after_it(tmp_path: Path) -> None:
    agent, _ = talked(tmp_path)
    moved = agent.checkout(entry(agent, "one"))
    agent.session.close()
    with reopen(tmp_path) as session:
        assert session.leaf == moved.leaf
        assert isinstance(facts(path_of(session))[-1], Navigated)


def test_nothing_is_ever_lost_by_a_move(tmp_path: Path) -> None:
    agent, _ = talked(tmp_path)
    before = (tmp_path / "session.jsonl").read_bytes()
    agent.checkout(entry(agent, "first"))
    assert (tmp_path / "session.jsonl").read_bytes().startswith(before)


def test_there_is_no_move_to_what_is_not_there_and_none_in_a_turn(tmp_path: Path) -> None:
    agent, _ = talked(tmp_path)
    with pytest.raises(EntryNotFoundError):
        agent.checkout(EntryId("ffffffff"))
    events = agent.prompt("go")
    next(events)
    with pytest.raises(RefusedError):
        agent.checkout(None)
    events.close()


@pytest.mark.parametrize("role", [True, False])
def test_a_message_of_an_extension_is_a_prompt_as_well(role: bool, tmp_path: Path) -> None:
    agent, _ = talked(tmp_path)
    content = (Text("from an extension"),)
    body = MessageBody(CustomRoleMessage("x", content)) if role else CustomMessage("x", content)
    before = agent.session.leaf
    there = agent.session.append(body)
    assert destination(there) == (before, "from an extension")


# ---- with a summary ------------------------------------------------------------------------------


def test_what_is_left_is_summarised_and_the_model_told(tmp_path: Path) -> None:
    agent, provider = talked(tmp_path, "what was tried", "three")
    agent.checkout(entry(agent, "one"), summarize=True)
    assert b"second" in provider.bodies[2]
    run(agent, "third")
    assert b"what was tried" in provider.bodies[3]
    (found,) = [e for e in path_of(agent.session) if isinstance(e.body, BranchSummary)]
    assert found.stamp is not None
    assert found.stamp.request is not None
    (asked,) = facts([agent.session.entry(found.stamp.request)])
    assert isinstance(asked, RequestSent)
    assert (asked.kind, asked.reason) == ("branch", "branch")


def test_a_summary_says_of_what_it_was_made(tmp_path: Path) -> None:
    agent, _ = talked(tmp_path, "what was tried")
    old = agent.session.leaf
    agent.checkout(entry(agent, "one"), summarize=True)
    (found,) = [e.body for e in path_of(agent.session) if isinstance(e.body, BranchSummary)]
    assert isinstance(found, BranchSummary)
    assert isinstance(found.details, dict)
    ours = found.details["ash"]
    assert isinstance(ours, dict)
    assert isinstance(ours["src"], dict)
    assert ours["src"]["to"] == found.from_id == old


def test_a_summary_that_fails_leaves_everything_where_it_was(tmp_path: Path) -> None:
    agent, _ = talked(tmp_path, RequestRejectedError("no"))
    before = agent._projector.now()
    with pytest.raises(RequestRejectedError):
        agent.checkout(entry(agent, "one"), summarize=True)
    assert agent._projector.now() == before
    assert prompts(agent.session) == ["first", "second"]


def test_where_nothing_was_said_nothing_is_asked(tmp_path: Path) -> None:
    agent, provider = talked(tmp_path)
    moved = agent.checkout(agent.session.leaf, summarize=True)
    assert moved.notices == ("there was nothing to summarise",)
    assert len(provider.requests) == 2


def test_a_file_that_ends_in_mid_turn_is_left_with_a_summary(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    agent, _ = talked(tmp_path, "three")
    for event in agent.prompt("third"):
        if type(event).__name__ == "TextPart":
            data = (tmp_path / "session.jsonl").read_bytes()
            (copy / "session.jsonl").write_bytes(data)
    with reopen(copy) as session:
        again = make_agent(session, ScriptedProvider("what was tried", "well"), copy)
        again.checkout(entry(again, "one"), summarize=True)
        run(again, "instead")
        assert prompts(session) == ["first", "instead"]

"""What stands between a path and the next prompt: only what changed, and in words for a person."""

from __future__ import annotations

from msgspec.structs import replace

from agentsh.agent.opening import Wanted, differences, plan_opening
from agentsh.context.projection import Context, project
from agentsh.messages import ModelRef, SystemMessage
from agentsh.session.format.entries import MessageBody, ModelChange, ThinkingLevelChange
from tests.session.builders import Path
from tests.support.toys import echo

WANTED = Wanted(
    ModelRef("p", "m"), "off", {"preamble": "You are.", "rules": "Be."}, (echo().schema,)
)


def context_with(wanted: Wanted) -> Context:
    path = Path()
    for body in plan_opening(Context(), wanted):
        path.add(body)
    return project(path.branch)


def test_a_fresh_path_is_told_everything() -> None:
    kinds = [type(body) for body in plan_opening(Context(), WANTED)]
    assert kinds == [ModelChange, ThinkingLevelChange, MessageBody]


def test_what_is_in_force_is_not_said_again() -> None:
    assert plan_opening(context_with(WANTED), WANTED) == ()
    assert differences(context_with(WANTED), WANTED) == ()


def test_a_model_alone() -> None:
    wanted = replace(WANTED, model=ModelRef("p", "other"))
    assert plan_opening(context_with(WANTED), wanted) == (ModelChange("p", "other"),)
    assert differences(context_with(WANTED), wanted) == ("model m → other",)


def test_another_name_of_the_provider_is_stored_and_not_called_a_change() -> None:
    wanted = replace(WANTED, model=ModelRef("q", "m"))
    assert plan_opening(context_with(WANTED), wanted) == (ModelChange("q", "m"),)
    assert differences(context_with(WANTED), wanted) == ()


def test_thinking_alone() -> None:
    wanted = replace(WANTED, thinking="high")
    assert plan_opening(context_with(WANTED), wanted) == (ThinkingLevelChange("high"),)
    assert differences(context_with(WANTED), wanted) == ("thinking off → high",)


def test_a_section_alone() -> None:
    wanted = replace(WANTED, sections={"preamble": "You are.", "rules": "Be brief."})
    (body,) = plan_opening(context_with(WANTED), wanted)
    assert body == MessageBody(SystemMessage(sections={"rules": "Be brief."}))
    assert differences(context_with(WANTED), wanted) == ("system prompt: rules",)


def test_tools_alone() -> None:
    wanted = replace(WANTED, tools=(echo("other").schema,))
    (body,) = plan_opening(context_with(WANTED), wanted)
    patch = SystemMessage(tools_added=(echo("other").schema,), tools_removed=("echo",))
    assert body == MessageBody(patch)
    assert differences(context_with(WANTED), wanted) == (
        "tools changed: other",
        "tools gone: echo",
    )


def test_nothing_differs_from_a_path_that_says_nothing() -> None:
    assert differences(Context(), WANTED) == ()

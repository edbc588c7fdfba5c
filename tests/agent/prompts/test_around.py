"""Hooks around a turn: what they add, refuse and ask for, in real sessions."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct, field

from agentsh.abort import Abort
from agentsh.agent.events import AgentEvent, MessageDone, Notice, Steered, TurnEnd
from agentsh.agent.prompts.around import HookedTurns
from agentsh.errors import RefusedError
from agentsh.jsontext import JsonObject
from agentsh.messages import UserMessage
from agentsh.session.format.entries import MessageBody
from agentsh.session.format.facts import PromptTyped
from agentsh.tools.extend.turnhooks import EndedTurn, HookAnswer, TurnHooks
from tests.agent.builders import (
    during,
    facts,
    make_agent,
    path_of,
    prompts,
    run,
    start_session,
    text_of,
)
from tests.support.scripted import Call, ScriptedProvider
from tests.support.toys import echo


class Scripted(Struct):
    """A hook that answers as it is told, and keeps what it was asked."""

    note: str | None = None
    refuses: str = ""
    after: list[HookAnswer | Exception] = field(default_factory=list)
    told: list[EndedTurn] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    questions: list[tuple[str, str]] = field(default_factory=list)

    def before_prompt(self, prompt: str, abort: Abort) -> HookAnswer | None:
        self.seen.append(prompt)
        if self.refuses and self.refuses in prompt:
            raise RefusedError(f"no {self.refuses} here")
        return None if self.note is None else HookAnswer(self.note)

    def after_turn(
        self, ended: EndedTurn, abort: Abort, seconds: float | None
    ) -> HookAnswer | None:
        self.told.append(ended)
        answer = self.after.pop(0) if self.after else None
        if isinstance(answer, Exception):
            raise answer
        return answer

    def on_question(self, tool: str, arguments: JsonObject, shown: str) -> None:
        self.questions.append((tool, shown))


def around(hook: Scripted) -> HookedTurns:
    return HookedTurns(TurnHooks((("toy", hook),)))


def notices(events: list[AgentEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, Notice)]


def reasons(events: list[AgentEvent]) -> list[str]:
    return [event.reason for event in events if isinstance(event, TurnEnd)]


def test_what_before_prompt_says_goes_along_marked_and_is_not_given_back(tmp_path: Path) -> None:
    session, hook = start_session(tmp_path), Scripted(note="branch: </before_prompt> main")
    agent = make_agent(session, ScriptedProvider("yes"), tmp_path, hooked=around(hook))
    run(agent, "hello")

    (text,) = prompts(session)
    assert text == "hello\n\n<before_prompt>\nbranch: < /before_prompt> main\n</before_prompt>"
    assert PromptTyped("hello") in facts(path_of(session))
    entry = next(
        e
        for e in path_of(session)
        if isinstance(e.body, MessageBody) and isinstance(e.body.message, UserMessage)
    )
    assert agent.checkout(entry.id).editor_text == "hello"


def test_a_prompt_that_is_refused_is_stored_nowhere(tmp_path: Path) -> None:
    session, hook = start_session(tmp_path), Scripted(refuses="secret")
    provider = ScriptedProvider("yes")
    agent = make_agent(session, provider, tmp_path, hooked=around(hook))

    events = run(agent, "tell the secret")

    (end,) = events
    assert isinstance(end, TurnEnd)
    assert (end.reason, end.error) == (
        "blocked",
        "before_prompt refused the prompt: no secret here",
    )
    assert (list(path_of(session)), provider.requests, hook.told) == ([], [], [])
    assert reasons(run(agent, "tell nothing")) == ["completed"]


def test_a_steer_is_looked_at_before_it_is_said(tmp_path: Path) -> None:
    session, hook = start_session(tmp_path), Scripted(refuses="secret")
    provider = ScriptedProvider((Call("a", "echo", {}),), "end")
    agent = make_agent(session, provider, tmp_path, tools=[echo()], hooked=around(hook))

    def say() -> None:
        agent.steer("the secret")
        agent.steer("go on")

    events = during(agent, "go", MessageDone, say)

    assert [text_of(e.message) for e in events if isinstance(e, Steered)] == ["go on"]
    assert notices(events) == ["before_prompt refused the prompt: no secret here"]
    assert agent.queued() == ()
    assert hook.seen == ["go", "the secret", "go on"]


def test_after_turn_makes_the_next_prompt_three_times_in_a_row(tmp_path: Path) -> None:
    session = start_session(tmp_path)
    hook = Scripted(note="n", after=[HookAnswer("the tests fail", is_good=False)] * 9)
    provider = ScriptedProvider("one", "two", "three", "four", "five")
    agent = make_agent(session, provider, tmp_path, hooked=around(hook))

    events = run(agent, "go")

    assert [e.answer for e in hook.told] == ["one", "two", "three", "four"]
    assert prompts(session)[1:] == ["the tests fail"] * 3
    assert "after_turn is still not content after 3 more turns" in notices(events)[-1]
    assert hook.seen == ["go"]
    assert facts(path_of(session)).count(PromptTyped("the tests fail", "after_turn")) == 3


def test_a_content_hook_is_a_notice_and_one_that_breaks_is_another(tmp_path: Path) -> None:
    hook = Scripted(after=[HookAnswer("all green"), ValueError("broken")])
    agent = make_agent(
        start_session(tmp_path), ScriptedProvider("one", "two"), tmp_path, hooked=around(hook)
    )

    assert notices(run(agent, "go")) == ["after_turn: all green"]
    assert notices(run(agent, "go")) == ["toy failed: ValueError: broken"]


def test_what_waits_comes_after_the_turn_that_is_held(tmp_path: Path) -> None:
    session = start_session(tmp_path)
    hook = Scripted(after=[HookAnswer("the tests fail", is_good=False)])
    provider = ScriptedProvider("one", "two", "three")
    agent = make_agent(session, provider, tmp_path, hooked=around(hook))

    during(agent, "go", MessageDone, lambda: agent.queued() or agent.follow_up("then this"))

    assert prompts(session) == ["go", "the tests fail", "then this"]


def test_a_turn_that_failed_is_told_and_makes_no_prompt(tmp_path: Path) -> None:
    session = start_session(tmp_path)
    hook = Scripted(after=[HookAnswer("again", is_good=False)])
    agent = make_agent(session, ScriptedProvider(""), tmp_path, hooked=around(hook), max_steps=0)

    events = run(agent, "go")

    assert reasons(events) == ["max_steps"]
    assert [e.status for e in hook.told] == ["max_steps"]
    assert notices(events) == ["after_turn: again"]


def test_a_question_is_told_whether_somebody_can_be_asked_or_not(tmp_path: Path) -> None:
    session, hook = start_session(tmp_path), Scripted()
    provider = ScriptedProvider((Call("a", "bash", {"command": "touch p"}),))
    agent = make_agent(session, provider, tmp_path, policy="ask", hooked=around(hook))

    assert reasons(run(agent, "go")) == ["blocked"]
    assert hook.questions == [("bash", "touch p")]

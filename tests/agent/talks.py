"""Random sessions: scripts of what a person, a model and a network may do, and their run.

A talk is a list of steps; `play` runs it against a real session file and a scripted provider whose
every request is rebuilt from the disk before it is sent (builders.py). For the theorems of its
neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.agent.agent import Agent
from agentsh.agent.events import StepStart
from agentsh.errors import (
    AgentshError,
    ConnectionFailedError,
    ContextOverflowError,
    RequestRejectedError,
)
from agentsh.messages import AssistantMessage, Text, Thinking, Usage
from agentsh.providers.base import Finished, Request, Shape, StreamEvent, TextDelta, ThinkingDelta
from agentsh.session.file.session import Session
from agentsh.session.format.entries import EntryId
from agentsh.tools.base import Effect
from tests.agent.builders import make_agent, start_session
from tests.support.scripted import Call, Doing, ScriptedProvider, Step
from tests.support.toys import crashing, echo

WORDS = st.sampled_from(
    ("hello", "ünï – \u2028 \U0001f600", "x" * 3000, "<file>", "\x1b[31mred", "{}", " ", "0")
)


class Say(Struct, frozen=True):
    """A prompt; the answers that the model gives to it, one after the other."""

    text: str
    answers: tuple[Step, ...]
    steer: str | None = None


class Go(Struct, frozen=True):
    """To the nth entry of the file, by its share of all, with a summary or without."""

    share: float
    summarize: bool = False


class Compact(Struct, frozen=True):
    keep: int


class Set(Struct, frozen=True):
    """A change of model, thinking, a section or the tools."""

    what: str
    value: str


class Label(Struct, frozen=True):
    name: str


Act = Say | Go | Compact | Set | Label


class LostError(ConnectionFailedError):
    """Tried again at once."""

    def __init__(self) -> None:
        super().__init__("lost")
        self.retry_after = 0.0


def thinking(text: str) -> Doing:
    """An answer with reasoning that goes back to the model that gave it."""

    def doing(request: Request, abort: Abort) -> Iterator[StreamEvent]:
        yield ThinkingDelta("because")
        yield TextDelta(text)
        blocks = (Thinking("because", "reasoning_content"), Text(text))
        yield Finished(
            AssistantMessage(blocks, Shape().api, "scripted", request.model, Usage(), "stop")
        )

    return doing


def failing(request: Request, abort: Abort) -> Iterator[StreamEvent]:
    yield TextDelta("half an ans")
    raise ConnectionFailedError("cut")


T = TypeVar("T")


def built(make: Callable[..., T], *parts: st.SearchStrategy[Any]) -> st.SearchStrategy[T]:
    """As st.builds, without a look at annotations, which a Struct need not have at run time."""
    return st.tuples(*parts).map(lambda given: make(*given))


CALLS = st.lists(
    built(
        Call,
        st.sampled_from(("a", "b", "call|odd id", "c" * 60)),
        st.sampled_from(("echo", "crash", "act", "no such tool")),
        st.sampled_from(({}, {"say": "x"}, {"say": "ü" * 400}, {"say": 3})),
    ),
    min_size=1,
    max_size=3,
).map(tuple)

ANSWERS: st.SearchStrategy[Step] = st.one_of(
    WORDS.filter(str.strip),
    CALLS,
    built(thinking, WORDS.filter(str.strip)),
    st.builds(LostError),
    built(RequestRejectedError, st.just("refused")),
    built(ContextOverflowError, st.just("too long")),
    st.just(failing),
)

SAYS = built(
    Say,
    WORDS.filter(str.strip),
    st.lists(ANSWERS, max_size=4).map(tuple),
    st.one_of(st.none(), WORDS.filter(str.strip)),
)
SETS = st.one_of(
    built(Set, st.just("model"), st.sampled_from(("model-1", "model-2"))),
    built(Set, st.just("thinking"), st.sampled_from(("off", "high"))),
    built(Set, st.just("section"), WORDS),
    built(Set, st.just("tools"), st.sampled_from(("all", "one"))),
)
TALKS = st.lists(
    st.one_of(
        SAYS,
        SAYS,
        SAYS,
        built(Go, st.floats(0, 1), st.booleans()),
        built(Compact, st.sampled_from((1, 200))),
        SETS,
        built(Label, WORDS),
    ),
    min_size=1,
    max_size=7,
)
LINEAR = st.lists(st.one_of(SAYS, SAYS, SETS, built(Label, WORDS)), min_size=1, max_size=6)

TOOLS = (echo(), crashing(), echo("act", Effect.EXEC))


class Changing(ScriptedProvider):
    """Its script goes on as the talk does; learns a shape from each refusal, twice."""

    def __init__(self) -> None:
        super().__init__("unscripted")
        self.coming: list[Step] = []
        self.learned = [Shape(stream_usage=False), Shape(merge_users=True)]

    def stream(self, body: bytes, request: Request, abort: Abort) -> Iterator[StreamEvent]:
        self._script = [self.coming.pop(0) if self.coming else "well"]
        return super().stream(body, request, abort)


class Played(Struct):
    """A talk after its run."""

    agent: Agent
    provider: Changing


def play(folder: Path | None, acts: list[Act], cwd: Path) -> Played:
    """Run a talk in a session of its own."""
    return play_on(start_session(folder), acts, cwd)


def play_on(session: Session, acts: list[Act], cwd: Path) -> Played:
    """Run a talk. What is refused in it (nothing to compact, say) is passed over."""
    provider = Changing()
    agent = make_agent(session, provider, cwd, tools=TOOLS, max_retries=1, max_steps=6)
    for act in acts:
        try:
            do(agent, provider, act)
        except AgentshError:
            continue
    return Played(agent, provider)


def do(agent: Agent, provider: Changing, act: Act) -> None:
    match act:
        case Say(text, answers, steer):
            provider.coming = list(answers)
            for event in agent.prompt(text):
                if isinstance(event, StepStart) and event.number == 1 and steer is not None:
                    agent.steer(steer)
        case Go(share, summarize):
            provider.coming = ["what was left"]
            ids: list[EntryId] = list(agent.session.tree)
            at = int(share * len(ids))
            agent.checkout(ids[at] if at < len(ids) else None, summarize=summarize)
        case Compact(keep):
            provider.coming = ["a summary"]
            list(agent.compact(keep=keep))
        case Set("model", value):
            agent.use(agent.provider, value)
        case Set("thinking", value):
            agent.set_thinking(value)
        case Set("section", value):
            sections = {**agent.config.sections, "rules": value}
            agent.config = replace(agent.config, sections=sections)
        case Set(_, value):
            tools = TOOLS if value == "all" else TOOLS[:1]
            agent.workbench.toolset = type(agent.workbench.toolset).of(*tools)
        case Label(name):
            if agent.session.leaf is not None:
                agent.label(agent.session.leaf, name)

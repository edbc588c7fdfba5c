"""What the chat says is what is so: the state, the footer and a fresh report agree, always."""

from __future__ import annotations

import errno
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.agent.events import (
    AgentEvent,
    CallPart,
    Compacted,
    Compacting,
    MessageDone,
    Notice,
    Restarted,
    Retry,
    StepEnd,
    StepStart,
    TextPart,
    ThinkingPart,
    ToolEnd,
    ToolStart,
    TurnEnd,
    TurnStart,
)
from agentsh.errors import AgentshError, ServerFailedError
from agentsh.messages import Cost, Text, ToolResultMessage, Usage, UserMessage
from agentsh.providers.base import Request, StreamEvent
from agentsh.settings import POLICIES
from agentsh.ui.state.activity import Activity, activity_words
from agentsh.ui.state.answers import resumed_words
from agentsh.ui.state.chatstate import Around, Began, ChatState, Happening, Rested, fold
from agentsh.ui.state.footer import footer, part_words
from tests.agent.builders import make_agent, start_session
from tests.session.disks import FaultyDisk, around
from tests.support.scripted import Call, ScriptedProvider
from tests.support.toys import echo
from tests.ui.fakes import answer, call, entry_id, fake_report

HOME = Path("/home/u")
USAGE = Usage(input=100, output=10, total_tokens=110, cost=Cost(total=0.02))


def after(*news: Happening, state: ChatState | None = None, now: float = 0.0) -> ChatState:
    """All at the same time."""
    state = state or fold(ChatState(), fake_report(), now)
    for each in news:
        state = fold(state, each, now)
    return state


# ---- what is waited for (Q05) ------------------------------------------------------------------


def test_q05_it_says_what_is_waited_for_and_since_when() -> None:
    state = after(Began(), StepStart(1, "heron-1", None, "far"))
    assert activity_words(state, 42) == "waiting for far/heron-1 42 s (first token)"
    for first in (TextPart("x"), CallPart(0, "read", "")):
        assert activity_words(fold(state, first, 42), 43) == "working 43 s"


def test_q05_a_repeat_that_is_under_way_does_not_wait() -> None:
    state = after(Began(), StepStart(1, "m"), Retry(2, 5.0, "busy"))
    assert activity_words(state, 2) == "repeat 2 in 3 s"
    assert activity_words(state, 7) == "waiting for m 2 s (first token, repeat 2)"
    assert activity_words(fold(state, TextPart("x"), 7), 8) == "working 8 s"
    again = after(StepStart(1, "m"), Restarted(), Retry(1, 1.0, "cut"), now=1)
    assert activity_words(again, 4) == "waiting for m 2 s (first token, repeat 1)"


def test_q05_a_summary_is_waited_for_as_one_also_when_it_is_asked_again() -> None:
    state = after(Began(), Compacting(9000), Retry(1, 2.0, "busy"))
    assert activity_words(state, 3) == "waiting for m 1 s (summary, repeat 1)"
    for over in (Compacted(None, 9, 9, "no"), Compacted(entry_id("c"), 9, 2)):
        assert fold(state, over, 4).waiting is None


def test_q05_who_shows_no_status_line_says_the_same() -> None:
    times = iter([0.0, 1.0, 4.0, 5.0, 9.0])
    activity = Activity(after(), lambda: next(times))
    activity.hear(StepStart(1, "heron-1", None, "far"))
    assert activity.words() == "waiting for far/heron-1 3 s (first token)"
    activity.hear(ThinkingPart("so"))
    assert activity.words() == "working 9 s"


def test_calls_that_run_are_named_until_each_has_ended() -> None:
    one, two = call("bash", "c1"), call("grep", "c2")
    state = after(Began(), ToolStart(one))
    assert activity_words(state, 4) == "bash runs 4 s"
    state = fold(state, ToolStart(two), 5)
    assert activity_words(state, 6) == "2 calls run 6 s"
    result = ToolResultMessage(one.id, "bash", (Text("x"),), is_error=False)
    assert activity_words(fold(state, ToolEnd(one, result, entry_id("r")), 6), 7) == "grep runs 2 s"


def test_the_end_leaves_nothing_waiting_however_it_came() -> None:
    usage = Usage()
    for begun in (StepStart(1, "m"), Retry(1, 9.0, "x"), Compacting(9), ToolStart(call("bash"))):
        for end in (TurnEnd("error", None, None, usage), Rested()):
            state = after(Began(), begun, end, Rested())
            assert (state.waiting, state.calls, state.since) == (None, (), None)


# ---- figures during a turn (Q04) ---------------------------------------------------------------


def test_q04_results_add_an_estimate_and_an_answer_measures() -> None:
    state = after()
    state = fold(state, TurnStart(UserMessage((Text("x" * 400),)), entry_id("u")), 0)
    assert (state.tokens, part_words("context", state, HOME, None)) == (1300, "~16% of 8000")
    said = replace(answer("well"), usage=USAGE)
    state = fold(state, MessageDone(said, entry_id("a")), 0)
    assert (state.tokens, state.estimated, state.cost) == (110, False, 0.02)
    result = ToolResultMessage(call("bash").id, "bash", (Text("y" * 4000),), is_error=False)
    state = fold(state, ToolEnd(call("bash"), result, entry_id("r")), 0)
    assert (state.tokens, state.estimated) == (1110, True)
    state = fold(state, StepEnd(1, USAGE, 1111, 9000, estimated=True), 0)
    assert (state.tokens, state.window, state.estimated) == (1111, 9000, True)


def test_q04_a_first_request_says_what_is_sent_with_it_standing_instructions_included() -> None:
    state = after(replace(fake_report(), context_tokens=0))
    state = fold(state, TurnStart(UserMessage((Text("x" * 400),)), entry_id("u")), 0)
    state = fold(state, StepStart(1, "m", None, "", 2100), 0)
    assert (state.tokens, state.estimated) == (2100, True)
    assert fold(state, StepStart(2, "m"), 0).tokens == 2100


def test_an_answer_that_failed_is_not_of_the_context_and_is_paid_for() -> None:
    failed = replace(answer("well", stop="error"), usage=USAGE)
    state = fold(after(), MessageDone(failed, entry_id("a")), 0)
    assert (state.tokens, state.cost) == (1200, 0.02)


# ---- the line ------------------------------------------------------------------------------------


def test_the_line_holds_what_matters_in_its_order_and_what_is_urgent_first() -> None:
    report = fake_report(cwd="/home/u/proj", cost=0.25, thinking="high")
    state = after(report)
    assert footer(state, 0, 200, HOME, "main") == (
        "m · thinking high · 15% of 8000 · 10 in, 5 out · $0.25 · approve edits · ~/proj (main)"
    )
    unknown = after(fake_report(context_window=None))
    assert footer(unknown, 0, 200, HOME).startswith(
        "m · thinking off · context 1200 tokens · 10 in"
    )
    busy = after(fake_report(saved=False), Began(), Around(2, asks=False))
    assert footer(busy, 3.2, 200, HOME).startswith(
        "working 3 s (Esc stops) · 2 queued · NOT SAVED · m"
    )
    looks = after(Began(can_stop=False))
    assert footer(looks, 3, 200, HOME).startswith("working 3 s · m")
    assert fold(looks, Rested(), 4).can_stop
    asked = after(Began(), Around(0, asks=True))
    assert footer(asked, 3, 200, HOME).startswith("waits for your answer · m")
    asks = after(Began(can_stop=False), Around(0, asks=True))
    assert footer(asks, 3, 200, HOME).startswith("waits for your answer · m")
    assert footer(ChatState(), 0, 80, HOME) == ""
    assert footer(state, 0, 80, HOME, "main", ("folder", "model")) == "~/proj (main) · m"


def test_a_narrow_window_drops_whole_parts_from_the_right() -> None:
    state = after(fake_report(cwd="/var/lib/some/where/deep/proj", cost=0.25))
    whole = footer(state, 0, 200, HOME, "main").split(" · ")
    assert footer(state, 0, 85, HOME, "main").endswith(" · …/proj (main)")
    for width in range(1, 120):
        line = footer(state, 0, width, HOME, "main")
        assert len(line) <= width
        shown = line.split(" · ")
        if width > 10 and "…/proj" not in line:
            assert shown == whole[: len(shown)]


def test_the_model_is_named_once() -> None:
    state = after(Began(), StepStart(1, "heron-1", None, "far"))
    assert footer(state, 4, 200, HOME).startswith(
        "waiting for far/heron-1 4 s (first token) (Esc stops) · thinking off"
    )
    again = fold(state, Retry(1, 5.0, "busy"), 4)
    assert "repeat 1 in 4 s (Esc stops) · far/heron-1" in footer(again, 5, 200, HOME)


def test_the_first_line_of_a_resumed_chat_is_drawn_from_what_is_in_force() -> None:
    state = after(fake_report(endpoint="far", thinking="high"))
    assert resumed_words(state, ("model", "thinking", "tools read\x1b")) == (
        "as it was here: model far/m, thinking high, tools read␛"
    )
    assert resumed_words(state, ()) == ""


# ---- always --------------------------------------------------------------------------------------


class Refusing(FaultyDisk):
    """Durable at once, so that many talks are short."""

    def fdatasync(self, fd: int) -> None: ...

    def fsync(self, fd: int) -> None: ...


class Talk(RuleBasedStateMachine):
    """Events and commands over an agent with a script, a disk that may refuse, two endpoints."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="state-"))
        self.disk = Refusing(error=errno.ENOSPC)
        self.todo: list[str] = []
        self.now = 0.0
        self.state = ChatState()

    @initialize()
    def begin(self) -> None:
        self.provider = ScriptedProvider(self._play, usage=USAGE, window=9000)
        self.other = ScriptedProvider(self._play, usage=USAGE, window=500)
        self.other.name = "far"
        session = start_session(self.folder, around(self.disk))
        self.agent = make_agent(
            session, self.provider, self.folder, tools=[echo()], max_retries=1, auto_compact=False
        )
        self._rest()

    def teardown(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def _play(self, request: Request, abort: Abort) -> Iterator[StreamEvent]:
        provider = self.agent.provider
        assert isinstance(provider, ScriptedProvider)
        match self.todo.pop(0) if self.todo else "text":
            case "call":
                yield from provider.calling(Call("a", "echo", {"say": str(len(self.todo))}))
            case "two":
                one, two = Call("a", "echo", {"say": "x"}), Call("b", "echo", {"say": "y"})
                yield from provider.calling(one, two)
            case "busy":
                raise ServerFailedError("busy", retry_after=0.0)
            case "fail":
                raise ServerFailedError("broken", retryable=False)
            case "steer":
                self.agent.steer("and that")
                yield from provider.answering("well")
            case "abort":
                self.agent.abort()
                yield from provider.answering("well")
            case "disk":
                self.disk.broken ^= {"write"}
                yield from provider.calling(Call("a", "echo", {"say": "d"}))
            case _:
                yield from provider.answering("an answer")

    def _hear(self, what: Happening) -> None:
        self.now += 1.0
        self.state = fold(self.state, what, self.now)

    def _follow(self, events: Iterator[AgentEvent]) -> None:
        self._hear(Began())
        try:
            for event in events:
                self._hear(event)
                self._agrees(event)
        except AgentshError:
            pass
        self._hear(Rested())

    def _agrees(self, event: AgentEvent) -> None:
        """Halfway: all but an estimate of the context is what the agent would report now."""
        if isinstance(event, Notice):  # it goes before what it came with
            return
        live = fold(self.state, self.agent.report(), self.now)
        if not isinstance(event, StepEnd):
            state = self.state
            live = replace(
                live, tokens=state.tokens, window=state.window, estimated=state.estimated
            )
        assert self.state == live
        assert self._line(self.state) == self._line(live)

    def _line(self, state: ChatState) -> str:
        return footer(state, self.now, 300, HOME, "main")

    def _rest(self) -> None:
        self._hear(self.agent.report())

    @rule(steps=st.lists(st.sampled_from(["text", "call", "two", "fail", "steer", "abort"])))
    def prompt(self, steps: list[str]) -> None:
        self.todo = list(steps[:4])
        self._follow(self.agent.prompt("go " * 40))
        self._rest()

    @rule(step=st.sampled_from(["busy", "disk"]))
    def trouble(self, step: str) -> None:
        self.todo = [step]
        self._follow(self.agent.prompt("go"))
        self._rest()

    @rule()
    def compact(self) -> None:
        self.todo = []
        self._follow(self.agent.compact(keep=1))
        self._rest()

    @rule(level=st.sampled_from(["off", "low", "high"]), policy=st.sampled_from(POLICIES))
    def choose(self, level: str, policy: str) -> None:
        self.agent.set_thinking(level)
        self.agent.workbench.policy = "all" if policy == "never" else "edits"
        self._rest()
        assert f"thinking {level}" in self._line(self.state)

    @rule(is_far=st.booleans(), model=st.sampled_from(["m-1", "m-2"]))
    def use(self, is_far: bool, model: str) -> None:
        self.agent.use(self.other if is_far else self.provider, model)
        self._rest()
        assert part_words("model", self.state, HOME, None).endswith(f"/{model}")

    @rule()
    def name_it(self) -> None:
        try:
            self.agent.rename("heron")
        except AgentshError:
            assert "write" in self.disk.broken
        self._rest()
        assert self.state.saved == ("write" not in self.disk.broken)

    @rule()
    def mend(self) -> None:
        self.disk.broken.clear()

    @invariant()
    def at_rest_the_state_is_a_fresh_report(self) -> None:
        if not self.state.is_known:
            return
        fresh = fold(ChatState(), self.agent.report(), self.now)
        assert self.state == fresh
        assert self._line(self.state) == self._line(fresh)
        assert ("NOT SAVED" in self._line(fresh)) == (not self.agent.report().saved)


TestTalk = Talk.TestCase
TestTalk.settings = settings(max_examples=40, stateful_step_count=10, deadline=None)

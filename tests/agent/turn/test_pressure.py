"""How full the context is, and of what; the endpoint is asked once, and only when it matters."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.abort import Abort
from agentsh.agent.events import Compacted, StepEnd
from agentsh.agent.turn import pressure
from agentsh.agent.turn.pressure import SMALL, Gauge
from agentsh.context.projection import Context, Item
from agentsh.context.tokens import context_tokens, item_sizes, weigh_context
from agentsh.errors import ConnectionFailedError
from agentsh.messages import Text, Usage, UserMessage
from agentsh.providers.base import ModelInfo
from tests.agent.builders import ending, make_agent, run, start_session
from tests.providers.asking import provider_for
from tests.support.endpoint import serve
from tests.support.scripted import ScriptedProvider


def context(tokens: int) -> Context:
    return Context(items=(Item(None, UserMessage((Text("x" * 4 * tokens),))),))


class Listing(ScriptedProvider):
    """Knows its window only once its list was asked for."""

    listed = 0
    refuses = False

    def models(self, abort: Abort | None = None) -> tuple[ModelInfo, ...]:
        self.listed += 1
        if self.refuses:
            raise ConnectionFailedError("no list")
        self._window = 10_000
        return ()


def test_a_window_that_was_given_is_the_one() -> None:
    gauge = Gauge(ScriptedProvider("", window=500), "m", window=1000)
    read = gauge.read(context(10))
    assert (read.tokens, read.window, read.must_compact) == (10, 1000, False)


def test_what_is_known_of_the_model_comes_next() -> None:
    assert Gauge(ScriptedProvider("", window=500), "m").read(context(10)).window == 500


def test_the_list_is_asked_for_once_and_not_while_the_context_is_small() -> None:
    provider = Listing("")
    gauge = Gauge(provider, "m")
    assert gauge.read(context(SMALL)).window is None
    assert provider.listed == 0
    assert gauge.read(context(SMALL + 1)).window == 10_000
    gauge.read(context(SMALL + 2))
    assert provider.listed == 1


def test_a_list_that_fails_is_no_error_and_not_asked_again() -> None:
    provider = Listing("")
    provider.refuses = True
    gauge = Gauge(provider, "m")
    assert gauge.read(context(SMALL + 1)).window is None
    assert gauge.read(context(SMALL + 2)).window is None
    assert provider.listed == 1


def test_a_server_of_ones_own_is_asked_what_it_holds_of_a_known_model(tmp_path: Path) -> None:
    memory = tmp_path / "learned.json"
    with serve(models=[{"id": "qwen2.5-coder", "meta": {"n_ctx": 4096}}]) as server:
        gauge = Gauge(provider_for(server.base_url, memory=memory), "qwen2.5-coder")
        assert gauge.read(context(SMALL)).window == 32_768
        assert gauge.read(context(SMALL + 1)).window == 4096
        gauge.read(context(SMALL + 2))
        # the next process knows it from the start
        later = Gauge(provider_for(server.base_url, memory=memory), "qwen2.5-coder")
        assert later.known_window() == 4096

        assert (len(server.listings), server.requests) == (1, [])


def test_a_server_far_away_is_not_asked_for_what_a_table_says() -> None:
    info = provider_for("https://api.example.com/v1").model_info("qwen2.5-coder")
    assert (info.context_window, info.may_hold_less) == (32_768, False)


def test_room_for_the_answer_counts() -> None:
    assert not Gauge(ScriptedProvider(""), "m", window=1000).read(context(700)).must_compact
    assert Gauge(ScriptedProvider(""), "m", window=1000).read(context(850)).must_compact
    asked = Gauge(ScriptedProvider(""), "m", window=1000, max_tokens=600)
    assert asked.read(context(450)).must_compact
    reserved = Gauge(ScriptedProvider(""), "m", window=1000, reserve=600)
    assert reserved.read(context(450)).must_compact


def test_switched_off_it_never_asks_for_room() -> None:
    gauge = Gauge(ScriptedProvider(""), "m", window=1000, auto=False)
    assert not gauge.read(context(2000)).must_compact


def test_one_and_the_same_context_is_weighed_once() -> None:
    gauge = Gauge(ScriptedProvider(""), "m")
    one = context(100)
    assert gauge.weigh(one) == context_tokens(one) == 100
    assert gauge._weighed is not None
    kept = gauge._weighed
    gauge.weigh(one)
    assert gauge._weighed is kept
    assert gauge.weigh(context(200)) == 200


def test_a_nearly_full_context_is_compacted_before_it_is_sent(tmp_path: Path) -> None:
    measured = Usage(input=120, output=2000, total_tokens=2120)
    provider = ScriptedProvider("x" * 8000, "the summary", "end", usage=measured)
    agent = make_agent(
        start_session(tmp_path), provider, tmp_path, tools=[], context_window=2600, keep=50
    )
    run(agent, "y" * 400)
    events = run(agent, "next")
    assert ending(events).reason == "completed"
    (made,) = [e for e in events if isinstance(e, Compacted)]
    assert made.entry is not None
    assert made.tokens_after < made.tokens_before
    step = next(e for e in events if isinstance(e, StepEnd))
    assert step.context_window == 2600


def test_where_a_server_counts_less_than_we_a_compaction_still_says_less_than_before(
    tmp_path: Path,
) -> None:
    """Before it was measured, what is behind it was not yet: one scale for both."""
    # an estimate of 6,000 tokens, of which the server counts 3,000
    measured = Usage(input=2950, output=50, total_tokens=3000)
    provider = ScriptedProvider("x" * 200, "summed up: " + "s" * 8000, usage=measured)
    agent = make_agent(start_session(tmp_path), provider, tmp_path, tools=[], keep=3000)
    run(agent, "y" * 12_000)
    run(agent, "z" * 12_000)

    events = list(agent.compact())

    (made,) = [e for e in events if isinstance(e, Compacted)]
    assert 2000 < made.tokens_after < made.tokens_before == 3000
    assert agent.report().context_tokens == made.tokens_after


def test_switched_off_nothing_is_compacted(tmp_path: Path) -> None:
    provider = ScriptedProvider("x" * 8000, "end")
    agent = make_agent(
        start_session(tmp_path), provider, tmp_path, context_window=2600, auto_compact=False
    )
    run(agent)
    assert not any(isinstance(e, Compacted) for e in run(agent))


def test_a_window_learned_within_the_turn_bounds_the_summary_of_that_turn(tmp_path: Path) -> None:
    session = start_session(tmp_path)
    long = make_agent(session, ScriptedProvider("x" * 8000), tmp_path, tools=[])
    for _ in range(12):
        run(long, "y" * 8000)
    provider = Listing("the summary", "end")
    run(make_agent(session, provider, tmp_path, tools=[]), "next")
    asked = provider.bodies[0]
    # half of the window: a transcript; the conversation itself would never have fitted
    assert len(asked) // 4 < 10_000
    assert len(provider.requests[0].messages) == 1


def test_compact_by_command_asks_for_the_window_first(tmp_path: Path) -> None:
    session = start_session(tmp_path)
    long = make_agent(session, ScriptedProvider("x" * 8000), tmp_path, tools=[])
    for _ in range(12):
        run(long, "y" * 8000)
    provider = Listing("the summary")
    list(make_agent(session, provider, tmp_path, tools=[]).compact())
    assert provider.listed == 1
    assert len(provider.bodies[0]) // 4 < 10_000


@given(st.lists(st.lists(st.integers(0, 60), max_size=12), max_size=8))
def test_a_context_that_grew_or_changed_weighs_what_it_weighs_anew(
    steps: list[list[int]],
) -> None:
    """Growth by each list; one that begins with 0 stands for a whole new context instead."""
    gauge = Gauge(ScriptedProvider(""), "m")
    items: tuple[Item, ...] = ()
    for step in steps:
        new = tuple(Item(None, UserMessage((Text("x" * size),))) for size in step)
        items = new if step and step[0] == 0 else (*items, *new)
        assert gauge.weight(Context(items=items)) == weigh_context(Context(items=items))
        items = items[:-1]  # the last is taken back
        assert gauge.weight(Context(items=items)) == weigh_context(Context(items=items))


def test_an_item_is_estimated_once_however_often_the_context_grows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    estimated: list[Item] = []

    def counted(items: Iterable[Item]) -> list[int]:
        estimated.extend(taken := tuple(items))
        return item_sizes(taken)

    monkeypatch.setattr(pressure, "item_sizes", counted)
    gauge = Gauge(ScriptedProvider(""), "m")
    items = tuple(Item(None, UserMessage((Text("x" * size),))) for size in range(20))
    for count in range(1, 21):
        gauge.read(Context(items=items[:count]))
    assert tuple(estimated) == items

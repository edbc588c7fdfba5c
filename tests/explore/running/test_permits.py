"""Nobody goes out beyond a limit, nobody while a server said to wait, and everybody is answered."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from agentsh.explore.running.permits import (
    MOST_HELD,
    SHARED_TOKENS,
    EndpointBounds,
    Go,
    No,
    PermitBook,
    PermitNeed,
)

Requests = list[tuple[int, float]]


def book(
    *, cost: float | None = None, tokens: int | None = None, lead: float = 0.0, **bounds: int
) -> PermitBook:
    return PermitBook({"e": EndpointBounds(**bounds)}, cost=cost, tokens=tokens, lead=lead)


def need(n: int, tokens: int = 10, cost: float = 1.0, group: str | None = None) -> PermitNeed:
    return PermitNeed(n, "e", tokens, cost, group)


def going(permits: PermitBook, now: float) -> list[int]:
    return [decision.n for decision in permits.decide(now)[0] if isinstance(decision, Go)]


@given(
    st.lists(st.tuples(st.integers(1, 50), st.floats(0.1, 5.0)), min_size=1, max_size=30),
    st.integers(1, 200),
    st.randoms(),
)
def test_what_is_spent_and_under_way_never_goes_over_a_limit_where_estimates_are_true(
    requests: Requests, limit: int, chance: random.Random
) -> None:
    permits = book(tokens=limit)
    sizes = {n: tokens for n, (tokens, _) in enumerate(requests)}
    for n, (tokens, cost) in enumerate(requests):
        permits.ask(need(n, tokens, cost), 0.0)
    under_way: set[int] = set()
    answered: set[int] = set()
    for _ in range(3 * len(requests) + 3):
        for decision in permits.decide(0.0)[0]:
            answered.add(decision.n)
            if isinstance(decision, Go):
                under_way.add(decision.n)
            else:
                assert permits.spent_tokens + sizes[decision.n] > limit
        assert permits.spent_tokens + sum(sizes[n] for n in under_way) <= limit
        if under_way:
            n = chance.choice(sorted(under_way))
            under_way.remove(n)
            permits.used(n, 0.0, sizes[n])

    assert answered == set(sizes)


def test_a_refusal_holds_all_of_its_endpoint_then_one_goes_first() -> None:
    permits = book()
    for n in range(4):
        permits.ask(need(n), 0.0)
    assert going(permits, 0.0) == [0, 1, 2, 3]

    permits.refused(0, 3.0, 10.0)
    for n in (0, 4, 5):
        permits.ask(need(n), 10.0)
    for n in (1, 2, 3):
        permits.used(n, 0.0, 0)

    assert permits.decide(12.9) == ([], 13.0)
    assert going(permits, 13.0) == [0]
    permits.used(0, 0.0, 0)
    assert going(permits, 13.1) == [4, 5]


def test_the_number_under_way_is_halved_and_grows_by_one_in_ten_seconds() -> None:
    permits = book(requests=8)
    for n in range(20):
        permits.ask(need(n), 0.0)
    assert len(going(permits, 0.0)) == 8

    permits.refused(0, 1.0, 0.0)
    for n in range(1, 8):
        permits.used(n, 0.0, 0)

    [first] = going(permits, 1.0)
    permits.used(first, 0.0, 0)
    assert len(going(permits, 1.0)) == 4
    assert len(going(permits, 11.0)) == 1


def test_requests_and_tokens_of_a_minute_are_counted() -> None:
    permits = book(requests_per_minute=2, tokens_per_minute=100)
    for n in range(3):
        permits.ask(need(n, 40), 0.0)
    assert going(permits, 0.0) == [0, 1]
    permits.used(0, 0.0, 0)
    permits.used(1, 0.0, 0)

    assert permits.decide(30.0)[1] == 60.0
    assert going(permits, 60.0) == [2]


def test_one_of_a_group_asks_first_until_its_answer_begins_or_the_lead_is_over() -> None:
    permits = book(lead=20.0)
    for n in range(3):
        permits.ask(need(n, SHARED_TOKENS, group="g"), 0.0)
    permits.ask(need(9), 0.0)
    assert going(permits, 0.0) == [0, 9]
    assert permits.decide(5.0) == ([], 20.0)

    permits.began(0)
    assert going(permits, 5.0) == [1, 2]

    permits = book(lead=20.0)
    for n in range(2):
        permits.ask(need(n, SHARED_TOKENS, group="g"), 0.0)
    assert going(permits, 0.0) == [0]
    assert going(permits, 20.0) == [1]


def test_who_has_waited_too_long_is_told_so_and_it_is_no_limit() -> None:
    permits = book(requests=1)
    permits.ask(need(0), 0.0)
    permits.ask(need(1), 0.0)
    permits.decide(0.0)

    [decision] = permits.decide(MOST_HELD)[0]

    assert isinstance(decision, No)
    assert (decision.n, decision.is_limit) == (1, False)


def test_a_runner_that_is_gone_leaves_nothing_under_way() -> None:
    permits = book(cost=1.5)
    permits.ask(need(0), 0.0)
    permits.decide(0.0)
    permits.ask(need(1), 0.0)
    assert permits.decide(0.0)[0] == []

    permits.gone(0)

    assert going(permits, 0.0) == [1]


def test_a_short_beginning_is_not_worth_a_wait() -> None:
    permits = book(lead=20.0)
    for n in range(3):
        permits.ask(need(n, SHARED_TOKENS - 1, group="g"), 0.0)

    assert going(permits, 0.0) == [0, 1, 2]


def test_how_long_branches_waited_and_how_many_would_have_done_is_said() -> None:
    permits = book(requests=2, lead=20.0)
    for n in range(4):
        permits.ask(need(n), 0.0)
    assert going(permits, 0.0) == [0, 1]
    for n in (0, 1):
        permits.used(n, 0.0, 0)
    assert going(permits, 10.0) == [2, 3]
    for n in (2, 3):
        permits.used(n, 0.0, 0)
    permits.decide(20.0)

    assert [*permits.wait_words(4)] == ["branches waited 20 s in all for e; -j 3 would have done"]


def test_waiting_for_the_first_of_a_group_is_no_wait_for_the_endpoint() -> None:
    permits = book(lead=20.0)
    for n in range(2):
        permits.ask(need(n, SHARED_TOKENS, group="g"), 0.0)
    permits.decide(0.0)
    permits.decide(20.0)

    assert [*permits.wait_words(2)] == []


def test_a_wait_is_never_shorter_than_the_server_said_and_not_the_same_everywhere() -> None:
    for chance, until in ((0.0, 30.0), (0.5, 31.0), (1.0, 32.0)):
        permits = PermitBook({}, cost=None, tokens=None, lead=0.0, chance=lambda: chance)  # noqa: B023
        permits.ask(need(0), 0.0)
        permits.decide(0.0)
        permits.refused(0, 30.0, 0.0)
        permits.ask(need(0), 0.0)

        assert permits.decide(0.0) == ([], until)


def test_who_waits_behind_a_closed_endpoint_holds_nobody_of_another_up() -> None:
    bounds = {"e": EndpointBounds(requests=1)}
    permits = PermitBook(bounds, cost=None, tokens=None, lead=0.0)
    for n in range(3):
        permits.ask(need(n), 0.0)
    permits.ask(PermitNeed(9, "other", 10, 1.0), 0.0)

    assert going(permits, 0.0) == [0, 9]
    permits.used(0, 0.0, 10)
    assert going(permits, 1.0) == [1]

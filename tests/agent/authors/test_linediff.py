from __future__ import annotations

from difflib import SequenceMatcher

from hypothesis import given
from hypothesis import strategies as st

from agentsh.agent.authors.linediff import kept_lines

SMALL = st.lists(st.sampled_from((b"a", b"b", b"", b"longer", b"}")), max_size=14)
UNIQUE = st.lists(st.integers(0, 40).map(lambda n: b"line %d" % n), max_size=20, unique=True)


def joined(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


@given(old=SMALL, new=SMALL)
def test_what_is_kept_stands_on_both_sides_and_in_order(old: list[bytes], new: list[bytes]) -> None:
    at_old = at_new = 0
    for i, j, n in kept_lines(joined(old), joined(new)):
        assert i >= at_old
        assert j >= at_new
        assert n > 0
        assert old[i : i + n] == new[j : j + n]
        at_old, at_new = i + n, j + n
    assert at_old <= len(old)
    assert at_new <= len(new)


@given(kept=UNIQUE, cut=st.sets(st.integers(0, 19)), added=st.sets(st.integers(0, 19)))
def test_of_lines_that_are_all_different_each_one_that_stayed_is_found(
    kept: list[bytes], cut: set[int], added: set[int]
) -> None:
    new: list[bytes] = []
    for number, line in enumerate(kept):
        if number in added:
            new.append(b"new %d" % number)
        if number not in cut:
            new.append(line)
    stayed = sum(number not in cut for number in range(len(kept)))

    assert sum(n for _, _, n in kept_lines(joined(kept), joined(new))) == stayed


@given(old=UNIQUE, new=UNIQUE)
def test_of_moved_lines_as_many_stay_as_can(old: list[bytes], new: list[bytes]) -> None:
    found = sum(n for _, _, n in kept_lines(joined(old), joined(new)))
    least = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()

    assert found >= sum(block.size for block in least)


def test_many_equal_lines_cost_no_more_than_their_number() -> None:
    old = [b"same", b"other"] * 3000
    new = [*old[:2000], b"new", *old[2000:], b"same"]

    assert sum(n for _, _, n in kept_lines(joined(old), joined(new))) >= 5990

"""Which lines of a text are still there in another one: patience, then pairs, then difflib. Pure.

What begins and ends the same, and what goes on the same after a small difference, is set aside in
bytes, so that the cost follows the changes and not the file. Elsewhere, lines that stand once on
both sides are anchors (their longest common order); where there are none, lines that stand equally
often; what is then left, and small, is difflib's.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final, TypeAlias

KeptRun: TypeAlias = tuple[int, int, int]
"""So many lines from the first number on are those from the second number on."""

_NEAR: Final = 12
"""Lines after a difference, among which both are looked at for where they go on alike …"""
_RUN: Final = 4
"""… for so many lines."""
_MOST_COMPARED: Final = 200_000
"""Pairs of lines, where nothing tells them apart but their order."""


def kept_lines(old: bytes, new: bytes) -> list[KeptRun]:
    """In order; every line of both texts ends with LF."""
    top = _line_start(old, _common_start(old, 0, new, 0, min(len(old), len(new))))
    tail = _common_end(old, new, min(len(old), len(new)) - top)
    old_end, new_end = _whole_lines(old, new, tail)
    blocks: list[KeptRun] = []
    i = j = x = y = 0  # lines and bytes of both that are done
    while True:
        same = _common_start(old, x, new, y, min(old_end - x, new_end - y))
        end = _line_start(old, x + same) if same else x
        count = old.count(b"\n", x, end)
        blocks.append((i, j, count))
        i, j, y, x = i + count, j + count, y + end - x, end
        if x == old_end or y == new_end:
            break
        u, v = _again(old, x, old_end, new, y, new_end)
        a, b = _split(old, x, u), _split(new, y, v)
        blocks += [(i + p, j + q, n) for p, q, n in _matched(a, b)]
        i, j, x, y = i + len(a), j + len(b), u, v
    i, j = i + old.count(b"\n", x, old_end), j + new.count(b"\n", y, new_end)
    blocks.append((i, j, old.count(b"\n", old_end)))
    return _joined([block for block in blocks if block[2]])


def _again(old: bytes, x: int, old_end: int, new: bytes, y: int, new_end: int) -> tuple[int, int]:
    """Where both go on alike near by, with a line that each has once; else the ends."""
    olds, news = _starts(old, x, old_end), _starts(new, y, new_end)
    for far in range(len(olds) + len(news) - 2 * _RUN):
        for p in range(max(0, far - len(news) + _RUN + 1), min(far + 1, len(olds) - _RUN)):
            q = far - p
            u, v = olds[p], news[q]
            run = old[u : olds[p + _RUN]]
            if new[v : news[q + _RUN]] == run and _is_certain(old, new, run):
                return u, v
    return old_end, new_end


def _starts(text: bytes, offset: int, end: int) -> list[int]:
    """Where the next lines begin, and where the last of them ends."""
    starts = [offset]
    while offset < end and len(starts) <= _NEAR + _RUN:
        offset = text.index(b"\n", offset) + 1
        starts.append(offset)
    return starts


def _is_certain(old: bytes, new: bytes, run: bytes) -> bool:
    for line in run.split(b"\n"):
        if line.strip():
            alone = b"\n" + line + b"\n"
            if all(t.count(alone) + t.startswith(alone[1:]) == 1 for t in (old, new)):
                return True
    return False


def _split(text: bytes, start: int, end: int) -> list[bytes]:
    return text[start:end].split(b"\n")[:-1]


def _common_start(a: bytes, x: int, b: bytes, y: int, most: int) -> int:
    """How many bytes are the same from there on, at most so many."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if a[x + low : x + middle] == b[y + low : y + middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_end(a: bytes, b: bytes, most: int) -> int:
    """The same from the end, at most so many."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if a[len(a) - middle : len(a) - low] == b[len(b) - middle : len(b) - low]:
            low = middle
        else:
            high = middle - 1
    return low


def _line_start(text: bytes, offset: int) -> int:
    return text.rfind(b"\n", 0, offset) + 1


def _whole_lines(old: bytes, new: bytes, tail: int) -> tuple[int, int]:
    """Where the common end begins in both, from the first line on that is whole in both."""
    starts = (len(old) - tail, len(new) - tail)
    if all(
        start == 0 or text[start - 1 : start] == b"\n"
        for text, start in zip((old, new), starts, strict=True)
    ):
        return starts
    skipped = old.find(b"\n", starts[0]) + 1 - starts[0]
    if skipped <= 0:
        return len(old), len(new)
    return starts[0] + skipped, starts[1] + skipped


def _matched(a: Sequence[bytes], b: Sequence[bytes]) -> list[KeptRun]:
    runs: list[KeptRun] = []
    waiting = [(0, len(a), 0, len(b))]
    while waiting:
        i, i_end, j, j_end = waiting.pop()
        i, j, n = _forward(a, b, i, i_end, j, j_end)
        if n:
            runs.append((i - n, j - n, n))
        n = _backward(a, b, i, i_end, j, j_end)
        if n:
            runs.append((i_end - n, j_end - n, n))
        i_end, j_end = i_end - n, j_end - n
        if i == i_end or j == j_end:
            continue
        anchors = _anchors(a[i:i_end], b[j:j_end])
        if anchors is None:
            runs += [(i + x, j + y, m) for x, y, m in _compared(a[i:i_end], b[j:j_end])]
            continue
        if not anchors:
            continue
        places = [(i + x, j + y) for x, y in anchors]
        runs += [(x, y, 1) for x, y in places]
        ends = [(i - 1, j - 1), *places, (i_end, j_end)]
        waiting += [(x + 1, u, y + 1, v) for (x, y), (u, v) in pairwise(ends)]
    return _joined(sorted(runs))


def _forward(
    a: Sequence[bytes], b: Sequence[bytes], i: int, i_end: int, j: int, j_end: int
) -> tuple[int, int, int]:
    start = i
    while i < i_end and j < j_end and a[i] == b[j]:
        i, j = i + 1, j + 1
    return i, j, i - start


def _backward(
    a: Sequence[bytes], b: Sequence[bytes], i: int, i_end: int, j: int, j_end: int
) -> int:
    n = 0
    while i_end - n > i and j_end - n > j and a[i_end - n - 1] == b[j_end - n - 1]:
        n += 1
    return n


def _anchors(a: Sequence[bytes], b: Sequence[bytes]) -> list[tuple[int, int]] | None:
    """Pairs in the order of both; [] where nothing is common, None where difflib must tell."""
    in_a, in_b = Counter(a), Counter(b)
    common = in_a.keys() & in_b.keys()
    if not common:
        return []
    chosen = {line for line in common if in_a[line] == in_b[line] == 1}
    if not chosen:
        if len(a) * len(b) <= _MOST_COMPARED:
            return None
        alike = {line for line in common if in_a[line] == in_b[line]}
        least = min(in_a[line] + in_b[line] for line in common)
        chosen = alike or {line for line in common if in_a[line] + in_b[line] == least}
    where: dict[tuple[bytes, int], int] = dict(_numbered(b, chosen))
    pairs = [(i, where[key]) for key, i in _numbered(a, chosen) if key in where]
    return _rising(pairs)


def _numbered(
    lines: Sequence[bytes], chosen: set[bytes]
) -> Iterator[tuple[tuple[bytes, int], int]]:
    """Each chosen line with how many of its kind stand before it."""
    seen: Counter[bytes] = Counter()
    for number, line in enumerate(lines):
        if line in chosen:
            yield (line, seen[line]), number
            seen[line] += 1


def _rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The most pairs whose second numbers rise as the first ones do."""
    if all(x[1] < y[1] for x, y in pairwise(pairs)):
        return pairs
    ends: list[int] = []
    last_pairs: list[int] = []
    above: list[int] = []
    for number, (_, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        above.append(last_pairs[length - 1] if length else -1)
        if length == len(ends):
            ends.append(j)
            last_pairs.append(number)
        else:
            ends[length] = j
            last_pairs[length] = number
    chain = []
    number = last_pairs[-1] if last_pairs else -1
    while number >= 0:
        chain.append(pairs[number])
        number = above[number]
    return chain[::-1]


def _compared(a: Sequence[bytes], b: Sequence[bytes]) -> list[KeptRun]:
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    return [(block.a, block.b, block.size) for block in matcher.get_matching_blocks() if block.size]


def _joined(blocks: list[KeptRun]) -> list[KeptRun]:
    result: list[KeptRun] = []
    for i, j, n in blocks:
        if result and result[-1][0] + result[-1][2] == i and result[-1][1] + result[-1][2] == j:
            x, y, m = result[-1]
            result[-1] = (x, y, m + n)
        else:
            result.append((i, j, n))
    return result

"""Hypothesis strategies: every way in which the same bytes or events may arrive."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import strategies as st


def splits(data: bytes) -> st.SearchStrategy[list[bytes]]:
    """The data in pieces, cut anywhere, empty pieces included."""
    cuts = st.lists(st.integers(0, len(data)), max_size=12).map(sorted)
    return cuts.map(lambda at: [data[a:b] for a, b in pairwise([0, *at, len(data)])])


def one_by_one(data: bytes) -> list[bytes]:
    return [data[i : i + 1] for i in range(len(data))]


def chunked(pieces: list[bytes], extension: bytes = b"") -> bytes:
    """An HTTP body in chunked framing."""
    framed = [b"%x%s\r\n%s\r\n" % (len(p), extension, p) for p in pieces if p]
    return b"".join(framed) + b"0\r\n\r\n"

"""Bodies that came packed though nobody asked for it: gzip and deflate, as they come. Pure.

agentsh asks for `identity`; a proxy on the way may pack all the same. Anything else is given as it
is, and will not look like an answer. Read next: wire.py.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

GZIP = 16 + 15
"""zlib's window bits for a gzip header."""


def unpacked(blocks: Iterable[bytes], packing: str) -> Iterator[bytes]:
    """The blocks, unpacked by what `Content-Encoding` names. Raises OSError: not packed so."""
    kind = packing.strip().lower()
    if kind not in ("gzip", "x-gzip", "deflate"):
        yield from blocks
        return
    yield from _inflated(blocks, GZIP if kind != "deflate" else 15)


def _inflated(blocks: Iterable[bytes], bits: int) -> Iterator[bytes]:
    stream = zlib.decompressobj(bits)
    try:
        for block in blocks:
            if data := stream.decompress(block):
                yield data
        if data := stream.flush():
            yield data
    except zlib.error as e:
        raise OSError(f"the packed answer is damaged: {e}") from e

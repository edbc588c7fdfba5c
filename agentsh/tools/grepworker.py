"""A child process that searches files with Python's `re`: for lack of ripgrep, or of what it can.

Why a process: a regular expression can take for ever (`(a+)+$`), `re` cannot be interrupted and
holds the interpreter's lock meanwhile; a child can be killed. It reads requests, one JSON object a
line, and answers each with one JSON line per file that has hits and a last `{"done": true}`. It
imports the pattern modules and little else. The other side: engines.py.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeAlias

from agentsh.tools.greplines import MAX_FILE, Hits, Line, is_binary, shown_line, text_bytes
from agentsh.tools.pattern import Char, Node, Sequence
from agentsh.tools.pattern_forms import python_forms
from agentsh.tools.pattern_parser import literal_pattern, parse_pattern

BOOT: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); sys.path += sys.argv[2:];"
    "from agentsh.tools.grepworker import serve; serve()"
)

Search: TypeAlias = Callable[[str], re.Match[str] | None]


def tree_of(pattern: str, *, literal: bool, ignore_case: bool) -> Node:
    """The tree that both sides make of the same arguments. Raises PatternError."""
    make = literal_pattern if literal else parse_pattern
    return make(pattern, ignore_case=ignore_case)


class Matcher:
    """One pattern, ready to search the bytes of files."""

    def __init__(self, node: Node) -> None:
        """Raises re.error."""
        ascii_form, wide = python_forms(node)
        self._ascii: Search = ascii_form.search
        self._wide: Search = wide.search
        self._needle = _needle(node)

    def lines(self, data: bytes, *, context: int, limit: int) -> tuple[Line, ...]:
        """The first `limit` matching lines of a text, and the lines around them."""
        body = text_bytes(data).replace(b"\0", b"\n")
        if self._needle is not None and self._needle not in body:
            return ()
        texts = body.decode("utf-8", "surrogateescape").split("\n")
        if not texts[-1]:
            texts.pop()
        found = list(self._matches(texts, limit))
        starts = dict(found)
        numbers = sorted(
            {
                near
                for at, _ in found
                for near in range(max(0, at - context), min(len(texts), at + context + 1))
            }
        )
        return tuple(
            Line(at + 1, at in starts, _shown(texts[at], starts.get(at, 0), at + 1))
            for at in numbers
        )

    def _matches(self, texts: list[str], limit: int) -> Iterator[tuple[int, int]]:
        for at, text in enumerate(texts):
            match = (self._ascii if text.isascii() else self._wide)(text)
            if match is not None:
                yield at, match.start()
                limit -= 1
                if not limit:
                    return


def _shown(text: str, start: int, number: int) -> str:
    before = text[:start].encode("utf-8", "surrogateescape")
    return shown_line(text.encode("utf-8", "surrogateescape"), len(before), number)


def _needle(node: Node) -> bytes | None:
    """Bytes that a match must hold, where the pattern is a plain text."""
    if not isinstance(node, Sequence):
        return None
    codes = [part.code for part in node.parts if isinstance(part, Char) and not part.fold]
    if len(codes) < len(node.parts):
        return None
    return "".join(map(chr, codes)).encode("utf-8")


def search_files(matcher: Matcher, files: list[str], *, context: int, limit: int) -> Iterator[Hits]:
    for at, name in enumerate(files):
        try:
            with Path(name).open("rb") as file:
                data = file.read(MAX_FILE + 1)
        except OSError:
            continue
        if len(data) > MAX_FILE or is_binary(data):
            continue
        lines = matcher.lines(data, context=context, limit=limit)
        if lines:
            yield Hits(at, lines)


def serve() -> None:
    """Answer requests until stdin ends."""
    matcher: Matcher | None = None
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if matcher is None:
            node = tree_of(
                request["pattern"],
                literal=request["literal"],
                ignore_case=request["ignore_case"],
            )
            matcher = Matcher(node)
        files = [os.fsdecode(name.encode("latin-1")) for name in request["files"]]
        found = search_files(matcher, files, context=request["context"], limit=request["limit"])
        for hits in found:
            _tell(
                {"file": hits.file, "lines": [[n.number, n.is_match, n.text] for n in hits.lines]}
            )
        _tell({"done": True})


def _tell(value: dict[str, object]) -> None:
    sys.stdout.buffer.write(json.dumps(value).encode("ascii") + b"\n")
    sys.stdout.buffer.flush()

"""A child process that searches files with Python's `re`: for lack of ripgrep, or of what it can.

Why a process: a regular expression can take for ever (`(a+)+$`), `re` cannot be interrupted and
holds the interpreter's lock meanwhile; a child can be killed. It reads requests, one JSON object a
line, and answers each with one JSON line per file that has hits or is skipped, and with a last
`{"done": true}`. It imports little. The other side: engines.py.
"""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from collections.abc import Iterator
from typing import Final

from agentsh.files import TooLargeError, read_foreign
from agentsh.tools.search.greplines import (
    MAX_SEARCHED_FILE,
    GrepLine,
    Hits,
    Skipped,
    is_binary,
    shown_line,
    spellings,
    text_bytes,
)

BOOT: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); sys.path += sys.argv[2:];"
    "from agentsh.tools.search.grepworker import serve; serve()"
)


def compiled(pattern: str, *, literal: bool, ignore_case: bool) -> re.Pattern[str]:
    """The pattern as Python reads it. Raises re.error, OverflowError, RecursionError."""
    forms = spellings(pattern, literal=literal)
    whole = "|".join(map(re.escape, forms)) if literal else "|".join(forms)
    with warnings.catch_warnings():  # of what a later Python may read otherwise
        warnings.simplefilter("ignore", FutureWarning)
        return re.compile(whole, re.IGNORECASE if ignore_case else 0)


class Matcher:
    """One pattern, ready to search bytes line by line; a CR at a line's end does not count."""

    def __init__(self, pattern: str, *, literal: bool, ignore_case: bool) -> None:
        """Raises what `compiled` raises."""
        self._search = compiled(pattern, literal=literal, ignore_case=ignore_case).search
        is_one = len(spellings(pattern, literal=literal)) == 1
        self._needle = pattern.encode() if literal and not ignore_case and is_one else None

    def lines(self, data: bytes, *, context: int, limit: int) -> tuple[GrepLine, ...]:
        """The first `limit` matching lines of a text, and the lines around them."""
        body = text_bytes(data).replace(b"\0", b"\n")
        if self._needle is not None and self._needle not in body:
            return ()
        texts = body.decode("utf-8", "surrogateescape").split("\n")
        if not texts[-1]:
            texts.pop()
        matches = list(self._matches(texts, limit))
        starts = dict(matches)
        numbers = sorted(
            {
                near
                for number, _ in matches
                for near in range(max(0, number - context), min(len(texts), number + context + 1))
            }
        )
        return tuple(
            GrepLine(
                number + 1,
                number in starts,
                _shown(texts[number], starts.get(number, 0), number + 1),
            )
            for number in numbers
        )

    def _matches(self, texts: list[str], limit: int) -> Iterator[tuple[int, int]]:
        for number, text in enumerate(texts):
            match = self._search(text.removesuffix("\r"))
            if match is not None:
                yield number, match.start()
                limit -= 1
                if not limit:
                    return


def _shown(text: str, start: int, number: int) -> str:
    before = text[:start].encode("utf-8", "surrogateescape")
    return shown_line(text.encode("utf-8", "surrogateescape"), len(before), number)


def search_files(
    matcher: Matcher, files: list[str], *, context: int, limit: int
) -> Iterator[Hits | Skipped]:
    """The hits of each file, or that it was skipped. A file that is gone is neither."""
    for number, name in enumerate(files):
        try:
            data = read_foreign(name, MAX_SEARCHED_FILE, follow=False)
        except FileNotFoundError:
            continue
        except TooLargeError as e:
            yield Skipped(number, "unreadable", f"it has grown beyond {e.most} bytes")
            continue
        except OSError as e:
            yield Skipped(number, "unreadable", e.strerror or str(e))
            continue
        binary = is_binary(data)
        lines = matcher.lines(data, context=context, limit=1 if binary else limit)
        if lines:
            yield Skipped(number, "binary") if binary else Hits(number, lines)


def serve() -> None:
    """Answer requests until stdin ends."""
    matcher: Matcher | None = None
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if matcher is None:
            matcher = Matcher(
                request["pattern"], literal=request["literal"], ignore_case=request["ignore_case"]
            )
        files = [os.fsdecode(name.encode("latin-1")) for name in request["files"]]
        results = search_files(matcher, files, context=request["context"], limit=request["limit"])
        for one in results:
            _tell(_answer(one))
        _tell({"done": True})


def _answer(one: Hits | Skipped) -> dict[str, object]:
    match one:
        case Hits(file, lines):
            return {"file": file, "lines": [[n.number, n.is_match, n.text] for n in lines]}
        case Skipped(file, why, reason):
            return {"file": file, "skipped": why, "reason": reason}


def _tell(value: dict[str, object]) -> None:
    sys.stdout.buffer.write(json.dumps(value).encode("ascii") + b"\n")
    sys.stdout.buffer.flush()

"""What another program's session says, in our words, before it is a session of ours. Values only.

A reader of a foreign format (claude_code.py, codex.py) makes one of these from parsed lines;
importing.py writes it down. Names are the foreign ones: they tell parents from children here and
go nowhere else, least of all into a path.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from msgspec import Struct, field

from agentsh.jsontext import JsonValue
from agentsh.messages import AssistantBlock, Cost, Image, Text, Usage, UserBlock
from agentsh.session.format.entries import Body

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)")


class ForeignEntry(Struct, frozen=True):
    """`parent` None: a root. Parents stand before their children."""

    name: str
    parent: str | None
    time: str
    body: Body


class Foreign(Struct, frozen=True):
    """`leaf`: where that program would go on. `dropped`: what was left out, and how often;
    `joined`: what hangs on another place than the file says. A body that points at an entry
    (`first_kept`, `from_id`) does so by its foreign name."""

    format: str
    id: str
    cwd: str
    time: str
    title: str | None
    entries: tuple[ForeignEntry, ...]
    leaf: str | None
    dropped: Mapping[str, int] = field(default_factory=dict)
    joined: Mapping[str, int] = field(default_factory=dict)


def iso(value: JsonValue, otherwise: str = "") -> str:
    """A foreign time as ours; `otherwise` where it is none."""
    if not isinstance(value, str) or not _TIME.fullmatch(value):
        return otherwise
    try:
        time = datetime.fromisoformat(value).astimezone(UTC)
    except (ValueError, OverflowError):
        return otherwise
    return f"{time:%Y-%m-%dT%H:%M:%S}.{time.microsecond // 1000:03d}Z"


def millis(time: str) -> int:
    """Unix milliseconds of a time that `iso` gave."""
    return int(datetime.fromisoformat(time).timestamp() * 1000) if time else 0


def string(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


def count(value: JsonValue) -> int:
    return value if isinstance(value, int) and 0 <= value < 2**53 else 0


def apart(blocks: Iterable[AssistantBlock]) -> tuple[AssistantBlock, ...]:
    """With a blank line between texts that were said one after the other, whatever lies between."""
    done: list[AssistantBlock] = []
    before: int | None = None
    for block in blocks:
        if isinstance(block, Text) and block.text.strip():
            if before is not None:
                last = done[before]
                assert isinstance(last, Text)
                done[before] = Text(last.text.rstrip("\n") + "\n\n")
            before = len(done)
        done.append(block)
    return tuple(done)


def usage(*, fresh: int, output: int, read: int = 0, written: int = 0, reasoning: int = 0) -> Usage:
    """`fresh`: input that was in no cache."""
    total = fresh + output + read + written
    return Usage(fresh, output, read, written, total, reasoning, Cost())


def data_image(url: str) -> UserBlock:
    """A `data:` URL as an image; anything else as words, since nothing is ever loaded."""
    match = re.fullmatch(r"data:(image/[a-z0-9.+-]{1,40});base64,([A-Za-z0-9+/=\s]*)", url)
    return Image(match[2], match[1]) if match else Text("[an image that is not in the file]")

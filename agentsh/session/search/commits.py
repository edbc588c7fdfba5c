"""Which sessions stood on a commit of git, or made it: their turns' facts say so.

Each file is read once, block by block; only a line that holds the commit is decoded. Writes nothing
and asks no git. It stands alone since it is about stored facts, and the list of sessions, which
needs it, is quick without it. Read next: session/format/facts.py (HeadMoved).
"""

from __future__ import annotations

import re
from pathlib import Path

from agentsh.errors import UsageError
from agentsh.session.format.codec import decode_line
from agentsh.session.format.entries import Custom, Entry
from agentsh.session.format.factcodec import decode_fact, name_of
from agentsh.session.format.facts import HeadMoved, TurnEnded, TurnStarted
from agentsh.session.store.reader import Opener

_SHORTEST = 4
_FAMILIES = tuple(f'"{name_of(kind)}"'.encode() for kind in (TurnStarted, HeadMoved))


def commit_prefix(word: str) -> str:
    """A commit's name or its beginning, as git spells it. Raises UsageError for anything else."""
    prefix = word.lower()
    if not re.fullmatch(rf"[0-9a-f]{{{_SHORTEST},64}}", prefix):
        raise UsageError(
            f"{word[:80]!r} is no commit",
            hint=f"its name, or the first {_SHORTEST} or more digits of it (`git log`)",
        )
    return prefix


def was_at(path: Path, prefix: str, opener: Opener) -> bool:
    """Whether HEAD was there at any time of that session's turns. Raises SessionError, OSError."""
    mark = f'"{prefix}'.encode()
    with opener(path) as source:
        return any(
            mark in line.data
            and any(family in line.data for family in _FAMILIES)
            and _is_of(line.data, prefix)
            for line in source.lines()
        )


def _is_of(line: bytes, prefix: str) -> bool:
    entry = decode_line(line)
    if not isinstance(entry, Entry) or not isinstance(entry.body, Custom):
        return False
    fact = decode_fact(entry.body)
    match fact:
        case TurnStarted(commit=commit) | TurnEnded(commit=commit):
            commits: tuple[str | None, ...] = (commit,)
        case HeadMoved(commit=commit, through=through):
            commits = (commit, *through)
        case _:
            return False
    return any(each is not None and each.startswith(prefix) for each in commits)

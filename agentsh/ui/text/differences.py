"""What differs between two places of a session, as lines for a person. Pure.

`agentsh diff`, the chat's /diff and the tree show the same: the files first, then what was said.
What differs is agent/files/differences.py's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from agentsh.agent.files.differences import Differences
from agentsh.sanitize import safe_line, safe_text
from agentsh.session.format.entries import Entry, MessageBody
from agentsh.session.format.times import local_minute
from agentsh.ui.paper.pages import PageLine
from agentsh.ui.text.views import chat_lines
from agentsh.ui.theme import Role

_SIGNS: Final = {"create": "A", "change": "M", "delete": "D"}
_NAMELESS: Final = "file"
_ROLES: Final[dict[str, Role]] = {"A": "added", "M": "plain", "D": "removed"}


def difference_lines(differences: Differences) -> Iterator[PageLine]:
    """For a person, every line safe to show."""
    yield from file_lines(differences)
    sides = ((differences.a, differences.only_a), (differences.b, differences.only_b))
    for name, (end, entries) in zip("AB", sides, strict=True):
        lines = list(chat_lines(entries, brief=True))
        if not lines:
            continue
        yield PageLine("")
        if _is_line(differences):
            yield PageLine(f"said since{_since(entries)}:", "heading")
            yield PageLine(f"  up to {safe_line(str(end))}", "quiet")
        else:
            yield PageLine(f"said on the way to {name} only{_since(entries)}:", "heading")
            yield PageLine(f"  {name} is {safe_line(str(end))}", "quiet")
        yield from (PageLine(f"  {line}", hang=2) for line in lines)


def file_lines(differences: Differences) -> Iterator[PageLine]:
    """The same of the files alone."""
    if not differences.files:
        yield PageLine(
            "no files differ" if not differences.notices else "files: not known", "quiet"
        )
        return
    words = "files that changed:" if _is_line(differences) else "files, from A to B:"
    yield PageLine(words, "heading")
    for change in differences.files:
        sign = _SIGNS[change.kind]
        yield PageLine(f"  {sign} {safe_line(change.path)}", _ROLES[sign])
    if differences.patch:
        yield from patch_lines(differences.patch)


def patch_lines(patch: str) -> Iterator[PageLine]:
    """A patch of git, each line by its sign; heads of files are no changes."""
    in_head, file = True, ""
    for line in safe_text(patch).split("\n"):
        in_head = line.startswith("diff --git ") or (in_head and not line.startswith("@@"))
        if in_head or line.startswith("@@"):
            file = line.rpartition("/")[2] if line.startswith(("diff --git ", "+++ ")) else file
            yield PageLine(line, "quiet")
        else:
            role: Role = "added" if line[:1] == "+" else "removed" if line[:1] == "-" else "plain"
            yield PageLine(line, role, hang=1, file=file or _NAMELESS)


def _is_line(differences: Differences) -> bool:
    """Whether B lies on the way on from A: two places, and no two ways."""
    return not differences.only_a


def _since(entries: tuple[Entry, ...]) -> str:
    times = [entry.time for entry in entries if isinstance(entry.body, MessageBody)]
    return f", from {local_minute(times[0])} on" if times else ""

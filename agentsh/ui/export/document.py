"""What an export shows of a session, before it is Markdown or a page: entries, path, title. Pure.

Made of entries that have been through the redactor: nothing here goes back to the session.
Read next: markdown.py, html.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from agentsh.jsontext import JsonObject
from agentsh.messages import AssistantMessage, ToolCall, ToolResultMessage
from agentsh.session.format.codec import decode_object
from agentsh.session.format.entries import Entry, EntryId, Label, MessageBody, SessionInfo


class Document(Struct, frozen=True):
    """`entries` in file order; `path` from the root to the leaf."""

    session: str
    cwd: str
    created: str
    entries: tuple[Entry, ...]
    path: tuple[EntryId, ...]
    labels: Mapping[EntryId, str] = field(default_factory=dict)
    name: str | None = None

    @property
    def title(self) -> str:
        return self.name or f"Session {self.session}"

    def on_path(self) -> tuple[Entry, ...]:
        entries = {entry.id: entry for entry in self.entries}
        return tuple(entries[each] for each in self.path)


class Pairs(Struct, frozen=True):
    """Which result belongs to which call, where ids may repeat: each result has one place."""

    results: Mapping[tuple[EntryId, int], Entry]
    """Answer and number of the block → result."""
    placed: frozenset[EntryId]
    """Results that stand at their call."""


def pair_results(entries: Sequence[Entry]) -> Pairs:
    """A result belongs to the first call of its id before it that has none yet."""
    waiting: dict[str, list[tuple[EntryId, int]]] = {}
    results: dict[tuple[EntryId, int], Entry] = {}
    for entry in entries:
        match entry.body:
            case MessageBody(AssistantMessage(content)):
                for number, block in enumerate(content):
                    if isinstance(block, ToolCall):
                        waiting.setdefault(block.id, []).append((entry.id, number))
            case MessageBody(ToolResultMessage(call)) if waiting.get(call):
                results[waiting[call].pop(0)] = entry
            case _:
                continue
    return Pairs(results, frozenset(entry.id for entry in results.values()))


def make_document(lines: Iterable[JsonObject], *, session: str, cwd: str, created: str) -> Document:
    """From the lines of an export; the last one is the leaf."""
    entries: list[Entry] = []
    labels: dict[EntryId, str] = {}
    name: str | None = None
    for line in lines:
        decoded = decode_object(line)
        if not isinstance(decoded, Entry):
            continue
        entries.append(decoded)
        match decoded.body:
            case Label(target, label):
                labels.pop(target, None)
                if label:
                    labels[target] = label
            case SessionInfo(given):
                name = given or None
            case _:
                pass
    return Document(session, cwd, created, tuple(entries), _path(entries), labels, name)


def _path(entries: Sequence[Entry]) -> tuple[EntryId, ...]:
    parents = {entry.id: entry.parent for entry in entries}
    path: list[EntryId] = []
    ancestor = entries[-1].id if entries else None
    while ancestor is not None and ancestor in parents and ancestor not in path[-1:]:
        path.append(ancestor)
        ancestor = parents[ancestor]
    return tuple(reversed(path))

"""A session's tree without some of its entries: what an export or an import takes along.

Every kept entry goes by its line as a JSON value, parents before children, with the nearest kept
ancestor as its parent. What names a left-out entry names another one instead: a label and a branch
summary the nearest kept ancestor, a compaction the first kept entry of the range that it kept (or
itself, for none). So a projection of any kept entry is what it was. Nothing is written here, and
one line is in memory at a time. Read next: pi_export.py, importing.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from typing import Final, TypeAlias

from msgspec import Struct

from agentsh.jsontext import JsonError, JsonObject
from agentsh.messages import OWN_DETAILS
from agentsh.session.file.session import Session
from agentsh.session.format.entries import EntryId
from agentsh.session.format.factcodec import PREFIX
from agentsh.session.format.junk import loads_record
from agentsh.session.format.messagecodec import is_private
from agentsh.session.health.rechain import told_apart

LeaveOut: TypeAlias = Callable[[JsonObject], str | None]
"""Why a line stays behind; None keeps it."""
PRIVATE: Final = "commands for yourself only"


class Kept(Struct, frozen=True):
    """One entry that goes along. `value`: its line, re-linked and without members of ours."""

    id: EntryId
    parent: EntryId | None
    value: JsonObject
    is_changed: bool
    """False: the line says the same as in the file, but maybe for its parent."""


def without_facts(value: JsonObject) -> str | None:
    """Leaves out what only agentsh understands, and only where it was written."""
    kind = value.get("customType")
    if value.get("type") == "custom" and isinstance(kind, str) and kind.startswith(PREFIX):
        return "facts of agentsh"
    return None


def without_private(value: JsonObject) -> str | None:
    """Leaves out our facts, and what a person ran for their own eyes (`!!command`)."""
    return PRIVATE if is_private(value) else without_facts(value)


class Thinned:
    """`only`: the entries that may go along (a path); None: all of the file."""

    def __init__(
        self,
        session: Session,
        *,
        leave_out: LeaveOut = without_facts,
        only: Collection[EntryId] | None = None,
    ) -> None:
        self._session = session
        self._leave_out = leave_out
        self._only = only
        self._nearest: dict[EntryId, EntryId | None] = {}
        """Of each entry that was passed: itself if it is kept, else its nearest kept ancestor."""
        self.left_out: Counter[str] = Counter()
        """Complete once `lines` is used up, as is everything below."""
        self.last: EntryId | None = None

    def lines(self) -> Iterator[Kept]:
        tree = self._session.tree
        for each in tree:
            for entry in self._unpassed(each):
                line = self._pass(entry)
                if line is not None:
                    self.last = line.id
                    yield line

    def nearest(self, entry: EntryId | None) -> EntryId | None:
        """The entry, or what is kept above it."""
        return None if entry is None else self._nearest.get(entry)

    def _unpassed(self, entry: EntryId) -> list[EntryId]:
        """The entry, and before it those of its ancestors that stand behind it in the file."""
        path: list[EntryId] = []
        ancestor: EntryId | None = entry
        while ancestor is not None and ancestor not in self._nearest and ancestor not in path[-1:]:
            path.append(ancestor)
            ancestor = self._session.tree.parent(ancestor)
        path.reverse()
        return path

    def _pass(self, entry: EntryId) -> Kept | None:
        above = self.nearest(self._session.tree.parent(entry))
        if self._only is not None and entry not in self._only:
            self._nearest[entry] = above
            return None
        try:
            line = self._session.raw(entry)
            value = loads_record(told_apart(line, self._session.tree, entry))
        except JsonError:
            value = {}
        why = self._leave_out(value) if value else "lines that could not be read"
        if why is not None:
            self.left_out[why] += 1
            self._nearest[entry] = above
            return None
        self._nearest[entry] = entry
        is_changed = _without_ours(value)
        is_changed = self._rename(entry, value) or is_changed
        value["parentId"] = above
        return Kept(entry, above, value, is_changed)

    def _rename(self, entry: EntryId, value: JsonObject) -> bool:
        """Let what names other entries name kept ones. True where something changed."""
        match value.get("type"):
            case "label":
                return self._name(value, "targetId", None)
            case "branch_summary":
                return self._name(value, "fromId", "root")
            case "compaction":
                return self._keep_from(entry, value)
            case _:
                return False

    def _name(self, value: JsonObject, member: str, otherwise: str | None) -> bool:
        named = value.get(member)
        if not isinstance(named, str) or named not in self._nearest:
            return False
        new = self._nearest[EntryId(named)] or otherwise
        if new is None or new == named:
            return False
        value[member] = new
        return True

    def _keep_from(self, entry: EntryId, value: JsonObject) -> bool:
        """The kept range begins where it did, or at the next kept entry of the path."""
        first = value.get("firstKeptEntryId")
        if not isinstance(first, str) or self._nearest.get(EntryId(first)) == first:
            return False
        begin = entry
        ancestor = self._session.tree.parent(entry)
        while ancestor is not None:
            if self._nearest.get(ancestor) == ancestor:
                begin = ancestor
            if ancestor == first:
                value["firstKeptEntryId"] = begin
                return True
            ancestor = self._session.tree.parent(ancestor)
        return False  # no ancestor: it keeps nothing, here as there


def _without_ours(value: JsonObject) -> bool:
    """Take out the stamp, and what we keep in `details`; True where there was any.

    Of a compaction that is what was in force, allowed rules included; of a result, the state of a
    file on this machine.
    """
    is_ours = value.pop("ash", None) is not None
    message = value.get("message")
    for holder in (value, message):
        details = holder.get("details") if isinstance(holder, dict) else None
        if isinstance(holder, dict) and isinstance(details, dict) and OWN_DETAILS in details:
            is_ours = True
            del details[OWN_DETAILS]
            if not details:
                del holder["details"]
    return is_ours

"""What is appended, in the form that an entry holds; pure pieces of session.py.

Facts become `custom` bodies, a compaction without a kept range names itself, planned closings
become entries to look at, a path is searched for what forbids appending, and the leaf has a name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from agentsh.errors import UnsupportedVersionError
from agentsh.session.format.entries import (
    VERSION,
    Body,
    Branch,
    Compaction,
    Custom,
    Entry,
    EntryId,
    Header,
    Stamp,
    places_of,
)
from agentsh.session.format.factcodec import encode_fact, refusal
from agentsh.session.format.facts import Fact
from agentsh.session.format.ids import short_id
from agentsh.session.health.repair import Closing


class Here:
    """The type of CURRENT_LEAF."""


CURRENT_LEAF: Final = Here()
"""The default of a place and of a parent: wherever the leaf is."""


def stored_body(body: Body | Fact, name: EntryId) -> Body:
    """The body of the entry of that name."""
    match body:
        case Compaction(first_kept=None):
            # Pi wants a string; the entry's own id is its way to say "keep none"
            return replace(body, first_kept=name)
        case _:
            return encode_fact(body) if isinstance(body, Fact) else body


def closed(branch: Branch, closings: Sequence[Closing], header: Header) -> Branch:
    """The branch as it will be once the closings are appended; their ids are for show."""
    entries = list(branch.entries)
    for number, each in enumerate(closings, start=1):
        name = EntryId(f"repair-{number}")
        stamp = Stamp(short_id(header.id), 0, None, each.sources, each.request, each.code)
        parent = entries[-1].id if entries else None
        entries.append(Entry(name, parent, each.time, stored_body(each.body, name), stamp))
    return Branch(tuple(entries), branch.complete)


def check_understood(header: Header, path: Sequence[Entry], file: str | None) -> None:
    """Raises UnsupportedVersionError where this program may not append (R44)."""
    why: str | None = None
    if header.version > VERSION:
        why = f"the file has version {header.version}, this program writes {VERSION}"
    else:
        facts = [path[i].body for i in places_of(path, Custom)]
        reasons = (refusal(fact) for fact in facts if isinstance(fact, Custom))
        why = next((reason for reason in reasons if reason is not None), None)
    if why is not None:
        raise UnsupportedVersionError(
            f"{file or 'this session'} was written by a newer version: {why}",
            path=file,
            hint="it can be shown, exported and forked",
        )

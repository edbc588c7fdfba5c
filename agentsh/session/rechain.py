"""Give a stored line another parent, and leave every other byte of it as it is. Pure.

Needed where an entry between the two was left out of a copy: a label, a line that could not be
read (S22). Read next: fork.py, salvage.py.
"""

from __future__ import annotations

import re

from agentsh.jsontext import JsonError, dumps, loads_object
from agentsh.session.entries import EntryId

_PARENT = re.compile(rb'"parentId"\s*:\s*(null|"(?:[^"\\]|\\.)*")')


def with_parent(line: bytes, parent: EntryId | None) -> bytes:
    """The line (without LF) as a child of `parent`. Raises JsonError for what is no JSON object."""
    wanted = {**loads_object(line), "parentId": parent}
    new = dumps(parent)
    for match in _PARENT.finditer(line):
        # the same words may stand in a text or in a nested object: take the one that makes it right
        changed = line[: match.start(1)] + new + line[match.end(1) :]
        try:
            if loads_object(changed) == wanted:
                return changed
        except JsonError:
            continue
    return dumps(wanted)

"""`sessions pin`, `unpin`, `tag`: marks for lists. The session's file is not touched."""

from __future__ import annotations

import re

from msgspec.structs import replace

from agentsh.cli.finding import find_session, find_store
from agentsh.errors import RefusedError, UsageError
from agentsh.session.listing import read_header
from agentsh.session.marks import Mark, Marks

_TAG = re.compile(r"[^\s\x00-\x1f\x7f#-][^\s\x00-\x1f\x7f]{0,59}")


def pin(session: str, *, pinned: bool, session_dir: str | None) -> int:
    """Pin it, or let it go."""
    marks, name = _marked(session, session_dir)
    marks.change(name, lambda mark: replace(mark, pinned=pinned))
    return 0


def tag(session: str, tags: tuple[str, ...], *, remove: bool, session_dir: str | None) -> int:
    """Add the tags, or take them away."""
    bad = [word for word in tags if not _TAG.fullmatch(word)]
    if bad and not remove:
        raise UsageError(
            f"{bad[0][:60]!r} cannot be a tag", hint="a tag has no blanks, and no - or #"
        )
    marks, name = _marked(session, session_dir)

    def new(mark: Mark) -> Mark:
        kept = tuple(word for word in mark.tags if word not in tags)
        return replace(mark, tags=kept if remove else (*kept, *dict.fromkeys(tags)))

    marks.change(name, new)
    return 0


def _marked(session: str, session_dir: str | None) -> tuple[Marks, str]:
    """The store's marks and the session's id. Raises RefusedError for one from elsewhere."""
    file = find_session(session, session_dir)
    store = find_store(session_dir)
    header = read_header(file)
    if header is None or not store.owns(file):
        raise RefusedError(f"{file} is not in the sessions folder", path=str(file))
    return Marks(store.root), header.id

"""`sessions pin`, `unpin`, `tag`: marks for lists. The session's file is not touched."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

from msgspec.structs import replace

from agentsh.cli.parsing.options import SessionDir, SessionWord
from agentsh.cli.parsing.words import Argument, Option
from agentsh.errors import RefusedError, UsageError

if TYPE_CHECKING:
    from agentsh.session.store.marks import Mark, Marks


_TAG = re.compile(r"[^\s\x00-\x1f\x7f#-][^\s\x00-\x1f\x7f]{0,59}")


def pin(session: SessionWord, session_dir: SessionDir = None) -> int:
    """List a session above the others."""
    marks, name = _marked(session, session_dir)
    marks.change(name, lambda mark: replace(mark, pinned=True))
    return 0


def unpin(session: SessionWord, session_dir: SessionDir = None) -> int:
    """List a session in its place again."""
    marks, name = _marked(session, session_dir)
    marks.change(name, lambda mark: replace(mark, pinned=False))
    return 0


def tag(
    session: SessionWord,
    tags: Annotated[list[str], Argument(help="words without blanks")],
    remove: Annotated[bool, Option("--remove", help="take them away")] = False,
    session_dir: SessionDir = None,
) -> int:
    """Give a session tags, or take them away."""
    bad = [word for word in tags if not _TAG.fullmatch(word)]
    if bad and not remove:
        raise UsageError(
            f"{bad[0][:60]!r} cannot be a tag", hint="a tag has no blanks, and no - or #"
        )
    marks, name = _marked(session, session_dir)

    def new(mark: Mark) -> Mark:
        others = tuple(word for word in mark.tags if word not in tags)
        return replace(mark, tags=others if remove else (*others, *dict.fromkeys(tags)))

    marks.change(name, new)
    return 0


def _marked(session: str, session_dir: str | None) -> tuple[Marks, str]:
    """The store's marks and the session's id. Raises RefusedError for one from elsewhere."""
    from agentsh.cli.lookup.finding import find_session, find_store
    from agentsh.session.store.marks import Marks
    from agentsh.session.store.summary import read_header

    file = find_session(session, session_dir)
    store = find_store(session_dir)
    header = read_header(file)
    if header is None or not store.owns(file):
        raise RefusedError(f"{file} is not in the sessions folder", path=str(file))
    return Marks(store.root), header.id

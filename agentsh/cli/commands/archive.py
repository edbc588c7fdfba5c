"""`sessions archive`, `unarchive` and `sessions --archived`."""

from __future__ import annotations

from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Annotated

from agentsh.cli.output import print_lines
from agentsh.cli.parsing.options import SessionDir, SessionWord
from agentsh.cli.parsing.words import Argument
from agentsh.errors import AmbiguousSessionError, RefusedError, SessionNotFoundError
from agentsh.sanitize import safe_line

if TYPE_CHECKING:
    from agentsh.session.store.store import Store


def archive(session: SessionWord, session_dir: SessionDir = None) -> int:
    """Compress a session and take it out of the list; all is kept."""
    from agentsh.cli.lookup.finding import find_session, find_store, ways_on
    from agentsh.session.format.times import iso_time
    from agentsh.session.store.archive import archive_session as pack

    file = find_session(session, session_dir)
    if not find_store(session_dir).owns(file):
        raise RefusedError(f"{file} is not in the sessions folder", path=str(file))
    with ways_on(file, find_store(session_dir)):
        done = pack(file, now=iso_time(time()))
    print_lines([safe_line(f"{done.path}  {done.size} bytes are {done.packed} now")])
    return 0


def unarchive(
    session: Annotated[str, Argument(help="id or unique prefix")],
    session_dir: SessionDir = None,
) -> int:
    """Bring an archived session back, with the same bytes."""
    from agentsh.cli.lookup.finding import find_store
    from agentsh.session.store.archive import unarchive_session as unpack

    print_lines([safe_line(str(unpack(_find(find_store(session_dir), session)).path))])
    return 0


def _archives(store: Store) -> list[Path]:
    from agentsh.session.store.archive import archives

    return archives((store.root, *store.folders()))


def _find(store: Store, word: str) -> Path:
    """By the id in the file's name. Raises SessionNotFound- or AmbiguousSessionError."""
    from agentsh.session.store.naming import id_in_name, is_id_word

    if not is_id_word(word):
        raise SessionNotFoundError(f"no archived session matches {word[:80]!r}")
    ids = {path: id_in_name(path.name.removesuffix(".zst")) or "" for path in _archives(store)}
    matches = [p for p, i in ids.items() if i == word] or [
        p for p, i in ids.items() if i.startswith(word)
    ]
    if not matches:
        raise SessionNotFoundError(
            f"no archived session matches {word!r}", hint="`agentsh sessions --archived --all`"
        )
    if len(matches) > 1:
        names = tuple(sorted(ids[p] for p in matches))
        raise AmbiguousSessionError(
            f"{word!r} matches {len(matches)} archived sessions: {', '.join(names[:5])}",
            matches=names,
        )
    return matches[0]

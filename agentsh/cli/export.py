"""`agentsh export`: a session as Markdown, as one page, or as lines for Pi; redacted unless --raw.

The file is new, 0600, and whole or not there at all; one that exists stays as it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from agentsh.cli.finding import look_at
from agentsh.cli.notices import warn
from agentsh.cli.output import print_lines
from agentsh.errors import RefusedError, SessionNotSavedError, UsageError
from agentsh.session.pilines import Change, PiLines, unchanged
from agentsh.session.session import Session
from agentsh.ui.document import Document, make_document
from agentsh.ui.exporthtml import render_html
from agentsh.ui.exportmarkdown import render_markdown
from agentsh.ui.redact import Redactor
from agentsh.ui.sanitize import safe_line

_RENDERERS: dict[str, Callable[[Document], Iterator[str]]] = {
    ".md": render_markdown,
    ".html": render_html,
}


def export(session: str, to: str, *, raw: bool, at: str | None, session_dir: str | None) -> int:
    """Write it; say on stderr what was taken out and left out."""
    target = Path(to).expanduser().absolute()
    suffix = target.suffix.lower()
    if suffix not in (*_RENDERERS, ".jsonl"):
        raise UsageError(f"cannot export to {to}", hint="the name ends in .md, .html or .jsonl")
    redactor = Redactor()
    with look_at(session, session_dir) as opened:
        place = opened.leaf if at is None else opened.resolve(at)
        lines = PiLines(opened, at=place, whole=at is None)
        change = unchanged if raw else redactor.object
        if suffix == ".jsonl":
            pieces: Iterable[bytes] = lines.bytes(change)
        else:
            document = _document(opened, lines, change)
            pieces = (piece.encode("utf-8", "replace") for piece in _RENDERERS[suffix](document))
        write_new(target, pieces)
    _say(redactor, raw=raw)
    left = {k: n for k, n in lines.thinned.left_out.items() if k.startswith("lines")}
    warn(f"left out: {count} {what}" for what, count in left.items())
    print_lines([safe_line(str(target))])
    return 0


def _document(session: Session, lines: PiLines, change: Change) -> Document:
    header = session.header
    facts = change({"cwd": header.cwd})
    return make_document(
        lines.entries(change),
        session=header.id,
        cwd=str(facts["cwd"]),
        created=header.timestamp,
    )


def _say(redactor: Redactor, *, raw: bool) -> None:
    total = sum(redactor.found.values())
    if raw:
        warn(["nothing was redacted (--raw)"])
    elif total:
        kinds = ", ".join(f"{kind}: {count}" for kind, count in sorted(redactor.found.items()))
        warn([f"redacted {total} ({kinds})"])
    else:
        warn(["redacted 0: nothing looked like a key, a token or a password of a known form"])


def write_new(target: Path, pieces: Iterable[bytes]) -> None:
    """A new file, private from its first byte. Raises RefusedError, SessionNotSavedError."""
    if target.exists() or target.is_symlink():
        raise RefusedError(f"{target} exists already", path=str(target), hint="name another file")
    draft = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.writelines(pieces)
        os.link(draft, target)
    except FileExistsError:
        raise RefusedError(f"{target} exists already", path=str(target)) from None
    except OSError as e:
        words = f"{target} was not written: {e.strerror or e}"
        raise SessionNotSavedError(words, path=str(target)) from e
    finally:
        draft.unlink(missing_ok=True)

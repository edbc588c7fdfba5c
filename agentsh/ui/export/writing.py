"""An open session → a new file: Markdown, one page, or lines for Pi; redacted unless asked not to.

The file is 0600, and whole or not there at all; one that exists stays as it is. It prints nothing:
what was taken out and left out comes back in words. Read next: document.py, redact.py.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path

from agentsh import files
from agentsh.errors import RefusedError, SessionNotSavedError, UsageError
from agentsh.session.exchange.pi_export import PiLines, Transform, unchanged
from agentsh.session.exchange.subset import PRIVATE
from agentsh.session.file.session import Session
from agentsh.ui.export.document import Document, make_document
from agentsh.ui.export.html import render_html
from agentsh.ui.export.markdown import render_markdown
from agentsh.ui.export.redact import Redactor

_RENDERERS: dict[str, Callable[[Document], Iterator[str]]] = {
    ".md": render_markdown,
    ".html": render_html,
}


def write_export(
    session: Session,
    target: Path,
    *,
    raw: bool,
    at: str | None,
    keys: Collection[str],
    private: bool = False,
) -> list[str]:
    """Write an open session to a new file; what was taken out and left out, in words.

    `keys`: those in use, which go whatever their form is. `private`: with the
    commands that the person ran for themself only (`!!`), which are in no export otherwise.
    """
    must_have_a_form(target)
    redactor = Redactor(keys)
    leaf = session.leaf if at is None else session.resolve(at)
    lines = PiLines(session, leaf=leaf, whole=at is None, private=private)
    change = unchanged if raw else redactor.object
    if target.suffix.lower() == ".jsonl":
        pieces: Iterable[bytes] = lines.bytes(change)
    else:
        render = _RENDERERS[target.suffix.lower()]
        document = _document(session, lines, change)
        pieces = (piece.encode("utf-8", "replace") for piece in render(document))
    _write(target, pieces)
    return [_redacted(redactor, raw=raw), *_left_out(lines.thinned.left_out)]


def _left_out(counts: Mapping[str, int]) -> Iterator[str]:
    for what, count in counts.items():
        if what == PRIVATE:
            yield f"left out: {count} {what} (!!); --with-private takes them in"
        elif what.startswith("lines"):
            yield f"left out: {count} {what}"


def must_have_a_form(target: Path) -> None:
    """Raises UsageError where the name does not say which form is meant."""
    if target.suffix.lower() not in (*_RENDERERS, ".jsonl"):
        raise UsageError(
            f"cannot export to {target.name}", hint="the name ends in .md, .html or .jsonl"
        )


def _document(session: Session, lines: PiLines, change: Transform) -> Document:
    header = session.header
    facts = change({"cwd": header.cwd})
    return make_document(
        lines.entries(change),
        session=header.id,
        cwd=str(facts["cwd"]),
        created=header.timestamp,
    )


def _redacted(redactor: Redactor, *, raw: bool) -> str:
    total = sum(redactor.found.values())
    if raw:
        return "nothing was redacted (--raw)"
    if total:
        kinds = ", ".join(f"{kind}: {count}" for kind, count in sorted(redactor.found.items()))
        return f"redacted {total} ({kinds})"
    return "redacted 0: nothing looked like a key, a token or a password of a known form"


def _write(target: Path, pieces: Iterable[bytes]) -> None:
    """A new file, private from its first byte. Raises RefusedError, SessionNotSavedError."""
    if files.is_taken(target):
        raise RefusedError(f"{target} exists already", path=str(target), hint="name another file")
    try:
        files.write_new(target, pieces)
    except FileExistsError:
        raise RefusedError(f"{target} exists already", path=str(target)) from None
    except OSError as e:
        reason = f"{target} was not written: {e.strerror or e}"
        raise SessionNotSavedError(reason, path=str(target)) from e

"""What a call of edit or write makes of a content, and what it was made of. Pure.

Forward by the stored arguments, with the edit tool's own rules (tools/files/match.py); backward by
the patch on record, else by the arguments where the new text stands but once. What the record says
of the bytes (digests) decides: a content that does not fit is none.
"""

from __future__ import annotations

import re

from agentsh.agent.authors.calls import Digest, Nothing, Replaced, Whole, Write
from agentsh.agent.authors.content import Content
from agentsh.tools.files.edit import decode_file
from agentsh.tools.files.match import Edit, apply, locate

_HUNK = re.compile(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@")


def after(write: Write, content: Content | None) -> Content | None:
    """The content behind the call, made of the one before. None: nobody can tell."""
    made: Content | None = None
    match write.change:
        case Whole(data):
            made = Content(data)
        case Nothing(data):
            made = content if data is None else Content(data)
        case Replaced(edits) if content is not None and content.data is not None:
            made = _edited(content.data, edits)
        case _:
            pass
    return _fitting(made, write.after)


def before(write: Write, content: Content) -> Content | None:
    """The content before the call, from the one behind it; None: it cannot be told."""
    match write.change:
        case Replaced(edits, patch) if content.data is not None:
            for made in (*_unpatched(content.data, patch), _unedited(content.data, edits)):
                if (content_before := _fitting(made, write.before)) is not None:
                    return content_before
            return None
        case Nothing():
            return _fitting(content, write.before)
        case _:
            return None


def added_lines(write: Write) -> list[bytes] | None:
    """The lines that a call put there, by its own record; None: it does not tell.

    What a call wrote whole may have stood there before.
    """
    match write.change:
        case Replaced(_, patch) if patch:
            rows = patch.split("\n")[2:]
            return [row[1:].encode("utf-8") for row in rows if row.startswith("+")]
        case _:
            return None


def _fitting(content: Content | None, digest: Digest) -> Content | None:
    if content is None or digest is None or content.digest == digest:
        return content
    return None


def _edited(data: bytes, edits: tuple[tuple[str, str], ...]) -> Content | None:
    mark, text, encoding, errors = decode_file(data)
    spans = locate(text, [Edit(old, new) for old, new in edits])
    if not isinstance(spans, tuple):
        return None
    return Content(mark + apply(text, spans).encode(encoding, errors))


def _unedited(data: bytes, edits: tuple[tuple[str, str], ...]) -> Content | None:
    """Each new text put back, where it stands once and says something."""
    mark, text, encoding, errors = decode_file(data)
    if any(not new.strip() or text.count(new) != 1 for _, new in edits):
        return None
    spans = locate(text, [Edit(new, old) for old, new in edits])
    if not isinstance(spans, tuple):
        return None
    return Content(mark + apply(text, spans).encode(encoding, errors))


def _unpatched(data: bytes, patch: str) -> tuple[Content, ...]:
    """The patch taken back; its lines must stand where it says. Whether the last line had an end
    is not told by every patch, so there are two."""
    mark, text, encoding, errors = decode_file(data)
    ending = "\r\n" if "\r\n" in text else "\n"
    lines = text.replace("\r\n", "\n").split("\n")
    result: list[str] = []
    line_number = 0
    hunks = _hunks(patch)
    for start, old, new in hunks:
        if lines[start : start + len(new)] != new or start < line_number:
            return ()
        result += [*lines[line_number:start], *old]
        line_number = start + len(new)
    made = "\n".join([*result, *lines[line_number:]])
    other = made.removesuffix("\n") if made.endswith("\n") else made + "\n"
    return tuple(
        Content(mark + each.replace("\n", ending).encode(encoding, errors))
        for each in (made, other)
        if hunks
    )


def _hunks(patch: str) -> list[tuple[int, list[str], list[str]]]:
    """(where the new lines begin, counted from 0, old lines, new lines) of each."""
    hunks: list[tuple[int, list[str], list[str]]] = []
    for row in patch.split("\n")[2:]:
        head = _HUNK.fullmatch(row)
        if head is not None:
            start, count = int(head[3]), int(head[4])
            hunks.append((start - 1 if count else start, [], []))
        elif hunks:
            if row[:1] in (" ", "-"):
                hunks[-1][1].append(row[1:])
            if row[:1] in (" ", "+"):
                hunks[-1][2].append(row[1:])
    return hunks

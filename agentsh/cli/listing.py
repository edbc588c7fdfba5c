"""`agentsh sessions`: the list, as lines or as JSON.

Lines come straight out of the index where it knows each file as it lies there (session/known.py):
this module and what it imports load no typer, no msgspec and no parser, which is most of what a
list would cost (docs/adr/0005). Whatever a list needs beyond that is rows.py's, loaded when it is
needed. Looking writes nothing but the index.
"""

from __future__ import annotations

import os
import sys

from agentsh.cli.output import columns, fitted, print_json, print_lines
from agentsh.cli.roots import INDEX, find_roots
from agentsh.session.folders import MARKS, RELINKED, is_there
from agentsh.session.known import look
from agentsh.ui.sanitize import safe_line

TYPE_CHECKING = False  # mypy takes it for true
if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentsh.session.known import Known
    from agentsh.session.marks import Mark


def listing(
    *, everywhere: bool, archived: bool, tag: str | None, json: bool, session_dir: str | None
) -> int:
    """List them, newest conversation first, what is pinned above."""
    _, _, state, sessions = find_roots(os.environ, session_dir)
    cwd = None if everywhere else os.getcwd()  # noqa: PTH109
    marks = _marks(sessions)
    if json:
        from agentsh.cli.rows import as_json, rows

        found = rows(cwd, archived=archived, session_dir=session_dir)
        print_json(as_json(found, marks, tag))
        return 0
    if archived or is_there(sessions, RELINKED) or not _is_text(cwd or ""):
        from agentsh.cli.rows import as_known, rows

        shown = as_known(rows(cwd, archived=archived, session_dir=session_dir))
    else:
        shown = _known(sessions, cwd, f"{state}/{INDEX}")
    if tag is not None:
        shown = [each for each in shown if each[3] in marks and tag in marks[each[3]].tags]
    if marks:  # stable
        shown.sort(key=lambda each: each[3] not in marks or not marks[each[3]].pinned)
    if shown:
        where = {folder: f"  {safe_line(folder)}" for folder in {each[4] for each in shown}}
        width = columns()
        lines = [
            fitted(_line(each, marks.get(each[3]), where[each[4]] if everywhere else ""), width)
            for each in shown
        ]
        print_lines(["\n".join(lines)])  # one write
    else:
        sys.stderr.write(
            f"agentsh: there is no {'archived ' * archived}session{_where(cwd, tag)}\n"
        )
    return 0


def _known(sessions: str, cwd: str | None, index: str) -> list[Known]:
    """What the index knows, and what it does not, folded now; the newest first."""
    folder = None
    if cwd is not None:
        from agentsh.session.naming import folder_name

        folder = f"{sessions}/{folder_name(cwd)}"
    shown, unsure = look(sessions, folder, index)
    if unsure:
        from agentsh.cli.rows import folded

        shown += folded(index, unsure)
    if cwd is not None:
        shown = [each for each in shown if each[4] == cwd]
    shown.sort(reverse=True)
    return shown


def _marks(sessions: str) -> Mapping[str, Mark]:
    if not is_there(sessions, MARKS):
        return {}
    from pathlib import Path

    from agentsh.session.marks import Marks

    return Marks(Path(sessions)).all()


def _is_text(path: str) -> bool:
    """Whether a header can spell the path."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _where(cwd: str | None, tag: str | None) -> str:
    tagged = "" if tag is None else f" tagged {safe_line(tag, 60)}"
    if cwd is None:
        return tagged
    return f"{tagged} of {safe_line(cwd)} (--all lists every folder's)"


def _line(known: Known, mark: Mark | None, where: str) -> str:
    updated, _, _, id_, _, messages, called = known
    when = updated[:16].replace("T", " ")
    what = safe_line(called or "(nothing said yet)", 60)
    pinned, tags = "", ""
    if mark is not None:
        pinned = "* " if mark.pinned else ""
        tags = "".join(f" #{safe_line(tag, 30)}" for tag in mark.tags)
    return f"{safe_line(id_)}  {when:<16}  {messages:>4}  {pinned}{what}{tags}{where}"

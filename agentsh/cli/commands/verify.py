"""`agentsh verify`: is a file what was written? Names each bad line.

Exit 5 for damage, 4 for a file that this program may not write to since a newer one has, else 0:
what another program appended behind the last seal is a warning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from agentsh.cli.output import DAMAGED, print_json, print_lines
from agentsh.cli.parsing.options import Json, SessionDir
from agentsh.cli.parsing.words import Argument
from agentsh.sanitize import safe_line

if TYPE_CHECKING:
    from agentsh.jsontext import JsonObject
    from agentsh.session.health.verify import Problem, Report


REFUSED = 4


def verify(
    sessions: Annotated[list[str], Argument(help="as for `show`")],
    json: Json = False,
    session_dir: SessionDir = None,
) -> int:
    """Check session files line by line, and name each bad line."""
    from agentsh.cli.lookup.finding import find_session
    from agentsh.session.health.verify import verify_file

    reports = [verify_file(find_session(word, session_dir)) for word in sessions]
    good = all(report.ok for report in reports)
    if json:
        print_json({"ok": good, "files": [_as_json(report) for report in reports]})
    else:
        print_lines(line for report in reports for line in _lines(report))
    if not good:
        return DAMAGED
    return REFUSED if any(report.is_refused for report in reports) else 0


def _as_json(report: Report) -> JsonObject:
    return {
        "path": str(report.path),
        "session": report.session,
        "ok": report.ok,
        "problems": [_problem(problem) for problem in report.problems],
        "warnings": [_problem(problem) for problem in report.warnings],
    }


def _problem(problem: Problem) -> JsonObject:
    return {"line": problem.line, "kind": problem.kind, "text": problem.text}


def _lines(report: Report) -> list[str]:
    path = safe_line(str(report.path))
    verdict = "ok" if report.ok else f"{len(report.problems)} problems"
    return [
        f"{path}: {verdict} ({report.lines} lines)",
        *(f"  line {p.line}: {p.kind}: {safe_line(p.text)}" for p in report.problems),
        *(f"  line {p.line}: warning: {safe_line(p.text)}" for p in report.warnings),
    ]

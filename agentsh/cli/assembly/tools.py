"""Our tools as a turn gets them: described at once, loaded when a call comes (docs/adr/0005).

The one place that says where a tool's body is. Most answers call none, and the bodies with all that
they need are a third of what a turn could load. Read next: tools/schemas.py, tools/toolset.py.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from agentsh.tools import schemas
from agentsh.tools.base import JobEnd, Tool, ToolContext
from agentsh.tools.toolset import Offer

if TYPE_CHECKING:
    from agentsh.cli.setup.paths import Paths
    from agentsh.session.file.session import Session
    from agentsh.tools.shell.bash import ShellResult

_LEFTOVERS: Final = "agentsh.tools.shell.leftovers"


def own_tools() -> tuple[Offer, ...]:
    """All tools of agentsh, in the order of the schemas."""
    return (
        Offer(schemas.READ, _read),
        Offer(schemas.WRITE, _write),
        Offer(schemas.EDIT, _edit),
        Offer(schemas.BASH, _bash),
        Offer(schemas.GREP, _grep),
        Offer(schemas.FIND, _find),
        Offer(schemas.LS, _ls),
        Offer(schemas.JOBS, _jobs),
    )


def history_tool(session: Session, places: Paths, cwd: str) -> Offer:
    """The tool that looks into the session's own record."""

    def load() -> Tool:
        from agentsh.cli.lookup.remembering import SessionHistory
        from agentsh.tools.history import HistoryTool

        return HistoryTool(SessionHistory(session, places, cwd))

    return Offer(schemas.HISTORY, load)


def run_command(command: str, context: ToolContext, timeout: float) -> ShellResult:
    """A person's own command, run as the bash tool would. Raises ToolError."""
    from agentsh.tools.shell.bash import run_shell

    return run_shell(command, context, timeout)


def end_commands(session: Session) -> None:
    """End what the session's commands left running, and put on record how its jobs ended."""
    if _LEFTOVERS in sys.modules:  # else none was ever started
        from agentsh.agent.turn.execution import job_fact
        from agentsh.tools.shell import leftovers

        leftovers.end_session(session.header.id)
        if session.writable:
            for end in leftovers.ended_jobs(session.header.id, final=True):
                session.append(job_fact(end))


def job_ends(session: str) -> Sequence[JobEnd]:
    """The jobs of that session that have ended, each once."""
    if _LEFTOVERS not in sys.modules:
        return ()
    from agentsh.tools.shell import leftovers

    return leftovers.ended_jobs(session)


def _read() -> Tool:
    from agentsh.tools.files.read import ReadTool

    return ReadTool()


def _write() -> Tool:
    from agentsh.tools.files.write import WriteTool

    return WriteTool()


def _edit() -> Tool:
    from agentsh.tools.files.edit import EditTool

    return EditTool()


def _bash() -> Tool:
    from agentsh.tools.shell.bash import BashTool

    return BashTool()


def _grep() -> Tool:
    from agentsh.tools.search.grep import GrepTool

    return GrepTool()


def _find() -> Tool:
    from agentsh.tools.search.find import FindTool

    return FindTool()


def _ls() -> Tool:
    from agentsh.tools.search.ls import LsTool

    return LsTool()


def _jobs() -> Tool:
    from agentsh.tools.shell.jobs import JobsTool

    return JobsTool()

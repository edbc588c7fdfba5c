"""Our tools as a turn gets them: described at once, loaded when a call comes (docs/adr/0005).

The one place that says where a tool's body is. Most answers call none, and the bodies with all that
they need are a third of what a turn could load. Read next: tools/schemas.py, tools/toolset.py.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from agentsh.tools import schemas
from agentsh.tools.base import Tool, ToolContext
from agentsh.tools.toolset import Offer

if TYPE_CHECKING:
    from agentsh.cli.places import Places
    from agentsh.session.session import Session
    from agentsh.tools.bash import ShellResult


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


def history_tool(session: Session, places: Places, cwd: str) -> Offer:
    """The tool that looks into the session's own record."""

    def load() -> Tool:
        from agentsh.cli.remembering import SessionHistory
        from agentsh.tools.history import HistoryTool

        return HistoryTool(SessionHistory(session, places, cwd))

    return Offer(schemas.HISTORY, load)


def run_command(command: str, context: ToolContext, timeout: float) -> ShellResult:
    """A person's own command, run as the bash tool would. Raises ToolError."""
    from agentsh.tools.bash import run_shell

    return run_shell(command, context, timeout)


def end_commands() -> None:
    """End what commands left running."""
    if "agentsh.tools.background" in sys.modules:  # else none was ever started
        from agentsh.tools.background import end_all

        end_all()


def _read() -> Tool:
    from agentsh.tools.read import ReadTool

    return ReadTool()


def _write() -> Tool:
    from agentsh.tools.write import WriteTool

    return WriteTool()


def _edit() -> Tool:
    from agentsh.tools.edit import EditTool

    return EditTool()


def _bash() -> Tool:
    from agentsh.tools.bash import BashTool

    return BashTool()


def _grep() -> Tool:
    from agentsh.tools.grep import GrepTool

    return GrepTool()


def _find() -> Tool:
    from agentsh.tools.find import FindTool

    return FindTool()


def _ls() -> Tool:
    from agentsh.tools.ls import LsTool

    return LsTool()


def _jobs() -> Tool:
    from agentsh.tools.jobs import JobsTool

    return JobsTool()

"""`agentsh.Session`: how a script makes, opens and lists sessions (docs/python.md).

What can be done with one is remote/python/talk.py's. Read next: hosting.py.
"""

from __future__ import annotations

import os
from os import PathLike
from typing import Any, Self, Unpack

from agentsh.cli.assembly.scripting.arguments import SessionArguments
from agentsh.remote.python.talk import DrivenSession
from agentsh.remote.python.values import shown_as


@shown_as("Session")
class ScriptSession(DrivenSession):
    """A session with a model: `with Session.create() as s: print(s.prompt("Hello").text)`."""

    @classmethod
    def create(cls, **arguments: Unpack[SessionArguments]) -> Self:
        """A new session.

        cwd=".", model, base_url, policy, approve, allow=(), tools=(), builtin_tools=None,
        max_steps, max_tokens, max_retries, idle_timeout, context_window, thinking, trust=False,
        context_files=True, skills=True, mcp=True, sandbox=False, session_dir, save=True.
        What is left out is as the settings and the environment have it. Raises AgentshError, and
        TypeError for a function that cannot be a tool.
        """
        from agentsh.cli.assembly.scripting.hosting import create_host

        return cls(create_host(arguments), arguments.get("approve"))

    @classmethod
    def open(
        cls,
        session: str | PathLike[str],
        *,
        at: str | None = None,
        fork: bool = False,
        **arguments: Unpack[SessionArguments],
    ) -> Self:
        """Go on with one: `last`, an id or the beginning of one, or the path of its file.

        `at`: from that entry. `fork`: in a new session with the path up to there. The other
        arguments are those of `create`.
        """
        from agentsh.cli.assembly.scripting.hosting import open_host

        word = session if isinstance(session, str) else os.path.abspath(session)  # noqa: PTH100
        return cls(open_host(word, at, fork, arguments), arguments.get("approve"))

    @staticmethod
    def list(
        everywhere: bool = False,
        *,
        cwd: str | PathLike[str] = ".",
        session_dir: str | PathLike[str] | None = None,
    ) -> list[dict[str, Any]]:
        """The sessions of the folder, or of all folders, as `sessions --json`."""
        from agentsh.cli.assembly.scripting.listing import listed_sessions

        return listed_sessions(everywhere, cwd, session_dir)

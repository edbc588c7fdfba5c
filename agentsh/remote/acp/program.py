"""What the protocol asks of the program around it: sessions with their hosts. Protocols, no code.

Each session has a host of its own, since each has its folder, settings and endpoint. The real ones
are cli/assembly/editing/hosting.py's. Read next: agent/driven/remotehost.py, editorsession.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from agentsh.agent.driven.remotehost import RemoteHost
from agentsh.session.store.store import SessionRow
from agentsh.settings import ServerSettings
from agentsh.tools.base import EditorTexts


class EditorHost(RemoteHost, Protocol):
    """The host of one session."""

    @property
    def cwd(self) -> Path:
        """Where the session works."""

    def use_texts(self, editor_texts: EditorTexts) -> None:
        """From now on the editor's texts of files count."""

    def close(self) -> None:
        """Leave it: its lock is free, its servers and commands end."""


class EditorProgram(Protocol):
    """Makes and opens sessions, each with a host of its own."""

    @property
    def version(self) -> str: ...

    def begin(self, cwd: Path, servers: Mapping[str, ServerSettings]) -> EditorHost:
        """A new session there. `servers`: those that the editor gives. Raises AgentshError."""

    def reopen(self, session: str, cwd: Path, servers: Mapping[str, ServerSettings]) -> EditorHost:
        """The session of that id, where it is at its leaf. Raises AgentshError."""

    def sessions(self, cwd: Path | None) -> Sequence[SessionRow]:
        """Those of that folder, or all; newest conversation first."""

    def tell(self, text: str) -> None:
        """Words for whoever reads the editor's log."""

    def report(self, error: BaseException) -> str:
        """Put a bug on record; words for the editor."""

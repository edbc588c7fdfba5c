"""What a driver from outside asks of its host besides: models, modes, and what there is to look at.

Protocols, no code. What is looked at comes as the values of `--json`, ready to be handed on.
Read next: host.py, cli/assembly/remotehosting.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from agentsh.agent.driven.host import SessionHost
from agentsh.agent.turn.inbox import QueueKind
from agentsh.jsontext import JsonObject
from agentsh.messages import ToolCall
from agentsh.providers.base import ModelInfo
from agentsh.session.format.entries import EntryId
from agentsh.session.search.wish import SearchWish
from agentsh.session.store.marks import Mark
from agentsh.tools.base import Rewritten
from agentsh.tools.toolset import Toolset


class DrivenModel(Struct, frozen=True):
    """A model that may be asked, and what is known of it."""

    endpoint: str
    """The provider's name."""
    base_url: str
    """Without credentials."""
    api: str
    info: ModelInfo

    @property
    def word(self) -> str:
        """NAME/ID: what `choose` takes for exactly this one."""
        return f"{self.endpoint}/{self.info.id}"


class RemoteHost(SessionHost, Protocol):
    """The program around a driver from outside."""

    def find_session(self, word: str) -> Path:
        """The file that a SESSION word or a path means. Raises SessionNotFoundError."""

    def marks(self) -> Mapping[str, Mark]:
        """Session id → its marks; what has none is left out."""

    def model(self) -> DrivenModel:
        """Who is asked, without asking."""

    def models(self) -> Sequence[DrivenModel]:
        """Who may be asked, at every endpoint; asks each for its list."""

    @property
    def max_retries(self) -> int:
        """How often a request is repeated by itself."""

    def set_auto_retry(self, enabled: bool) -> None:
        """As often as the settings say, or never. Raises BusyError."""

    def stop_retrying(self) -> None:
        """End a wait for a repeat that runs now; the failure stands."""

    def set_auto_compaction(self, enabled: bool) -> None: ...

    def set_queue_mode(self, kind: QueueKind, *, at_once: bool) -> None:
        """Whether all that waits is said at once, or one message at a time."""

    def toolset(self) -> Toolset:
        """The tools of the session in front, offered or not."""

    def rewritten(self, call: ToolCall, most: int) -> Rewritten | None:
        """What a call that is about to run will make of its file; None: nobody knows.

        `most`: bytes of both texts together.
        """

    def view(self, name: str, at: EntryId | None) -> JsonObject:
        """`chat`, `trace`, `raw` or `model` of the session in front."""

    def differences(self, a: str | None, b: str | None) -> JsonObject:
        """What differs from A (before the last prompt) to B (here)."""

    def search(self, wish: SearchWish) -> Sequence[JsonObject]: ...

    def cost(self, session: str | None, by: str | None, *, everywhere: bool) -> JsonObject:
        """Of one session, or of all of the folder, or of all there are."""

    def export_html(self, to: str | None, *, raw: bool) -> Path:
        """Write the session in front to a new page; its file."""

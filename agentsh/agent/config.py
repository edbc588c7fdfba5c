"""What an agent is told at the start, and what it reports of itself. Values only.

Read next: agent.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from agentsh.messages import ModelRef, Usage


class CostLimits(Struct, frozen=True):
    """What a session may cost, in the currency of the prices; None: whatever it does."""

    warn: float | None = None
    stop: float | None = None


class Config(Struct, frozen=True):
    """What the user's settings and options say about turns."""

    model: ModelRef
    thinking: str
    sections: Mapping[str, str]
    """The system prompt of ours, section by section (context/prompt.py)."""
    max_retries: int = 4
    max_steps: int | None = None
    max_tokens: int | None = None
    context_window: int | None = None
    reserve: int | None = None
    keep: int | None = None
    auto_compact: bool = True
    title: bool = False
    """Ask the model for a title of a session that has no name."""
    cost: CostLimits = CostLimits()
    record_files: bool = True
    """Record the working files' states, so that changes can be taken back."""
    record_share: int = 20
    """States of later steps take at most one part in so many of a turn's time; 0: each has one."""


class Report(Struct, frozen=True):
    """The figures of a status line."""

    context_tokens: int
    context_window: int | None
    usage: Usage
    cost: float
    saved: bool
    policy: str
    sandbox: bool
    model: str
    thinking: str
    cwd: str
    allowed: tuple[str, ...] = ()
    """The rules that the person added at questions, as far as they hold here."""

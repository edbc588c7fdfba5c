"""What an agent is told at the start, and what it reports of itself. Values only.

Read next: agent.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agentsh.context.prompt import PromptFacts
from agentsh.errors import UsageError
from agentsh.messages import THINKING_LEVELS, ModelRef, Usage
from agentsh.settings import DEFAULT_PROVIDER


class CostLimits(Struct, frozen=True):
    """What may be spent, in the currency of the prices; None: whatever it is."""

    warn: float | None = None
    stop: float | None = None
    """Of the session, all that it has cost so far."""
    run: float | None = None
    """Of this process alone."""


class RunLimits(Struct, frozen=True):
    """What one process may take; None: whatever it does."""

    steps: int | None = None
    """Requests of one turn."""
    cost: float | None = None


NO_LIMITS: Final = RunLimits()


class ModelChoice(Struct, frozen=True):
    """A model that may be asked, and whose it is. `model` "": the endpoint gave no list."""

    endpoint: str
    """The provider's name."""
    model: str
    note: str = ""
    """What is odd about it, for a person."""

    @property
    def word(self) -> str:
        """NAME/ID: what `-m` and `/model` take for exactly this one."""
        return f"{self.endpoint}/{self.model}"


_NAMELESS = ("", "none", "embedded", DEFAULT_PROVIDER)
"""The providers' own names where the settings give none."""


def named(endpoint: str, model: str) -> str:
    """A model as people are shown it: NAME/ID, without a name that nobody gave."""
    return model if endpoint in _NAMELESS else f"{endpoint}/{model}"


class EndpointLimits(Struct, frozen=True):
    """What the settings say of one endpoint's requests; None: nothing."""

    max_retries: int = 4
    max_tokens: int | None = None
    context_window: int | None = None


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
    tools: tuple[str, ...] | None = None
    """The tools that the person chose by name; None: all there are."""
    restored: frozenset[str] = frozenset()
    """Which of "model", "thinking", "tools" follow the place in the tree when the leaf moves."""
    facts: PromptFacts | None = None
    """What `sections` was made of; made anew where the tools change."""
    named: tuple[str, ...] = ()
    """The words that name this session in a command (session/store/naming.py)."""
    record_files: bool = True
    """Record the working files' states, so that changes can be taken back."""
    record_share: int = 20
    """States of later steps take at most one part in so many of a turn's time; 0: each has one."""


def thinking_at(config: Config, level: str) -> Config:
    """The same with another level of thinking. Raises UsageError: there is no such level."""
    if level not in THINKING_LEVELS:
        levels = ", ".join(THINKING_LEVELS)
        raise UsageError(f"there is no thinking level {level!r}", hint=f"one of: {levels}")
    return replace(config, thinking=level)


class StatusFigures(Struct, frozen=True):
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
    endpoint: str = ""
    """The provider's name."""
    estimated: bool = False
    """Whether any of the context's tokens is an estimate."""
    allowed: tuple[str, ...] = ()
    """The rules that the person added at questions, as far as they hold here."""

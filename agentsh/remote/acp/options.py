"""What is in force in a session and may be changed: the mode, the model, how much it thinks.

The modes are the approval policies, told twice: as modes, and as an option, for editors of either
age. Models are known once each endpoint gave its list; until then there is the one in use.
Read next: sessions.py, agent/driven/remotehost.py.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, TypeAlias

from acp import schema

from agentsh.agent.config import ModelChoice, named
from agentsh.errors import AgentshError, UsageError
from agentsh.messages import THINKING_LEVELS
from agentsh.remote.acp.program import EditorHost
from agentsh.remote.acp.responders import WrongParamsError
from agentsh.sanitize import safe_line
from agentsh.settings import POLICIES, Policy

_Category: TypeAlias = Literal["mode", "model", "thought_level"]
_Options: TypeAlias = list[schema.SessionConfigOptionSelect | schema.SessionConfigOptionBoolean]
_LISTS: Final = 2.0
"""Seconds that a session waits for the lists of models before it is there without them."""
_MODES: Final[Mapping[Policy, tuple[str, str]]] = {
    "never": ("Never", "Reads only; edits and commands are refused"),
    "ask": ("Ask", "Asks about edits and commands"),
    "edits": ("Edits", "Edits in the folder are done; asks about commands"),
    "all": ("All", "Asks about nothing"),
}


class SessionOptions:
    """Of one session."""

    def __init__(self, host: EditorHost) -> None:
        self._host = host
        self._choices: Sequence[ModelChoice] = ()
        self._is_listed = threading.Event()

    def look(self, changed: Callable[[], None]) -> None:
        """Ask for the lists of models, and wait a while; `changed`: they came later."""
        is_late = threading.Event()

        def ask() -> None:
            try:
                self._choices = self._host.choices()
            except AgentshError:
                return  # the one in use is known; a request says itself what is wrong
            finally:
                self._is_listed.set()
            if is_late.is_set():
                changed()

        threading.Thread(target=ask, name="models", daemon=True).start()
        if not self._is_listed.wait(_LISTS):
            is_late.set()

    # ---- what is in force ----------------------------------------------------------------------

    def modes(self) -> schema.SessionModeState:
        listed = [
            schema.SessionMode(id=policy, name=_MODES[policy][0], description=_MODES[policy][1])
            for policy in POLICIES
        ]
        return schema.SessionModeState(current_mode_id=self.mode, available_modes=listed)

    @property
    def mode(self) -> str:
        return self._host.front.report().policy

    def listed(self) -> _Options:
        """All of them, as they are now."""
        figures = self._host.front.report()
        modes = [
            schema.SessionConfigSelectOption(value=each, name=name, description=words)
            for each, (name, words) in _MODES.items()
        ]
        models = [
            schema.SessionConfigSelectOption(value=value, name=safe_line(value, 120))
            for value in self._models()
        ]
        levels = [
            schema.SessionConfigSelectOption(value=level, name=level.capitalize())
            for level in self._levels()
        ]
        model = named(figures.endpoint, figures.model)
        return [
            _select("mode", "Mode", figures.policy, modes),
            _select("model", "Model", model, models),
            _select("thought_level", "Thinking", figures.thinking, levels),
        ]

    def _models(self) -> dict[str, str]:
        """What the editor calls a model → NAME/ID; the one in use stands first where none is."""
        figures = self._host.front.report()
        model = named(figures.endpoint, figures.model)
        words = {
            named(each.endpoint, each.model): each.word for each in self._choices if each.model
        }
        return words if model in words else {model: f"{figures.endpoint}/{figures.model}", **words}

    def _levels(self) -> tuple[str, ...]:
        now = self._host.front.report().thinking
        if self._host.model().info.reasons is False:
            return ("off",) if now == "off" else ("off", now)
        return THINKING_LEVELS

    # ---- changes -------------------------------------------------------------------------------

    def choose(self, option: str, value: str) -> Sequence[str]:
        """What is to be told of it. Raises WrongParamsError, AgentshError."""
        match option:
            case "mode":
                self.set_mode(value)
            case "model":
                self._is_listed.wait(_LISTS)
                word = self._models().get(value)
                if word is None:
                    raise WrongParamsError(f"there is no model {value[:80]!r} to choose")
                return self._host.choose(word)
            case "thought_level":
                if value not in self._levels():
                    raise WrongParamsError(f"there is no thinking level {value[:80]!r} here")
                self._host.front.set_thinking(value)
            case _:
                raise WrongParamsError(f"there is no option {option[:80]!r}")
        return ()

    def set_mode(self, mode: str) -> None:
        """Raises WrongParamsError."""
        try:
            self._host.set_policy(mode)
        except UsageError as e:
            raise WrongParamsError(str(e)) from e


def _select(
    option: _Category,
    name: str,
    value: str,
    options: list[schema.SessionConfigSelectOption],
) -> schema.SessionConfigOptionSelect:
    return schema.SessionConfigOptionSelect(
        type="select",
        id=option,
        name=name,
        category=option,
        current_value=value,
        options=options,
    )

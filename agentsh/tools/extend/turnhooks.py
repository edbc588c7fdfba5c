"""Hooks around a turn: before a prompt, after the turn, and when a person is waited for.

The seam that commands (commandturn.py) and plugins (plugin_loader.py) are written against, and the
guard around both: whatever one raises is an answer that names it. One that fails before a prompt
refuses it, because it may be a guard; one that fails after a turn is a notice; what happens at a
question is nobody's answer. Must not know agents. Read next: commandturn.py.
"""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from agentsh.abort import Abort
from agentsh.errors import AgentshError, RefusedError
from agentsh.jsontext import JsonObject, clean


class HookAnswer(Struct, frozen=True):
    """`is_good` False: refused, or not content yet. `notices`: what failed, for the person."""

    text: str = ""
    is_good: bool = True
    notices: tuple[str, ...] = ()


class EndedTurn(Struct, frozen=True):
    """What a hook is told of a turn. `cost`: of the turn; "" where none is known."""

    status: str
    answer: str
    cost: str


class TurnHook(Protocol):
    """One hook, or several of one plugin; each may be there or not."""

    def before_prompt(self, prompt: str, abort: Abort) -> HookAnswer | None:
        """What to add to the prompt, or why it is refused."""

    def after_turn(
        self, ended: EndedTurn, abort: Abort, seconds: float | None
    ) -> HookAnswer | None:
        """What to tell, or the next prompt. `seconds`: shorter than usual."""

    def on_question(self, tool: str, arguments: JsonObject, shown: str) -> None:
        """Somebody is waited for. Must return at once."""


class TurnHooks(Struct, frozen=True):
    """All hooks, in their order: (name, hook)."""

    hooks: tuple[tuple[str, TurnHook], ...]

    def before_prompt(self, prompt: str, abort: Abort) -> HookAnswer:
        """The texts of all; the first that refuses decides."""
        texts: list[str] = []
        for name, hook in self.hooks:
            try:
                answer = hook.before_prompt(prompt, abort)
            except RefusedError as e:
                return HookAnswer(str(e), is_good=False)
            except (Exception, SystemExit) as e:  # noqa: BLE001  a stranger's code
                return HookAnswer(f"{name} failed: {_words(e)}", is_good=False)
            if answer is not None and not answer.is_good:
                return answer
            if answer is not None and answer.text:
                texts.append(answer.text)
        return HookAnswer(clean("\n".join(texts)))

    def after_turn(self, ended: EndedTurn, abort: Abort, seconds: float | None) -> HookAnswer:
        """The texts of those that are not content; else those of all."""
        good: list[str] = []
        bad: list[str] = []
        notices: list[str] = []
        for name, hook in self.hooks:
            try:
                answer = hook.after_turn(ended, abort, seconds)
            except RefusedError as e:
                answer = HookAnswer(str(e), is_good=False)
            except (Exception, SystemExit) as e:  # noqa: BLE001  a stranger's code
                notices.append(f"{name} failed: {_words(e)}")
                continue
            if answer is not None:
                notices += answer.notices
                (good if answer.is_good else bad).append(answer.text)
        text = clean("\n".join(filter(None, bad or good)))
        return HookAnswer(text, is_good=not bad, notices=tuple(notices))

    def on_question(self, tool: str, arguments: JsonObject, shown: str) -> tuple[str, ...]:
        """Start them all; those that could not be started, in words."""
        failed: list[str] = []
        for name, hook in self.hooks:
            try:
                hook.on_question(tool, arguments, shown)
            except (Exception, SystemExit) as e:  # noqa: BLE001  a stranger's code
                failed.append(f"{name} failed: {_words(e)}")
        return tuple(failed)


def _words(error: BaseException) -> str:
    if isinstance(error, AgentshError):
        return str(error)
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__

"""Hooks around a turn that are commands of the settings. No Python needed.

    [hooks]
    before_prompt = 'git log -1 --format="the last commit: %s"'
    after_turn = 'test "$AGENTSH_STATUS" != completed || make --quiet test'
    on_question = 'notify-send "agentsh waits: $AGENTSH_TOOL $AGENTSH_SHOWN"'

An exit code of 0 is consent, and what was printed is told: it goes with the prompt, or is a notice.
Any other code refuses the prompt, or makes what was printed the next one. They run where and as the
hooks around calls do. on_question runs beside: in a session of its own, with a watchdog that ends
all of it after a minute, whether agentsh still runs or not. Read first: turnhooks.py,
commandhook.py.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from agentsh.abort import Abort
from agentsh.jsontext import JsonObject, clean, dumps_text
from agentsh.programs import find_program
from agentsh.settings import TurnTime
from agentsh.tools.extend.commandhook import (
    HOOK_SECONDS,
    MOST_IN_A_VARIABLE,
    HookPlace,
    hook_file,
    hook_files,
    run_hook,
)
from agentsh.tools.extend.turnhooks import EndedTurn, HookAnswer
from agentsh.tools.shell.bash import ShellResult

_WATCHED: Final = """{
  "$0" -c "$1" & hook=$!
  {
    sleep "$2" & nap=$!
    trap 'kill $nap; exit' TERM
    wait $nap
    rm -f -- "$AGENTSH_ARGUMENTS_FILE"
    kill -KILL -- -$$
  } & watchdog=$!
  wait $hook
  rm -f -- "$AGENTSH_ARGUMENTS_FILE"
  kill $watchdog
} &"""
"""Runs the command $1 in the background, and ends its whole group after $2 seconds."""


class TurnCommand(Struct, frozen=True):
    """Satisfies TurnHook. `command` runs at one of the three times."""

    command: str
    when: TurnTime
    cwd: Path
    home: Path
    environ: Mapping[str, str]
    output_dir: Path

    def before_prompt(self, prompt: str, abort: Abort) -> HookAnswer | None:
        if self.when != "before_prompt":
            return None
        with hook_files(self.output_dir, prompt=prompt) as files:
            result = self._run(files, abort, HOOK_SECONDS)
        words = _printed(result)
        if result.code == 0:
            return HookAnswer(words)
        return HookAnswer(words or _ended(result), is_good=False)

    def after_turn(
        self, ended: EndedTurn, abort: Abort, seconds: float | None
    ) -> HookAnswer | None:
        if self.when != "after_turn":
            return None
        more = {"AGENTSH_STATUS": ended.status, "AGENTSH_COST": ended.cost}
        with hook_files(self.output_dir, answer=ended.answer) as files:
            result = self._run({**files, **more}, abort, seconds or HOOK_SECONDS)
        words = _printed(result)
        if result.stopped is not None:
            return HookAnswer(words, notices=(f"after_turn was ended: {_ended(result)}",))
        if result.code and not words:
            words = f"the command after_turn ended with {_ended(result)} and said nothing"
        return HookAnswer(words, result.code == 0)

    def on_question(self, tool: str, arguments: JsonObject, shown: str) -> None:
        """Raises OSError: it cannot be started."""
        if self.when != "on_question":
            return
        shell = find_program("bash", self.environ, self.cwd)
        if shell is None:
            raise FileNotFoundError("there is no bash")
        file = hook_file(self.output_dir, dumps_text(arguments))
        environ = {**self.environ, "AGENTSH_TOOL": tool, "AGENTSH_ARGUMENTS_FILE": str(file)}
        text = clean(shown).replace("\0", "")
        if len(text.encode()) <= MOST_IN_A_VARIABLE:
            environ["AGENTSH_SHOWN"] = text
        # the shell itself ends at once: what it began is nobody's child
        subprocess.run(
            [shell, "-c", _WATCHED, shell, self.command, str(int(HOOK_SECONDS))],
            cwd=self.cwd,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            check=False,
        )

    def _run(self, more: Mapping[str, str], abort: Abort, seconds: float) -> ShellResult:
        hook_place = HookPlace(self.cwd, self.home, {**self.environ, **more}, self.output_dir)
        return run_hook(self.command, hook_place, abort, seconds)


def _printed(result: ShellResult) -> str:
    return "" if result.text == "(no output)" else result.text.strip()


def _ended(result: ShellResult) -> str:
    return result.stopped or f"exit code {result.code}"

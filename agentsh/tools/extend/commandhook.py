"""Hooks that are commands of the settings: `[hooks] before_tool`, `after_tool`. No Python needed.

    [hooks]
    before_tool = 'case "$AGENTSH_ARGUMENTS" in *"git push"*) echo "people push"; exit 1;; esac'
    after_tool = 'test "$AGENTSH_TOOL" != edit || ruff check --quiet .'

Before a call: an exit code other than 0 refuses it, and what was printed is the reason the model is
told. After it: what was printed is added to the result as a note. The call comes in the
environment: AGENTSH_TOOL, AGENTSH_ARGUMENTS (JSON; left out where it is over 64 KB),
AGENTSH_ARGUMENTS_FILE, and afterwards AGENTSH_RESULT_FILE and AGENTSH_IS_ERROR (0 or 1). They run
in the session's folder and never confined: they are the user's own. Read first: plugins.py; hooks
around a turn are commandturn.py's.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from agentsh.abort import Abort
from agentsh.files import create_private, private_folder, write_all
from agentsh.jsontext import JsonObject, clean, dumps_text
from agentsh.messages import Text
from agentsh.tools.base import ToolContext, ToolOutcome
from agentsh.tools.ledger import FileLedger
from agentsh.tools.shell.bash import ShellResult, run_shell

HOOK_SECONDS: Final = 60.0
MOST_IN_A_VARIABLE: Final = 64 * 1024
"""More would be refused by the system for one variable."""


class CommandHooks(Struct, frozen=True):
    """Satisfies plugins.Hooks. `command` runs before or after each call."""

    command: str
    is_before: bool
    cwd: Path
    home: Path
    environ: Mapping[str, str]
    output_dir: Path

    def before(self, tool: str, arguments: JsonObject, context: ToolContext) -> str | None:
        if not self.is_before:
            return None
        with hook_files(self.output_dir, arguments=dumps_text(arguments)) as files:
            result = self._run(tool, arguments, files, context.abort)
        if result.code == 0:
            return None
        return result.text.strip() or f"exit code {result.code}"

    def after(self, tool: str, arguments: JsonObject, outcome: ToolOutcome) -> str | None:
        if self.is_before:
            return None
        said = "\n".join(block.text for block in outcome.content if isinstance(block, Text))
        texts = {"arguments": dumps_text(arguments), "result": said}
        with hook_files(self.output_dir, **texts) as files:
            extra = {"AGENTSH_IS_ERROR": "1" if outcome.is_error else "0"}
            result = self._run(tool, arguments, {**files, **extra}, Abort())
        text = "" if result.text == "(no output)" else result.text.strip()
        if result.stopped is not None or result.code:
            ended = result.stopped or f"exit code {result.code}"
            return f"{text}\n({ended})" if text else None
        return text or None

    def _run(
        self, tool: str, arguments: JsonObject, more: Mapping[str, str], abort: Abort
    ) -> ShellResult:
        environ = {**self.environ, **more, "AGENTSH_TOOL": tool}
        text = clean(dumps_text(arguments)).replace("\0", "")
        if len(text.encode()) <= MOST_IN_A_VARIABLE:
            environ["AGENTSH_ARGUMENTS"] = text
        hook_place = HookPlace(self.cwd, self.home, environ, self.output_dir)
        return run_hook(self.command, hook_place, abort, HOOK_SECONDS)


class HookPlace(Struct, frozen=True):
    """Where a command runs, and with what environment."""

    cwd: Path
    home: Path
    environ: Mapping[str, str]
    output_dir: Path


def run_hook(command: str, hook_place: HookPlace, abort: Abort, seconds: float) -> ShellResult:
    """Run one to the end of its shell. Raises ToolFailedError if it cannot be started."""
    context = ToolContext(
        cwd=hook_place.cwd,
        home=hook_place.home,
        abort=abort,
        call_id="hook",
        key="",
        environ=hook_place.environ,
        output_dir=hook_place.output_dir,
        ledger=FileLedger(),
        timeout=seconds,
    )
    return run_shell(command, context, seconds)


@contextmanager
def hook_files(output_dir: Path, **texts: str) -> Iterator[dict[str, str]]:
    """Each text as a file for the command, by the variable that names it."""
    made: dict[str, str] = {}
    try:
        for name, text in texts.items():
            made[f"AGENTSH_{name.upper()}_FILE"] = str(hook_file(output_dir, text))
        yield made
    finally:
        for name in made.values():
            with suppress(OSError):
                Path(name).unlink()


def hook_file(output_dir: Path, text: str) -> Path:
    """A private file with that text. Raises OSError."""
    path = private_folder(output_dir) / f"hook-{secrets.token_hex(8)}"
    handle = create_private(path)
    try:
        write_all(handle, clean(text).encode())
    except OSError:
        path.unlink()
        raise
    finally:
        os.close(handle)
    return path

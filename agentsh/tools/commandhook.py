"""Hooks that are commands of the settings: `[hooks] before_tool`, `after_tool`. No Python needed.

    [hooks]
    before_tool = 'case "$AGENTSH_ARGUMENTS" in *"git push"*) echo "people push"; exit 1;; esac'
    after_tool = 'test "$AGENTSH_TOOL" != edit || ruff check --quiet .'

Before a call: an exit code other than 0 refuses it, and what was printed is the reason the model is
told. After it: what was printed is added to the result as a note. The call comes in the
environment: AGENTSH_TOOL, AGENTSH_ARGUMENTS (JSON; left out where it is over 64 KB),
AGENTSH_ARGUMENTS_FILE, and afterwards AGENTSH_RESULT_FILE and AGENTSH_IS_ERROR (0 or 1). They run
in the session's folder and never confined: they are the user's own. Read first: plugins.py.
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
from agentsh.jsontext import JsonObject, clean, dumps_text
from agentsh.messages import Text
from agentsh.tools.base import ToolContext, ToolOutcome
from agentsh.tools.bash import ShellResult, run_shell
from agentsh.tools.ledger import FileLedger

SECONDS: Final = 60.0
_MOST: Final = 64 * 1024
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
        with self._files(arguments=dumps_text(arguments)) as files:
            result = self._run(tool, arguments, files, context.abort)
        if result.code == 0:
            return None
        return result.text.strip() or f"exit code {result.code}"

    def after(self, tool: str, arguments: JsonObject, outcome: ToolOutcome) -> str | None:
        if self.is_before:
            return None
        said = "\n".join(block.text for block in outcome.content if isinstance(block, Text))
        with self._files(arguments=dumps_text(arguments), result=said) as files:
            extra = {"AGENTSH_IS_ERROR": "1" if outcome.is_error else "0"}
            result = self._run(tool, arguments, {**files, **extra}, Abort())
        words = "" if result.text == "(no output)" else result.text.strip()
        if result.stopped is not None or result.code:
            ended = result.stopped or f"exit code {result.code}"
            return f"{words}\n({ended})" if words else None
        return words or None

    def _run(
        self, tool: str, arguments: JsonObject, more: Mapping[str, str], abort: Abort
    ) -> ShellResult:
        environ = {**self.environ, **more, "AGENTSH_TOOL": tool}
        text = clean(dumps_text(arguments)).replace("\0", "")
        if len(text.encode()) <= _MOST:
            environ["AGENTSH_ARGUMENTS"] = text
        context = ToolContext(
            cwd=self.cwd,
            home=self.home,
            abort=abort,
            call_id="hook",
            key="",
            environ=environ,
            output_dir=self.output_dir,
            ledger=FileLedger(),
            timeout=SECONDS,
        )
        return run_shell(self.command, context, SECONDS)

    @contextmanager
    def _files(self, **texts: str) -> Iterator[dict[str, str]]:
        """Each text as a file for the command, by the variable that names it."""
        self.output_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        made: dict[str, str] = {}
        try:
            for name, text in texts.items():
                place = self.output_dir / f"hook-{secrets.token_hex(8)}"
                made[f"AGENTSH_{name.upper()}_FILE"] = str(place)
                handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
                with os.fdopen(handle, "wb") as file:
                    file.write(clean(text).encode())
            yield made
        finally:
            for name in made.values():
                with suppress(OSError):
                    Path(name).unlink()

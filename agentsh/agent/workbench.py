"""The tools of one session with all that they need: folder, environment, ledger, policy, sandbox.

It answers questions about a call (which tool, may it, what would it change, where does it run) and
keeps no order and no record; execution.py does. Read next: tools/toolset.py, tools/policy.py.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from agentsh.abort import Abort
from agentsh.errors import InvalidArgumentsError
from agentsh.jsontext import JsonObject, dumps, dumps_text
from agentsh.messages import BashExecutionMessage, Text, ToolCall, ToolCallId
from agentsh.session.entries import EntryId
from agentsh.session.facts import ToolStarted
from agentsh.tools.base import Effect, Previews, StartedProcess, Tool, ToolContext, ToolOutcome
from agentsh.tools.ledger import FileLedger
from agentsh.tools.paths import pre_image
from agentsh.tools.policy import SHELL, Asked, Decision, Policy, decide
from agentsh.tools.rules import Rule
from agentsh.tools.toolset import Toolset

if TYPE_CHECKING:
    from agentsh.tools.bash import ShellResult

MAX_STORED_ARGUMENTS = 64 * 1024


def failed(words: str) -> ToolOutcome:
    """An error result."""
    return ToolOutcome((Text(words),), is_error=True)


class Workbench(Struct):
    """One session's tools. `rules` are those of the settings and options."""

    session_id: str
    cwd: Path
    home: Path
    toolset: Toolset
    policy: Policy
    ledger: FileLedger
    environ: Mapping[str, str]
    output_dir: Path
    run_command: Callable[[str, ToolContext, float], ShellResult]
    """Runs a command as the bash tool would; handed in, since few turns need it."""
    rules: tuple[Rule, ...] = ()
    timeout: float = 300.0
    sandbox: Callable[[list[str]], list[str]] | None = None
    spool_dir: Path | None = None
    own: tuple[Path, ...] = ()
    """agentsh's own folders: never "inside" the project."""

    def look_up(self, call: ToolCall) -> tuple[Tool, JsonObject]:
        """The tool and its checked arguments. Raises InvalidArgumentsError."""
        tool = self.toolset.find(call.name)
        if call.arguments_error is not None:
            raise InvalidArgumentsError(
                f"the call was not executed: {call.arguments_error}. Send the call again, whole."
            )
        return tool, tool.check(call.arguments)

    def decide(
        self, tool: Tool, arguments: JsonObject, granted: list[Rule]
    ) -> tuple[Decision, str | None]:
        """What the policy says, and for an edit the difference to show."""
        command = arguments.get("command") if tool.effect is Effect.EXEC else None
        decision = decide(
            self.policy,
            tool=tool.schema.name,
            effect=tool.effect,
            touched=tool.touches(arguments, self.cwd, self.home),
            cwd=self.cwd,
            command=command if isinstance(command, str) else None,
            rules=[*self.rules, *granted],
            sandboxed=self.sandbox is not None,
            shown=None if tool.schema.name == SHELL else dumps_text(arguments),
            own=self.own,
        )
        diff: str | None = None
        if isinstance(decision, Asked) and isinstance(tool, Previews):
            diff = tool.preview(arguments, self.cwd, self.home)
        return decision, diff

    def key(self, call: ToolCall) -> str:
        """The idempotency key of a call (R57): the same when the same call is run again."""
        text = dumps([self.session_id, call.id, call.name, call.arguments])
        return hashlib.sha256(text).hexdigest()[:32]

    def start_fact(
        self, call: ToolCall, tool: Tool, arguments: JsonObject, approval: EntryId | None
    ) -> ToolStarted:
        """What must be on disk before the effect."""
        raw = dumps(call.arguments)
        pre: tuple[JsonObject, ...] = ()
        expected: tuple[JsonObject, ...] = ()
        if tool.effect is Effect.WRITE:
            images = [pre_image(p) for p in tool.touches(arguments, self.cwd, self.home)]
            pre = tuple({"path": i.path, "sha256": i.sha256, "size": i.size} for i in images)
            will = tool.expect(arguments, self.context(call, Abort())) or {}
            expected = tuple({"path": p, "sha256": h} for p, h in will.items())
        spool = self.spool(call) if tool.effect is Effect.EXEC else None
        return ToolStarted(
            call_id=call.id,
            name=call.name,
            arguments=(
                raw.decode("utf-8")
                if len(raw) <= MAX_STORED_ARGUMENTS
                else "sha256:" + hashlib.sha256(raw).hexdigest()
            ),
            effect=tool.effect.value,
            key=self.key(call),
            pre_images=pre,
            expected=expected,
            process={"spool": str(spool)} if spool else None,
            approval=approval,
        )

    def spool(self, call: ToolCall) -> Path | None:
        """Where a command's output goes as it comes, so that a crash leaves it readable."""
        if self.spool_dir is None:
            return None
        return self.spool_dir / f"tool-{self.key(call)[:16]}.spool"

    def forget(self, call: ToolCall) -> None:
        """The call's result is stored: its spool has done its work."""
        spool = self.spool(call)
        if spool is not None and spool.exists():
            spool.unlink(missing_ok=True)
            with suppress(OSError):  # others are still in it
                spool.parent.rmdir()

    def shell(
        self, command: str, abort: Abort, progress: Callable[[str], None]
    ) -> BashExecutionMessage:
        """Run a person's own `!command` as the bash tool would. Raises ToolFailedError."""
        call = ToolCall(ToolCallId("shell"), "bash", {"command": command})
        result = self.run_command(command, self.context(call, abort, progress), self.timeout)
        self.forget(call)
        # the last note says how it ended; where the message says so itself, once is enough
        is_said = result.stopped == "aborted" or bool(result.code)
        notes = result.notes[:-1] if is_said else result.notes
        return BashExecutionMessage(
            command=command,
            output="\n".join((result.text, *notes)),
            exit_code=result.code,
            cancelled=result.stopped == "aborted",
            truncated=result.is_cut,
            full_output_path=str(result.full_output) if result.full_output else None,
        )

    def context(
        self,
        call: ToolCall,
        abort: Abort,
        progress: Callable[[str], None] = lambda _text: None,
        started: Callable[[StartedProcess], None] = lambda _process: None,
    ) -> ToolContext:
        return ToolContext(
            cwd=self.cwd,
            home=self.home,
            abort=abort,
            call_id=call.id,
            key=self.key(call),
            environ=self.environ,
            output_dir=self.output_dir,
            ledger=self.ledger,
            timeout=self.timeout,
            sandbox=self.sandbox,
            progress=progress,
            started=started,
            spool=self.spool(call),
        )

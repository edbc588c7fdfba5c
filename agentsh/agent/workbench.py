"""The tools of one session with all that they need: folder, environment, ledger, policy, sandbox.

It answers questions about a call (which tool, may it, what would it change, where does it run) and
keeps no order and no record; execution.py does. Read next: tools/toolset.py,
tools/approval/policy.py.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from agentsh.abort import Abort
from agentsh.agent.grants import Grants
from agentsh.errors import InvalidArgumentsError, ToolError
from agentsh.files import is_there
from agentsh.jsontext import JsonObject, dumps, dumps_text
from agentsh.messages import BashExecutionMessage, Text, ToolCall, ToolCallId
from agentsh.session.format.entries import EntryId
from agentsh.session.format.facts import ToolStarted
from agentsh.settings import Policy
from agentsh.tools.approval.policy import (
    SHELL,
    Allowed,
    Asked,
    CallFacts,
    Decision,
    Refused,
    decide,
)
from agentsh.tools.approval.rules import Rule
from agentsh.tools.base import (
    EditorTexts,
    Effect,
    HandedOver,
    JobEnd,
    Previews,
    Rewrites,
    Rewritten,
    Served,
    StartedProcess,
    Tool,
    ToolContext,
    ToolOutcome,
)
from agentsh.tools.ledger import FileLedger
from agentsh.tools.toolset import Toolset

if TYPE_CHECKING:
    from agentsh.tools.approval.original import OriginalFolder
    from agentsh.tools.mcp.host import Refresh
    from agentsh.tools.shell.bash import ShellResult

MAX_STORED_ARGUMENTS = 64 * 1024
MAX_ERROR_WORDS = 16 * 1024


def failed(text: str) -> ToolOutcome:
    """An error result; no longer than other results are, whoever chose its words."""
    if len(text) > MAX_ERROR_WORDS:
        ending = f"\n\n[Of {len(text)} characters the first {MAX_ERROR_WORDS} are shown]"
        text = text[:MAX_ERROR_WORDS] + ending
    return ToolOutcome((Text(text),), is_error=True)


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
    ended_jobs: Callable[[str], Sequence[JobEnd]] = lambda _session: ()
    """The background jobs of a session that have ended since it was asked last."""
    refresh: Callable[[Abort, Sequence[str] | None], Refresh] | None = None
    """Asked before each prompt, with the tools that were chosen: which tools of servers count."""
    rules: tuple[Rule, ...] = ()
    timeout: float = 300.0
    sandbox: Callable[[list[str]], list[str]] | None = None
    hiding: Callable[[list[str]], list[str]] | None = None
    """Wraps an argv of ours that only reads, so that it sees all but `hidden`."""
    spool_dir: Path | None = None
    grants: Grants = field(default_factory=Grants)
    """What a person agreed to in this session, on this machine."""
    own: tuple[Path, ...] = ()
    """agentsh's own folders, and files that its settings run: never "inside" the project."""
    named_orders: Callable[[], tuple[Path, ...]] = tuple
    """Asked for each edit: what is obeyed since git's settings or variables name it."""
    shown: tuple[Path, ...] = ()
    """What of the hidden is shown all the same: the user's skills."""
    hidden: tuple[Path, ...] = ()
    """What no tool shows: agentsh's own folders, in the sandbox."""
    original: OriginalFolder | None = None
    """What no call may reach or name, where a copy of it is worked in."""
    editor_texts: EditorTexts | None = None
    """The editor's texts of files, where one drives."""

    def look_up(self, call: ToolCall) -> tuple[Tool, JsonObject]:
        """The tool and its checked arguments. Raises InvalidArgumentsError."""
        tool = self.toolset.find(call.name)
        if call.arguments_error is not None:
            raise InvalidArgumentsError(
                f"the call was not executed: {call.arguments_error}. Send the call again, whole."
            )
        return tool, tool.check(call.arguments)

    def touched(self, tool: Tool, arguments: JsonObject) -> tuple[Path, ...]:
        """The real paths of a call. Resolved once: these are judged, recorded and opened."""
        return tool.touches(arguments, self.cwd, self.home)

    def decide(
        self, tool: Tool, arguments: JsonObject, touched: tuple[Path, ...], granted: list[Rule]
    ) -> tuple[Decision, str | None]:
        """What the policy says, and for an edit the difference to show."""
        if isinstance(tool, HandedOver) and tool.is_agreed:
            return Allowed(), None
        if self.original is not None and self.original.is_reached(touched, dumps_text(arguments)):
            return Refused(self.original.words(tool.schema.name)), None
        command = arguments.get("command") if tool.effect is Effect.EXEC else None
        call = CallFacts(
            tool=tool.schema.name,
            effect=tool.effect,
            touched=touched,
            command=command if isinstance(command, str) else None,
            shown=None if tool.schema.name == SHELL else dumps_text(arguments),
            served=tool.served if isinstance(tool, Served) else None,
        )
        own = self.own
        if tool.effect is Effect.WRITE:
            own = (*own, *self.named_orders())
        decision = decide(
            self.policy,
            call,
            [*self.rules, *granted],
            cwd=self.cwd,
            sandboxed=self.sandbox is not None,
            own=own,
        )
        diff: str | None = None
        if isinstance(decision, Asked) and isinstance(tool, Previews):
            diff = tool.preview(arguments, self.cwd, self.home, self.editor_texts)
        return decision, diff

    def rewritten(self, call: ToolCall, most: int) -> Rewritten | None:
        """What a call that is about to run will make of its file; None: of none, or nobody knows.

        `most`: bytes of both texts together.
        """
        try:
            tool, arguments = self.look_up(call)
            if not isinstance(tool, Rewrites):
                return None
            return tool.rewritten(arguments, self.cwd, self.home, most, self.editor_texts)
        except (ToolError, OSError):
            return None

    def key(self, call: ToolCall) -> str:
        """The idempotency key of a call (R57): the same when the same call is run again."""
        text = dumps([self.session_id, call.id, call.name, call.arguments])
        return hashlib.sha256(text).hexdigest()[:32]

    def start_fact(
        self,
        call: ToolCall,
        tool: Tool,
        arguments: JsonObject,
        touched: tuple[Path, ...],
        approval: EntryId | None,
    ) -> ToolStarted:
        """What must be on disk before the effect."""
        raw = dumps(call.arguments)
        pre: tuple[JsonObject, ...] = ()
        expected: tuple[JsonObject, ...] = ()
        if tool.effect is Effect.WRITE:
            from agentsh.tools.files.paths import pre_image

            images = [pre_image(path) for path in touched]
            pre = tuple({"path": i.path, "sha256": i.sha256, "size": i.size} for i in images)
            will = tool.expect(arguments, self.context(call, Abort(), touched=touched)) or {}
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
        if spool is not None and is_there(spool):
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
        touched: tuple[Path, ...] = (),
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
            hiding=self.hiding,
            progress=progress,
            started=started,
            judged=touched,
            spool=self.spool(call),
            hidden=self.hidden,
            shown=self.shown,
            session_id=self.session_id,
            editor_texts=self.editor_texts,
        )

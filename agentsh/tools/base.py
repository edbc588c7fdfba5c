"""The seam to what may be done: Tool, ToolContext, ToolOutcome. Values and protocols only.

A tool is described (schema), judged (effect, touched paths: policy.py), started (a durable fact:
agent/turn/recorder.py) and run, in this order. `run` may raise ToolError, which becomes an error
result; any other exception of a tool's body does too (agent/turn/execution.py), and names the tool.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from msgspec import Struct, field

from agentsh.abort import Abort
from agentsh.files import real
from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import ToolSchema, UserBlock
from agentsh.tools.ledger import FileLedger


class EditorTexts(Protocol):
    """The texts of files as an editor has them open, saved or not."""

    def unsaved(self, path: Path) -> str | None:
        """The text of the file at a real path where it is another than on the disk.

        None: the disk counts. May wait for the editor.
        """

    def change(self, path: Path, text: str) -> Literal["unknown", "same", "changed"]:
        """What happened to the text in the editor since this session last read or put it."""

    def learn(self, path: Path, text: str) -> None:
        """It was read."""

    def put(self, path: Path, text: str) -> None:
        """Make it the text of the file in the editor. Raises ToolFailedError."""


class Effect(StrEnum):
    """The worst that a call may do; decides the policy row and what a crash leaves unknown."""

    READ = "read"
    WRITE = "write"
    EXEC = "exec"
    UNKNOWN = "unknown"


class ToolOutcome(Struct, frozen=True):
    """What a tool returned. `details` is stored and shown, never sent to the model."""

    content: tuple[UserBlock, ...]
    is_error: bool = False
    details: JsonValue = None


class PreImage(Struct, frozen=True):
    """A file as it was just before a call.

    `sha256` None: there was none, or (with a size) its bytes were too many to be read.
    """

    path: str
    sha256: str | None
    size: int


class StartedProcess(Struct, frozen=True):
    """A process group that a tool began. `start` is /proc/PID/stat field 22, `boot` the boot id."""

    pgid: int
    start: int
    boot: str


class JobEnd(Struct, frozen=True):
    """How a background job ended. `code`: 128+N after signal N, None where it still runs."""

    call_id: str
    pgid: int
    code: int | None
    seconds: float
    bytes: int


class ToolContext(Struct, frozen=True):
    """Where and for whom a call runs. One per call."""

    cwd: Path
    home: Path
    abort: Abort
    call_id: str
    key: str
    """Idempotency key (R57), in the child's environment as AGENTSH_IDEMPOTENCY_KEY."""
    environ: Mapping[str, str]
    """What children get: the process environment less the endpoint's credentials."""
    output_dir: Path
    """Where whole outputs go (below AGENTSH_HOME, made 0700 on demand)."""
    ledger: FileLedger
    """Which files this session read or wrote, and as what (T16)."""
    timeout: float = 300.0
    sandbox: Callable[[list[str]], list[str]] | None = None
    """Wraps an argv so that it runs confined (sandbox.py); None runs it as it is."""
    hiding: Callable[[list[str]], list[str]] | None = None
    """Wraps an argv of ours that only reads, so that it sees all but `hidden`."""
    progress: Callable[[str], None] = field(default=lambda _text: None)
    """Told what a running command prints, for display; may be called from another thread."""
    started: Callable[[StartedProcess], None] = field(default=lambda _process: None)
    """Told once which process group runs, so that it becomes a fact."""
    judged: tuple[Path, ...] = ()
    """The real paths that the policy judged (`touches`): these are opened, and none found anew."""
    spool: Path | None = None
    """Where bash writes its output as it comes, so that a crash leaves it readable."""
    hidden: tuple[Path, ...] = ()
    """Folders (real paths) of which no tool shows anything but the outputs that a result named."""
    shown: tuple[Path, ...] = ()
    """Folders (real paths) in hidden ones that can be read all the same."""
    session_id: str = ""
    """Of which session the call is; its background jobs are told by it."""
    editor_texts: EditorTexts | None = None
    """Where an editor drives: its unsaved texts count for read, edit and write."""

    def unsaved(self, path: Path) -> str | None:
        """The text of the file at a real path in the person's editor, where it is not saved."""
        return None if self.editor_texts is None else self.editor_texts.unsaved(path)

    def hides(self, path: Path) -> bool:
        """Whether a real path lies in a hidden folder. The project itself is not hidden in one.

        Outputs have names that nobody guesses and nobody can list: who knows one was told it.
        """
        if path.parent == real(self.output_dir) and path.name.startswith(("bash-", "mcp-")):
            return False
        if any(path.is_relative_to(folder) for folder in self.shown):
            return False
        return any(
            path.is_relative_to(folder)
            and not (self.cwd.is_relative_to(folder) and path.is_relative_to(self.cwd))
            for folder in self.hidden
        )


class Tool(Protocol):
    """One tool. Stateless: everything that lasts is in the context."""

    @property
    def schema(self) -> ToolSchema: ...

    @property
    def effect(self) -> Effect: ...

    def check(self, arguments: JsonObject) -> JsonObject:
        """The arguments, normalised (numbers from strings, unknown names dropped).

        Raises InvalidArgumentsError.
        """

    def touches(self, arguments: JsonObject, cwd: Path, home: Path) -> tuple[Path, ...]:
        """The real paths (links resolved) of a checked call; empty: none, or any."""

    def expect(self, arguments: JsonObject, context: ToolContext) -> Mapping[str, str] | None:
        """path → sha256 as a checked call will leave it, where that can be known before the run."""

    def run(self, arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        """Do it. Raises ToolError."""


class ServedTool(Struct, frozen=True):
    """Whose tool it is that a server does, and a digest of how it is described."""

    server: str
    tool: str
    digest: str


@runtime_checkable
class Served(Protocol):
    """A tool that may be a server's; the rules for it are about server and tool."""

    @property
    def served(self) -> ServedTool | None: ...


@runtime_checkable
class HandedOver(Protocol):
    """A tool that may be the caller's own code: whoever hands it over has agreed to its calls."""

    @property
    def is_agreed(self) -> bool: ...


@runtime_checkable
class Previews(Protocol):
    """A tool that can show what a call would change, before anybody agrees to it."""

    def preview(
        self, arguments: JsonObject, cwd: Path, home: Path, editor_texts: EditorTexts | None = None
    ) -> str | None: ...


class Rewritten(Struct, frozen=True):
    """A file's whole text before and after a call. `before` None: there is no such file yet."""

    path: Path
    """The real one."""
    before: str | None
    after: str


@runtime_checkable
class Rewrites(Protocol):
    """A tool that can tell a file's whole text before and after a call, while it is not done."""

    def rewritten(
        self,
        arguments: JsonObject,
        cwd: Path,
        home: Path,
        most: int,
        editor_texts: EditorTexts | None = None,
    ) -> Rewritten | None:
        """None: the call will fail, or the texts are larger than so many bytes together."""

"""Run tools as an agent would: a context over a temporary folder, results as text."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct, field

from agentsh.abort import Abort
from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import Text
from agentsh.tools.base import EditorTexts, StartedProcess, Tool, ToolContext, ToolOutcome
from agentsh.tools.ledger import FileLedger


class Bench(Struct):
    """One session's folder and ledger; a new context for every call."""

    cwd: Path
    home: Path
    output_dir: Path
    ledger: FileLedger = field(default_factory=FileLedger)
    abort: Abort = field(default_factory=Abort)
    started: list[StartedProcess] = field(default_factory=list)
    progress: list[str] = field(default_factory=list)
    spool: Path | None = None
    timeout: float = 30.0
    on_start: Callable[[StartedProcess], None] | None = None
    editor_texts: EditorTexts | None = None

    def context(self, judged: tuple[Path, ...] = ()) -> ToolContext:
        return ToolContext(
            cwd=self.cwd,
            home=self.home,
            abort=self.abort,
            call_id="call_1",
            key="k" * 32,
            environ=dict(os.environ),
            output_dir=self.output_dir,
            ledger=self.ledger,
            timeout=self.timeout,
            progress=self.progress.append,
            started=self.on_start or self.started.append,
            judged=judged,
            spool=self.spool,
            session_id=str(self.cwd),
            editor_texts=self.editor_texts,
        )

    def outcome(self, tool: Tool, **arguments: JsonValue) -> ToolOutcome:
        """Check and run. Raises ToolError."""
        given: JsonObject = dict(arguments)
        return tool.run(tool.check(given), self.context())

    def text(self, tool: Tool, **arguments: JsonValue) -> str:
        return text_of(self.outcome(tool, **arguments))

    def file(self, name: str, data: bytes | str = b"") -> Path:
        path = self.cwd / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path


def text_of(outcome: ToolOutcome) -> str:
    return "".join(block.text for block in outcome.content if isinstance(block, Text))


def make_bench(folder: Path) -> Bench:
    cwd, home = folder / "project", folder / "home"
    cwd.mkdir()
    home.mkdir()
    return Bench(cwd, home, folder / "out")

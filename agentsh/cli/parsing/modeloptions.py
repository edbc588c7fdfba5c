"""The options of every command that talks to a model, as the value that it is handed.

Read next: words.py, settings.py.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct, field

from agentsh.cli.parsing.options import SessionDir
from agentsh.cli.parsing.words import Option
from agentsh.settings import Value


class ModelOptions(Struct, frozen=True):
    """Which endpoint and model, and how patient to be with it."""

    model: Annotated[
        str | None,
        Option(
            "-m",
            "--model",
            metavar="ID",
            help="model, or NAME/ID of [endpoints.NAME]",
            complete="models",
        ),
    ] = None
    base_url: Annotated[
        str | None, Option("--base-url", metavar="URL", help="endpoint, ends in /v1")
    ] = None
    idle_timeout: Annotated[
        float | None,
        Option(
            "--idle-timeout",
            least=0.0,
            metavar="SECONDS",
            help="longest silence, 0 = no limit",
        ),
    ] = None
    max_retries: Annotated[
        int | None,
        Option("--max-retries", least=0, metavar="N", help="automatic repeats of a request"),
    ] = None
    context_window: Annotated[
        int | None,
        Option("--context-window", least=1, metavar="TOKENS", help="what the model holds"),
    ] = None
    max_tokens: Annotated[
        int | None,
        Option("--max-tokens", least=1, metavar="TOKENS", help="most that one answer may have"),
    ] = None
    thinking: Annotated[
        str | None,
        Option("--thinking", metavar="LEVEL", help="off, minimal, low, medium, high, xhigh, max"),
    ] = None
    local: Annotated[
        str | None,
        Option("--local", metavar="FILE.gguf", help="run this model on this machine"),
    ] = None
    session_dir: SessionDir = None
    trust: Annotated[
        bool, Option("--trust", help="use this project's own settings and .env, this once")
    ] = False

    def settings(self) -> dict[str, Value]:
        """What these options say, by the settings' dotted names."""
        return {
            "endpoint.model": self.model,
            "endpoint.base_url": self.base_url,
            "endpoint.idle_timeout": self.idle_timeout,
            "endpoint.max_retries": self.max_retries,
            "endpoint.context_window": self.context_window,
            "endpoint.max_tokens": self.max_tokens,
            "thinking.level": self.thinking,
        }


class TurnOptions(ModelOptions, frozen=True):
    """What a turn may do besides."""

    approve: Annotated[
        str | None,
        Option("--approve", metavar="POLICY", help="never, ask, edits (default) or all"),
    ] = None
    allow: Annotated[
        list[str],
        Option("--allow", metavar="RULE", help="first words of a command that needs no question"),
    ] = field(default_factory=list)
    sandbox: Annotated[
        bool, Option("--sandbox", help="run commands confined (needs bubblewrap)")
    ] = False
    tools: Annotated[
        str | None, Option("--tools", metavar="A,B", help="offer only these tools; all: every one")
    ] = None
    no_tools: Annotated[bool, Option("--no-tools", help="offer no tools")] = False
    no_context_files: Annotated[
        bool, Option("--no-context-files", help="read no AGENTS.md or CLAUDE.md")
    ] = False
    no_mcp: Annotated[bool, Option("--no-mcp", help="start and offer no MCP server")] = False
    no_skills: Annotated[bool, Option("--no-skills", help="look for no skills")] = False
    no_templates: Annotated[
        bool, Option("--no-templates", help="a prompt that begins with a slash is no template")
    ] = False
    on_interrupted: Annotated[
        str | None,
        Option(
            "--on-interrupted",
            metavar="WHAT",
            help="after a crash inside a turn: ask, continue or stop",
        ),
    ] = None
    strict: Annotated[
        bool,
        Option("--strict", help="refuse to go on where model, tools or system prompt have changed"),
    ] = False

    def settings(self) -> dict[str, Value]:
        return {
            **ModelOptions.settings(self),
            "approve.policy": self.approve,
            "sandbox.enabled": self.sandbox or None,
            "context.files": False if self.no_context_files else None,
            "skills.enabled": False if self.no_skills else None,
            "templates.enabled": False if self.no_templates else None,
        }


class RunOptions(TurnOptions, frozen=True):
    """Where a run ends that nobody watches."""

    max_steps: Annotated[
        int | None, Option("--max-steps", least=1, metavar="N", help="stop after N requests")
    ] = None
    max_cost: Annotated[
        float | None,
        Option(
            "--max-cost", least=0.0001, metavar="USD", help="stop when this run has cost so much"
        ),
    ] = None
    max_time: Annotated[
        float | None,
        Option("--max-time", least=0.001, metavar="SECONDS", help="stop after so long"),
    ] = None
    output_schema: Annotated[
        str | None,
        Option("--output-schema", metavar="FILE", help="the answer is JSON that fits this schema"),
    ] = None


class RpcOptions(TurnOptions, frozen=True):
    """What a program that drives may say besides."""

    provider: Annotated[
        str | None, Option("--provider", metavar="NAME", help="the endpoint [endpoints.NAME]")
    ] = None

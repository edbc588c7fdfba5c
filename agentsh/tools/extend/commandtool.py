"""Any command as a tool, from the settings: `[tools.command.NAME]`. No Python needed.

    [tools.command.tickets]
    description = "Show a ticket of our tracker"
    run = 'tracker show -- "$AGENTSH_ARG_ID"'
    effect = "read"
    parameters = { id = "string" }

The command is the user's and fixed; the model's arguments come in the environment only (one
variable each, all of them as JSON in AGENTSH_ARGUMENTS), never into the text that the shell reads.
It runs as bash's commands do: limits, time-out, abort and sandbox are the same. `effect` says what
the policy takes it for; "exec" where nothing is said. Read next: bash.py, policy.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from agentsh.jsontext import JsonObject, JsonValue, clean, dumps_text
from agentsh.messages import ToolSchema
from agentsh.tools.arguments import check_arguments
from agentsh.tools.base import Effect, ToolContext, ToolOutcome
from agentsh.tools.shell.bash import BashTool

TYPES: Final = ("string", "integer", "number", "boolean")
_MEMBERS: Final = ("description", "run", "effect", "parameters", "timeout")


class CommandSpec(Struct, frozen=True):
    """One table of the settings. A parameter whose name ends in `?` may be left out."""

    name: str
    run: str
    description: str
    effect: Effect = Effect.EXEC
    parameters: Mapping[str, str] = field(default_factory=dict)
    timeout: float | None = None


def parse_command_spec(name: str, table: Mapping[str, object]) -> CommandSpec:
    """A table of the settings as a spec. Raises ValueError with what is wrong."""
    unknown = sorted(set(table).difference(_MEMBERS))
    if unknown:
        raise ValueError(f"{', '.join(unknown)}: not known; there are {', '.join(_MEMBERS)}")
    if not name.isidentifier():
        raise ValueError(f"{name!r} is no name for a tool (letters, digits, _)")
    run, description = table.get("run"), table.get("description")
    if not isinstance(run, str) or not run.strip():
        raise ValueError("run must be a command")
    if not isinstance(description, str) or not description.strip():
        raise ValueError("description must be a text: the model is told it")
    effect = table.get("effect", "exec")
    if effect not in ("read", "write", "exec"):
        raise ValueError("effect must be read, write or exec")
    parameters = table.get("parameters", {})
    if not isinstance(parameters, Mapping) or not all(
        isinstance(key, str) and key.removesuffix("?").isidentifier() and kind in TYPES
        for key, kind in parameters.items()
    ):
        raise ValueError(f"parameters must name a type each: {', '.join(TYPES)}")
    timeout = table.get("timeout")
    if timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, int | float)):
        raise ValueError("timeout must be a number of seconds")
    return CommandSpec(name, run, description, Effect(effect), dict(parameters), timeout)


class CommandTool:
    """A command of the settings as a tool."""

    def __init__(self, spec: CommandSpec) -> None:
        self._spec = spec
        properties: JsonObject = {
            name.removesuffix("?"): {"type": kind} for name, kind in spec.parameters.items()
        }
        required = [name for name in spec.parameters if not name.endswith("?")]
        self._schema = ToolSchema(
            spec.name,
            spec.description,
            {"type": "object", "properties": properties, "required": required},
        )

    @property
    def schema(self) -> ToolSchema:
        return self._schema

    @property
    def effect(self) -> Effect:
        return self._spec.effect

    def check(self, arguments: JsonObject) -> JsonObject:
        return check_arguments(self._schema, arguments)

    def touches(self, arguments: JsonObject, cwd: Path, home: Path) -> tuple[Path, ...]:
        """Unknown, so that a command which writes is asked about outside of policy `all`."""
        return ()

    def expect(self, arguments: JsonObject, context: ToolContext) -> Mapping[str, str] | None:
        return None

    def run(self, arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        environ = {
            **context.environ,
            "AGENTSH_ARGUMENTS": _value(dumps_text(arguments)),
            **{f"AGENTSH_ARG_{n.upper()}": _value(v) for n, v in arguments.items()},
        }
        call: JsonObject = {"command": self._spec.run}
        if self._spec.timeout is not None:
            call["timeout"] = self._spec.timeout
        return BashTool().run(call, replace(context, environ=environ))


def _value(value: JsonValue) -> str:
    """As a variable of the environment can hold it: no NUL."""
    text = value if isinstance(value, str) else dumps_text(value)
    return clean(text).replace("\0", "")

"""What commands take: the options of every command that talks to a model, and the common words.

`add` turns the members of an options value into options of a command, so that a command's
signature names only what is its own and is handed one frozen value for the rest; `taking` does so
with what plain.py declares. Annotations are kept as objects (no `from __future__`): typer reads
them, and so does `add`.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator
from math import isnan
from typing import Annotated, Any, get_type_hints

import typer
from msgspec import NODEFAULT, Struct, field
from msgspec.structs import fields as members

from agentsh.cli.completing import offer_entries, offer_models, offer_sessions
from agentsh.cli.plain import JSON, SESSION_DIR, Plain
from agentsh.settings import Value


def _a_number(value: float | None) -> float | None:
    """No range keeps NaN out: every comparison with it is false."""
    if value is not None and isnan(value):
        raise typer.BadParameter("nan is no number of seconds")
    return value


Session = Annotated[
    str,
    typer.Argument(help="id, unique prefix, path, or `last`", autocompletion=offer_sessions),
]
OptionalSession = Annotated[
    str | None,
    typer.Argument(
        help="id, unique prefix, path, or `last` (the default)", autocompletion=offer_sessions
    ),
]
EntryWord = Annotated[
    str,
    typer.Argument(
        help="id, unique prefix, label, `leaf` or `root`; ENTRY~N goes N up",
        autocompletion=offer_entries,
    ),
]
At = Annotated[
    str | None,
    typer.Option(
        "--at",
        metavar="ENTRY",
        help="an entry other than the leaf",
        autocompletion=offer_entries,
    ),
]
Json = Annotated[bool, typer.Option(JSON.word, help=JSON.help)]
SessionDir = Annotated[
    str | None,
    typer.Option(SESSION_DIR.word, metavar=SESSION_DIR.metavar, help=SESSION_DIR.help),
]


class ModelOptions(Struct, frozen=True):
    """Which endpoint and model, and how patient to be with it."""

    model: Annotated[
        str | None,
        typer.Option(
            "-m",
            "--model",
            metavar="ID",
            help="model, or NAME/ID of [endpoints.NAME]",
            autocompletion=offer_models,
        ),
    ] = None
    base_url: Annotated[
        str | None, typer.Option("--base-url", metavar="URL", help="endpoint, ends in /v1")
    ] = None
    idle_timeout: Annotated[
        float | None,
        typer.Option(
            "--idle-timeout",
            min=0.0,
            metavar="SECONDS",
            help="longest silence, 0 = no limit",
            callback=_a_number,
        ),
    ] = None
    max_retries: Annotated[
        int | None,
        typer.Option("--max-retries", min=0, metavar="N", help="automatic repeats of a request"),
    ] = None
    context_window: Annotated[
        int | None,
        typer.Option("--context-window", min=1, metavar="TOKENS", help="what the model holds"),
    ] = None
    max_tokens: Annotated[
        int | None,
        typer.Option("--max-tokens", min=1, metavar="TOKENS", help="most that one answer may have"),
    ] = None
    thinking: Annotated[
        str | None,
        typer.Option("--thinking", metavar="LEVEL", help="off, minimal, low, medium, high, xhigh"),
    ] = None
    local: Annotated[
        str | None,
        typer.Option("--local", metavar="FILE.gguf", help="run this model on this machine"),
    ] = None
    session_dir: SessionDir = None
    trust: Annotated[
        bool, typer.Option("--trust", help="use this project's own settings and .env, this once")
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
        typer.Option("--approve", metavar="POLICY", help="never, ask, edits (default) or all"),
    ] = None
    allow: Annotated[
        list[str],
        typer.Option(
            "--allow", metavar="RULE", help="first words of a command that needs no question"
        ),
    ] = field(default_factory=list)
    sandbox: Annotated[
        bool, typer.Option("--sandbox", help="run commands confined (needs bubblewrap)")
    ] = False
    tools: Annotated[
        str | None, typer.Option("--tools", metavar="A,B", help="offer only these tools")
    ] = None
    no_tools: Annotated[bool, typer.Option("--no-tools", help="offer no tools")] = False
    no_context_files: Annotated[
        bool, typer.Option("--no-context-files", help="read no AGENTS.md or CLAUDE.md")
    ] = False
    on_interrupted: Annotated[
        str | None,
        typer.Option(
            "--on-interrupted",
            metavar="WHAT",
            help="after a crash inside a turn: ask, continue or stop",
        ),
    ] = None
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="refuse to go on where model, tools or system prompt have changed"
        ),
    ] = False

    def settings(self) -> dict[str, Value]:
        return {
            **ModelOptions.settings(self),
            "approve.policy": self.approve,
            "sandbox.enabled": self.sandbox or None,
            "context.files": False if self.no_context_files else None,
        }


def add(
    app: typer.Typer,
    command: Callable[..., int],
    *,
    name: str | None = None,
    options: type[ModelOptions] | None = None,
) -> None:
    """Register a command that returns its exit code.

    With `options`, the command has the options of that class and gets them as `options`.
    """
    hints = get_type_hints(command, include_extras=True)
    taken = [] if options is None else list(_parameters(options))
    own = [
        parameter.replace(annotation=hints[parameter.name])
        for parameter in inspect.signature(command).parameters.values()
        if parameter.name != "options"
    ]

    def called(**given: Any) -> None:
        if options is not None:
            given["options"] = options(**{each.name: given.pop(each.name) for each in taken})
        raise typer.Exit(command(**given))

    app.command(name or command.__name__)(_signed(called, command, [*own, *taken]))


def taking(options: Iterable[Plain], command: Callable[..., None]) -> Callable[..., None]:
    """The command with these options in the place of its `**given`."""
    own = [
        parameter
        for parameter in inspect.signature(command).parameters.values()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]

    def called(*args: Any, **given: Any) -> None:
        command(*args, **given)

    return _signed(called, command, [*own, *map(_parameter, options)])


def _parameter(option: Plain) -> inspect.Parameter:
    kind = bool if option.is_flag else str | None
    declared = typer.Option(option.word, metavar=option.metavar, help=option.help)
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=option.default,
        annotation=Annotated[kind, declared],
    )


def _signed(
    called: Callable[..., None], command: Callable[..., Any], taken: list[inspect.Parameter]
) -> Callable[..., None]:
    """With a signature that inspect, and so typer, takes for its own."""
    called.__name__ = command.__name__
    called.__doc__ = command.__doc__
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in taken}
    called.__signature__ = inspect.Signature(taken)  # type: ignore[attr-defined]
    return called


def _parameters(options: type[ModelOptions]) -> Iterator[inspect.Parameter]:
    for member in members(options):
        default = [] if member.default is NODEFAULT else member.default
        yield inspect.Parameter(
            member.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=member.type
        )

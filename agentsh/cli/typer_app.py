"""The program as typer sees it: help, completion, errors, and words that words.py does not read.

What a command takes is declared without typer (cli/parsing); here typer's options are made of it.
Only the command that is asked for is loaded and made, since typer makes something of each option of
each command that it knows (docs/adr/0005). How a command ends is app.py's.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from math import isfinite
from typing import Annotated, Any

import typer

from agentsh.cli.completing import offer_entries, offer_models, offer_sessions
from agentsh.cli.parsing.program import (
    COMMANDS,
    OF_EXPLORE,
    OF_SESSIONS,
    find_command,
    find_subcommand,
)
from agentsh.cli.parsing.words import CommandWord, Option, gathered, taken
from agentsh.shellwords import shell_line, shell_word

_OFFERS: dict[str | None, Callable[..., Any]] = {
    "models": offer_models,
    "sessions": offer_sessions,
    "entries": offer_entries,
}

Call = Callable[[typer.Context, dict[str, Any]], None]
"""What is done with the values that typer read for a command."""


def build(words: Sequence[str]) -> typer.Typer:
    """The program, with the command that the words ask for, or with all."""
    app = typer.Typer(
        name="agentsh",
        help="A coding-agent shell whose history is a tree you can trust.",
        epilog="Without a command: a chat in this directory; it takes the options of `chat`.",
        no_args_is_help=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_program)
    for name in [words[0]] if words[0] in COMMANDS else COMMANDS:
        if name == "sessions":
            app.add_typer(_sessions(), name=name)
        elif name == "explore" and words[1:2] and words[1] in OF_EXPLORE:
            app.add_typer(_explore(), name=name)
        else:
            _add(app, name, find_command(name))
    return app


def whole_program() -> typer.Typer:
    """The program with every command."""
    return build(["--help"])


def as_typer_takes(command: Callable[..., int], call: Call) -> Callable[..., None]:
    """A function with the command's words as typer's options; it hands their values to `call`."""

    def called(ctx: typer.Context, **given: Any) -> None:
        call(ctx, gathered(command, given))

    context = inspect.Parameter(
        "ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context
    )
    parameters = [context, *map(_parameter, taken(command))]
    called.__name__ = command.__name__
    called.__doc__ = command.__doc__
    called.__annotations__ = {each.name: each.annotation for each in parameters}
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return called


def hint_of_dash(words: Sequence[str]) -> str | None:
    """What helps if a word of these, which were refused, was meant for no option (U22)."""
    if words[0] not in COMMANDS:
        return None
    below = {"sessions": OF_SESSIONS, "explore": OF_EXPLORE}.get(words[0], {})
    is_below = bool(words[1:2]) and words[1] in below
    command = find_subcommand(words[0], words[1]) if is_below else find_command(words[0])
    options = {w for each in taken(command) for w in getattr(each.declared, "words", ())}
    for word in words[1:]:
        if word == "--":
            break
        if word.startswith("-") and word != "-" and not _is_option(word, options):
            begun = shell_line(["agentsh", *words[: 2 if is_below else 1]])
            return (
                "  a word that begins with a dash and is no option comes after `--`, behind the"
                f" options:\n  {begun} -- {shell_word(word)}\n"
            )
    return None


def _is_option(word: str, options: set[str]) -> bool:
    """Whether it can only be an option: its name, or with its value in the same word."""
    if word.partition("=")[0] in {*options, "--help", "-h"}:
        return True
    return word[:2] in options and not any(map(str.isspace, word))


def _add(app: typer.Typer, name: str, command: Callable[..., int]) -> None:
    def call(_ctx: typer.Context, given: dict[str, Any]) -> None:
        raise typer.Exit(command(**given))

    app.command(name)(as_typer_takes(command, call))


def _sessions() -> typer.Typer:
    """The one command that has commands below it; alone it is the list."""
    group = typer.Typer(invoke_without_command=True, rich_markup_mode=None)
    command = find_command("sessions")

    def call(ctx: typer.Context, given: dict[str, Any]) -> None:
        if ctx.invoked_subcommand is None:
            raise typer.Exit(command(**given))

    group.callback()(as_typer_takes(command, call))
    for name in OF_SESSIONS:
        _add(group, name, find_subcommand("sessions", name))
    return group


def _explore() -> typer.Typer:
    """The commands on explorations that there are; any other first word is a prompt."""
    group = typer.Typer(rich_markup_mode=None)
    for name in OF_EXPLORE:
        _add(group, name, find_subcommand("explore", name))
    return group


def _parameter(one: CommandWord) -> inspect.Parameter:
    offer = _OFFERS.get(one.declared.complete)
    if isinstance(one.declared, Option):
        made = typer.Option(
            *one.declared.words,
            metavar=one.declared.metavar,
            help=one.declared.help,
            min=one.declared.least,
            callback=_a_number if one.kind == float | None else None,
            autocompletion=offer,
        )
    else:
        made = typer.Argument(
            metavar=one.declared.metavar, help=one.declared.help, autocompletion=offer
        )
    return inspect.Parameter(
        one.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if one.default is ... else one.default,
        annotation=Annotated[one.kind, made],
    )


def _a_number(value: float | None) -> float | None:
    """No range keeps NaN out: every comparison with it is false. No file can hold either."""
    if value is not None and not isfinite(value):
        raise typer.BadParameter(f"{value} is no number that can be kept")
    return value


def _program(
    version: bool = typer.Option(False, "-V", "--version", help="Show the version and exit."),
) -> None:
    """Declare the program's own options; app.py has answered --version before typer is asked."""

"""What commands take: the options of every command that talks to a model, and the common words.

`add` turns the members of an options value into options of a command, so that a command's
signature names only what is its own and is handed one frozen value for the rest; `taking` does so
with what plain.py declares. Annotations are kept as objects (no `from __future__`): typer reads
them, and so does `add`.
"""

import inspect
from collections.abc import Callable, Iterable
from math import isnan
from typing import Annotated, Any

import typer

from agentsh.cli.completing import offer_entries, offer_models, offer_sessions
from agentsh.cli.modeloptions import ModelOptions
from agentsh.cli.plain import JSON, SESSION_DIR, Plain
from agentsh.cli.words import Argument, Option, taken


def _a_number(value: float | None) -> float | None:
    """No range keeps NaN out: every comparison with it is false."""
    if value is not None and isnan(value):
        raise typer.BadParameter("nan is no number of seconds")
    return value


Session = Annotated[
    str,
    typer.Argument(help="id, unique prefix, path, or `last`", autocompletion=offer_sessions),
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
    everything = [_declared(*each) for each in taken(command, options)]
    members = {name for name, _, _ in taken(command, options)} - {
        name for name, _, _ in taken(command, None)
    }

    def called(**given: Any) -> None:
        if options is not None:
            given["options"] = options(**{name: given.pop(name) for name in members})
        raise typer.Exit(command(**given))

    app.command(name or command.__name__)(_signed(called, command, everything))


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


_OFFERS: dict[str, Callable[..., Any]] = {
    "models": offer_models,
    "sessions": offer_sessions,
    "entries": offer_entries,
}


def _declared(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    """As typer wants it: one of ours is translated, one of typer's own stays."""
    match getattr(annotation, "__metadata__", (None,))[0]:
        case Option() as ours:
            kind = annotation.__origin__
            made = typer.Option(
                *ours.words,
                metavar=ours.metavar,
                help=ours.help,
                min=ours.least,
                callback=_a_number if kind == float | None else None,
                autocompletion=_OFFERS.get(ours.complete or ""),
            )
            annotation = Annotated[kind, made]
        case Argument() as ours:
            offer = _OFFERS.get(ours.complete or "")
            made = typer.Argument(help=ours.help, autocompletion=offer)
            annotation = Annotated[annotation.__origin__, made]
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if default is ... else default,
        annotation=annotation,
    )

"""What a command takes, declared without typer; and its words, read where they mean but one thing.

A signature carries `Annotated[kind, Option(...)]`. options.py makes typer's options of it: help,
completion, errors and whatever is written in another way stay typer's. `read` is never more than a
shorter way to the same values and declines at any doubt: loading typer takes longer than anything
else before a first request (docs/adr/0005). Read next: options.py, app.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

_MOST_DIGITS = 9


class Option:
    """A flag where its kind is bool, else a word that a value follows. `least`: no smaller one."""

    def __init__(
        self,
        *words: str,
        help: str,
        metavar: str | None = None,
        least: float | None = None,
        complete: str | None = None,
    ) -> None:
        self.words = words
        self.help = help
        self.metavar = metavar
        self.least = least
        self.complete = complete
        """What the shell offers: models, sessions or entries."""


class Argument:
    """A word by its place."""

    def __init__(self, *, help: str, complete: str | None = None) -> None:
        self.help = help
        self.complete = complete


def taken(command: Callable[..., Any], options: type | None) -> Iterator[tuple[str, Any, Any]]:
    """Name, annotation, default of each thing that a command takes; `...` where it has none.

    `options` is the class of its parameter of that name, whose members are taken one by one.
    """
    code = command.__code__
    names = code.co_varnames[: code.co_argcount]
    defaults = command.__defaults__ or ()
    missing = len(names) - len(defaults)
    for at, name in enumerate(names):
        if name != "options":
            default = defaults[at - missing] if at >= missing else ...
            yield name, command.__annotations__[name], default
    if options is not None:
        usual = options()
        for owner in reversed(options.__mro__):
            # inspect would do the same, and takes as long to load as all the rest of this
            found = owner.__dict__.get("__annotations__", {})  # noqa: RUF063
            for name, annotation in found.items():
                yield name, annotation, getattr(usual, name)


def read(
    command: Callable[..., Any], options: type | None, words: Sequence[str]
) -> dict[str, Any] | None:
    """What to call the command with; None where typer must read the words."""
    declared = list(taken(command, options))
    by_word = {w: each for each in declared for w in getattr(_meta(each), "words", ())}
    places = [each for each in declared if isinstance(_meta(each), Argument)]
    given: dict[str, Any] = {
        name: [] if default == [] else default for name, _, default in declared
    }
    rest = iter(words)
    for word in rest:
        each = by_word.get(word)
        if each is None:
            if not places or (word.startswith("-") and word != "-"):
                return None
            given[places.pop(0)[0]] = word
            continue
        name, annotation, _ = each
        if annotation.__origin__ is bool:
            given[name] = True
            continue
        value = _value(annotation, next(rest, "-"))
        if value is None:
            return None
        if annotation.__origin__ == list[str]:
            given[name].append(value)
        else:
            given[name] = value
    if ... in given.values():
        return None  # something is missing
    if options is not None:
        own = [name for name, _, _ in taken(command, None)]
        members = {name: given.pop(name) for name in list(given) if name not in own}
        given["options"] = options(**members)
    return given


def _meta(each: tuple[str, Any, Any]) -> object:
    return each[1].__metadata__[0]


def _value(annotation: Any, word: str) -> str | float | None:
    """The word as that kind of value; None where it is none, or may be an option."""
    kind, least = annotation.__origin__, annotation.__metadata__[0].least
    if kind not in (int | None, float | None):
        return None if word.startswith("-") else word
    whole, dot, part = word.partition(".")
    digits = whole + part
    if not (whole and digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS):
        return None
    if kind == int | None and dot:
        return None
    value = int(word) if kind == int | None else float(word)
    return None if least is not None and value < least else value

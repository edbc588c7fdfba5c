"""What a command takes, declared without typer; and its words, read where they mean but one thing.

A signature carries `Annotated[kind, Option(...)]`. typer_app.py makes typer's options of it: help,
completion, errors and whatever is written in another way stay typer's. `read_words` is never more
than a shorter way to the same values and declines at any doubt: loading typer takes longer than
anything else before a first request (docs/adr/0005). Read next: options.py, typer_app.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, get_type_hints

_MOST_DIGITS = 15
"""As many as a float holds exactly."""


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

    def __init__(
        self, *, help: str, metavar: str | None = None, complete: str | None = None
    ) -> None:
        self.help = help
        self.metavar = metavar
        self.complete = complete


class CommandWord:
    """One thing that a command takes. `default` is `...` where it has none."""

    def __init__(self, name: str, annotation: Any, default: Any) -> None:
        self.name = name
        self.kind = annotation.__origin__
        self.declared: Option | Argument = annotation.__metadata__[0]
        self.default = default


def taken(command: Callable[..., int]) -> list[CommandWord]:
    """What a command takes, in the order of its help.

    The class of its parameter `options` stands for its members, which are taken one by one.
    """
    code = command.__code__
    names = code.co_varnames[: code.co_argcount]
    defaults = dict(zip(reversed(names), reversed(command.__defaults__ or ()), strict=False))
    hints = _hints(command)
    own = [CommandWord(n, hints[n], defaults.get(n, ...)) for n in names if n != "options"]
    if "options" not in hints:
        return own
    usual = hints["options"]()
    members = get_type_hints(hints["options"], include_extras=True)
    return own + [CommandWord(name, each, getattr(usual, name)) for name, each in members.items()]


def gathered(command: Callable[..., int], given: dict[str, Any]) -> dict[str, Any]:
    """What to call the command with: members of its options become the one value."""
    options = _hints(command).get("options")
    if options is None:
        return given
    names = command.__code__.co_varnames[: command.__code__.co_argcount]
    members = {name: value for name, value in given.items() if name not in names}
    own = {name: value for name, value in given.items() if name in names}
    return {**own, "options": options(**members)}


@cache
def _hints(command: Callable[..., int]) -> dict[str, Any]:
    return get_type_hints(command, include_extras=True)


def read_words(command: Callable[..., int], words: Sequence[str]) -> dict[str, Any] | None:
    """What to call the command with; None where typer must read the words."""
    everything = taken(command)
    by_word = {w: each for each in everything for w in getattr(each.declared, "words", ())}
    places = [each for each in everything if isinstance(each.declared, Argument)]
    given: dict[str, Any] = {
        each.name: [] if each.default == [] else each.default for each in everything
    }
    remaining = iter(words)
    for word in remaining:
        option = by_word.get(word)
        if option is None:
            if not places or (word.startswith("-") and word != "-"):
                return None
            given[places.pop(0).name] = word
            continue
        value = True if option.kind is bool else _value(option, next(remaining, "-"))
        if value is None:
            return None
        if option.kind == list[str]:
            given[option.name].append(value)
        else:
            given[option.name] = value
    if ... in given.values():
        return None  # something is missing
    return gathered(command, given)


def _value(option: CommandWord, word: str) -> str | float | None:
    """The word as that kind of value; None where it is none, or may be an option."""
    if option.kind not in (int | None, float | None):
        return None if word.startswith("-") else word
    whole, dot, part = word.partition(".")
    digits = whole + part
    if not (whole and digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS):
        return None
    if option.kind == int | None and dot:
        return None
    value = int(word) if option.kind == int | None else float(word)
    least = getattr(option.declared, "least", None)
    return None if least is not None and value < least else value

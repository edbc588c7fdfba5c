"""Options that are declared without typer, so that a command which takes only such can do without.

`options.taking` makes typer's options of them: help, completion, errors and whatever is written in
another way stay typer's. `values` reads the words where they can mean but one thing, and declines
at any doubt; it is never more than a shorter way to the same values (docs/adr/0005).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

TYPE_CHECKING = False  # mypy takes it for true
if TYPE_CHECKING:
    from typing import Any


class Plain:
    """One option: a flag, or with a `metavar` a word that follows."""

    def __init__(self, name: str, word: str, help: str, metavar: str | None = None) -> None:
        self.name = name
        self.word = word
        self.help = help
        self.metavar = metavar

    @property
    def is_flag(self) -> bool:
        return self.metavar is None

    @property
    def default(self) -> bool | None:
        return False if self.is_flag else None


JSON = Plain("json", "--json", "one JSON value on stdout")
SESSION_DIR = Plain("session_dir", "--session-dir", "where sessions are kept", "FOLDER")
LISTING = (
    Plain("everywhere", "--all", "of every directory"),
    Plain("archived", "--archived", "the archived ones"),
    Plain("tag", "--tag", "only those with that tag", "TAG"),
    JSON,
    SESSION_DIR,
)
"""What `sessions` takes."""


def values(options: Iterable[Plain], words: Sequence[str]) -> dict[str, Any] | None:
    """The options' values by their names; None where typer must read the words."""
    given: dict[str, Any] = {option.name: option.default for option in options}
    by_word = {option.word: option for option in options}
    rest = iter(words)
    for word in rest:
        option = by_word.get(word)
        if option is None:
            return None
        value = True if option.is_flag else next(rest, "-")
        if isinstance(value, str) and value.startswith("-"):
            return None  # missing, or perhaps an option
        given[option.name] = value
    return given

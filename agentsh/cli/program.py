"""The program as typer sees it: which module declares which command.

The declaring modules hold signatures only, and a command's body begins with its imports
(docs/adr/0005), so that a command loads what it needs and nothing else. Only the module that
declares the asked command is loaded. How a command ends is app.py's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Final

import typer

# command → the module below agentsh.cli that declares it, in the order of the help
COMMANDS: Final[Mapping[str, str]] = {
    "chat": "talking",
    "run": "talking",
    "resume": "talking",
    "compact": "talking",
    "tree": "looking",
    "show": "looking",
    "sessions": "keeping",
    "diff": "looking",
    "lineage": "looking",
    "search": "seeking",
    "cost": "seeking",
    "verify": "looking",
    "replay": "looking",
    "checkout": "changing",
    "fork": "changing",
    "label": "changing",
    "rename": "changing",
    "repair": "changing",
    "export": "keeping",
    "import": "keeping",
    "help": "keeping",
    "models": "asking",
    "config": "asking",
    "doctor": "asking",
}


def build(words: Sequence[str]) -> typer.Typer:
    """The program, with the commands of the module that declares the asked one, or with all."""
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
    home = COMMANDS.get(words[0])
    for name in (home,) if home is not None else dict.fromkeys(COMMANDS.values()):
        import_module(f"agentsh.cli.{name}").declare(app)
    if home is not None:  # typer makes something of each option of each command that it knows
        app.registered_commands = [c for c in app.registered_commands if c.name == words[0]]
    return app


def whole_program() -> typer.Typer:
    """The program with every command."""
    return build(["--help"])


def _program(
    version: bool = typer.Option(False, "-V", "--version", help="Show the version and exit."),
) -> None:
    """Declare the program's own options; app.py has answered --version before typer is asked."""

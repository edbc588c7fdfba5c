"""The command line: which module declares which command, and how every error ends.

Errors become a message and a hint on stderr and an exit code (`exit_code`); what is no AgentshError
is a bug: a short message, a log file without secrets, exit 70. The declaring modules hold
signatures only, and a command's body begins with its imports (docs/adr/0005), so that a command
loads what it needs and nothing else. Only the module that declares the asked command is loaded.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Final, NoReturn

import typer

from agentsh import __version__
from agentsh.errors import (
    AgentshError,
    AmbiguousSessionError,
    EntryNotFoundError,
    RefusedError,
    SessionChangedError,
    SessionFormatError,
    SessionLockedError,
    SessionNotFoundError,
    SettingsError,
    UnsupportedVersionError,
    UsageError,
)

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
_OF_THE_PROGRAM: Final = ("--help", "-h", "--version", "-V")
_COMPLETION: Final = ("--install-completion", "--show-completion")
VARIABLE: Final = "_AGENTSH_COMPLETE"


def run(argv: Sequence[str] | None = None) -> NoReturn:
    """Run one command and end the process with its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if VARIABLE in os.environ and argv is None:
        _complete()
    if words and words[0] in ("--version", "-V"):
        sys.stdout.write(f"agentsh {__version__}\n")
        raise SystemExit(0)
    if not words or (words[0].startswith("-") and words[0] not in (*_OF_THE_PROGRAM, *_COMPLETION)):
        words.insert(0, "chat")  # bare `agentsh` is a chat in this directory
    try:
        _build(words)(args=words, prog_name="agentsh")
    except AgentshError as e:
        from agentsh.cli.notices import complain

        code = exit_code(e)
        complain(e)
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        code = _end_quietly()
    except SystemExit as e:
        code = e.code if isinstance(e.code, int) else 1
    except Exception as e:  # noqa: BLE001  # the one place: a bug is reported, not shown raw
        from agentsh.cli.surroundings import cause_outside

        code = _fallen(e, cause_outside(e))
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _end_quietly()
    except OSError as e:
        from agentsh.cli.surroundings import cause_outside

        if code == 0:  # or it has been said already
            code = _fallen(e, cause_outside(e))
        _end_quietly()
    gc.freeze()  # or the interpreter looks through all that is loaded twice more: 30 ms
    raise SystemExit(code)


def _fallen(error: Exception, cause: AgentshError | None) -> int:
    """Say what ended the command: what it stood on, or else a bug of ours."""
    if cause is None:
        from agentsh.cli.crash import report

        return report(error, os.environ)
    from agentsh.cli.notices import complain

    complain(cause)
    return exit_code(cause)


def _complete() -> NoReturn:
    """Answer the shell at Tab, or give it its script; no error is worth more than no answer."""
    from agentsh.cli.completing import completing

    with suppress(AgentshError):
        _build(completing() or ["--help"])(args=[], prog_name="agentsh")
    raise SystemExit(0)


def exit_code(error: AgentshError) -> int:
    """The contract's exit code of an error."""
    match error:
        case SettingsError() | UsageError():
            return 2
        case (
            SessionNotFoundError()
            | AmbiguousSessionError()
            | EntryNotFoundError()
            | SessionFormatError()
        ):
            return 3
        case (
            SessionLockedError()
            | UnsupportedVersionError()
            | SessionChangedError()
            | RefusedError()
        ):
            return 4
        case _:
            return 1


def _build(words: Sequence[str]) -> typer.Typer:
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
    return _build(["--help"])


def _program(
    version: bool = typer.Option(False, "-V", "--version", help="Show the version and exit."),
) -> None:
    """Declare the program's own options; `run` has answered --version before typer is asked."""


def _end_quietly() -> int:
    """The reader of our output is gone: say nothing more, not even at the interpreter's end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return 0

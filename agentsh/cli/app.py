"""The door: what runs a command, and how every error ends.

Errors become a message and a hint on stderr and an exit code (`exit_code`); what is no AgentshError
is a bug: a short message, a log file without secrets, exit 70. Here nothing is loaded that a list
of sessions can do without, typing included (docs/adr/0005). Read next: plain.py, program.py.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

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

TYPE_CHECKING = False  # mypy takes it for true
if TYPE_CHECKING:
    from typing import NoReturn

_OF_THE_PROGRAM = ("--help", "-h", "--version", "-V")
_COMPLETION = ("--install-completion", "--show-completion")
VARIABLE = "_AGENTSH_COMPLETE"
TALKING = ("chat", "run", "resume", "compact")
"""Commands whose plain words are read without typer (talking.py)."""


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
        _obey(words)
    except AgentshError as e:
        from agentsh.cli.notices import complain

        code = exit_code(e)
        complain(e)
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        _end_quietly()
        code = 1  # as typer ends one, which comes first where there is one
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


def _obey(words: Sequence[str]) -> None:
    """Run the command: without typer where its words are plain, else as typer reads them."""
    if words[0] == "sessions":
        from agentsh.cli.plain import LISTING, values

        given = values(LISTING, words[1:])
        if given is not None:
            from agentsh.cli.listing import listing

            raise SystemExit(listing(**given))
    elif words[0] in TALKING:
        from agentsh.cli.talking import COMMANDS
        from agentsh.cli.words import read

        command, options = COMMANDS[words[0]]
        given = read(command, options, words[1:])
        if given is not None:
            raise SystemExit(command(**given))
    from agentsh.cli.program import build

    build(words)(args=words, prog_name="agentsh")


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
    from agentsh.cli.program import build

    try:  # no suppress: contextlib is not for lists
        build(completing() or ["--help"])(args=[], prog_name="agentsh")
    except AgentshError:
        raise SystemExit(0) from None
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


def _end_quietly() -> None:
    """The reader of our output is gone: say nothing more, not even at the interpreter's end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)

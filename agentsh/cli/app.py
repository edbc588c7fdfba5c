"""The door: what runs a command, and how every error ends.

Errors become a message, a hint on stderr and their exit code; what is no AgentshError
is a bug: a short message, a log file without secrets, exit 70. Read next: program.py,
words.py, typer_app.py.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

from agentsh import __version__
from agentsh.cli.parsing.program import RUNNER_WORD, WITHOUT_TYPER, command_meant
from agentsh.cli.parsing.words import read_words
from agentsh.errors import AgentshError

_OF_THE_PROGRAM = ("--help", "-h", "--version", "-V")
_COMPLETION = ("--install-completion", "--show-completion")
VARIABLE = "_AGENTSH_COMPLETE"


def run_program(argv: Sequence[str] | None = None) -> NoReturn:
    """Run one command and end the process with its exit code."""
    if VARIABLE in os.environ and argv is None:
        _complete()
    words = _with_command(sys.argv[1:] if argv is None else argv)
    try:
        _obey(words)
    except AgentshError as e:
        from agentsh.cli.notices import complain

        code = e.exit_code
        complain(e)
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        _end_quietly()
        code = 1  # as typer ends one, which comes first where there is one
    except SystemExit as e:
        code = e.code if isinstance(e.code, int) else 1
    except Exception as e:  # noqa: BLE001  # the one place: a bug is reported, not shown raw
        from agentsh.cli.setup.standard_streams import cause_outside

        code = _fallen(e, cause_outside(e))
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _end_quietly()
    except OSError as e:
        from agentsh.cli.setup.standard_streams import cause_outside

        if code == 0:  # or it has been said already
            code = _fallen(e, cause_outside(e))
        _end_quietly()
    gc.freeze()  # or the interpreter looks through all that is loaded twice more: 30 ms
    raise SystemExit(code)


def _with_command(words: Sequence[str]) -> list[str]:
    """The words with the command that they mean where they name none."""
    if list(words[:2]) == ["--mode", "rpc"]:  # as programs start Pi
        return ["rpc", *words[2:]]
    own = (*_OF_THE_PROGRAM, *_COMPLETION, RUNNER_WORD)
    if not words or (words[0].startswith("-") and words[0] not in own):
        return ["chat", *words]  # bare `agentsh` is a chat in this directory
    return list(words)


def _obey(words: Sequence[str]) -> None:
    """Run the command: without typer where its words are plain, else as typer reads them."""
    if words[0] in ("--version", "-V"):
        sys.stdout.write(f"agentsh {__version__}\n")
        raise SystemExit(0)
    if words == [RUNNER_WORD]:
        from agentsh.cli.assembly.exploring.branching import serve_branch

        raise SystemExit(serve_branch())
    if words[0] in WITHOUT_TYPER:
        command, left = command_meant(words)
        given = read_words(command, left)
        if given is not None:
            raise SystemExit(command(**given))
    from agentsh.cli.typer_app import build, hint_of_dash

    try:
        build(words)(args=words, prog_name="agentsh")
    except SystemExit as e:
        if e.code == 2 and (hint := hint_of_dash(words)) is not None:
            sys.stderr.write(hint)
        raise


def _fallen(error: Exception, cause: AgentshError | None) -> int:
    """Say what ended the command: what it stood on, or else a bug of ours."""
    if cause is None:
        from agentsh.cli.crash import report

        return report(error, os.environ)
    from agentsh.cli.notices import complain

    complain(cause)
    return cause.exit_code


def _complete() -> NoReturn:
    """Answer the shell at Tab, or give it its script; no error is worth more than no answer."""
    from agentsh.cli.completing import completing
    from agentsh.cli.typer_app import build

    with suppress(AgentshError):
        build(completing() or ["--help"])(args=[], prog_name="agentsh")
    raise SystemExit(0)


def _end_quietly() -> None:
    """The reader of our output is gone: say nothing more, not even at the interpreter's end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)

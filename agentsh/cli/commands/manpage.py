"""The man page, made of what the commands say of themselves: roff on stdout.

It stands alone as one command of several.
"""

from __future__ import annotations

from collections.abc import Iterator

import typer
from typer.main import get_command

from agentsh import __version__
from agentsh.cli.output import print_lines

_WIDTH = 78


def print_manpage(app: typer.Typer) -> int:
    """Print it. `app` has every command."""
    print_lines(_page(app))
    return 0


def _page(app: typer.Typer) -> Iterator[str]:
    program = get_command(app)
    yield f'.TH AGENTSH 1 "" "agentsh {__version__}"'
    yield ".SH NAME"
    yield f"agentsh \\- {_roff(program.help or '')}"
    yield ".SH SYNOPSIS"
    yield "agentsh [OPTIONS] COMMAND [ARGS]..."
    yield ".SH COMMANDS"
    for name, command in sorted(getattr(program, "commands", {}).items()):
        yield from _section(f"agentsh {name}", command)
        for sub, below in sorted(getattr(command, "commands", {}).items()):
            yield from _section(f"agentsh {name} {sub}", below)
    yield ".SH EXIT STATUS"
    yield "0 done, 1 the turn failed, 2 wrong use or nothing configured, 3 not found or ambiguous,"
    yield "4 refused, 5 damage found, 6 stopped at a limit or for want of an approval,"
    yield "70 a bug in agentsh, 130 interrupted."


def _section(title: str, command: object) -> Iterator[str]:
    make = getattr(command, "make_context")  # noqa: B009  # typer's own click has no public types
    context = make(title, [], resilient_parsing=True)
    context.terminal_width = _WIDTH
    yield f".SS {_roff(title)}"
    yield ".nf"
    yield from (_roff(line) for line in context.get_help().split("\n"))
    yield ".fi"


def _roff(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = "".join(c if c.isascii() else f"\\[u{ord(c):04X}]" for c in text)
    return f"\\&{text}" if text[:1] in (".", "'") else text

"""Terminals without a terminal: streams in memory, with chosen abilities."""

from __future__ import annotations

import io

from agentsh.ui.terminal import Background, Colours, Terminal


class FakeTty(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        raise io.UnsupportedOperation("no file")


def terminal(
    *,
    tty: bool = True,
    columns: int = 60,
    rows: int = 24,
    colours: Colours = Colours.NONE,
    unicode: bool = True,
    background: Background = "dark",
    typed: str = "",
) -> Terminal:
    make = FakeTty if tty else io.StringIO
    return Terminal(
        make(typed),
        make(),
        make(),
        colours=colours,
        unicode=unicode,
        background=background,
        columns=columns,
        rows=rows,
    )


def printed(target: Terminal) -> tuple[str, str]:
    """What went to stdout and to stderr."""
    assert isinstance(target.stdout, io.StringIO)
    assert isinstance(target.stderr, io.StringIO)
    return target.stdout.getvalue(), target.stderr.getvalue()

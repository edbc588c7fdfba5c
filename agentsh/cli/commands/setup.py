"""`agentsh setup`: names an endpoint by questions, tries it, and writes config.toml when agreed to.

What is written is shown first. The file is added to: what stands in it stays, byte for byte. Read
next: cli/setup/interview.py, cli/setup/changing.py.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentsh.cli.setup.changing import SettingsChange


def setup() -> int:
    """Name an endpoint: asks, tries it, adds it to your settings.

    A key is never written: the name of a variable is, or a command that prints it.
    """
    from agentsh.cli.output import print_lines
    from agentsh.cli.parsing.modeloptions import ModelOptions
    from agentsh.cli.setup.changing import present, with_table
    from agentsh.cli.setup.configuration import configure
    from agentsh.cli.setup.interview import Talk, interview, settings_text
    from agentsh.errors import UsageError
    from agentsh.sanitize import safe_line

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            "setup asks questions at a terminal, and here is none",
            hint="write [endpoint] base_url into config.toml; `agentsh help settings`",
        )
    configuration = configure(ModelOptions(), os.environ, Path.cwd())
    endpoint = interview(Talk(_ask, lambda text: print_lines([safe_line(text)])), configuration)
    file = configuration.places.settings
    before = present(file)
    text = settings_text(endpoint, before, sorted(configuration.settings.endpoints))
    return _write(with_table(file, before, text), text)


def _ask(question: str, hides: Callable[[str], bool]) -> str | None:
    """What must not be seen is on the screen no longer than until Enter."""
    sys.stdout.write(question)
    sys.stdout.flush()
    answer = sys.stdin.readline()
    if hides(answer) and os.environ.get("TERM") != "dumb":
        rows = -(-len(question + answer) // max(1, shutil.get_terminal_size().columns))
        sys.stdout.write(f"\x1b[{rows}A\r\x1b[J{question}(not shown)\n")
    return answer or None


def _write(change: SettingsChange, text: str) -> int:
    """Show it, ask, add it. Raises SettingsError, RefusedError."""
    from agentsh.cli.notices import agrees, warn
    from agentsh.cli.output import print_lines

    shown = [f"  {line}" for line in text.split("\n")]
    print_lines(["", f"to be added to {change.file}:", "", *shown])
    if not agrees("Add it?", sys.stdout, sys.stdin):
        warn(["nothing was written"])
        return 0
    change.write()
    print_lines([f"written: {change.file}; `agentsh` starts a chat"])
    return 0

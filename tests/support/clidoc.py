"""docs/cli.md, made from what the commands say of themselves; run this module to write the page.

The width is fixed, so that the page is the same on every terminal; tests/test_docs.py compares.
"""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path

from agentsh.cli import app
from agentsh.cli.parsing.program import COMMANDS

PAGE = Path(__file__).resolve().parent.parent.parent / "docs/cli.md"
WIDTH = "100"
HEAD = """# Commands

Made from `--help` by `python -m tests.support.clidoc`: edit the docstrings of `agentsh/cli`, not
this page. Results are on stdout, and nothing else is. Exit codes: 0 done, 1 the turn failed,
2 wrong use or nothing configured, 3 not found or ambiguous, 4 refused, 5 damage found, 6 stopped
at a limit or for want of an approval, 70 a bug in agentsh, 130 interrupted.
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD, _section("agentsh")]
    for name in COMMANDS:
        parts.append(_section(f"agentsh {name}", name))
        parts += [_section(f"agentsh {name} {sub}", name, sub) for sub in _subcommands(name)]
    return "\n".join(parts)


def _section(title: str, *words: str) -> str:
    return f"## {title}\n\n```text\n{help_of(*words).rstrip()}\n```\n"


def _subcommands(name: str) -> list[str]:
    _, found, listed = help_of(name).partition("\nCommands:\n")
    if not found:
        return []
    return [line.split()[0] for line in listed.split("\n") if line[:2] == "  " and line[2:3] != " "]


def help_of(*words: str) -> str:
    """What `agentsh WORDS --help` prints."""
    printed = io.StringIO()
    before = {name: os.environ.get(name) for name in ("COLUMNS", "TERMINAL_WIDTH")}
    os.environ.update(dict.fromkeys(before, WIDTH))
    try:
        with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
            app.run_program([*words, "--help"])
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
    return printed.getvalue()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

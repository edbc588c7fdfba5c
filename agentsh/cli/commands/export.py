"""`agentsh export`: a session as Markdown, as one page, or as lines for Pi; redacted unless --raw.

The file is new, 0600, and whole or not there at all; one that exists stays as it is.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import Annotated

from agentsh.cli.notices import warn
from agentsh.cli.output import print_lines
from agentsh.cli.parsing.modeloptions import ModelOptions
from agentsh.cli.parsing.options import SessionDir, SessionWord
from agentsh.cli.parsing.words import Option
from agentsh.sanitize import safe_line


def export(
    session: SessionWord,
    to: Annotated[
        str, Option("--to", metavar="FILE", help="a new file: .md, .html or .jsonl (for Pi)")
    ],
    raw: Annotated[bool, Option("--raw", help="redact nothing")] = False,
    private: Annotated[
        bool, Option("--with-private", help="also what you ran for yourself only (!!command)")
    ] = False,
    at: Annotated[
        str | None,
        Option(
            "--at",
            metavar="ENTRY",
            help="only the path to that entry",
            complete="entries",
        ),
    ] = None,
    session_dir: SessionDir = None,
) -> int:
    """Write a session as Markdown, as one web page or as lines for Pi.

    Keys, tokens and passwords of a known form are redacted. Commands that you ran
    for yourself only (!!command) are left out.
    """
    from agentsh.cli.lookup.finding import look_at
    from agentsh.files import from_home
    from agentsh.ui.export.writing import must_have_a_form, write_export

    target = from_home(to).absolute()
    must_have_a_form(target)
    with look_at(session, session_dir) as opened:
        keys = () if raw else _keys(session_dir)
        lines = write_export(opened, target, raw=raw, at=at, keys=keys, private=private)
        warn(lines)
    print_lines([safe_line(str(target))])
    return 0


def _keys(session_dir: str | None) -> Collection[str]:
    """Raises SettingsError: a key that cannot be known cannot be taken out (--raw needs none)."""
    from agentsh.cli.setup.configuration import configure
    from agentsh.cli.setup.keys import keys_in_use

    configuration = configure(ModelOptions(session_dir=session_dir), os.environ, Path.cwd())
    return keys_in_use(configuration.settings, configuration.environ, lambda text: warn([text]))

"""A bug of agentsh: a short message, and a log file with the places it came through.

The log holds file, line and function of each frame and the error's type and words, with every
credential of the environment masked. No values of variables, no source lines, nothing of a session.
It stands alone because it must work when whatever else is broken.
"""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Mapping

from agentsh import __version__
from agentsh.cli.setup.paths import find_places
from agentsh.errors import AgentshError
from agentsh.files import write_private

EXIT = 70


def report(error: BaseException, environ: Mapping[str, str]) -> int:
    """Write the log, say so, and return the exit code."""
    where = "no log could be written"
    try:
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        file = find_places(environ).logs / f"crash-{stamp}-{os.getpid()}.log"
        write_private(file, crash_report(error, environ).encode("utf-8", "backslashreplace"))
        where = f"details, without secrets: {file}"
    except (OSError, AgentshError):
        pass
    sys.stderr.write(
        f"agentsh: this is a bug in agentsh {__version__} ({type(error).__name__})\n  {where}\n"
    )
    return EXIT


def crash_report(error: BaseException, environ: Mapping[str, str]) -> str:
    """The text of the log."""
    lines = [f"agentsh {__version__}, Python {sys.version.split()[0]}, {sys.platform}"]
    cause: BaseException | None = error
    for _ in range(8):
        if cause is None:
            break
        lines.append(f"{type(cause).__name__}: {_masked(str(cause), environ)[:500]}")
        frames = traceback.extract_tb(cause.__traceback__, limit=-40)
        lines += [f"  {f.filename}:{f.lineno} in {f.name}" for f in frames]
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return "\n".join(lines) + "\n"


def _masked(text: str, environ: Mapping[str, str]) -> str:
    """Without the values of variables that look like credentials."""
    for name, value in environ.items():
        if len(value) >= 8 and any(w in name.upper() for w in ("KEY", "TOKEN", "SECRET", "PASS")):
            text = text.replace(value, f"<{name}>")
    return text

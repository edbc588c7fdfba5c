"""The command's door: `--version` is answered here, before anything is loaded.

Everything else is cli/app.py's.
"""

from __future__ import annotations

import sys

from agentsh import __version__


def main() -> None:
    """Entry point of the `agentsh` command and of `python -m agentsh`."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        sys.stdout.write(f"agentsh {__version__}\n")
        return
    from agentsh.cli.app import run

    run()


if __name__ == "__main__":
    main()

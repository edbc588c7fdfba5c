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
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        from agentsh.cli.surroundings import replace_closed_streams

        replace_closed_streams()
    import gc

    from agentsh.cli.app import run

    # what is loaded lives until the end: to look through it again and again finds nothing, and was
    # a tenth of a start; cycles of a long chat are still found
    gc.set_threshold(50_000, 20, 100)
    run()


if __name__ == "__main__":
    main()

"""The command's door: `--version` is answered here, before anything is loaded.

Everything else is cli/app.py's.
"""

from __future__ import annotations

import sys

from agentsh import __version__


def main() -> None:
    """Entry point of the `agentsh` command and of `python -m agentsh`.

    Ctrl-C while the program is still being loaded ends it like any later one (L31).
    """
    try:
        _begin()
    except KeyboardInterrupt:
        raise SystemExit(130) from None


def _begin() -> None:
    if sys.argv[1:] in (["--version"], ["-V"]) and sys.stdout is not None:
        try:
            sys.stdout.write(f"agentsh {__version__}\n")
            sys.stdout.flush()
        except OSError:
            pass  # cli/app.py finds the same, and has words for it
        else:
            return
    from agentsh.cli.setup.standard_streams import (
        read_any_bytes,
        replace_closed_streams,
        wait_for_streams,
    )

    replace_closed_streams()
    wait_for_streams()
    read_any_bytes()
    _load_msgspec()
    import gc

    from agentsh.cli.app import run_program

    # what is loaded lives until the end: to look through it again and again finds nothing, and was
    # a tenth of a start; cycles of a long chat are still found
    gc.set_threshold(50_000, 20, 100)
    run_program()


def _load_msgspec() -> None:
    """It takes from typing_extensions, where that is installed, what typing has from 3.11 on; to
    load that one is a fiftieth of a start. Whoever else asks for it gets it."""
    if "typing_extensions" in sys.modules:
        return
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]
    import msgspec  # noqa: F401

    del sys.modules["typing_extensions"]


if __name__ == "__main__":
    main()

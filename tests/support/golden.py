"""What every view says of every committed file, kept; run this module to write it anew.

The files of `tests/data/formats` are of every version that was, those of `sessions.example` of this
one. A view of an old file must say what it has always said (R07): before writing these anew, know
why one changed.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from agentsh.cli import app

ROOT: Final = Path(__file__).resolve().parents[2]
FOLDER: Final = ROOT / "tests/data/golden"
VIEWS: Final = ("chat", "trace", "model", "raw")


def files() -> list[Path]:
    """The sessions."""
    found = (
        *(ROOT / "tests/data/formats").glob("*.jsonl"),
        *(ROOT / "sessions.example").glob("*.jsonl"),
    )
    return sorted(found)


def kept(file: Path, view: str) -> Path:
    """Where it is kept what a view says of a file."""
    return FOLDER / f"{file.stem}.{view}"


def said(file: Path, view: str) -> str:
    """What a view says of a file now, for people and for programs."""
    return "\n".join(_shown("show", str(file), "--view", view, *more) for more in ((), ("--json",)))


def _shown(*words: str) -> str:
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    code: object = None
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        try:
            app.run_program(words)
        except SystemExit as e:
            code = e.code
    assert code == 0, words
    buffer = out.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode()


def pairs() -> Iterator[tuple[Path, str]]:
    return ((file, view) for file in files() for view in VIEWS)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for file, view in pairs():
        kept(file, view).write_text(said(file, view), "utf-8")

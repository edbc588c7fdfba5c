"""An exploration beside a chat: started as a process of its own, in words that a person typed.

It has no terminal and outlives the chat. What it says first (its name, or what is wrong) is waited
for, and told. Read next: starting.py.
"""

from __future__ import annotations

import io
import shlex
import subprocess
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import IO

from agentsh.errors import ExplorationError, UsageError
from agentsh.programs import OWN_PROGRAM

_MOST_WAIT = 60.0
_FLAGS = frozenset(("--first", "--keep", "--files", "--trust", "--sandbox"))
"""Options that take no value."""


def split_words(typed: str) -> list[str]:
    """Options as a shell has them, then the prompt as it was typed. Raises UsageError. Pure."""
    stream = io.StringIO(typed)
    words: list[str] = []
    while True:
        start = stream.tell()
        left = stream.read()
        stream.seek(start + len(left) - len(left.lstrip()))
        if not left.lstrip().startswith("-"):
            break
        words.append(_word(stream))
        if words[-1] == "--":
            break
        if "=" not in words[-1] and words[-1] not in _FLAGS:
            words.append(_word(stream))
    prompt = stream.read().strip()
    if words[-1:] != ["--"]:
        words.append("--")
    return [*words, prompt] if prompt else words[:-1]


def model_word(endpoint: str, named: Collection[str], model: str) -> str:
    """How that model is asked for by a process that begins anew. Pure."""
    return f"{endpoint}/{model}" if endpoint in named else model


def _word(stream: io.StringIO) -> str:
    lexer = shlex.shlex(stream, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        word = lexer.get_token()
    except ValueError as e:
        raise UsageError(f"/explore: {e}", hint="a quote is not closed") from e
    if word is None:
        raise UsageError("/explore: an option has no value")
    return word


def start_beside(words: Sequence[str], cwd: Path, environ: Mapping[str, str]) -> list[str]:
    """Run `agentsh explore` with those words; what it said first, in lines.

    Raises ExplorationError: it ended before it began, in its own words.
    """
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [*OWN_PROGRAM, "explore", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            cwd=cwd,
            env=dict(environ),
            start_new_session=True,
        )
        until = time.monotonic() + _MOST_WAIT
        while time.monotonic() < until:
            lines = _lines(said)
            if any(line.startswith("exploration ") for line in lines):
                name = next(line for line in lines if line.startswith("exploration ")).split()[1]
                watch = f"`agentsh explore show {name.rstrip(':')} --follow` watches it"
                return [*lines, f"{watch}; /explore picks of it"]
            if process.poll() is not None:
                raise ExplorationError("; ".join(_lines(said)) or f"it ended: {process.returncode}")
            time.sleep(0.05)
    return ["it has not begun yet; `agentsh explore list` tells"]


def _lines(said: IO[bytes]) -> list[str]:
    said.seek(0)
    text = said.read().decode("utf-8", "replace")
    return [line.removeprefix("agentsh: ") for line in text.split("\n")[:-1] if line]

"""The real Pi: where it is, what it reads of a file (`look`), and a turn of it (`ask`).

fetch.sh puts Node and Pi into one folder. `AGENTSH_PI` names another one; `AGENTSH_NODE` names a
node binary that lies elsewhere.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
HOME = Path(os.environ.get("AGENTSH_PI") or _CACHE / "agentsh-interop" / "pi")
NODE = Path(os.environ.get("AGENTSH_NODE") or HOME / "node_modules" / ".bin" / "node")
PI = HOME / "node_modules" / "@earendil-works" / "pi-coding-agent"
LOOK = Path(__file__).with_name("look.mjs")
MODEL = "scripted-1"

needs_pi = [
    pytest.mark.interop,
    pytest.mark.skipif(
        not (PI.is_dir() and NODE.exists()), reason="no Pi here (tests/interop/pi/fetch.sh)"
    ),
]


class PiFailedError(Exception):
    """Pi could not open a file, or ended with an error."""


def environment(home: Path) -> dict[str, str]:
    """A home of its own, and nothing that phones home."""
    path = f"{NODE.parent}:/usr/local/bin:/usr/bin:/bin"
    return {
        "HOME": str(home),
        "PATH": path,
        "LC_ALL": "C.UTF-8",
        "PI_OFFLINE": "1",
        "PI_TELEMETRY": "0",
    }


def look(jobs: Iterable[tuple[Path, Sequence[str | None] | None]], home: Path) -> list[Any]:
    """What Pi says of each file and of each entry in it; one process for all."""
    return _answers([{"path": str(path), "at": at} for path, at in jobs], home)


def branched(path: Path, home: Path) -> Path:
    """A new file beside it, to which Pi's fork took the path of the leaf."""
    [answer] = _answers([{"path": str(path), "fork": True}], home)
    return Path(answer["path"])


def listed(folder: Path, cwd: Path, home: Path) -> list[Any]:
    """The sessions of a working folder that Pi finds in a folder of sessions, newest first."""
    [answer] = _answers([{"list": str(folder), "cwd": str(cwd)}], home)
    return list(answer)


def _answers(jobs: Sequence[Any], home: Path) -> list[Any]:
    asked = "".join(json.dumps(job) + "\n" for job in jobs)
    done = subprocess.run(
        [NODE, LOOK, PI],
        input=asked.encode(),
        capture_output=True,
        env=environment(home),
        cwd=home,
        check=False,
        timeout=300,
    )
    if done.returncode:
        raise PiFailedError(done.stderr.decode())
    # split at LF only: JavaScript leaves U+2028 raw
    answers = [json.loads(line) for line in done.stdout.split(b"\n") if line]
    for answer in answers:
        if "error" in answer:
            raise PiFailedError(answer["error"])
    return answers


def ask(home: Path, cwd: Path, base_url: str, *words: str) -> str:
    """`pi -p WORDS` against an endpoint; what it printed."""
    settings = home / ".pi" / "agent"
    settings.mkdir(parents=True, exist_ok=True)
    model = {"id": MODEL, "contextWindow": 128000, "maxTokens": 4096, "input": ["text", "image"]}
    provider = {
        "baseUrl": base_url,
        "api": "openai-completions",
        "apiKey": "unused-placeholder",
        "compat": {"supportsDeveloperRole": False},
        "models": [model],
    }
    (settings / "models.json").write_text(json.dumps({"providers": {"scripted": provider}}))
    done = subprocess.run(
        [NODE, PI / "dist" / "bundle" / "cli.js", "--model", f"scripted/{MODEL}", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment(home),
        cwd=cwd,
        check=False,
        timeout=120,
    )
    if done.returncode:
        raise PiFailedError(f"exit {done.returncode}: {done.stderr.decode()}")
    return done.stdout.decode()

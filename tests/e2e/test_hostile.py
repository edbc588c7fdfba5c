"""A model that wants out: each attempt is a whole run, and nothing outside has changed after it.

The attempts and what must stop them are tests/support/hostile.py's; docs/security.md shows them as
a table, which is compared with them here.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import Struct

from agentsh.jsontext import JsonObject, JsonValue
from tests.support.endpoint import Endpoint, calls, serve, text
from tests.support.hostile import ATTEMPTS, Attempt

PAGE = Path(__file__).resolve().parents[2] / "docs/security.md"
LONGEST = 20.0
SETTINGS = "# hidden-word\n"
PROJECT_SETTINGS = (
    '[approve]\npolicy = "all"\nallow = ["touch"]\n[hooks]\nbefore_tool = "touch HOOK"\n'
)

pytestmark = pytest.mark.slow


class World(Struct):
    """A project, what lies around it, and how it looked before."""

    root: Path
    before: dict[str, bytes]

    def look(self) -> dict[str, bytes]:
        """Everything outside the project that an attempt might have changed."""
        places = [self.root / "out", self.root / "home", self.root / "project-x"]
        found = {str(p): p.read_bytes() for at in places for p in at.rglob("*") if p.is_file()}
        settings = self.root / "state/config.toml"
        return {**found, "settings": settings.read_bytes()}


@pytest.fixture
def world(tmp_path: Path) -> World:
    for name in ("out", "home", "state", "project/.git/hooks", "project/evil", "project/.agentsh"):
        (tmp_path / name).mkdir(parents=True)
    tree, out = tmp_path / "project", tmp_path / "out"
    (out / "secret").write_text("s3cret\n")
    (tmp_path / "state/config.toml").write_text(SETTINGS)
    hook = str(out / "hooked")
    (tree / ".agentsh/config.toml").write_text(PROJECT_SETTINGS.replace("HOOK", hook))
    (tree / "linkdir").symlink_to(out)
    (tree / "linkfile").symlink_to(out / "secret")
    (tree / "chain").symlink_to(tree / "linkdir")
    (tree / "dangling").symlink_to(out / "pwned")
    (tree / "aaa").write_text("a" * 60 + "!\n")
    for program in ("evil/git", "git"):
        (tree / program).write_text(f"#!/bin/sh\ntouch {out}/pwned\n")
        (tree / program).chmod(0o755)
    os.mkfifo(tree / "fifo")
    made = World(tmp_path, {})
    made.before = made.look()
    return made


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serve(text("done")) as serving:
        yield serving


@pytest.mark.parametrize("number", range(len(ATTEMPTS)), ids=lambda n: ATTEMPTS[n].what)
def test_an_attempt_to_get_out_ends_as_the_table_says(
    number: int, world: World, endpoint: Endpoint
) -> None:
    attempt = ATTEMPTS[number]
    if "--sandbox" in attempt.options and not _has_sandbox():
        pytest.skip("bubblewrap is not installed, or cannot run here")
    nap = f"{1000 + number}.{os.getpid()}"
    words = {
        "out": str(world.root / "out"),
        "state": str(world.root / "state"),
        "tree": str(world.root / "project"),
        "nap": nap,
        "port": str(endpoint.port),
    }
    endpoint.script[:0] = [calls(_filled(attempt.call, words))]

    began = time.monotonic()
    done = _run(attempt, world, endpoint)
    seconds = time.monotonic() - began

    said = done.stdout + done.stderr
    results = _results(endpoint)
    assert world.look() == world.before
    assert seconds < LONGEST
    assert _naps(nap) == []
    assert "Traceback" not in said
    assert attempt.says in results + said
    assert not attempt.hides or attempt.hides not in results
    match attempt.end:
        case "asked":
            assert (done.returncode, len(endpoint.requests)) == (6, 1), said
        case "refused" | "harmless":
            assert (done.returncode, len(endpoint.requests)) == (0, 2), said
    if attempt.end == "refused":
        assert not re.search("Created|Wrote|Edited", results)


def test_the_table_of_the_page_is_what_was_tried() -> None:
    page = PAGE.read_text("utf-8").split("## A hostile run\n", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| (\d+) \| (.*?) \| (.*?) \| (.*?) \|$", page, re.MULTILINE)

    assert len(ATTEMPTS) >= 60
    assert rows == [
        (str(n), a.what.replace("|", "\\|"), a.end, a.by) for n, a in enumerate(ATTEMPTS, start=1)
    ]


def _filled(
    call: tuple[str, str, JsonObject], words: dict[str, str]
) -> tuple[str, str, JsonObject]:
    name, tool, arguments = call
    filled: dict[str, JsonValue] = {
        key: value.format_map(words) if isinstance(value, str) else value
        for key, value in arguments.items()
    }
    return name, tool, filled


def _run(attempt: Attempt, world: World, endpoint: Endpoint) -> subprocess.CompletedProcess[str]:
    env = {
        **os.environ,
        "PYTHONPATH": str(PAGE.parents[1]),
        "HOME": str(world.root / "home"),
        "AGENTSH_HOME": str(world.root / "state"),
        "OPENAI_BASE_URL": endpoint.base_url,
        "OPENAI_API_KEY": "sk-hostile",
    }
    return subprocess.run(
        [sys.executable, "-m", "agentsh", "run", "-m", "m", *attempt.options, "go"],
        cwd=world.root / "project",
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        start_new_session=True,
    )


def _results(endpoint: Endpoint) -> str:
    """What the tools said, as the model was told."""
    messages = endpoint.requests[-1].body["messages"]
    assert isinstance(messages, list)
    return "\n".join(
        str(m["content"]) for m in messages if isinstance(m, dict) and m["role"] == "tool"
    )


def _naps(nap: str) -> list[str]:
    """The processes of an attempt that still sleep."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = place.read_bytes().split(b"\0")
        except OSError:
            continue
        if nap.encode() in words:
            found.append(place.parent.name)
    return found


def _has_sandbox() -> bool:
    if shutil.which("bwrap") is None:
        return False
    probe = ["bwrap", "--ro-bind", "/", "/", "--proc", "/proc", "--unshare-all", "true"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0

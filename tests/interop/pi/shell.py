"""The installed `agentsh`, run as a person runs it, against a scripted endpoint.

`Shell` keeps one session: each method is one command on it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.endpoint import Endpoint, Reply
from tests.support.terminal import CTRL_D, ENTER, pty_terminal

AGENTSH = Path(sys.executable).with_name("agentsh")
MODEL = "check-model"


class Shell:
    def __init__(self, root: Path, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.home = root / "home"
        self.cwd = root / "project"
        for folder in (self.home, self.cwd):
            folder.mkdir(parents=True)
        self.path = Path()

    @property
    def env(self) -> dict[str, str]:
        return {k: v for k, v in os.environ.items() if not k.startswith("AGENTSH_")} | {
            "HOME": str(self.home),
            "AGENTSH_HOME": str(self.home / "agentsh"),
            "AGENTSH_MODEL": MODEL,
            "OPENAI_BASE_URL": self.endpoint.base_url,
            "OPENAI_API_KEY": "sk-not-used-0000",
        }

    def serve(self, *replies: Reply) -> None:
        """What the endpoint says from here on; the last reply repeats."""
        answered = [replies[0]] * len(self.endpoint.requests)
        self.endpoint.script = [*answered, *replies]

    def run(self, *words: str, code: int = 0) -> str:
        """One command to its end; what it printed."""
        done = subprocess.run(
            [AGENTSH, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=self.env,
            cwd=self.cwd,
            check=False,
            timeout=120,
        )
        assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
        return done.stdout.decode()

    def ask(self, prompt: str, *words: str, code: int = 0) -> str:
        """A turn of the session; the first one begins it."""
        known = ("--session", str(self.path)) if self.path.name else ()
        said = self.run("run", prompt, *known, "--approve", "all", *words, code=code)
        if not known:
            self.path = self.newest()
        return said

    def newest(self) -> Path:
        files = (self.home / "agentsh").rglob("*.jsonl")
        return max(files, key=lambda p: p.stat().st_mtime_ns)

    def cut_off(self, prompt: str, when: Callable[[], bool], sign: signal.Signals) -> None:
        """A turn that gets a signal as soon as `when` holds."""
        known = ("--session", str(self.path)) if self.path.name else ()
        running = subprocess.Popen(
            [AGENTSH, "run", prompt, *known, "--approve", "all"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=self.env,
            cwd=self.cwd,
            start_new_session=True,
        )
        end = time.monotonic() + 20
        while not when():
            assert time.monotonic() < end
            assert running.poll() is None
            time.sleep(0.02)
        time.sleep(0.2)
        running.send_signal(sign)
        running.wait(20)
        self.path = self.path if known else self.newest()

    def type(self, *lines: str) -> None:
        """Lines typed into a chat, each waited for by its last word."""
        argv = [str(AGENTSH), "resume", str(self.path)]
        with pty_terminal(argv, env=self.env, cwd=self.cwd, columns=120) as terminal:
            for line in lines:
                terminal.ready()
                before = len(self.entries)
                terminal.type(line)
                terminal.send(ENTER)
                terminal.wait(lambda n=before: len(self.entries) > n)  # type: ignore[misc]
            terminal.send(CTRL_D)
            terminal.ends()

    @property
    def entries(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.path.read_bytes().split(b"\n")[1:] if line]

    def entry(self, kind: str, number: int = -1) -> str:
        """Id of an entry by its type or role."""
        found = [
            e["id"]
            for e in self.entries
            if kind in (e["type"], e.get("message", {}).get("role"), e.get("customType"))
        ]
        return str(found[number])

    def model_view(self) -> list[dict[str, Any]]:
        """What the next request would hold, system message aside."""
        shown = json.loads(self.run("show", str(self.path), "--view", "model", "--json"))
        return [m for m in shown["messages"] if m["role"] != "system"]

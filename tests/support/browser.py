"""Headless Chromium for a test: opens a file, presses keys, says what it loaded and complained of.

Spoken to through two pipes (its DevTools protocol), so that no port is opened. Each has a profile
of its own, and whatever it would do in the background is switched off.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any, Self

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
)


def find_browser() -> str | None:
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """One page. `requests`: addresses that it asked for; `complaints`: its console and log."""

    def __init__(
        self, program: str, profile: Path, *, width: int = 1200, height: int = 800
    ) -> None:
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._number = 0
        self._held = b""
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        command = f'exec "$@" 3<&{to_read} 4>&{to_write}'
        size = f"--window-size={width},{height}"
        words = [program, *FLAGS, size, f"--user-data-dir={profile}", "--remote-debugging-pipe"]
        self._process = subprocess.Popen(
            ["bash", "-c", command, "bash", *words],
            pass_fds=(to_read, to_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        attached = self._call("Target.attachToTarget", targetId=target, flatten=True)
        self._session: str | None = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    _session: str | None = None

    def open(self, file: Path, fragment: str = "") -> None:
        """Open a file, and wait until it is loaded."""
        self.call("Page.navigate", url=file.as_uri() + fragment)
        while self.evaluate("document.readyState") != "complete":
            pass

    def press(self, key: str) -> None:
        code = {"Tab": 9, "Enter": 13, " ": 32}.get(key, 0)
        text = {"Enter": "\r", " ": " "}.get(key, "")
        for kind in ("keyDown", "keyUp"):
            more = {"text": text} if text and kind == "keyDown" else {}
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=code,
                **more,
            )

    def evaluate(self, words: str) -> Any:
        """What an expression of the test's own gives; the page's policy is not asked."""
        done = self.call("Runtime.evaluate", expression=words, returnByValue=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def picture(self) -> bytes:
        """The screen as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        return self._call(method, **params)

    def _call(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result
            self._take(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._held:
            more = os.read(self._read, 1 << 16)
            assert more, "the browser has gone"
            self._held += more
        line, _, self._held = self._held.partition(b"\0")
        value: dict[str, Any] = json.loads(line)
        return value

    def _take(self, event: dict[str, Any]) -> None:
        params = event.get("params", {})
        match event.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])
            case "Log.entryAdded":
                self.complaints.append(params["entry"]["text"])
            case "Runtime.consoleAPICalled" | "Runtime.exceptionThrown":
                self.complaints.append(json.dumps(params))
            case "Page.javascriptDialogOpening":
                self.complaints.append(f"dialog: {params['message']}")
            case _:
                pass

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _k: type[BaseException] | None, _e: BaseException | None, _t: TracebackType | None
    ) -> None:
        os.close(self._write)
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)

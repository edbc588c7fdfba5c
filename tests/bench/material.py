"""Session files to measure with: Pi's lines, deterministic, of any size.

`whole`: one path, nothing compacted. `compacted`: a compaction of Pi each 600 KB. `own`: the same
with a last compaction of ours, which says all that is in force.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Literal, TypeAlias

from agentsh.jsontext import JsonObject

Shape: TypeAlias = Literal["whole", "compacted", "own"]
_TEXT = "a session is a tree of entries in a file that only grows and each turn appends to it"
_WORDS = _TEXT.split(" ")
_EVERY = 600_000
_KEPT = 200_000


def write_session(path: Path, size: int, shape: Shape, cwd: str) -> None:
    with path.open("wb") as file:
        _Writer(file.write, size, shape, cwd).run()


class _Writer:
    def __init__(self, write: object, size: int, shape: Shape, cwd: str) -> None:
        assert callable(write)
        self._write = write
        self._size = size
        self._shape = shape
        self._cwd = cwd
        self._random = random.Random(7)
        self._written = 0
        self._count = 0
        self._leaf: str | None = None
        self._kept = ""
        self._since = 0

    def run(self) -> None:
        self._line({"type": "session", "version": 3, "id": "bench", "cwd": self._cwd})
        self._entry("model_change", provider="bench", modelId="m")
        self._entry("thinking_level_change", thinkingLevel="off")
        while self._written < self._size:
            self._turn()
            due = self._since > _EVERY or (self._shape == "own" and self._written >= self._size)
            if self._shape != "whole" and due:
                self._compact(ours=self._shape == "own")
        if self._shape != "whole":
            self._turn()

    def _turn(self) -> None:
        before = self._written
        self._said("user", [self._text(300)])
        if self._since + _KEPT <= _EVERY or not self._kept:
            self._kept = self._leaf or ""
        for step in range(5):
            name = f"call_{self._count}_{step}"
            call: JsonObject = {
                "type": "toolCall",
                "id": name,
                "name": "read",
                "arguments": {"path": "a.py"},
            }
            self._said("assistant", [self._text(200), call], stop="toolUse")
            self._said("toolResult", [self._text(4_000)], call=name)
        self._said("assistant", [self._text(1_200)])
        self._since += self._written - before

    def _said(
        self, role: str, content: list[JsonObject], *, stop: str = "stop", call: str = ""
    ) -> None:
        message: JsonObject = {"role": role, "content": content, "timestamp": 1_770_000_000_000}
        if role == "assistant":
            zero: JsonObject = dict.fromkeys(
                ("input", "output", "cacheRead", "cacheWrite", "total"), 0
            )
            usage: JsonObject = {
                "input": 9,
                "output": 9,
                "cacheRead": 0,
                "cacheWrite": 0,
                "totalTokens": 18,
            }
            message |= {"api": "openai-completions", "provider": "bench", "model": "m"}
            message |= {"usage": {**usage, "cost": zero}, "stopReason": stop}
        if call:
            message |= {"toolCallId": call, "toolName": "read", "isError": False}
        self._entry("message", message=message)

    def _compact(self, *, ours: bool) -> None:
        self._since = 0
        summary: JsonObject = {"summary": "A summary.", "firstKeptEntryId": self._kept}
        self._kept = ""
        if ours:
            force: JsonObject = {"provider": "bench", "model": "m", "thinking": "off", "state": {}}
            summary |= {"details": {"readFiles": [], "modifiedFiles": [], "ash": force}}
            system: JsonObject = {
                "role": "system",
                "content": "",
                "sections": {"preamble": "Work."},
            }
            summary["systemMessage"] = {**system, "timestamp": 1}
        self._entry("compaction", tokensBefore=1, **summary)

    def _text(self, size: int) -> JsonObject:
        words = [self._random.choice(_WORDS) for _ in range(size // 6)]
        return {"type": "text", "text": " ".join(words)}

    def _entry(self, kind: str, **members: object) -> None:
        self._count += 1
        name = f"{self._count * 2654435761 % 2**32:08x}"
        self._line({"type": kind, "id": name, "parentId": self._leaf, **members})
        self._leaf = name

    def _line(self, value: dict[str, object]) -> None:
        order = {k: value.pop(k) for k in ("type", "id", "parentId") if k in value}
        stamp = "2026-01-01T00:00:00.000Z"
        line = json.dumps({**order, "timestamp": stamp, **value}, separators=(",", ":"))
        self._write(line.encode() + b"\n")
        self._written += len(line) + 1

"""What endpoints taught us, kept between processes in one small JSON file (E23).

Shapes that a refusal changed, and windows that an overflow or the endpoint's own list named, by
endpoint and model. A hint, never the truth: what cannot be read is as if nothing had been learned,
what cannot be written is forgotten at the end, and `trouble` says why. Written whole, 0600, by
rename. No keys, no words of the server are in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from agentsh.files import read_foreign, write_private
from agentsh.jsontext import JsonError, JsonObject, JsonValue, dumps, loads_object

_MOST_ENDPOINTS: Final = 200
_MOST_LISTED: Final = 2000
_LONGEST_ID: Final = 300
"""Of models whose windows are kept of a list: whoever names more can be asked again."""
_MOST_BYTES: Final = 16 << 20


class Memory:
    """`path` None keeps it in memory only."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._known: JsonObject | None = None
        self.trouble: str | None = None

    def shape_change(self, endpoint: str, model: str) -> Mapping[str, JsonValue]:
        """The fields of the shape that were learned."""
        change = self._entry(endpoint, model).get("shape")
        return change if isinstance(change, dict) else {}

    def window(self, endpoint: str, model: str) -> int | None:
        """Tokens: what an overflow said, else what the endpoint last listed."""
        entry = self._entry(endpoint, model)
        for window in (entry.get("window"), entry.get("listed")):
            if isinstance(window, int) and not isinstance(window, bool):
                return window
        return None

    def learn_shape(self, endpoint: str, model: str, change: Mapping[str, JsonValue]) -> None:
        shape = {**self.shape_change(endpoint, model), **change}
        self._write(endpoint, {model: {"shape": shape}})

    def learn_window(self, endpoint: str, model: str, window: int) -> None:
        if self._entry(endpoint, model).get("window") != window:
            self._write(endpoint, {model: {"window": window}})

    def learn_listed(self, endpoint: str, windows: Mapping[str, int | None]) -> None:
        """The tokens that its list named, by model; in one write, however many there are."""
        windows_known = [
            (m, w) for m, w in windows.items() if w is not None and len(m) <= _LONGEST_ID
        ]
        new: dict[str, JsonObject] = {
            model: {"listed": window}
            for model, window in windows_known[:_MOST_LISTED]
            if self._entry(endpoint, model).get("listed") != window
        }
        if new:
            self._write(endpoint, new)

    def _entry(self, endpoint: str, model: str) -> JsonObject:
        if self._known is None:
            self._known = self._read()
        models = self._known.get(endpoint)
        entry = models.get(model) if isinstance(models, dict) else None
        return entry if isinstance(entry, dict) else {}

    def _read(self) -> JsonObject:
        if self._path is None:
            return {}
        try:
            value = loads_object(read_foreign(self._path, _MOST_BYTES)).get("endpoints")
        except FileNotFoundError:
            return {}
        except (OSError, JsonError) as e:
            self.trouble = f"{self._path}: not read: {e}"
            return {}
        return dict(value) if isinstance(value, dict) else {}

    def _write(self, endpoint: str, changes: Mapping[str, JsonObject]) -> None:
        # read anew: another process may have learned something meanwhile
        endpoints = self._read() if self._path is not None else (self._known or {})
        models = endpoints.pop(endpoint, None)
        models = dict(models) if isinstance(models, dict) else {}
        for model, change in changes.items():
            entry = models.get(model)
            models[model] = {**(entry if isinstance(entry, dict) else {}), **change}
        endpoints[endpoint] = models  # last, so that the oldest are the first to go
        for name in list(endpoints)[:-_MOST_ENDPOINTS]:
            del endpoints[name]
        self._known = endpoints
        if self._path is not None:
            self._save(self._path, dumps({"version": 1, "endpoints": endpoints}))

    def _save(self, path: Path, data: bytes) -> None:
        try:
            write_private(path, data)
        except OSError as e:
            self.trouble = f"{path}: what the endpoint taught is not kept: {e}"


class Lessons:
    """What refusals taught of the shape in which one endpoint is asked over one API.

    What an API teaches is no news of the other one. That items of reasoning are refused holds for
    this process only: another key, or another machine behind the address, may read them (E42).
    """

    def __init__(self, memory: Memory, endpoint: str, beside: str = "") -> None:
        """`beside`: the API, where it is not that of chat completions."""
        self._memory = memory
        self._is_chat = not beside
        self._name = f"{endpoint} {beside}".rstrip()
        self._passing: dict[str, Mapping[str, JsonValue]] = {}

    def change(self, model: str) -> Mapping[str, JsonValue]:
        """The fields of the shape that were learned."""
        lasting = self._memory.shape_change(self._name, model)
        return {**lasting, **self._passing.get(model, {})}

    def keep(self, model: str, change: Mapping[str, JsonValue]) -> None:
        if self._is_chat or "reasoning_echo" not in change:
            self._memory.learn_shape(self._name, model, change)
        else:
            self._passing[model] = change

"""How full the context is, against a window that may have to be asked for.

The window comes from the options, the settings, what is known of the model, or, once the context
is no longer small, from the endpoint's own list (asked once). A server of one's own is asked also
where a table knows the model: it holds what it was started with. Read next: context/tokens.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from operator import is_

from msgspec import Struct

from agentsh.abort import Abort
from agentsh.agent.config import Config
from agentsh.agent.turn.loop import Pressure
from agentsh.context.projection import Context, Item
from agentsh.context.tokens import (
    Room,
    estimate_system,
    item_sizes,
    last_measured,
    needs_compaction,
    room_of,
    weigh_from,
)
from agentsh.errors import ProviderError
from agentsh.providers.base import Provider

# Below this a request fits any window there is; above it is worth asking the endpoint once.
SMALL = 2000


_LEAST, _MOST = 1 / 3, 2.0
"""How far an estimate is corrected: a short prompt may be mostly what a server adds to it."""


class Gauge(Struct):
    """The window of one model, and what is kept free of it."""

    provider: Provider
    model: str
    window: int | None = None
    max_tokens: int | None = None
    reserve: int | None = None
    auto: bool = True
    _asked: bool = False
    _weighed: tuple[Context, tuple[int, bool]] | None = None
    _scale: float = 1.0
    _items: tuple[Item, ...] = ()
    _sizes: list[int] = []
    """Of the items: what stands in the context stays as it is, and is estimated once."""

    def weigh(self, context: Context) -> int:
        """Its tokens, reckoned once for one and the same context."""
        return self.weight(context)[0]

    def weight(self, context: Context) -> tuple[int, bool]:
        """The same, and whether any of it is an estimate."""
        if self._weighed is None or self._weighed[0] is not context:
            self._weighed = (context, self._weigh(context))
        return self._weighed[1]

    def _weigh(self, context: Context) -> tuple[int, bool]:
        """Where nothing of it was measured yet (a summary is new, something is hidden), the
        estimate is as far off as it was for what this model was sent last, within bounds."""
        sizes = self._sizes_of(context.items)
        measured = last_measured(context, sizes)
        tokens, estimated = weigh_from(measured, context, sizes)
        if measured is None:
            return round(tokens * self._scale), estimated
        estimate = estimate_system(context.system) + sum(sizes)
        self._scale = min(max(tokens / max(estimate, 1), _LEAST), _MOST)
        return tokens, estimated

    def _sizes_of(self, items: tuple[Item, ...]) -> Sequence[int]:
        known = len(self._items)
        if known > len(items) or not all(map(is_, self._items, items)):
            self._sizes, known = [], 0
        self._sizes += item_sizes(items[known:])
        self._items = items
        return self._sizes

    def read(self, context: Context, abort: Abort | None = None) -> Pressure:
        """The state of things before the next request."""
        tokens, estimated = self.weight(context)
        if self._will_ask(tokens):
            self._ask(abort)
        window = self.known_window()
        if window is None or not self.auto:
            return Pressure(tokens, window, estimated=estimated)
        asked = max(self.reserve or 0, self.max_tokens or 0) or None
        full = needs_compaction(tokens, window, asked)
        return Pressure(tokens, window, must_compact=full, estimated=estimated)

    def known_window(self) -> int | None:
        """The window without asking anybody."""
        return self.window or self.provider.model_info(self.model).context_window

    def room(self, keep: int | None) -> Room:
        """How the known window is shared out. `keep` None: a compaction keeps the usual."""
        return room_of(self.known_window(), self.max_tokens, self.reserve, keep)

    def has_price(self, abort: Abort | None = None) -> bool:
        """Whether the model's price is known; the endpoint's list is asked for it once."""
        if self.provider.model_info(self.model).prices is None:
            self._ask(abort)
        return self.provider.model_info(self.model).prices is not None

    def waits_for(self, context: Context) -> str | None:
        """The endpoint that `read` would ask for its list of models."""
        return self.provider.endpoint if self._will_ask(self.weigh(context)) else None

    def _ask(self, abort: Abort | None) -> None:
        """The list of models, once; it is a courtesy, and a request says itself what is wrong."""
        if not self._asked:
            with suppress(ProviderError):
                self.provider.models(abort)
            self._asked = abort is None or not abort.is_set

    def _will_ask(self, tokens: int) -> bool:
        return tokens > SMALL and not self._asked and self._is_doubtful()

    def _is_doubtful(self) -> bool:
        info = self.provider.model_info(self.model)
        return self.window is None and (info.context_window is None or info.may_hold_less)


class Gauges:
    """The gauge of who is asked now; it forgets nothing while that stays the same."""

    def __init__(self) -> None:
        self._last: tuple[Provider, Config, Gauge] | None = None

    def of(self, provider: Provider, config: Config) -> Gauge:
        last = self._last
        if last is not None and last[0] is provider and _sizes(last[1]) == _sizes(config):
            return last[2]
        gauge = Gauge(provider, *_sizes(config))
        self._last = (provider, config, gauge)
        return gauge


def _sizes(config: Config) -> tuple[str, int | None, int | None, int | None, bool]:
    return (
        config.model.model,
        config.context_window,
        config.max_tokens,
        config.reserve,
        config.auto_compact,
    )

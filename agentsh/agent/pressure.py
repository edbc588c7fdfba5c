"""How full the context is, against a window that may have to be asked for.

The window comes from the options, the settings, what is known of the model, or, once the context is
no longer small, from the endpoint's own list (asked once). Read next: context/tokens.py.
"""

from __future__ import annotations

from msgspec import Struct

from agentsh.agent.loop import Pressure
from agentsh.context.projection import Context
from agentsh.context.tokens import context_tokens, needs_compaction
from agentsh.errors import ProviderError
from agentsh.providers.base import Provider

# Below this a request fits any window there is; above it is worth asking the endpoint once.
SMALL = 2000


class Gauge(Struct):
    """The window of one model, and what is kept free of it."""

    provider: Provider
    model: str
    window: int | None = None
    max_tokens: int | None = None
    reserve: int | None = None
    auto: bool = True
    _asked: bool = False
    _weighed: tuple[Context, int] | None = None

    def weigh(self, context: Context) -> int:
        """Its tokens, reckoned once for one and the same context."""
        if self._weighed is None or self._weighed[0] is not context:
            self._weighed = (context, context_tokens(context))
        return self._weighed[1]

    def read(self, context: Context) -> Pressure:
        """The state of things before the next request."""
        tokens = self.weigh(context)
        window = self._window(tokens)
        if window is None or not self.auto:
            return Pressure(tokens, window)
        asked = max(self.reserve or 0, self.max_tokens or 0) or None
        return Pressure(tokens, window, needs_compaction(tokens, window, asked))

    def known_window(self) -> int | None:
        """The window without asking anybody."""
        return self.window or self.provider.model_info(self.model).context_window

    def _window(self, tokens: int) -> int | None:
        known = self.known_window()
        if known is None and tokens > SMALL and not self._asked:
            self._asked = True
            try:
                self.provider.models()
            except ProviderError:
                return None  # the list is a courtesy; the request itself will say what is wrong
            known = self.known_window()
        return known

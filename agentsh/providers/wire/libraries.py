"""httpx and httpcore, loaded without what they may need and are not asked for here.

httpx imports its own command line where click is installed, and with it rich and pygments: 100 ms.
What else both import at once (certificates for a context of TLS that they would make by themselves,
names of hosts beyond ASCII, another kind of waiting) is loaded when somebody first uses it, so that
other code in this process finds both libraries whole. Read next: transport.py, sockets.py.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Final

_LATER: Final = ("certifi", "idna", "anyio")


class _Later(ModuleType):
    """Stands for a module of that name, and loads it when an attribute is asked for."""

    def __getattr__(self, attribute: str) -> object:
        return getattr(import_module(self.__name__), attribute)


@contextmanager
def _later() -> Iterator[None]:
    """Whoever imports one of these in the block is given its stand-in; nobody after it."""
    absent = [name for name in _LATER if name not in sys.modules]
    sys.modules.update({name: _Later(name) for name in absent})
    try:
        yield
    finally:
        for name in absent:
            sys.modules.pop(name, None)


sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]

with _later():
    import httpcore
    import httpx

__all__ = ["httpcore", "httpx"]

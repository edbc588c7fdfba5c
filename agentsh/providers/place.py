"""A base URL taken apart: where requests go, and what of it may be shown. Pure."""

from __future__ import annotations

from typing import Final
from urllib.parse import unquote, urlsplit, urlunsplit

from msgspec import Struct

from agentsh.errors import UsageError

_TAILS: Final = ("/chat/completions", "/responses", "/models")


class Place(Struct, frozen=True):
    """One endpoint's address."""

    scheme: str
    host: str
    port: int
    authority: str
    """host:port, the port left out where it is the scheme's own; for messages."""
    path: str
    query: str
    password: str = ""
    """From the userinfo, used as the key where there is no other."""

    @property
    def shown(self) -> str:
        """The base URL without userinfo and query."""
        return urlunsplit((self.scheme, self.authority, self.path, "", ""))

    def url(self, tail: str) -> str:
        """Where to ask for this. A query of the base URL stays (Azure's api-version)."""
        return urlunsplit((self.scheme, self.authority, self.path + tail, self.query, ""))


def read_place(base_url: str) -> Place:
    """Raises UsageError when it is no http or https URL."""
    try:
        parts = urlsplit(base_url.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError as e:
        raise UsageError(f"the base URL {_shown(base_url)!r} cannot be read: {e}") from e
    scheme = parts.scheme.lower()
    if scheme not in ("http", "https") or not host:
        raise UsageError(f"the base URL {_shown(base_url)!r} is not http://… or https://…")
    path = parts.path.rstrip("/")
    for tail in _TAILS:
        path = path.removesuffix(tail)  # the whole address was pasted
    usual = 443 if scheme == "https" else 80
    bracketed = f"[{host}]" if ":" in host else host
    authority = bracketed if port in (None, usual) else f"{bracketed}:{port}"
    password = unquote(parts.password or parts.username or "")
    return Place(scheme, host, port or usual, authority, path, parts.query, password)


def _shown(url: str) -> str:
    """Without what stands before an @, which may be a key."""
    return url.rpartition("@")[2][:200]

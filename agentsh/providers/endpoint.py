"""A base URL taken apart: where requests go, and what of it may be shown. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from typing import Final
from urllib.parse import unquote, unquote_plus, urlsplit, urlunsplit

from msgspec import Struct

from agentsh.errors import UsageError

_NEAR: Final = (".localhost", ".local", ".lan", ".internal", ".home.arpa")
_TAILS: Final = ("/chat/completions", "/responses", "/models")
_NO_BASE: Final = ("/completions", "/chat", "/messages", "/embeddings", "/engines")
"""Ends of an address that lead to something else than a base."""
# texts, which `re` compiles at their first use
_OF_KEYS: Final = r"auth|key|token|secret|cookie|passw|signature|credential|(?:^|[-_])sig$"
_SCHEME: Final = r"^(?:bearer|basic|token)\s+"


class Endpoint(Struct, frozen=True):
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
    keys: tuple[str, ...] = ()
    """What in the URL is a key: the password, and members of the query by their names; each as it
    is and as it stands there."""

    @property
    def shown(self) -> str:
        """The base URL without userinfo and query."""
        return urlunsplit((self.scheme, self.authority, self.path, "", ""))

    @property
    def is_near(self) -> bool:
        """On this machine or in its own network, where models run that think slowly."""
        host = self.host.lower().rstrip(".")
        if "." not in host and ":" not in host:
            return True  # `localhost`, or a name that only a network of one's own knows
        if host.endswith(_NEAR):
            return True
        try:
            return not ip_address(host.partition("%")[0]).is_global
        except ValueError:
            return False

    @property
    def others(self) -> tuple[str, ...]:
        """Base URLs of this host that may have been meant, the likeliest first."""
        likelier = () if self._has_version else (f"{self.path}/v1",)
        if self._shorter is not None:
            likelier = (self._shorter,)
        paths = dict.fromkeys((*likelier, "/v1", "/api/v1", "/openai/v1"))
        return tuple(
            urlunsplit((self.scheme, self.authority, path, "", ""))
            for path in paths
            if path != self.path
        )

    def doubt(self, asked: str) -> str | None:
        """What to say where nothing answers to `asked`, a method and a URL (E38).

        None with /v1, unless that stands there twice, or more follows that is no base.
        """
        if self._shorter is not None:
            why = "the base URL goes on after its end: is it"
        elif not self._has_version:
            why = "most servers answer below /v1: is the base URL"
        else:
            return None
        return f"{asked} was asked, and {why} {self.others[0]}? `agentsh doctor` tries it."

    @property
    def _has_version(self) -> bool:
        return re.search(r"/v\d", self.path) is not None

    @property
    def _shorter(self) -> str | None:
        """The path without what was written twice, or belongs to another request."""
        twice = re.fullmatch(r"(.*?(?:/[^/]+)*?)((?:/[^/]+)+)\2+", self.path)
        path = self.path if twice is None else twice[1] + twice[2]
        for tail in _NO_BASE:
            path = path.removesuffix(tail)
        return path if path != self.path else None

    def url(self, tail: str) -> str:
        """Where to ask for this. A query of the base URL stays (Azure's api-version)."""
        return urlunsplit((self.scheme, self.authority, self.path + tail, self.query, ""))


def read_endpoint(base_url: str) -> Endpoint:
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
    userinfo = parts.password or parts.username or ""
    spelled = (userinfo, *_keys_of(parts.query))
    keys = tuple(dict.fromkeys(k for each in spelled for k in (unquote_plus(each), each) if k))
    password = unquote(userinfo)
    return Endpoint(scheme, host, port or usual, authority, path, parts.query, password, keys)


def header_keys(headers: Mapping[str, str]) -> Iterator[str]:
    """The keys that headers carry, by their names, without the word for their kind."""
    for name, value in headers.items():
        if _names_key(name):
            yield re.sub(_SCHEME, "", value.strip(), flags=re.IGNORECASE).strip()


def _names_key(name: str) -> bool:
    return re.search(_OF_KEYS, name, re.IGNORECASE) is not None


def _keys_of(query: str) -> Iterator[str]:
    """The values of a query that are keys by their names, as they stand there."""
    for member in query.split("&"):
        name, _, value = member.partition("=")
        if _names_key(name):
            yield value


def _shown(url: str) -> str:
    """Without what stands before an @, which may be a key."""
    return url.rpartition("@")[2][:200]

"""Which proxy, if any, a URL goes through: settings of the environment that is handed in. Pure.

Loopback is always reached directly, and so is what NO_PROXY names, whatever else is set (E34): a
proxy that cannot be used is an error of the hosts that need it, not of the program. NO_PROXY is
read as curl, Go and browsers do: hosts, domains, ranges of addresses, patterns with a `*` (E43).
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from ipaddress import ip_address, ip_network
from urllib.parse import unquote, urlsplit

from msgspec import Struct


class Proxy(Struct, frozen=True):
    """`url` has no userinfo; `trouble` says why it cannot be used."""

    url: str
    variable: str
    auth: tuple[str, str] | None = None
    trouble: str | None = None


def is_loopback(host: str) -> bool:
    host = host.strip("[]").lower().rstrip(".")
    return host in ("localhost", "::1") or host.endswith(".localhost") or host.startswith("127.")


def find_proxy(scheme: str, host: str, port: int, environ: Mapping[str, str]) -> Proxy | None:
    """The proxy for this place; None to connect directly."""
    if is_loopback(host) or _is_excluded(host, port, environ):
        return None
    for variable in (f"{scheme}_proxy", "all_proxy"):
        for name in (variable, variable.upper()):
            if value := environ.get(name, "").strip():
                return _read(value, name)
    return None


def _is_excluded(host: str, port: int, environ: Mapping[str, str]) -> bool:
    host = host.strip("[]").lower().rstrip(".")
    listed = environ.get("no_proxy") or environ.get("NO_PROXY") or ""
    for item in listed.lower().replace(",", " ").split():
        if item == "*":
            return True
        name, colon, number = item.rpartition(":")
        if colon and number.isdecimal() and not name.endswith(":"):
            if int(number) != port:
                continue
            item = name
        item = item.removeprefix("*").lstrip(".").replace("[", "").replace("]", "")
        if item and (host == item or host.endswith(f".{item}") or _is_among(host, item)):
            return True
    return False


def _is_among(host: str, item: str) -> bool:
    """The host is one of those that a range of addresses, `<local>` or a pattern names."""
    if item == "<local>":
        return "." not in host and ":" not in host
    if "*" in item:
        return fnmatchcase(host, item)
    if "/" not in item and ":" not in item:
        return False
    try:
        return ip_address(host.partition("%")[0]) in ip_network(item, strict=False)
    except ValueError:
        return False  # a name, or no range: nothing of it is an address


def _read(value: str, variable: str) -> Proxy:
    text = value if "://" in value else f"http://{value}"
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, None
    if parts is None or not host or " " in text:
        return Proxy("", variable, trouble=f"{variable} is not a proxy's URL")
    scheme = parts.scheme.lower()
    if scheme != "http":
        kind = "SOCKS" if scheme.startswith("socks") else f"{scheme}://"
        trouble = (
            f"{variable} names a {kind} proxy; only http:// proxies can be used. "
            f"Name one, or put the endpoint's host into NO_PROXY"
        )
        return Proxy("", variable, trouble=trouble)
    auth = None
    if parts.username is not None:
        auth = (unquote(parts.username), unquote(parts.password or ""))
    host = f"[{host}]" if ":" in host else host
    return Proxy(f"http://{host}:{port or 80}", variable, auth)

"""What a server is: settings, environment and folder → what is started or asked. Pure.

A server gets a small environment: a few plain variables and what its table names. `${NAME}` is
taken from the environment that commands get, in which no credential of an endpoint is; one that is
not set leaves the server out, by name. The digest is of what stands in the settings, so that no
value of a variable is in it. Read next: listing.py, child.py.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, TypeAlias

from msgspec import Struct, field

from agentsh.files import from_home
from agentsh.jsontext import dumps
from agentsh.settings import McpSettings, ServerSettings

Transport: TypeAlias = Literal["stdio", "http"]

_PLAIN: Final = frozenset(
    (
        "HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER",
        "SSL_CERT_DIR", "SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE",
        "NODE_EXTRA_CA_CERTS",
    )
)  # fmt: skip
_PROXIES: Final = frozenset(("http_proxy", "https_proxy", "all_proxy", "no_proxy"))
_VARIABLE: Final = re.compile(r"(\$?)\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SCRIPT: Final = re.compile(r"^\.\.?/|\.(?:c?js|mjs|ts|py|rb|sh|pl|php|jar)$")
"""A word that means a file of the folder that a server is started in."""
_HEADER_VALUE: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


class Server(Struct, frozen=True):
    """One server, resolved. `argv` for a program, `url` for an address."""

    name: str
    digest: str
    cwd: Path
    argv: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    tools: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    timeout: float = 60.0
    start_timeout: float = 30.0
    trust_hints: bool = False
    confined: bool = True
    """In the sandbox it runs confined."""
    required: bool = False
    project: Path | None = None
    """Whose programs are not taken for those that are meant by their names."""

    @property
    def transport(self) -> Transport:
        return "stdio" if self.argv else "http"


class LeftOut(Struct, frozen=True):
    """A server that cannot be used as it is configured, and why."""

    name: str
    why: str
    required: bool = False


class _UnsetError(Exception):
    """A variable that is named and not set."""


def define(
    table: ServerSettings,
    defaults: McpSettings,
    environ: Mapping[str, str],
    cwd: Path,
    *,
    is_projects: bool = False,
) -> Server | LeftOut:
    """The server of a table. `environ`: what commands get. `is_projects`: its settings name it."""
    try:
        args = [_at_home(_filled(word, environ)) for word in table.args]
        env = {name: _filled(text, environ) for name, text in table.env.items()}
        headers = {name: _filled(text, environ) for name, text in table.headers.items()}
        url = _filled(table.url or "", environ)
    except _UnsetError as e:
        why = f"the variable {e} is not set, or holds a key of an endpoint"
        return LeftOut(table.name, why, table.required)
    if (unfit := _unfit(url if table.url else None, headers)) is not None:
        return LeftOut(table.name, unfit, table.required)
    folder = cwd / _at_home(table.cwd or ".")
    base = dict(environ) if table.inherit_env else _small(environ)
    return Server(
        name=table.name,
        digest=_digest(table, cwd),
        cwd=folder,
        argv=(_program(table.command, folder), *args) if table.command else (),
        env={**base, **env},
        url=url,
        headers=headers,
        tools=table.tools,
        exclude=table.exclude,
        timeout=table.timeout or defaults.timeout,
        start_timeout=table.start_timeout or defaults.start_timeout,
        trust_hints=table.trust_hints,
        confined=table.sandbox,
        required=table.required,
        project=None if is_projects or "PATH" in table.env else cwd,
    )


def _unfit(url: str | None, headers: Mapping[str, str]) -> str | None:
    """Why it cannot be asked there; no url: it is a program."""
    if url is not None and not re.match(r"https?://[^/]", url):
        return "its url does not begin with http(s)://HOST"
    for name, value in headers.items():
        if not _HEADER_VALUE.fullmatch(value):
            return f"the header {name} would hold what no header can"
    return None


def _filled(text: str, environ: Mapping[str, str]) -> str:
    """With the variables that it names; `$${NAME}` is no variable. Raises _UnsetError."""

    def value(match: re.Match[str]) -> str:
        if match[1]:
            return match[0][1:]
        if match[2] not in environ:
            raise _UnsetError(match[2])
        return environ[match[2]]

    return _VARIABLE.sub(value, text)


def _small(environ: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in environ.items()
        if name in _PLAIN or name.startswith("LC_") or name.lower() in _PROXIES
    }


def _program(command: str, folder: Path) -> str:
    """A name is looked for on the server's PATH; a path begins in the server's folder."""
    return str(folder / _at_home(command)) if "/" in command else command


def _at_home(word: str) -> str:
    """As a shell means it, where a word begins so."""
    return str(from_home(word)) if word.startswith("~/") else word


def _digest(table: ServerSettings, cwd: Path) -> str:
    """Of what says which server it is; of the folder too, where the same words mean another one."""
    is_local = (
        "/" in (table.command or "")
        or table.cwd is not None
        or any(_SCRIPT.search(word) and not word.startswith(("/", "~", "-")) for word in table.args)
    )
    said = [
        table.command,
        list(table.args),
        dict(sorted(table.env.items())),
        table.cwd,
        table.url,
        dict(sorted(table.headers.items())),
        str(cwd) if is_local else None,
    ]
    return hashlib.sha256(dumps(said)).hexdigest()

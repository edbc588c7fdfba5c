"""The endpoint's key: from the variable or the command that the settings name, or OPENAI_API_KEY.

A key lives in memory only: it is never stored, logged or shown, and children of agentsh do not get
its variable, nor any other that holds it (`without_keys`). What stands for a key in an address or
in a header is one, too. Commands are only those of the user's own, trusted settings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from agentsh.errors import UsageError
from agentsh.settings import DEFAULT_PROVIDER, EndpointSettings, Settings

if TYPE_CHECKING:
    import subprocess

USUAL = "OPENAI_API_KEY"
_USUAL_URL = "OPENAI_BASE_URL"
QUIET_SECONDS = 2
MOST_SECONDS = 30


def find_key(
    endpoint: EndpointSettings,
    environ: Mapping[str, str],
    say: Callable[[str], None] = lambda _words: None,
) -> str | None:
    """The key, or None where there is none. `say` tells of a command that takes its time.

    Raises UsageError: the key's command failed.
    """
    if endpoint.api_key_env and environ.get(endpoint.api_key_env):
        given = environ[endpoint.api_key_env].strip()
    elif endpoint.api_key_command:
        given = _from_command(endpoint.api_key_command, environ, say)
    else:
        given = environ.get(USUAL, "").strip()
    key = bare_key(given)
    if key != given:
        source = key_source(endpoint, environ)
        say(f"the key from {source} has more around it than a key ('Bearer', quotes): left out")
    return key or None


def another_key(endpoint: EndpointSettings, environ: Mapping[str, str]) -> str | None:
    """What the key's command says now; None where no command gives the key, or it fails.

    A failure is left to the server's refusal, which stands; `agentsh doctor` tells its reason.
    """
    if key_source(endpoint, environ) != "api_key_command":
        return None
    with suppress(UsageError):
        return find_key(endpoint, environ)
    return None


def bare_key(value: str) -> str:
    """A key without what it stands in elsewhere: `Authorization: Bearer KEY`, and quotes."""
    key = value.strip()
    for start in ("authorization:", "bearer "):
        key = _unquoted(key)
        if key[: len(start)].lower() == start:
            key = key[len(start) :].lstrip()
    return _unquoted(key)


def _unquoted(value: str) -> str:
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    return value[1:-1].strip() if is_quoted else value


def key_source(endpoint: EndpointSettings, environ: Mapping[str, str]) -> str | None:
    """Where `find_key` would take it from, without taking it."""
    if endpoint.api_key_env and environ.get(endpoint.api_key_env):
        return endpoint.api_key_env
    if endpoint.api_key_command:
        return "api_key_command"
    return USUAL if environ.get(USUAL, "").strip() else None


def key_hint(endpoint: EndpointSettings, environ: Mapping[str, str]) -> str:
    """For whoever reads that a key was refused: where it came from, or what is read for one."""
    table = "[endpoint]" if endpoint.name == DEFAULT_PROVIDER else f"[endpoints.{endpoint.name}]"
    if any(name.lower() in _KEY_HEADERS for name in endpoint.headers):
        return f"Is the key right? It stands in the headers of {table}."
    named = _named(endpoint.api_key_env, table)
    match key_source(endpoint, environ):
        case None if named:
            return f"No key was sent: {named} is read, then {USUAL}, and neither is set."
        case None:
            other = f"api_key_env or api_key_command of {table} names another source"
            return f"No key was sent: {USUAL} is read, and is not set; {other}."
        case "api_key_command":
            return f"Is the key right? It is what api_key_command of {table} prints."
        case source if source == endpoint.api_key_env:
            return f"Is the key right? It comes from {named}."
        case source:
            less = f", since {named} is not set" if named else ""
            return f"Is the key right? It comes from {source}{less}."


def _named(variable: str | None, table: str) -> str:
    """A variable with the setting that names it; what is no name may be a key, and is not said."""
    if not variable:
        return ""
    shown = variable if is_variable(variable) else "what is no name of a variable"
    return f"{shown} (api_key_env of {table})"


def is_variable(word: str) -> bool:
    """A name that a variable may have, and that does not look like a key. Pure."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", word):
        return False
    return not any(_is_mixed(part) for part in word.split("_") if len(part) >= _LONG_PART)


def _is_mixed(part: str) -> bool:
    return any(map(str.isdigit, part)) or not (part.isupper() or part.islower())


def key_given_as(said: str, environ: Mapping[str, str]) -> Literal["variable", "command", "key"]:
    """What a person gave for a variable or a command; what is neither may be the key itself."""
    name, words = said.removeprefix("$"), said.split()
    if len(words) > 1:
        is_key = bare_key(said) != said.strip() or re.search(_KEY_FORMS, said) is not None
        return "key" if is_key else "command"
    from agentsh.programs import find_program  # few are asked for an endpoint

    runs = _is_path(said) or find_program(said, environ, Path.cwd()) is not None
    if is_variable(name) and (name in environ or name == name.upper() or not runs):
        return "variable"
    return "command" if runs else "key"


def _is_path(said: str) -> bool:
    """Of a program, there or not yet typed to its end."""
    parts = re.split(r"[/.]", said)
    is_long = any(_is_mixed(part) for part in parts if len(part) >= _LONG_PART)
    return said.startswith(("/", "~/", "./")) and not is_long


_KEY_HEADERS = ("authorization", "api-key", "x-api-key")
_LONG_PART = 16
"""Letters of a variable's name without a line between them; a key has more."""
_KEY_FORMS = r"\b(?:sk-|gsk_|hf_|xai-|AIza|pplx-|nvapi-|r8_|fw_)[A-Za-z0-9_-]{16,}"

SHORTEST_HIDDEN = 8
"""A shorter value is no key, and may stand in many variables."""
SHORTEST_MASKED = 12
"""A shorter one may be a word (`none`, `local`) and is not masked in what is shared."""


def hidden_variables(endpoint: EndpointSettings) -> frozenset[str]:
    """The variables that hold the endpoint's credentials: children do not get them."""
    return frozenset(name for name in (USUAL, endpoint.api_key_env) if name)


def without_keys(
    environ: Mapping[str, str],
    hidden: Collection[str] = (USUAL,),
    keys: Collection[str] = (),
    *,
    passed: Collection[str] = (),
) -> dict[str, str]:
    """The environment without these variables, and without any other that holds what they hold.

    `keys` are looked for as well, whatever variable they are in. `passed` stay all the same.
    """
    held = {bare_key(environ.get(name, "")) for name in hidden if name not in passed} | set(keys)
    values = [value for value in held if len(value) >= SHORTEST_HIDDEN]
    return {
        name: value
        for name, value in environ.items()
        if name in passed or not (name in hidden or any(each in value for each in values))
    }


def known_keys(
    endpoint: EndpointSettings, environ: Mapping[str, str], least: int = SHORTEST_MASKED
) -> frozenset[str]:
    """The keys that are known in this process and long enough to be one; asks no command."""
    held = [bare_key(environ.get(name, "")) for name in hidden_variables(endpoint)]
    if endpoint.api_key_command in _answered:
        held.append(bare_key(_answered[endpoint.api_key_command]))
    held += _written_keys(endpoint, environ)
    return frozenset(key for key in held if len(key) >= least)


def _written_keys(endpoint: EndpointSettings, environ: Mapping[str, str]) -> Iterator[str]:
    """Those that stand in addresses and headers themselves."""
    addresses = [url for url in (endpoint.base_url, environ.get(_USUAL_URL)) if url]
    if not (endpoint.headers or any(sign in url for url in addresses for sign in "@?")):
        return
    from agentsh.providers.endpoint import header_keys, read_endpoint

    yield from header_keys(endpoint.headers)
    for url in addresses:
        with suppress(UsageError):  # no address: who asks there is told
            yield from read_endpoint(url).keys


def learn_key(endpoint: EndpointSettings, environ: Mapping[str, str]) -> None:
    """Ask the key's command where it was not asked yet, so that `known_keys` knows its answer.

    A failure is told by who needs the key.
    """
    command = endpoint.api_key_command
    if key_source(endpoint, environ) == "api_key_command" and command not in _answered:
        with suppress(UsageError):
            find_key(endpoint, environ)


def keys_in_use(
    settings: Settings, environ: Mapping[str, str], say: Callable[[str], None]
) -> frozenset[str]:
    """The keys of every endpoint that is configured, and the usual one: for what is shared.

    Of commands only that of the endpoint in force is asked; `say` tells of one that fails.
    """
    try:
        find_key(settings.endpoint, environ, say)
    except UsageError as e:
        say(f"{e}, so it was not looked for")
    endpoints = (settings.endpoint, *settings.endpoints.values())
    return frozenset().union(*(known_keys(each, environ) for each in endpoints))


_answered: dict[str, str] = {}
"""What the key's commands said in this process."""


def _from_command(command: str, environ: Mapping[str, str], say: Callable[[str], None]) -> str:
    import subprocess  # costs start-up, and few settings name a command

    try:
        with subprocess.Popen(
            ["/bin/sh", "-c", command],
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as child:
            try:
                said, _ = child.communicate(timeout=QUIET_SECONDS)
            except subprocess.TimeoutExpired:
                say(f"waiting for api_key_command (at most {MOST_SECONDS} s)")
                said = _patiently(child)
    except (OSError, subprocess.TimeoutExpired) as e:
        raise UsageError("api_key_command did not end, or could not be started") from e
    key = said.decode("utf-8", "replace").strip()
    if child.returncode != 0 or not key:
        raise UsageError(
            f"api_key_command gave no key (exit {child.returncode})",
            hint="run the command by hand: it must print the key and nothing else",
        )
    _answered[command] = key
    return key


def _patiently(child: subprocess.Popen[bytes]) -> bytes:
    """What it prints; it is killed where it does not end in time."""
    try:
        return child.communicate(timeout=MOST_SECONDS - QUIET_SECONDS)[0]
    except BaseException:
        child.kill()
        raise

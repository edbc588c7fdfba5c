"""The endpoint's key: from the variable or the command that the settings name, or OPENAI_API_KEY.

A key lives in memory only: it is never stored, logged or shown, and children of agentsh do not get
its variable (`hidden_variables`). Commands are only those of the user's own, trusted settings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from agentsh.errors import UsageError
from agentsh.settings import EndpointSettings

if TYPE_CHECKING:
    import subprocess

USUAL = "OPENAI_API_KEY"
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
        return environ[endpoint.api_key_env].strip()
    if endpoint.api_key_command:
        return _from_command(endpoint.api_key_command, environ, say)
    return environ.get(USUAL, "").strip() or None


def key_source(endpoint: EndpointSettings, environ: Mapping[str, str]) -> str | None:
    """Where `find_key` would take it from, without taking it."""
    if endpoint.api_key_env and environ.get(endpoint.api_key_env):
        return endpoint.api_key_env
    if endpoint.api_key_command:
        return "api_key_command"
    return USUAL if environ.get(USUAL, "").strip() else None


def hidden_variables(endpoint: EndpointSettings) -> frozenset[str]:
    """The variables that hold the endpoint's credentials: children do not get them."""
    return frozenset(name for name in (USUAL, endpoint.api_key_env) if name)


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
    return key


def _patiently(child: subprocess.Popen[bytes]) -> bytes:
    """What it prints; it is killed where it does not end in time."""
    try:
        return child.communicate(timeout=MOST_SECONDS - QUIET_SECONDS)[0]
    except BaseException:
        child.kill()
        raise

"""What holds for every test: a clean environment, a home of its own, no network but loopback.

The guard is an audit hook: it sees every connect of the process, whichever library makes it.
"""

from __future__ import annotations

import ipaddress
import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "ci",
    derandomize=True,  # the same examples everywhere: a red build can be repeated
    max_examples=100,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("deep", settings.get_profile("ci"), derandomize=False, max_examples=5000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

_FOREIGN = ("AGENTSH_", "OPENAI_", "PI_", "GIT_")
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


class NetworkUsedError(RuntimeError):
    """A test reached for the network."""


def _only_loopback(event: str, args: tuple[object, ...]) -> None:
    if event != "socket.connect":
        return
    address = args[1]
    if not isinstance(address, tuple):
        return  # a Unix socket
    host = str(address[0])
    try:
        is_loopback = ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        is_loopback = host == "localhost"
    if not is_loopback:
        raise NetworkUsedError(f"a test must not connect to {address}")


sys.addaudithook(_only_loopback)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # started in a shell's background: what tests start would not hear Ctrl-C either
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def clean_environment(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Give each test a home of its own; returns that home."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(_FOREIGN) or name.lower() in _PROXIES:
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("AGENTSH_HOME", str(home / "agentsh"))
    monkeypatch.setenv("AGENTSH_DEBUG_REPLAY", "1")  # each body is rebuilt before it is sent (R47)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("TERM", "xterm-256color")
    return home

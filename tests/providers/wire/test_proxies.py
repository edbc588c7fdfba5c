from __future__ import annotations

import pytest

from agentsh.providers.wire.proxies import Proxy, find_proxy


def find(environ: dict[str, str], host: str = "api.example", port: int = 443) -> Proxy | None:
    return find_proxy("https", host, port, environ)


def test_the_schemes_own_proxy_comes_before_the_general_one() -> None:
    environ = {"ALL_PROXY": "http://all:1", "HTTPS_PROXY": "http://secure:2"}

    assert find(environ) == Proxy("http://secure:2", "HTTPS_PROXY")
    assert find({"all_proxy": "http://all:1"}) == Proxy("http://all:1", "all_proxy")
    assert find({"HTTP_PROXY": "http://plain:3"}) is None


def test_a_proxy_may_lack_its_scheme_and_have_a_password() -> None:
    assert find({"https_proxy": "me:a%40b@proxy:3128"}) == Proxy(
        "http://proxy:3128", "https_proxy", ("me", "a@b")
    )


@pytest.mark.parametrize(
    ("listed", "excluded"),
    [
        ("api.example", True),
        ("example", True),
        (".example", True),
        ("*.example", True),
        ("*", True),
        ("other, api.example", True),
        ("api.example:443", True),
        ("api.example:80", False),
        ("i.example", False),
        ("", False),
    ],
)
def test_no_proxy_names_hosts_and_domains(listed: str, excluded: bool) -> None:
    assert (find({"ALL_PROXY": "http://p:1", "NO_PROXY": listed}) is None) is excluded


@pytest.mark.parametrize(
    ("listed", "host", "excluded"),
    [
        ("10.0.0.0/8", "10.1.2.3", True),
        ("localhost,127.0.0.1,10.10.10.0/24", "10.10.10.7", True),
        ("10.10.10.9/24", "10.10.10.7", True),
        ("10.10.10.0/24", "10.10.11.7", False),
        ("10.0.0.0/8:443", "10.1.2.3", True),
        ("10.0.0.0/8:80", "10.1.2.3", False),
        ("10.0.0.0/8", "api.example", False),
        ("fd00::/8", "fd00::7", True),
        ("[fd00::]/8", "[fd00::7]", True),
        ("fd00:0:0::7", "fd00::7", True),
        ("fe80::/10", "fe80::1%eth0", True),
        ("2001:db8::/32", "fd00::7", False),
        ("192.168.*", "192.168.3.4", True),
        ("192.168.*", "192.169.3.4", False),
        ("api.*", "api.example", True),
        ("<local>", "gpu-box", True),
        ("<local>", "gpu.example", False),
        ("10.0.0.0/99", "10.0.0.1", False),
        ("no/range", "10.0.0.1", False),
    ],
)
def test_e43_no_proxy_names_ranges_and_patterns(listed: str, host: str, excluded: bool) -> None:
    assert (find({"ALL_PROXY": "http://p:1", "NO_PROXY": listed}, host) is None) is excluded


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.9.9.9", "::1", "[::1]"])
def test_loopback_needs_no_proxy(host: str) -> None:
    assert find({"ALL_PROXY": "http://p:1"}, host) is None


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("socks5://127.0.0.1:1", "SOCKS"),
        ("socks://127.0.0.1:1", "SOCKS"),
        ("https://p:1", "https://"),
        ("no scheme at all", "not a proxy's URL"),
        ("http://[p", "not a proxy's URL"),
        ("http://", "not a proxy's URL"),
    ],
)
def test_a_proxy_that_cannot_be_used_says_why_and_does_not_raise(value: str, said: str) -> None:
    proxy = find({"ALL_PROXY": value})

    assert proxy is not None
    assert said in str(proxy.trouble)
    assert "ALL_PROXY" in str(proxy.trouble)

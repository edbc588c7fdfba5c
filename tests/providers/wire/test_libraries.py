"""httpx and httpcore are loaded without what nobody asked for, and are whole for whoever does."""

from __future__ import annotations

import subprocess
import sys

ASKS = """
import asyncio, sys
from agentsh.providers.wire.libraries import httpcore, httpx
later = ("certifi", "idna", "anyio")
assert not [name for name in later if name in sys.modules]
assert httpx.URL("http://b\\u00fccher.example/").raw_host == b"xn--bcher-kva.example"
assert httpcore.default_ssl_context().get_ca_certs()
async def ask():
    async with httpx.AsyncClient(trust_env=False) as client:
        await client.get("http://127.0.0.1:9/")
try:
    asyncio.run(ask())
except httpx.ConnectError:
    pass
import certifi, idna
assert certifi.where() and idna.IDNAError
assert type(certifi) is type(idna) is type(sys)
"""


def test_what_is_loaded_later_is_there_for_other_code_of_the_process() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ASKS], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr

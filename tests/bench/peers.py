"""Other programs, where they are installed: PEERS_DIR holds one npm folder for each.

`node22` and `pi1-bench` (the package @earendil-works/pi-coding-agent) make a row "pi".
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.bench.measure import Program, environment
from tests.support.endpoint import Endpoint

PEERS = Path(os.environ.get("PEERS_DIR", Path.home() / ".cache" / "peers"))
_PI = PEERS / "pi1-bench" / "node_modules" / ".bin" / "pi"
_NODE = PEERS / "node22" / "node_modules" / ".bin"


def has_pi() -> bool:
    return _PI.exists() and _NODE.is_dir()


def pi(endpoint: Endpoint, home: Path, *words: str) -> Program:
    """pi in a home of its own, set up for that endpoint."""
    folder = home / ".pi" / "agent"
    folder.mkdir(parents=True, exist_ok=True)
    model = {"id": "m", "name": "m", "reasoning": False, "input": ["text"]}
    model |= {"contextWindow": 1_000_000_000, "maxTokens": 32_000}
    model |= {"cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}
    provider = {"baseUrl": endpoint.base_url, "api": "openai-completions", "apiKey": "x"}
    (folder / "models.json").write_text(
        json.dumps({"providers": {"bench": {**provider, "models": [model]}}})
    )
    settings = {"defaultProvider": "bench", "defaultModel": "m", "enableInstallTelemetry": False}
    (folder / "settings.json").write_text(json.dumps(settings))
    environ = environment(home, PI_OFFLINE="1", PI_SKIP_VERSION_CHECK="1", PI_TELEMETRY="0")
    environ["PATH"] = f"{_NODE}:{environ['PATH']}"
    return Program([str(_PI), *words], environ)

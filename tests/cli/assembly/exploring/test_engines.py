"""Where an exploration runs is settled before anything is made, and what goes there is known."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from agentsh.cli.assembly.exploring import engines
from agentsh.cli.assembly.exploring.engines import EngineWish, open_engine
from agentsh.cli.assembly.exploring.sending import sent_settings, toml_text
from agentsh.cli.parsing.modeloptions import TurnOptions
from agentsh.cli.setup.configuration import Configuration, configure
from agentsh.errors import UsageError
from agentsh.explore.log.facts import ExploreLimits

SETTINGS = """
[endpoint]
base_url = "https://a.example/v1"
model = "m"
api_key_command = "echo sk-from-a-command"
headers = { X-Token = "secret-header" }
[endpoints.work]
base_url = "https://b.example/v1"
api_key_env = "WORK_KEY"
proxy = "http://me:secret-proxy@p.example"
[models."a b"]
prices = { input = 1.5 }
[mcp.servers.s]
command = "x"
env = { TOKEN = "secret-env" }
[ui]
theme = "dark"
"""


def configuration(tmp_path: Path, text: str = SETTINGS, **environ: str) -> Configuration:
    home = tmp_path / "config"
    home.mkdir()
    (home / "config.toml").write_text(text)
    known: Mapping[str, str] = {**os.environ, "AGENTSH_HOME": str(home), **environ}
    return configure(TurnOptions(), known, tmp_path)


def test_what_may_hold_a_secret_stays_here_and_is_named(tmp_path: Path) -> None:
    sent = sent_settings(configuration(tmp_path), (), with_keys=False)

    assert "secret" not in sent.text
    assert sent.left_out == (
        "[endpoint] headers", "[endpoints.work] proxy", "[mcp.servers.s] env",
    )  # fmt: skip
    tables = tomllib.loads(sent.text)
    assert tables["endpoint"]["api_key_command"] == "echo sk-from-a-command"
    assert tables["models"]["a b"]["prices"] == {"input": 1.5}
    assert "ui" not in tables
    assert sent.keys == {}


def test_a_key_is_sent_by_wish_alone_and_of_what_is_asked(tmp_path: Path) -> None:
    known = configuration(tmp_path, WORK_KEY="sk-work", OPENAI_API_KEY="sk-usual")

    one = sent_settings(known, ("m",), with_keys=True)
    both = sent_settings(known, ("m", "work/m"), with_keys=True)

    assert sorted(one.keys.values()) == ["sk-from-a-command", "sk-usual"]
    assert sorted(both.keys.values()) == ["sk-from-a-command", "sk-usual", "sk-work"]
    tables = tomllib.loads(both.text)
    for name in ("endpoint", "endpoints"):
        table = tables[name].get("work", tables[name])
        assert "api_key_command" not in table
        assert both.keys[table["api_key_env"]].startswith("sk-")
    assert "sk-" not in both.text


@pytest.mark.parametrize(
    "value",
    [
        {"a": 'x"\\\n\x7f\u2028é', "b c": [1, 2.5, True, "y"], "t": {"u": {"v": -3}}},
        {"n": float("inf"), "empty": {}, "list": []},
    ],
)
def test_settings_are_written_as_they_are_read(value: dict[str, object]) -> None:
    assert tomllib.loads(toml_text(value)) == value


@pytest.mark.parametrize(
    ("text", "kept", "words"),
    [
        ('[endpoint]\nbase_url = "https://me:pw@a.example/v1"\n', False, "the password in this"),
        ("", True, "--keep"),
    ],
)
def test_what_cannot_be_is_said_before_ray_is_loaded(
    text: str, kept: bool, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "find_spec", lambda _name: object())
    known = configuration(tmp_path, text)

    with pytest.raises(UsageError, match=words):
        open_engine(known, EngineWish("ray"), ExploreLimits(is_kept=kept), ())


def test_without_the_package_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "find_spec", lambda _name: None)

    with pytest.raises(UsageError, match="ray") as e:
        open_engine(configuration(tmp_path, ""), EngineWish("ray"), ExploreLimits(), ())

    assert "agentsh[ray]" in str(e.value.hint)


def test_nothing_of_other_machines_is_loaded_unless_it_is_asked_for() -> None:
    said = (
        "import agentsh.cli.assembly.exploring.starting, agentsh.cli.commands.explore, sys;"
        "print([n for n in sys.modules if n.partition('.')[0] == 'ray' or '.away' in n])"
    )

    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"

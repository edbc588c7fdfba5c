"""Settings → what the client is given."""

from __future__ import annotations

from pathlib import Path

from agentsh.cli.setup.configuration import Configuration
from agentsh.cli.setup.endpoint import endpoint_settings
from agentsh.cli.setup.paths import Paths
from agentsh.providers.http import HttpProvider
from agentsh.settinglayers import load
from agentsh.settingstext import read_settings

URL = "http://127.0.0.1:9/v1"


def configured(tmp_path: Path, text: str, **environ: str) -> Configuration:
    places = Paths(tmp_path, tmp_path, tmp_path, tmp_path / "sessions")
    return Configuration(places, load([read_settings(text, "config.toml")], environ), environ, ())


def test_every_setting_of_an_endpoint_reaches_its_client(tmp_path: Path) -> None:
    configuration = configured(
        tmp_path,
        "[endpoint]\nidle_timeout = 7\nevent_timeout = 8\napi = 'responses'\n"
        "overflow_pattern = 'zu lang'\nproxy = 'http://p:3128'\n"
        "[models.m]\nreasoning_echo = 'never'\nimages = false\n",
        https_proxy="http://other:1",
    )

    given = endpoint_settings(configuration, URL, print)

    assert (given.limits.idle, given.limits.events) == (7, 8)
    assert given.api == "openai-responses"
    assert given.overflow is not None
    assert given.overflow.search("Eingabe zu lang")
    assert given.environ["https_proxy"] == given.environ["http_proxy"] == "http://p:3128"
    shape = HttpProvider(given).shape("m")
    assert (shape.reasoning_echo, shape.accepts_images) == ("never", False)


def test_one_models_shape_is_not_another_ones(tmp_path: Path) -> None:
    configuration = configured(tmp_path, "[models.m]\nreasoning_echo = 'always'\n")

    provider = HttpProvider(endpoint_settings(configuration, URL, print))

    assert provider.shape("m").reasoning_echo == "always"
    assert provider.shape("n").reasoning_echo == "auto"


def test_a_near_server_has_ten_minutes_for_its_first_word_unless_told_otherwise(
    tmp_path: Path,
) -> None:
    plain, told = configured(tmp_path, ""), configured(tmp_path, "[endpoint]\nidle_timeout = 90\n")

    assert endpoint_settings(plain, URL, print).limits.idle == 600
    assert endpoint_settings(plain, "https://api.openai.com/v1", print).limits.idle == 90
    assert endpoint_settings(told, URL, print).limits.idle == 90

"""Settings: which value wins, and where it is said to come from."""

from __future__ import annotations

import pytest

from agentsh.errors import SettingsError
from agentsh.settinglayers import load
from agentsh.settings import (
    POLICIES,
    SETTING_NAMES,
    EndpointSettings,
    McpSettings,
    ModelSettings,
    ServerSettings,
    Settings,
)
from agentsh.settingstext import read_settings


def test_nothing_configured_is_the_defaults() -> None:
    assert load([], {}) == Settings()


def test_a_later_layer_wins_key_by_key() -> None:
    user = read_settings('[approve]\npolicy = "ask"\nallow = ["ls"]\n', "user")
    project = read_settings('\n[approve]\npolicy = "all"\n', "project")

    settings = load([user, project], {})

    assert (settings.approve.policy, settings.approve.allow) == ("all", ("ls",))
    assert settings.sources == {"approve.policy": "project:3", "approve.allow": "user:3"}


def test_the_environment_wins_over_files_and_options_over_both() -> None:
    file = read_settings('[endpoint]\nbase_url = "http://file/v1"\nmodel = "of-file"\n', "c")
    environ = {"OPENAI_BASE_URL": "http://env/v1", "AGENTSH_MODEL": "of-env"}

    from_env = load([file], environ)
    from_option = load([file], environ, {"endpoint.model": "of-option", "endpoint.base_url": None})

    assert (from_env.endpoint.base_url, from_env.endpoint.model) == ("http://env/v1", "of-env")
    assert from_option.endpoint.model == "of-option"
    assert from_option.sources == {
        "endpoint.base_url": "OPENAI_BASE_URL",
        "endpoint.model": "option",
    }


def test_an_empty_variable_says_nothing() -> None:
    assert load([], {"OPENAI_BASE_URL": "", "AGENTSH_MODEL": ""}) == Settings()


def test_credentials_of_the_settings_do_not_go_to_another_url() -> None:
    file = read_settings(
        '[endpoint]\nbase_url = "https://mine/v1"\napi_key_env = "MINE"\nmodel = "m"\n'
        'headers = { "X-Key" = "secret" }\n',
        "c",
    )

    elsewhere = load([file], {"OPENAI_BASE_URL": "http://other/v1"})
    same = load([file], {"OPENAI_BASE_URL": "https://mine/v1"})

    assert elsewhere.endpoint == EndpointSettings(base_url="http://other/v1", model="m")
    assert same.endpoint.api_key_env == "MINE"


def test_a_key_variable_without_a_url_goes_with_the_url_of_the_environment() -> None:
    file = read_settings('[endpoint]\napi_key_env = "HERON_KEY"\n', "c")

    assert load([file], {"OPENAI_BASE_URL": "http://x/v1"}).endpoint.api_key_env == "HERON_KEY"


TWO = """
[endpoint]
use = "one"
[endpoints.one]
base_url = "http://one/v1"
model = "small"
[endpoints.two]
base_url = "http://two/v1"
api_key_env = "TWO"
"""


def test_use_names_the_endpoint_in_force() -> None:
    settings = load([read_settings(TWO, "c")], {})

    assert settings.endpoint == EndpointSettings("one", "http://one/v1", "small")
    assert settings.sources["endpoint.base_url"] == "c:5"
    assert sorted(settings.endpoints) == ["one", "two"]


def test_a_model_word_with_an_endpoints_name_chooses_it_and_its_url() -> None:
    settings = load(
        [read_settings(TWO, "c")],
        {"OPENAI_BASE_URL": "http://env/v1"},
        {"endpoint.model": "two/a/b"},
    )

    assert settings.endpoint == EndpointSettings("two", "http://two/v1", "a/b", api_key_env="TWO")


def test_a_model_word_whose_first_part_names_no_endpoint_is_a_model() -> None:
    settings = load([read_settings(TWO, "c")], {}, {"endpoint.model": "vendor/model"})

    assert (settings.endpoint.name, settings.endpoint.model) == ("one", "vendor/model")


def test_use_of_an_unknown_endpoint_is_a_warning() -> None:
    settings = load([read_settings('[endpoint]\nuse = "gone"\n', "c")], {})

    assert settings.endpoint == EndpointSettings()
    assert settings.warnings == ("[endpoint] use: there is no [endpoints.gone]",)


def test_models_are_read_by_id() -> None:
    file = read_settings('[models."a/b:c"]\ncontext_window = 8192\nprices = { input = 1 }\n', "c")

    assert load([file], {}).models == {
        "a/b:c": ModelSettings(context_window=8192, prices={"input": 1.0})
    }


def test_every_name_has_a_value() -> None:
    settings = Settings()

    assert {name: settings.value(name) for name in SETTING_NAMES}["tools.timeout"] == 300.0


def test_each_policy_may_be_set() -> None:
    read_back = [load([read_settings(f'[approve]\npolicy = "{p}"\n', "c")], {}) for p in POLICIES]

    assert tuple(settings.approve.policy for settings in read_back) == POLICIES


def test_a_projects_server_replaces_the_users_of_that_name_whole() -> None:
    user = '[mcp]\ntimeout = 5\n[mcp.servers.birds]\ncommand = "mine"\nenv = { TOKEN = "${T}" }\n'
    project = '[mcp.servers.birds]\ncommand = "theirs"\n[mcp.servers.web]\nurl = "http://w/mcp"\n'

    settings = load([read_settings(user, "user"), read_settings(project, "project")], {})

    assert settings.mcp == McpSettings(timeout=5.0)
    assert settings.servers == {
        "birds": ServerSettings("birds", command="theirs"),
        "web": ServerSettings("web", url="http://w/mcp"),
    }
    assert settings.sources == {
        "mcp.timeout": "user:2",
        "mcp.servers.birds.command": "project:2",
        "mcp.servers.web.url": "project:4",
    }


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ('[mcp.servers.x]\ncommand = "a"\nurl = "http://x"\n', "c:3: mcp.servers.x.url must not"),
        ("[mcp.servers.x]\n", "c:1: mcp.servers.x must have a command"),
        ('[mcp.servers.x]\nargs = ["b"]\n', "c:2: mcp.servers.x must have a command"),
        ('[mcp.servers.x]\nurl = "ftp://x/y"\n', "c:2: mcp.servers.x.url must begin with"),
        ('[mcp.servers."a b"]\ncommand = "x"\n', "c:2: mcp.servers.a b: a server's name"),
        ('[mcp.servers."a/b"]\ncommand = "x"\n', "c:2: mcp.servers.a/b: a server's name"),
    ],
)
def test_a_server_is_a_program_or_an_address(table: str, words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load([read_settings(table, "c")], {})
    assert str(caught.value).startswith(words)

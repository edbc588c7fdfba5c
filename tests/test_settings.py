"""Settings: which value wins, and where it is said to come from."""

from __future__ import annotations

from agentsh.settings import NAMES, EndpointSettings, ModelSettings, Settings, load
from agentsh.settingstext import read


def test_nothing_configured_is_the_defaults() -> None:
    assert load([], {}) == Settings()


def test_a_later_layer_wins_key_by_key() -> None:
    user = read('[approve]\npolicy = "ask"\nallow = ["ls"]\n', "user")
    project = read('\n[approve]\npolicy = "all"\n', "project")

    settings = load([user, project], {})

    assert (settings.policy, settings.allow) == ("all", ("ls",))
    assert settings.sources == {"approve.policy": "project:3", "approve.allow": "user:3"}


def test_the_environment_wins_over_files_and_options_over_both() -> None:
    file = read('[endpoint]\nbase_url = "http://file/v1"\nmodel = "of-file"\n', "c")
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
    file = read(
        '[endpoint]\nbase_url = "https://mine/v1"\napi_key_env = "MINE"\nmodel = "m"\n'
        'headers = { "X-Key" = "secret" }\n',
        "c",
    )

    elsewhere = load([file], {"OPENAI_BASE_URL": "http://other/v1"})
    same = load([file], {"OPENAI_BASE_URL": "https://mine/v1"})

    assert elsewhere.endpoint == EndpointSettings(base_url="http://other/v1", model="m")
    assert same.endpoint.api_key_env == "MINE"


def test_a_key_variable_without_a_url_goes_with_the_url_of_the_environment() -> None:
    file = read('[endpoint]\napi_key_env = "HERON_KEY"\n', "c")

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
    settings = load([read(TWO, "c")], {})

    assert settings.endpoint == EndpointSettings("one", "http://one/v1", "small")
    assert settings.sources["endpoint.base_url"] == "c:5"
    assert sorted(settings.endpoints) == ["one", "two"]


def test_a_model_word_with_an_endpoints_name_chooses_it_and_its_url() -> None:
    settings = load(
        [read(TWO, "c")], {"OPENAI_BASE_URL": "http://env/v1"}, {"endpoint.model": "two/a/b"}
    )

    assert settings.endpoint == EndpointSettings("two", "http://two/v1", "a/b", api_key_env="TWO")


def test_a_model_word_whose_first_part_names_no_endpoint_is_a_model() -> None:
    settings = load([read(TWO, "c")], {}, {"endpoint.model": "vendor/model"})

    assert (settings.endpoint.name, settings.endpoint.model) == ("one", "vendor/model")


def test_use_of_an_unknown_endpoint_is_a_warning() -> None:
    settings = load([read('[endpoint]\nuse = "gone"\n', "c")], {})

    assert settings.endpoint == EndpointSettings()
    assert settings.warnings == ("[endpoint] use: there is no [endpoints.gone]",)


def test_models_are_read_by_id() -> None:
    file = read('[models."a/b:c"]\ncontext_window = 8192\nprices = { input = 1 }\n', "c")

    assert load([file], {}).models == {
        "a/b:c": ModelSettings(context_window=8192, prices={"input": 1.0})
    }


def test_every_name_has_a_value() -> None:
    settings = Settings()

    assert {name: settings.value(name) for name in NAMES}["tools.timeout"] == 300.0

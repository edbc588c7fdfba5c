"""Every setting is explained, and the page about them is the code's."""

from __future__ import annotations

import pytest

from agentsh.cli.setup.explaining import Explained, every_setting, explain
from agentsh.errors import UsageError
from agentsh.settings import SETTING_NAMES
from agentsh.settingstext import read_settings
from tests.cli.program import agentsh
from tests.support.settingsdoc import PAGE, settings_page


def test_every_setting_has_words_and_an_example() -> None:
    found = {each.name: each for each in every_setting()}

    assert set(SETTING_NAMES) <= set(found)
    assert [name for name, each in found.items() if not each.what] == []


@pytest.mark.parametrize("each", every_setting(), ids=lambda each: each.name)
def test_each_example_is_read_without_a_word(each: Explained) -> None:
    layer = read_settings(each.example, "config.toml")

    assert layer.warnings == ()
    assert len(layer.sources) == 1


def test_the_page_is_what_the_code_says() -> None:
    assert PAGE.read_text("utf-8") == settings_page(), "python -m tests.support.settingsdoc"


def test_a_name_that_is_none_is_told_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        explain("ui.them")
    assert caught.value.hint == "is it ui.theme?"


def test_one_setting_is_explained_with_its_value_and_no_secret() -> None:
    told = agentsh("config", "--explain", "endpoint.base_url", "--base-url", "http://a:b@x/v1?k=1")
    value = agentsh("config", "--explain", "undo.enabled", "--json").json()

    assert told.code == 0
    assert "endpoint.base_url: the address of the endpoint" in told.out
    assert 'now      "http://x/v1"  (option)' in told.out
    assert isinstance(value, dict)
    assert (value["default"], value["value"], value["source"]) == ("true", True, "default")
    assert agentsh("config", "--explain", "nosuch").code == 2

"""The endpoint's key: what of the environment children do not get."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentsh.cli.assembly.wiring import children_environ
from agentsh.cli.setup.keys import another_key, bare_key, find_key, known_keys, without_keys
from agentsh.settings import EndpointSettings, Settings

KEY = "sk-0123456789abcdef"


def test_a_key_is_taken_out_whatever_the_variables_are_called_that_hold_it() -> None:
    environ = {"OPENAI_API_KEY": KEY, "MY_COPY": KEY, "HOME": "/home/x"}

    assert without_keys(environ) == {"HOME": "/home/x"}
    assert without_keys(environ, {"MY_COPY"}) == {"HOME": "/home/x"}


def test_a_value_too_short_to_be_a_key_stays_in_other_variables() -> None:
    environ = {"OPENAI_API_KEY": "1", "SHLVL": "1"}

    assert without_keys(environ) == {"SHLVL": "1"}


@pytest.mark.parametrize(
    "value",
    [
        KEY,
        f" {KEY}\n",
        f"Bearer {KEY}",
        f"bearer  {KEY}",
        f"Authorization: Bearer {KEY}",
        f"'{KEY}'",
        f'"Bearer {KEY}"',
    ],
)
def test_a_key_is_taken_out_of_what_it_stands_in_with_a_notice_that_does_not_show_it(
    value: str,
) -> None:
    told: list[str] = []
    usual = EndpointSettings()

    assert find_key(usual, {"OPENAI_API_KEY": value}, told.append) == KEY
    assert bool(told) == (value.strip() != KEY)
    assert KEY not in "".join(told)
    assert known_keys(usual, {"OPENAI_API_KEY": value}) == {KEY}
    assert without_keys({"OPENAI_API_KEY": value, "COPY": KEY}) == {}


@pytest.mark.parametrize(
    "value", ["Bearer", "bearer-of-news", "x Bearer y", "'half", "authorization"]
)
def test_a_key_that_only_looks_like_that_stays(value: str) -> None:
    assert bare_key(value) == value


def test_nothing_but_what_stands_around_a_key_is_no_key() -> None:
    assert find_key(EndpointSettings(), {"OPENAI_API_KEY": "''"}) is None


def test_another_key_is_only_to_be_had_from_a_command_that_works(tmp_path: Path) -> None:
    token = tmp_path / "token"
    command = EndpointSettings(api_key_command=f"cat {token}")
    environ = {"PATH": os.environ["PATH"], "OPENAI_API_KEY": KEY}

    assert another_key(command, environ) is None
    token.write_text("tok-1\n")
    assert another_key(command, environ) == "tok-1"
    assert another_key(EndpointSettings(), environ) is None


@pytest.mark.parametrize(
    ("endpoint", "environ"),
    [
        (EndpointSettings(), {"OPENAI_BASE_URL": f"http://{KEY}@h/v1"}),
        (EndpointSettings(), {"OPENAI_BASE_URL": f"http://me:{KEY}@h/v1", "COPY": KEY}),
        (EndpointSettings(), {"OPENAI_BASE_URL": f"https://h/v1?api-version=1&key={KEY}"}),
        (EndpointSettings(base_url=f"http://me:{KEY}@h/v1"), {"COPY": KEY}),
        (EndpointSettings(base_url=f"http://h/v1?access_token={KEY}"), {"COPY": KEY}),
        (EndpointSettings(headers={"Authorization": f"Bearer {KEY}"}), {"COPY": KEY}),
        (EndpointSettings(headers={"x-api-key": KEY}), {"COPY": f"key:{KEY}"}),
        (EndpointSettings(api_key_command="printf %s $COPY"), {"COPY": KEY}),
    ],
)
def test_l17_a_key_is_one_wherever_it_is_configured(
    endpoint: EndpointSettings, environ: dict[str, str]
) -> None:
    """No child gets it, no page has it: in an address, a header, or what a command makes it of."""
    settings = Settings(endpoint=endpoint)
    around = {"PATH": os.environ["PATH"], "OTHER": "api-version=1"}

    assert children_environ({**around, **environ}, settings) == around
    assert KEY in known_keys(endpoint, environ)


def test_l17_a_key_is_known_as_its_url_spells_it_too() -> None:
    environ = {"OPENAI_BASE_URL": "http://me:sk%3Ase%2Bcret-0123@h/v1"}

    assert children_environ(environ, Settings()) == {}
    assert known_keys(EndpointSettings(), environ) == {"sk:se+cret-0123", "sk%3Ase%2Bcret-0123"}

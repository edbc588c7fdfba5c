"""The endpoint's key: what of the environment children do not get."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentsh.cli.assembly.wiring import children_environ
from agentsh.cli.setup.keys import (
    another_key,
    bare_key,
    find_key,
    key_given_as,
    key_hint,
    known_keys,
    without_keys,
)
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


@pytest.mark.parametrize(
    ("endpoint", "environ", "words"),
    [
        (EndpointSettings(), {"OPENAI_API_KEY": KEY}, "comes from OPENAI_API_KEY."),
        (EndpointSettings(), {}, "No key was sent: OPENAI_API_KEY is read, and is not set"),
        (
            EndpointSettings(name="far", api_key_env="FAR_KEY"),
            {"FAR_KEY": KEY},
            "comes from FAR_KEY (api_key_env of [endpoints.far]).",
        ),
        (
            EndpointSettings(api_key_env="FAR_KEY"),
            {"OPENAI_API_KEY": KEY},
            "OPENAI_API_KEY, since FAR_KEY (api_key_env of [endpoint]) is not set.",
        ),
        (
            EndpointSettings(api_key_env="FAR_KEY"),
            {},
            "FAR_KEY (api_key_env of [endpoint]) is read, then OPENAI_API_KEY, and neither is set.",
        ),
        (EndpointSettings(api_key_command="pass x"), {}, "what api_key_command of [endpoint]"),
        (EndpointSettings(headers={"Api-Key": KEY}), {}, "stands in the headers of [endpoint]"),
        (EndpointSettings(api_key_env=KEY), {}, "what is no name of a variable (api_key_env of"),
    ],
)
def test_where_a_refused_key_came_from_is_said_and_never_the_key(
    endpoint: EndpointSettings, environ: dict[str, str], words: str
) -> None:
    assert words in key_hint(endpoint, environ)
    assert KEY not in key_hint(endpoint, environ)


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("HERON_KEY", "variable"),
        ("$HERON_API_KEY_2", "variable"),
        ("heron_key", "variable"),
        ("cat", "command"),
        ("pass show api", "command"),
        ("~/bin/its-key", "command"),
        ("gsk_A1b2C3d4E5f6G7h8", "key"),
        ("AKIAIOSFODNN7EXAMPLE", "key"),
        ("a1B2/c3D4+e5F6==", "key"),
        ("/a1B2c3D4e5F6g7H8i9J0", "key"),
        ("OPENAI_API_KEY=sk-1", "key"),
        ("Bearer abc", "key"),
        ("echo sk-A1b2C3d4E5f6G7h8", "key"),
    ],
)
def test_what_is_given_for_a_key_is_a_variable_a_command_or_perhaps_the_key(
    said: str, kind: str
) -> None:
    assert key_given_as(said, {"PATH": os.environ["PATH"]}) == kind

"""Settings in columns."""

from __future__ import annotations

from agentsh.ui.text.settingslist import settings_columns, settings_lines, short_source

ROWS = [
    ("ui.bell", "true", "default"),
    ("endpoints.far-away-place.base_url", '"http://far:1/v1"', "config.toml:2"),
    ("ui.theme", "dark\x07", "--theme"),
]


def test_names_values_and_sources_begin_in_the_same_cells() -> None:
    columns = settings_columns(ROWS)

    assert {len(source) for _, source in columns} == {len("config.toml:2")}
    assert [text[33:35] for text, _ in columns] == ["  "] * 3
    assert [text[35:] for text, _ in columns] == ["true", '"http://far:1/v1"', "dark␇"]


def test_a_name_that_is_very_long_moves_its_own_value_only() -> None:
    columns = settings_columns([("a" * 60, "x", "y"), ("b", "x", "y")])

    assert [text.index("x") for text, _ in columns] == [62, 42]


def test_a_source_is_told_by_the_end_of_its_path() -> None:
    assert short_source("/home/u/.config/agentsh/config.toml:2") == "…/agentsh/config.toml:2"
    assert short_source("/etc/agentsh/config.toml:2") == "/etc/agentsh/config.toml:2"
    assert short_source("default") == "default"


def test_lines_are_those_that_hold_every_word() -> None:
    assert settings_lines(ROWS, "far CONFIG") == [
        'endpoints.far-away-place.base_url  "http://far:1/v1"  config.toml:2'
    ]
    assert settings_lines(ROWS, "nothing such") == []

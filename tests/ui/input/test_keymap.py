"""Keys by name: defaults, what the settings change, and what cannot be bound."""

from __future__ import annotations

import pytest
from prompt_toolkit.key_binding import KeyBindings

from agentsh.ui.input.keymap import ACTIONS, make_keymap, parse_key


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("ctrl-o", ("c-o",)),
        ("Alt-Enter", ("escape", "enter")),
        ("shift-tab", ("s-tab",)),
        ("shift-enter", ("c-j",)),
        ("ctrl-alt-x", ("escape", "c-x")),
        ("alt-up", ("escape", "up")),
        ("ctrl-shift-left", ("c-s-left",)),
        ("f2", ("f2",)),
        ("alt--", ("escape", "-")),
        ("x", None),
        ("ctrl-ü", None),
        ("meta-x", None),
        ("", None),
        ("ctrl-ctrl-x", None),
    ],
)
def test_a_key_as_a_person_writes_it(text: str, keys: tuple[str, ...] | None) -> None:
    assert parse_key(text) == keys


def test_every_default_is_a_key_that_can_be_bound() -> None:
    keymap = make_keymap()

    for action in ACTIONS:
        assert len(keymap.sequences(action.name)) == len(action.keys)
        for sequence in keymap.sequences(action.name):
            KeyBindings().add(*sequence)(lambda _event: None)


def test_a_key_that_is_given_to_one_action_is_taken_from_the_other() -> None:
    keymap = make_keymap({"unfold": "ctrl-r f2", "thoughts": ""})

    assert keymap.bindings["unfold"] == ("ctrl-r", "f2")
    assert keymap.bindings["search"] == ()
    assert keymap.bindings["thoughts"] == ()
    assert keymap.warnings == ()


def test_what_cannot_be_read_is_a_warning_and_the_default_stays() -> None:
    keymap = make_keymap({"unfold": "hyper-q", "fly": "f3", "search": "f4", "editor": "f4 f5"})

    assert keymap.bindings["unfold"] == ("ctrl-o",)
    assert keymap.bindings["search"] == ("f4",)
    assert keymap.bindings["editor"] == ("f5",)
    assert len(keymap.warnings) == 3
    assert "no such action; they are: send, queue" in keymap.warnings[1]

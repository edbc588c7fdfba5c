"""What stands there before anything is asked: the first page, the card of keys, who answers."""

from __future__ import annotations

import pytest

from agentsh.ui.input.commands import EMBEDDED_CARD, FIRST_PAGE, card_text, greeting
from agentsh.ui.input.keymap import make_keymap


def test_the_first_page_is_ten_lines_that_fit() -> None:
    lines = FIRST_PAGE.split("\n")

    assert len(lines) == 10
    assert max(map(len, lines)) < 80


def test_the_first_page_names_no_file_that_an_installed_program_lacks() -> None:
    assert "docs/" not in FIRST_PAGE
    assert "agentsh help keys" in FIRST_PAGE


def test_the_card_is_at_most_twelve_lines_with_the_keys_in_force() -> None:
    lines = card_text(make_keymap({"unfold": "f2", "level": ""})).split("\n")

    assert len(lines) <= 12
    assert max(map(len, lines)) < 80
    text = "\n".join(lines)
    assert "f2" in text
    assert "(no key)" in text
    assert "Ctrl-O" not in text


def test_the_card_of_the_embedded_model_says_what_it_is_and_three_ways_on() -> None:
    lines = EMBEDDED_CARD.split("\n")

    assert len(lines) <= 6
    assert max(map(len, lines)) < 100
    assert sum(line.startswith("  ") for line in lines) == 3


@pytest.mark.parametrize("width", [49, 79, 200])
def test_cards_go_on_below_their_own_text_in_a_narrow_window(width: int) -> None:
    page = greeting(FIRST_PAGE, width).split("\n")
    keys = card_text(make_keymap({}), width).split("\n")

    assert max(map(len, page + keys)) <= width
    assert " ".join(" ".join(page).split()) == " ".join(FIRST_PAGE.split())
    assert all(line.startswith("  ") for line in page[2 if width == 49 else 1 :] if line)
    begun = [line for line in keys if line[2] != " "]
    assert len(begun) == 11
    assert {line.index(line.strip()) for line in keys if line not in begun} <= {13}


def test_commands_of_a_greeting_are_not_broken() -> None:
    assert greeting(EMBEDDED_CARD, 60).split("\n")[-1] == EMBEDDED_CARD.split("\n")[-1]

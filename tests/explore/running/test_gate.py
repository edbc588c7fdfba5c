"""What a request is expected to take, before anybody is asked for a permit."""

from __future__ import annotations

from agentsh.context.tokens import IMAGE_TOKENS, estimate_text
from agentsh.explore.running.gate import estimate_body


def test_a_picture_weighs_what_pictures_do_and_not_what_its_letters_are() -> None:
    words = '{"text": "sehr schöne Vögel", "url": ""}'
    picture = "data:image/png;base64," + "A" * 1_000_000
    body = words.replace('""', f'"{picture}"').encode()

    assert estimate_body(body) == estimate_text(words) + IMAGE_TOKENS


def test_what_is_estimated_is_what_is_estimated_everywhere() -> None:
    assert estimate_body("ключ".encode()) == estimate_text("ключ")

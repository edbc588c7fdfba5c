"""`-a FILE`: what goes along with a prompt, and what is said of what cannot."""

from __future__ import annotations

from pathlib import Path
from unicodedata import normalize

import pytest

from agentsh.agent.prompts.quoting import MOST_TEXT
from agentsh.cli.setup.attachments import attached
from agentsh.errors import UsageError
from tests.support.pictures import png


@pytest.mark.parametrize(
    ("data", "most"), [(png(4, 4) + b"x" * 6_000_000, 3_932_160), (b"x" * 6_000_000, MOST_TEXT)]
)
def test_of_what_is_too_large_the_true_size_and_the_bound_are_told(
    tmp_path: Path, data: bytes, most: int
) -> None:
    (tmp_path / "f").write_bytes(data)

    with pytest.raises(UsageError, match=f"has {len(data)} bytes, at most {most} can be"):
        attached("", ["f"], tmp_path)


def test_a_text_is_quoted_and_a_picture_goes_beside_it(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("words")
    (tmp_path / "p").write_bytes(png(3, 2))

    text, [picture] = attached("see", ["t", "p"], tmp_path)

    assert text == 'see\n\n<file path="t">\nwords\n</file>'
    assert picture.mime_type == "image/png"


def test_t20_a_name_may_be_composed_in_another_way_than_on_the_disk(tmp_path: Path) -> None:
    folder = tmp_path / normalize("NFD", "Übung")
    folder.mkdir()
    (folder / normalize("NFD", "größe.md")).write_text("words")
    name = normalize("NFC", "Übung/größe.md")

    text, _ = attached("", [name], tmp_path)

    assert text == f'<file path="{name}">\nwords\n</file>'


def test_u17_a_mark_says_how_an_attached_text_is_spelled(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes("Größe\r\n".encode("utf-16"))

    assert attached("", ["t"], tmp_path)[0] == '<file path="t">\nGröße\r\n\n</file>'

"""Images for the next prompt: what a pasted path means, and what is taken from a clipboard."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsh.errors import UsageError
from agentsh.ui.attachments import attachment, from_clipboard, from_path, image_path
from tests.support.pictures import png


@pytest.mark.parametrize(
    "pasted",
    ["a heron.png", "'a heron.png'", '"a heron.png"', "a\\ heron.png", "  a heron.png\n", "URL"],
)
def test_a_path_as_terminals_drop_it(pasted: str, tmp_path: Path) -> None:
    (tmp_path / "a heron.png").write_bytes(png(3, 2))
    if pasted == "URL":
        pasted = f"file://{tmp_path}/a%20heron.png"

    assert image_path(pasted, tmp_path) == tmp_path / "a heron.png"


@pytest.mark.parametrize("pasted", ["see heron.png", "heron.png\nand more", "", "x\0.png", "~"])
def test_other_text_is_text(pasted: str, tmp_path: Path) -> None:
    (tmp_path / "heron.png").write_bytes(png(3, 2))

    assert image_path(pasted, tmp_path) is None


def test_an_image_says_what_it_is_in_a_safe_line(tmp_path: Path) -> None:
    path = tmp_path / "heron\x1b[2J.png"
    path.write_bytes(png(3, 2))
    found = from_path(path)

    assert found.image.mime_type == "image/png"
    assert found.words.startswith("heron.png, png ")


def test_what_is_no_image_is_refused_with_a_way_on(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        attachment(b"words", "x.png")
    assert refused.value.hint == "png, jpeg, gif or webp"
    with pytest.raises(UsageError):
        from_path(tmp_path / "missing.png")


def test_the_clipboard_is_asked_through_the_tool_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "heron.png").write_bytes(png(3, 2))
    tool = tmp_path / "xclip"
    tool.write_text(f"#!/bin/sh\n/bin/cat {tmp_path}/heron.png\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert from_clipboard().words.startswith("from the clipboard, png")
    tool.write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(UsageError, match="no image"):
        from_clipboard()
    tool.unlink()
    with pytest.raises(UsageError, match="no tool"):
        from_clipboard()

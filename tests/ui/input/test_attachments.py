"""Images for the next prompt: what a pasted path means, and what is taken from a clipboard."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsh.errors import UsageError
from agentsh.ui.input.attachments import (
    Dropped,
    attachment,
    dropped_pictures,
    from_clipboard,
    from_path,
)
from tests.support.pictures import png


@pytest.mark.parametrize(
    "pasted",
    ["a heron.png", "'a heron.png'", '"a heron.png"', "a\\ heron.png", "  a heron.png\n", "URL"],
)
def test_a_path_as_terminals_drop_it(pasted: str, tmp_path: Path) -> None:
    (tmp_path / "a heron.png").write_bytes(png(3, 2))
    if pasted == "URL":
        pasted = f"file://{tmp_path}/a%20heron.png"

    assert dropped_pictures(pasted, tmp_path) == Dropped((tmp_path / "a heron.png",))


@pytest.mark.parametrize(
    "pasted",
    ["see heron.png", "heron.png\nand more", "", "x\0.png", "~", "gone.png", "heron.png it's"],
)
def test_other_text_is_text(pasted: str, tmp_path: Path) -> None:
    (tmp_path / "heron.png").write_bytes(png(3, 2))

    assert dropped_pictures(pasted, tmp_path) is None


@pytest.mark.parametrize(
    ("pasted", "there", "missing"),
    [
        ("a.png 'b c.png'", ["a.png", "b c.png"], []),
        ("a.png b\\ c.png\n", ["a.png", "b c.png"], []),
        ("a.png\nb c.png\n", ["a.png", "b c.png"], []),
        ("'a.png'\r\n\"b c.png\"", ["a.png", "b c.png"], []),
        ("shot\\ at\\ 1.55\\u{202f}PM.png", ["shot at 1.55\u202fPM.png"], []),
        ("'shot at 1.55\\u{202f}PM.png' a.png", ["shot at 1.55\u202fPM.png", "a.png"], []),
        ("cafe\u0301.png", ["caf\u00e9.png"], []),
        ("'shot at 1.55 PM.png'", ["shot at 1.55\u202fPM.png"], []),
        ("a.png gone.png", ["a.png"], ["gone.png"]),
        ("a.png\nnot here.png", ["a.png"], ["not here.png"]),
    ],
)
def test_pictures_that_are_dropped_together_are_all_known(
    pasted: str, there: list[str], missing: list[str], tmp_path: Path
) -> None:
    for name in ("a.png", "b c.png", "shot at 1.55\u202fPM.png", "caf\u00e9.png"):
        (tmp_path / name).write_bytes(png(3, 2))
    wanted = Dropped(tuple(tmp_path / name for name in there), tuple(missing))

    assert dropped_pictures(pasted, tmp_path) == wanted


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


def test_of_a_picture_that_is_too_large_the_true_size_and_the_bound_are_told(
    tmp_path: Path,
) -> None:
    data = png(4, 4) + b"x" * 6_000_000
    (tmp_path / "a.png").write_bytes(data)

    words = f"it has {len(data)} bytes, at most 3932160 can be sent"
    with pytest.raises(UsageError, match=words):
        from_path(tmp_path / "a.png")
    with pytest.raises(UsageError, match=words):
        attachment(data, "a.png")


def test_the_clipboard_is_asked_through_the_tool_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "heron.png").write_bytes(png(3, 2))
    tool = tmp_path / "xclip"
    tool.write_text(f"#!/bin/sh\n/bin/cat {tmp_path}/heron.png\n")
    tool.chmod(0o755)
    environ = {"PATH": str(tmp_path)}

    assert from_clipboard(environ, tmp_path / "project").words.startswith("from the clipboard, png")
    tool.write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(UsageError, match="no image"):
        from_clipboard(environ, tmp_path / "project")
    tool.unlink()
    with pytest.raises(UsageError, match="no tool"):
        from_clipboard(environ, tmp_path / "project")

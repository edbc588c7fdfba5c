"""The blocks of a prompt → what is said."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from acp import schema

from agentsh.remote.acp.prompts import PromptBlock, prompted, uri_words
from agentsh.remote.acp.responders import WrongParamsError
from tests.support.pictures import png

FOLDER = "/home/me/birds"


def text(words: str) -> schema.TextContentBlock:
    return schema.TextContentBlock(type="text", text=words)


def link(uri: str) -> schema.ResourceContentBlock:
    return schema.ResourceContentBlock(type="resource_link", name="x", uri=uri)


def embedded(uri: str, **contents: str) -> schema.EmbeddedResourceContentBlock:
    resource: Any = {"uri": uri, **contents}
    return schema.EmbeddedResourceContentBlock.model_validate(
        {"type": "resource", "resource": resource}
    )


def test_a_link_stands_in_the_words_where_it_was_named() -> None:
    blocks: list[PromptBlock] = [
        text("Look at "),
        link("file:///home/me/birds/a%20b.txt#L3:9"),
        text(", please."),
    ]

    assert prompted(blocks, FOLDER).text == "Look at a b.txt#L3:9, please."


def test_an_embedded_file_is_quoted_behind_the_words() -> None:
    blocks: list[PromptBlock] = [
        text("What is in "),
        embedded("file:///home/me/birds/n.txt", text="heron\n"),
        text("?"),
    ]

    said = prompted(blocks, FOLDER)

    assert said.text == 'What is in n.txt?\n\n<file path="n.txt">\nheron\n\n</file>'


def test_what_is_a_picture_by_its_bytes_is_one() -> None:
    data = base64.b64encode(png(3, 2)).decode()
    blocks: list[PromptBlock] = [
        schema.ImageContentBlock(type="image", data=data, mime_type="text/plain"),
        embedded("file:///elsewhere/p.png", blob=data),
    ]

    said = prompted(blocks, FOLDER)

    assert [image.mime_type for image in said.images] == ["image/png", "image/png"]


def test_bytes_that_are_no_picture_are_named_and_not_shown() -> None:
    said = prompted([text("x"), embedded("file:///f.bin", blob="AAEC")], FOLDER)

    assert said.text.endswith("[/f.bin is a binary file, 3 bytes: not shown.]")


def test_a_file_that_is_too_large_is_refused_by_name_and_size() -> None:
    with pytest.raises(WrongParamsError, match=r"big.txt has 300000 bytes"):
        prompted([embedded("file:///home/me/birds/big.txt", text="x" * 300_000)], FOLDER)


@pytest.mark.parametrize(
    ("uri", "words"),
    [
        ("file:///home/me/birds/src/a.py", "src/a.py"),
        ("file:///home/me/birds-old/a.py", "/home/me/birds-old/a.py"),
        ("/home/me/birds/a.py", "a.py"),
        ("https://birds.example/list?a=1#top", "https://birds.example/list?a=1#top"),
        ("zed:///agent/thread/1", "zed:///agent/thread/1"),
        ("file://[bad", "file://[bad"),
    ],
)
def test_a_file_is_named_by_its_path_and_anything_else_as_it_is(uri: str, words: str) -> None:
    assert uri_words(uri, FOLDER) == words


def test_a_file_alone_is_a_prompt() -> None:
    said = prompted([embedded("file:///home/me/birds/n.txt", text="heron\n")], FOLDER)

    assert said.text.startswith("n.txt\n\n<file")


def picture() -> schema.ImageContentBlock:
    data = base64.b64encode(png(3, 2)).decode()
    return schema.ImageContentBlock(type="image", data=data, mime_type="image/png")


@pytest.mark.parametrize(
    ("blocks", "words"),
    [
        ([link("file:///home/me/birds/a.py"), text("What is it?")], "a.py What is it?"),
        ([text("What is this?"), link("file:///home/me/birds/a.py")], "What is this? a.py"),
        ([text("("), link("file:///home/me/birds/a.py"), text(")")], "(a.py)"),
        ([link("file:///a.py"), link("file:///b c.py"), text("todo")], "/a.py\n/b c.py todo"),
        ([text("What is this?"), picture(), text("And that?")], "What is this?\nAnd that?"),
    ],
)
def test_words_and_names_that_stand_side_by_side_stay_apart(
    blocks: list[PromptBlock], words: str
) -> None:
    assert prompted(blocks, FOLDER).words == words


def test_what_an_editor_attaches_in_front_of_a_command_comes_behind_it() -> None:
    file = embedded("file:///home/me/birds/n.txt", text="heron\n")
    said = prompted([file, text("/skill:count"), text("herons")], FOLDER)

    assert said.words == "/skill:count\nherons n.txt"
    assert said.text.startswith("/skill:count\nherons n.txt\n\n<file")


def test_a_file_of_the_folder_is_named_from_it_whichever_link_leads_there(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "project")

    words = uri_words(f"file://{tmp_path}/link/a.py", str(tmp_path / "project"))

    assert words == "a.py"

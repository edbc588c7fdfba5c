"""The blocks of a prompt → the text and the pictures that are said.

Files that an editor names stand in the words where it named them, apart from the words beside them;
those whose text it gives are quoted behind the words, as `-a` does. What is a picture by its bytes
is one, whatever it is called. What it attaches in front of a command comes behind it. Of the disk
it asks only where links lead. Read next: editorsession.py.
"""

from __future__ import annotations

import base64
import binascii
from pathlib import Path
from typing import Final, Literal, TypeAlias
from urllib.parse import unquote, urlsplit

from acp import schema
from msgspec import Struct

from agentsh.agent.prompts.quoting import MOST_TEXT, quoted_file
from agentsh.errors import UsageError
from agentsh.files import real
from agentsh.images import sniff
from agentsh.messages import Image
from agentsh.remote.acp.responders import WrongParamsError
from agentsh.remote.values.givenpicture import given_picture
from agentsh.tools.files.truncate import bytes_words

PromptBlock: TypeAlias = (
    schema.TextContentBlock
    | schema.ImageContentBlock
    | schema.AudioContentBlock
    | schema.ResourceContentBlock
    | schema.EmbeddedResourceContentBlock
)


_Piece: TypeAlias = Literal["text", "name"]
_ENDS: Final = frozenset(".,;:!?)]}>")
"""What a word may end with that a name after it is no part of."""
_OPENS: Final = frozenset("([{<@")


class Prompted(Struct, frozen=True):
    """What is to be said. `words`: what was typed and named, without what is quoted."""

    text: str
    words: str
    images: tuple[Image, ...] = ()


class _Gathering:
    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.words: list[str] = []
        self.quoted: list[str] = []
        self.images: list[Image] = []
        self._last: _Piece | None = None

    def take(self, number: int, block: PromptBlock) -> None:
        match block:
            case schema.TextContentBlock(text=text):
                self._say("text", text)
            case schema.ImageContentBlock(data=data):
                self.images.append(_picture(data, f"image (block {number})"))
            case schema.AudioContentBlock():
                raise WrongParamsError(f"block {number}: audio is not taken")
            case schema.ResourceContentBlock(uri=uri):
                self._say("name", uri_words(uri, self.folder))
            case schema.EmbeddedResourceContentBlock(resource=resource):
                self._embedded(resource)

    def _say(self, piece: _Piece, words: str) -> None:
        if words:
            before = self.words[-1] if self.words else ""
            self.words.append(f"{_between(self._last, before, piece, words)}{words}")
            self._last = piece

    def _embedded(
        self, resource: schema.TextResourceContents | schema.BlobResourceContents
    ) -> None:
        name = uri_words(resource.uri, self.folder)
        if isinstance(resource, schema.TextResourceContents):
            size = len(resource.text.encode("utf-8", "replace"))
            if size > MOST_TEXT:
                raise WrongParamsError(
                    f"{name} has {size} bytes, at most {MOST_TEXT} can be attached; name it in"
                    " the prompt instead: the model can read it in parts"
                )
            self._say("name", name)
            self.quoted.append(quoted_file(name, resource.text))
            return
        self._say("name", name)
        data = _bytes(resource.blob, name)
        if sniff(data[:16]) is not None:
            self.images.append(_picture(resource.blob, name))
        else:
            self.quoted.append(f"[{name} is a binary file, {bytes_words(len(data))}: not shown.]")


def prompted(blocks: list[PromptBlock], folder: str) -> Prompted:
    """What the blocks say. `folder`: where the session works. Raises WrongParamsError."""
    gathering = _Gathering(folder)
    for number, block in _command_first(list(enumerate(blocks, 1))):
        gathering.take(number, block)
    words = "".join(gathering.words)
    if not words.strip() and not gathering.images:
        raise WrongParamsError("there is nothing in this prompt")
    return Prompted("\n\n".join((words, *gathering.quoted)), words, tuple(gathering.images))


def _command_first(numbered: list[tuple[int, PromptBlock]]) -> list[tuple[int, PromptBlock]]:
    """What was typed first where it may be a command: an editor attaches in front of it, too."""
    for i, (_, block) in enumerate(numbered):
        if isinstance(block, schema.TextContentBlock) and block.text.strip():
            return numbered[i:] + numbered[:i] if block.text.startswith("/") else numbered
    return numbered


def _between(last: _Piece | None, before: str, piece: _Piece, after: str) -> str:
    """What keeps two pieces apart that would run into one word."""
    if last is None:
        return ""
    if last == piece:
        return "\n"
    if piece == "name":
        return " " if before[-1].isalnum() or before[-1] in _ENDS else ""
    return " " if after[0].isalnum() or after[0] in _OPENS else ""


def uri_words(uri: str, folder: str) -> str:
    """A file as a path, from the folder where it lies in it; anything else as it is."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return uri
    if parts.scheme == "file":
        text = unquote(parts.path)
    elif not parts.scheme and uri.startswith("/"):
        text, parts = uri, parts._replace(fragment="")
    else:
        return uri
    path = Path(text)
    if not path.is_relative_to(folder) and real(path).is_relative_to(real(Path(folder))):
        path, folder = real(path), str(real(Path(folder)))
    shown = str(path.relative_to(folder)) if path.is_relative_to(folder) else text
    return f"{shown}#{parts.fragment}" if parts.fragment else shown


def _picture(data: str, name: str) -> Image:
    try:
        return given_picture(data, name)
    except UsageError as e:
        raise WrongParamsError(str(e)) from e


def _bytes(text: str, name: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as e:
        raise WrongParamsError(f"{name} is no base64: {e}") from e

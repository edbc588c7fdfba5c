"""`-a FILE`: files that go along with a prompt. Texts are quoted in it, pictures sent beside it.

Only regular files, bounded, and for `-` standard input, as text; what cannot be sent is an error
before anything is, not a silent gap. It stands alone because reading files of others is a matter
of its own. Read next: images.py.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from agentsh import images
from agentsh.agent.prompts.quoting import MOST_TEXT, quoted_file
from agentsh.alike import as_there
from agentsh.cli.notices import warn
from agentsh.cli.setup.standard_streams import read_input
from agentsh.errors import UsageError
from agentsh.filekinds import marked
from agentsh.files import NotRegularError, from_home, open_foreign
from agentsh.messages import Image


def attached(
    text: str, files: Iterable[str], cwd: Path, stdin: TextIO | None = None
) -> tuple[str, tuple[Image, ...]]:
    """The prompt with its texts, and its pictures. Raises UsageError.

    `stdin`: what `-` stands for, once; None: it is not to be had.
    """
    parts = [text] if text.strip() else []
    pictures = []
    for name in files:
        if name == "-":
            parts.append(_piped(stdin))
            stdin = None
            continue
        data, size = _read(as_there(Path(cwd, from_home(name))), name)
        judged = images.inspect(data, size=size)
        match judged:
            case images.Picture(mime_type):
                pictures.append(Image(base64.b64encode(data).decode("ascii"), mime_type))
            case images.Unusable(mime_type, reason):
                raise UsageError(f"{name} ({mime_type}) cannot be attached: {reason}")
            case None:
                parts.append(_quoted(data, name, size))
    return "\n\n".join(parts), tuple(pictures)


def _piped(stdin: TextIO | None) -> str:
    if stdin is None:
        raise UsageError(
            "-a - attaches standard input, which is read for something else",
            hint="a file of that name is ./-",
        )
    text = read_input(stdin, MOST_TEXT + 1)
    if "\0" in text[:8192]:
        raise UsageError("standard input is binary: it cannot be attached")
    if len(text) > MOST_TEXT or len(text.encode("utf-8", "replace")) > MOST_TEXT:
        raise UsageError(
            f"standard input has more than {MOST_TEXT} bytes, which is the most to attach",
            hint=f"`head -c {MOST_TEXT}` gives its beginning; a file can be read in parts",
        )
    if not text.strip():
        warn(["standard input is empty"])
    return f'<file name="standard input">\n{text}\n</file>'


def _quoted(data: bytes, name: str, size: int) -> str:
    mark, encoding = marked(data)
    if b"\0" in data[:8192] and encoding == "utf-8":
        raise UsageError(f"{name} is a binary file and no picture: it cannot be attached")
    if len(data) > MOST_TEXT:
        raise UsageError(
            f"{name} has {max(size, len(data))} bytes, at most {MOST_TEXT} can be attached",
            hint="name it in the prompt instead: the model can read it in parts",
        )
    return quoted_file(name, data[len(mark) :].decode(encoding, "replace"))


def _read(path: Path, name: str) -> tuple[bytes, int]:
    """Its beginning, more than may be attached, and its size. Raises UsageError."""
    most = max(MOST_TEXT, images.MAX_IMAGE_BYTES) + 1
    try:
        with open_foreign(path) as file:
            return file.read(most), os.fstat(file.fileno()).st_size
    except NotRegularError:
        raise UsageError(f"{name} is no regular file") from None
    except OSError as e:
        raise UsageError(f"{name} cannot be read: {e.strerror}") from e

"""`-a FILE`: files that go along with a prompt. Texts are quoted in it, pictures sent beside it.

Only regular files, bounded; what cannot be sent is an error before anything is, not a silent gap.
Read next: images.py.
"""

from __future__ import annotations

import base64
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from agentsh import images
from agentsh.errors import UsageError
from agentsh.messages import Image

MOST_TEXT = 256 * 1024


def attached(text: str, files: Iterable[str], cwd: Path) -> tuple[str, tuple[Image, ...]]:
    """The prompt with its texts, and its pictures. Raises UsageError."""
    parts = [text] if text.strip() else []
    pictures = []
    for name in files:
        data = _read(Path(cwd, Path(name).expanduser()), name)
        judged = images.inspect(data)
        match judged:
            case images.Picture(mime_type):
                pictures.append(Image(base64.b64encode(data).decode("ascii"), mime_type))
            case images.Unusable(mime_type, reason):
                raise UsageError(f"{name} ({mime_type}) cannot be attached: {reason}")
            case None:
                parts.append(_quoted(data, name))
    return "\n\n".join(parts), tuple(pictures)


def _quoted(data: bytes, name: str) -> str:
    if b"\0" in data[:8192]:
        raise UsageError(f"{name} is a binary file and no picture: it cannot be attached")
    if len(data) > MOST_TEXT:
        raise UsageError(
            f"{name} is larger than {MOST_TEXT} bytes",
            hint="name it in the prompt instead: the model can read it in parts",
        )
    return f'<file path="{name}">\n{data.decode("utf-8-sig", "replace")}\n</file>'


def _read(path: Path, name: str) -> bytes:
    most = max(MOST_TEXT, images.MAX_BYTES) + 1
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UsageError(f"{name} is no regular file")
            return file.read(most)
    except OSError as e:
        raise UsageError(f"{name} cannot be read: {e.strerror}") from e

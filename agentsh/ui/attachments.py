"""Pictures that go with the next prompt: from the clipboard, or from a path that was pasted.

The clipboard is asked through what the desktop has (wl-paste, xclip, pngpaste); asking may take a
while, so the caller does it in a thread. Only whole pictures of the kinds that may be sent are
taken; everything else says why. Read next: agentsh/images.py, keyboard.py.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
import stat
import subprocess
from pathlib import Path
from urllib.parse import unquote

from msgspec import Struct

from agentsh import images
from agentsh.errors import UsageError
from agentsh.messages import Image
from agentsh.ui.sanitize import safe_line

CLIPBOARDS: tuple[tuple[str, ...], ...] = (
    ("wl-paste", "--no-newline", "--type", "image/png"),
    ("xclip", "-selection", "clipboard", "-target", "image/png", "-out"),
    ("pngpaste", "-"),
)
SECONDS = 3.0
_ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".webp")


class Attachment(Struct, frozen=True):
    """`words` says what it is, in one safe line."""

    image: Image
    words: str


def from_clipboard() -> Attachment:
    """The picture in the clipboard. Raises UsageError: there is none, or nobody to ask."""
    tools = [argv for argv in CLIPBOARDS if shutil.which(argv[0])]
    if not tools:
        raise UsageError(
            "no tool for the clipboard is installed",
            hint="install wl-clipboard or xclip; or paste the path of the image",
        )
    for argv in tools:
        try:
            ran = subprocess.run(
                argv, capture_output=True, timeout=SECONDS, stdin=subprocess.DEVNULL, check=False
            )
        except (OSError, subprocess.SubprocessError):
            continue
        if ran.returncode == 0 and ran.stdout:
            return attachment(ran.stdout, "from the clipboard")
    raise UsageError("there is no image in the clipboard")


def from_path(path: Path) -> Attachment:
    """Raises UsageError: not readable, or nothing that may be sent."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UsageError(f"{path.name} is no regular file")
            data = file.read(images.MAX_BYTES + 1)
    except OSError as e:
        raise UsageError(f"{path.name} cannot be read: {e.strerror}") from e
    return attachment(data, path.name)


def attachment(data: bytes, name: str) -> Attachment:
    match images.inspect(data):
        case images.Picture(mime_type, width, height):
            kind = mime_type.removeprefix("image/")
            words = f"{name}, {kind} {width}x{height}, {max(1, len(data) // 1000)} kB"
            encoded = base64.b64encode(data).decode("ascii")
            return Attachment(Image(encoded, mime_type), safe_line(words, 100))
        case images.Unusable(mime_type, reason):
            raise UsageError(f"{name} ({mime_type}) cannot be attached: {reason}")
        case None:
            raise UsageError(f"{name} is no image that can be sent", hint="png, jpeg, gif or webp")


def image_path(pasted: str, cwd: Path) -> Path | None:
    """The image file that a pasted text is the path of, as terminals spell a dropped file."""
    text = pasted.strip()
    if not text or "\n" in text or len(text) > 4096 or "\0" in text:
        return None
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    elif text.startswith("file://"):
        text = unquote(text.removeprefix("file://"))
    else:
        text = re.sub(r"\\(.)", r"\1", text)
    if not text.lower().endswith(_ENDINGS):
        return None
    try:
        path = Path(cwd, Path(text).expanduser())
        return path if path.is_file() else None
    except (OSError, RuntimeError, ValueError):
        return None

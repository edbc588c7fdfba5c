"""What goes with the next prompt: pictures (from the clipboard, or a pasted path), long pastes.

The clipboard is asked through what the desktop has (wl-paste, xclip, pngpaste); asking may take a
while, so the caller does it in a thread. Only whole pictures of the kinds that may be sent are
taken; everything else says why. Read next: agentsh/images.py, keyboard.py.
"""

from __future__ import annotations

import base64
import os
import re
import shlex
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

from msgspec import Struct

from agentsh import images
from agentsh.alike import as_there
from agentsh.errors import UsageError
from agentsh.files import NotRegularError, from_home, is_regular, open_foreign
from agentsh.messages import Image
from agentsh.programs import find_program, plain_environment
from agentsh.sanitize import safe_line

CLIPBOARDS: tuple[tuple[str, ...], ...] = (
    ("wl-paste", "--no-newline", "--type", "image/png"),
    ("xclip", "-selection", "clipboard", "-target", "image/png", "-out"),
    ("pngpaste", "-"),
)
PASTE_LINES = 10
"""A paste of more lines is a mark in the draft."""
_SECONDS = 3.0
_BRACED = re.compile(r"\\u\{(0?[0-9a-fA-F]{1,5}|10[0-9a-fA-F]{4})\}")
"""How some editors spell a character that is no plain one."""
_ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".webp")


class Attachment(Struct, frozen=True):
    """`words` says what it is, in one safe line."""

    image: Image
    words: str


def from_clipboard(environ: Mapping[str, str], project: Path) -> Attachment:
    """The picture in the clipboard. Raises UsageError: there is none, or nobody to ask."""
    paths = {argv: find_program(argv[0], environ, project) for argv in CLIPBOARDS}
    tools = [[program, *argv[1:]] for argv, program in paths.items() if program is not None]
    if not tools:
        raise UsageError(
            "no tool for the clipboard is installed",
            hint="install wl-clipboard or xclip; or paste the path of the image",
        )
    for argv in tools:
        try:
            ran = subprocess.run(
                argv,
                env=plain_environment(environ, project, desktop=True),
                capture_output=True,
                timeout=_SECONDS,
                stdin=subprocess.DEVNULL,
                check=False,
            )
        except (OSError, subprocess.SubprocessError):
            continue
        if ran.returncode == 0 and ran.stdout:
            return attachment(ran.stdout, "from the clipboard")
    raise UsageError("there is no image in the clipboard")


def from_path(path: Path) -> Attachment:
    """Raises UsageError: not readable, or nothing that may be sent."""
    try:
        with open_foreign(path) as file:
            size = os.fstat(file.fileno()).st_size
            data = file.read(images.MAX_IMAGE_BYTES + 1)
    except NotRegularError:
        raise UsageError(f"{path.name} is no regular file") from None
    except OSError as e:
        raise UsageError(f"{path.name} cannot be read: {e.strerror}") from e
    return attachment(data, path.name, size)


def attachment(data: bytes, name: str, size: int | None = None) -> Attachment:
    """`size`: of the file, where `data` may be only its beginning. Raises UsageError."""
    match images.inspect(data, size=size):
        case images.Picture(mime_type, width, height):
            kind = mime_type.removeprefix("image/")
            about = f"{name}, {kind} {width}x{height}, {max(1, len(data) // 1000)} kB"
            encoded = base64.b64encode(data).decode("ascii")
            return Attachment(Image(encoded, mime_type), safe_line(about, 100))
        case images.Unusable(mime_type, reason):
            raise UsageError(f"{name} ({mime_type}) cannot be attached: {reason}")
        case None:
            raise UsageError(f"{name} is no image that can be sent", hint="png, jpeg, gif or webp")


def attached_again(pictures: Iterable[Image]) -> tuple[Attachment, ...]:
    """The pictures of a prompt that is in the editor again, but those that may not be sent."""
    attached: list[Attachment] = []
    for picture in pictures:
        with suppress(UsageError, ValueError):
            attached.append(attachment(base64.b64decode(picture.data), "of that prompt"))
    return tuple(attached)


class Dropped(Struct, frozen=True):
    """The pictures that a pasted text names. `missing`: names without a file, as spelled."""

    paths: tuple[Path, ...]
    missing: tuple[str, ...] = ()


def dropped_pictures(pasted: str, cwd: Path) -> Dropped | None:
    """What a text consists of that names pictures and nothing else, as terminals drop files.

    One a line, or quoted as for a shell and several in a line. None: the text is a text.
    """
    text = pasted.strip()
    if not text or len(text) > 16_384 or "\0" in text:
        return None
    readings: list[Dropped] = []
    for names in _ways(text):
        if names and all(name.lower().endswith(_ENDINGS) for name in names):
            paths = [(name, _picture(name, cwd)) for name in names]
            there = tuple(path for _, path in paths if path is not None)
            missing = tuple(name for name, path in paths if path is None)
            readings.append(Dropped(there, missing))
    best = max(readings, key=lambda dropped: len(dropped.paths), default=None)
    return best if best is not None and best.paths else None


def _ways(text: str) -> list[list[str]]:
    """The names in the text: each line one of them, or words as a shell reads them."""
    text = _BRACED.sub(lambda braced: chr(int(braced[1], 16)), text)
    ways = [[_spelled(line.strip()) for line in text.splitlines() if line.strip()]]
    with suppress(ValueError):  # a quotation mark that is none
        ways.append([_spelled(word, quoted=False) for word in shlex.split(text)])
    return ways


def _spelled(text: str, *, quoted: bool = True) -> str:
    """The path that a name in a text means."""
    if text.startswith("file://"):
        return unquote(text.removeprefix("file://").removeprefix("localhost"))
    if not quoted:
        return text
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    return re.sub(r"\\(.)", r"\1", text)


def _picture(name: str, cwd: Path) -> Path | None:
    """The file, also where a part of its path only looks the same on the disk (T20)."""
    with suppress(OSError, RuntimeError, ValueError):
        path = as_there(Path(cwd, from_home(name)))
        if is_regular(path):
            return path
    return None


class Pastes:
    """Long pastes, for which a mark stands in the draft: `[paste 1: 201 lines]`. No terminal."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def __bool__(self) -> bool:
        return bool(self._texts)

    def mark(self, text: str) -> str:
        """What stands for it; the text itself where it is short."""
        lines = text.removesuffix("\n").count("\n") + 1
        if lines <= PASTE_LINES:
            return text
        mark = f"[paste {len(self._texts) + 1}: {lines} lines]"
        self._texts[mark] = text
        return mark

    def whole(self, text: str) -> str:
        """With each mark replaced by what it stands for."""
        if not self._texts:
            return text
        marks = re.compile("|".join(map(re.escape, self._texts)))
        return marks.sub(lambda mark: self._texts[mark[0]], text)

    def mended(self, before: str, after: str) -> str | None:
        """A change went into a mark: what was deleted takes all of it, what was typed comes behind.

        None: no mark is harmed.
        """
        for mark in self._texts:
            start = before.find(mark)
            if start < 0 or mark in after:
                continue
            end = start + len(mark)
            first = same_start(before, after)
            most = min(len(before), len(after)) - first
            last = min(most, same_start(before[::-1], after[::-1]))
            gone, came = (first, len(before) - last), after[first : len(after) - last]
            if gone[0] <= start and gone[1] >= end:
                continue  # all of it was taken out
            if gone[0] == gone[1]:
                return before[:end] + came + before[end:]
            return before[: min(gone[0], start)] + came + before[max(gone[1], end) :]
        return None

    def clear(self) -> None:
        self._texts.clear()


def same_start(one: str, other: str) -> int:
    """How many characters two texts begin with alike. Pure."""
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))

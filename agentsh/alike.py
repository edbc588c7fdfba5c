"""Which name on the disk a name means that nothing has: the only one that looks the same (T20).

Models and people type a plain space for a narrow one (names of screenshots), and composed letters
for the decomposed ones of macOS. It reads names of folders and opens nothing; whether a file may be
touched is not asked here. By itself since who attaches a file needs nothing else of the tools.
Read next: tools/files/paths.py.
"""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path
from typing import Final

ODD_SPACES: Final = "\u00a0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u202f\u205f\u3000"


def as_there(path: Path) -> Path:
    """The path with the names that look the same, as far as there is just one for each."""
    if os.path.lexists(path):
        return path
    there = Path(path.anchor)
    for number, part in enumerate(path.parts[1:], start=1):
        name = part
        if not os.path.lexists(there / part):
            folded = _folded(part)
            try:
                alike = [each for each in os.listdir(there) if _folded(each) == folded]  # noqa: PTH208
            except OSError:
                alike = []
            if len(alike) != 1:
                return there.joinpath(*path.parts[number:])
            name = alike[0]
        there /= name
    return there


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", re.sub(f"[{ODD_SPACES}]", " ", name))

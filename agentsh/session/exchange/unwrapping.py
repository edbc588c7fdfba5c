"""What is inside of a session file that is compressed, for as long as it is looked at.

Other programs compress their old sessions in place, and our own archives are brought to other
machines. zstd and gzip are known by their first bytes and unpacked into a private file that is gone
afterwards and never grows beyond a limit (a few bytes can unpack to any size). The file itself is
only read. Read next: importing.py, archive.py.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from agentsh.errors import RefusedError
from agentsh.filekinds import GZIP, ZSTD, first_bytes
from agentsh.files import open_foreign
from agentsh.session.store.archive import unpacked

MOST_IMPORTED: Final = 4 << 30
_BLOCK: Final = 1 << 20


@contextmanager
def unwrapped(path: Path, *, limit: int = MOST_IMPORTED) -> Iterator[Path]:
    """The file, or what is in it where it is compressed, until the block ends.

    Raises SessionNotFoundError: it cannot be read; RefusedError: it is damaged, or too much is in
    it.
    """
    start = first_bytes(path)
    if start.startswith(ZSTD):
        blocks = unpacked(path, is_asked_for=True)
    elif start.startswith(GZIP):
        blocks = _gunzipped(path)
    else:
        yield path
        return
    with TemporaryDirectory(prefix="agentsh-import-") as folder:
        inside = Path(folder) / "session.jsonl"
        with inside.open("xb") as file:
            size = 0
            for block in blocks:
                size += len(block)
                if size > limit:
                    reason = f"{path} unpacks to more than {limit >> 20} MiB"
                    raise RefusedError(reason, path=str(path))
                file.write(block)
        yield inside


def _gunzipped(path: Path) -> Iterator[bytes]:
    try:
        with open_foreign(path) as packed, gzip.open(packed, "rb") as file:
            while block := file.read(_BLOCK):
                yield block
    except (EOFError, OSError, zlib.error) as e:
        raise RefusedError(f"{path} is damaged: {e}", path=str(path)) from e

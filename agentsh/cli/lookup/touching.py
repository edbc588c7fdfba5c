"""The other folders whose sessions may have written a file: those above it, and those that name it.

Sessions keep the whole path of what `edit` and `write` changed, so the bytes of their files tell
which of them name it; what they did to it is agent/authors/'s. Archives are not looked into. It
stands alone for the one scan of all sessions that `why` makes. Looks only. Read next: origins.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from agentsh.files import is_folder, is_there, open_regular
from agentsh.jsontext import dumps_text
from agentsh.session.store.store import Store
from agentsh.session.store.summary import read_header

_BLOCK: Final = 1 << 20


def other_folders(file: str, cwd: Path, store: Store) -> list[Path]:
    """Of a file by its real path; the folder `cwd` is asked anyway."""
    above = [each for each in _above(Path(file)) if is_folder(store.folder_of(str(each)))]
    folders = [*above, *_naming(file, store)]
    return [each for each in dict.fromkeys(folders) if each != cwd]


def _above(file: Path) -> Iterator[Path]:
    """The folders that it lies in, up to the top of its repository."""
    for folder in file.parents:
        yield folder
        if is_there(folder / ".git"):
            return


def _naming(file: str, store: Store) -> Iterator[Path]:
    """Folders of sessions in which a call, or its record, names the path."""
    name = f'"path":{dumps_text(file)}'.encode()
    for path in store.files():
        if _holds(path, name) and (header := read_header(path)) is not None:
            yield Path(store.cwd_of(header.id, header.cwd))


def _holds(path: Path, name: bytes) -> bool:
    """Whether the bytes stand in a file; one that cannot be read holds nothing."""
    try:
        with open(open_regular(path), "rb", buffering=0) as file:  # noqa: PTH123 - a descriptor
            end = b""
            while block := file.read(_BLOCK):
                if name in (seen := end + block):
                    return True
                end = seen[-len(name) :]
    except OSError:
        pass
    return False

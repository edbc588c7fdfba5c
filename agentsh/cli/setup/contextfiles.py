"""Context files: AGENTS.md, else CLAUDE.md, of the user's folder and of the project's folders.

From the user's config folder first, then from the repository's root down to the session's folder;
without a repository only the session's own folder. They are text for the model and need no trust;
so a project's must lie in the project, links resolved: a repository can hold a link to any file of
its reader's, and what is read here is sent before anything is asked.
Read as bytes of regular files, up to a bound: a pipe or a huge file costs nothing. They are UTF-8,
or what a byte order mark says (UTF-16, UTF-32). What is left out, cut, converted or not all text is
told. Taking invisible characters out of them is context/scrub.py's.
"""

from __future__ import annotations

import codecs
import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from agentsh.cli.setup.paths import Paths
from agentsh.cli.setup.trust import project_root
from agentsh.context.prompt import ContextFile
from agentsh.files import open_foreign

_FILE_NAMES = ("AGENTS.md", "CLAUDE.md")
MAX_CONTEXT_FILE = 128 * 1024


def find_context_files(
    cwd: Path, places: Paths, tell: Callable[[str], None] = lambda _words: None
) -> tuple[ContextFile, ...]:
    """The context files that exist, the most general one first.

    There is one a folder, each file once.

    `tell` is given a sentence for each that was left out, cut, converted or not all text.
    """
    root = os.path.realpath(project_root(cwd))
    files: list[ContextFile] = []
    seen: set[tuple[int, int]] = set()
    for folder in _folders(cwd, places):
        for name in _FILE_NAMES:
            if folder != places.config and not _lies_in(root, folder / name):
                tell(f"{folder / name} leads out of the project: left out")
                continue
            try:
                status, data = _read(folder / name)
                text, remarks = _decoded(data, folder / name, status.st_size)
            except OSError as e:
                if _is_there(folder / name):
                    tell(f"{folder / name} was left out: {e.strerror or e}")
                continue
            if (status.st_dev, status.st_ino) not in seen:
                seen.add((status.st_dev, status.st_ino))
                files.append(ContextFile(str(folder / name), text))
                for remark in remarks:
                    tell(f"{folder / name} {remark}")
            for other in _FILE_NAMES[_FILE_NAMES.index(name) + 1 :]:
                if _says_more(folder / other, data, name):
                    tell(f"{folder / other} was left out: {name} of that folder is read")
            break
    return tuple(files)


def _says_more(path: Path, data: bytes, name: str) -> bool:
    """Whether a second file of a folder holds what the first, `data`, has not, and not its name."""
    try:
        words = _read(path)[1]
    except OSError:
        return False
    bare = words.strip().removeprefix(b"@").removeprefix(b"./")
    return bare not in (b"", name.encode()) and words != data


def _folders(cwd: Path, places: Paths) -> Iterator[Path]:
    yield places.config
    root = project_root(cwd)
    inner = cwd.relative_to(root).parts
    for depth in range(len(inner) + 1):
        yield root.joinpath(*inner[:depth])


def _lies_in(root: str, path: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(root)


def _is_there(path: Path) -> bool:
    """Whether something has that name, a link to nowhere too, or nobody can tell."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        pass
    return True


def _read(path: Path) -> tuple[os.stat_result, bytes]:
    """Its status and its bytes, one more than the bound at most. Raises OSError."""
    with open_foreign(path) as f:
        return os.fstat(f.fileno()), f.read(MAX_CONTEXT_FILE + 1)


def _decoded(data: bytes, path: Path, size: int) -> tuple[str, list[str]]:
    """The text up to the bound, and what of it is not as in the file. Raises OSError: no text."""
    from agentsh.filekinds import marked

    mark, encoding = marked(data)
    is_cut = len(data) > MAX_CONTEXT_FILE
    remarks = [f"is {encoding.upper()}: it was converted"] if encoding != "utf-8" else []
    body = data[len(mark) : MAX_CONTEXT_FILE]
    try:  # a character that the cut halves is no fault of the file
        text = codecs.getincrementaldecoder(encoding)().decode(body, not is_cut)
    except UnicodeDecodeError:
        text = body.decode(encoding, "replace")
        remarks.append(f"has bytes that are no {encoding.upper()}: U+FFFD stands in their place")
    if "\0" in text:
        raise OSError(errno.EILSEQ, "It holds NULs and no byte order mark, so it is no text")
    if is_cut:
        text = text[: text.rfind("\n") + 1] or f"{text}\n"
        text += f"(cut here: {path.name} has {size} bytes)\n"
        remarks.append(f"was cut: it has {size} bytes, at most {MAX_CONTEXT_FILE} are read")
    return text, remarks

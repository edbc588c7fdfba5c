"""What lies in a store, by names and kinds: which files may be sessions; nothing is opened.

Both layouts are looked at, whichever new files follow: files in the root itself, and in a folder
for each project. What cannot be read is left out. Read next: store.py, known.py.
"""

from __future__ import annotations

import os

SUFFIX = ".jsonl"
# beside them, what was said of them (marks.py, relinks.py)
MARKS = "marks.json"
RELINKED = "relinked.json"


def session_files(folder: str) -> list[os.DirEntry[str]]:
    """Those that lie in that folder."""
    try:
        with os.scandir(folder) as found:
            return [e for e in found if e.name.endswith(SUFFIX) and e.is_file()]
    except OSError:
        return []


def project_folders(root: str) -> list[str]:
    """The folders of projects, by whatever rule they are named."""
    try:
        with os.scandir(root) as found:
            return [e.path for e in found if not e.name.startswith(".") and e.is_dir()]
    except OSError:
        return []


def is_there(root: str, name: str) -> bool:
    """Whether the root has it, as MARKS or RELINKED; what cannot be told is looked at."""
    try:
        os.lstat(f"{root}/{name}")
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return True

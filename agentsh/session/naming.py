"""Names of session folders, files and ids. Pure; Pi's own rule, so that either finds the other's.

The rule loses information (`a/b` and `a-b` make one folder, S16), so nothing here is ever decoded
back into a path: a session belongs to the folder that its header names. Ids are opaque words of a
strict pattern and never a path (X05). Making ids is ids.py's. Read next: store.py.
"""

from __future__ import annotations

import hashlib
import re

from agentsh.session.folders import SUFFIX

# the limit of one name on the file systems that we meet, in bytes
_NAME_MAX = 255
_LONG_HEAD = 160
_SEPARATORS = re.compile(r"[/\\:]")
_ID_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_FILE = re.compile(r"[^_]+_(?P<id>.+)\.jsonl", re.DOTALL)


def folder_name(cwd: str) -> str:
    """`/home/u/p` → `--home-u-p--`; a name too long for a file system is cut and gets a digest."""
    bare = cwd[1:] if cwd[:1] in ("/", "\\") else cwd
    encoded = _SEPARATORS.sub("-", bare.replace("\0", "-"))
    raw = encoded.encode("utf-8", "surrogateescape")
    if len(raw) + 4 <= _NAME_MAX:
        return f"--{encoded}--"
    # Pi cannot make such a folder at all, so there is no rule of its own to keep
    digest = hashlib.sha256(cwd.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    head = raw[:_LONG_HEAD].decode("utf-8", "ignore")
    return f"--{head}-{digest}--"


def file_name(timestamp: str, session_id: str) -> str:
    """`<ISO time with : and . turned to ->_<id>.jsonl`."""
    return f"{timestamp.replace(':', '-').replace('.', '-')}_{session_id}{SUFFIX}"


def id_in_name(name: str) -> str | None:
    """The id that a file name claims; None where the name does not follow the rule."""
    match = _FILE.fullmatch(name)
    return match["id"] if match else None


def is_id_word(word: str) -> bool:
    """Whether the word may be a session's id, or the beginning of one."""
    return _ID_WORD.fullmatch(word) is not None

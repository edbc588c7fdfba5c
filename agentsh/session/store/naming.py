"""Names of session folders, files and ids, by Pi's own rule, so that either finds the other's.

And how a session is named to a person: each command that is printed with a session in it is spelled
here, so that it works as printed, from where one stands.

The rule loses information (`a/b` and `a-b` make one folder, S16), so nothing here is ever decoded
back into a path: a session belongs to the folder that its header names. Ids are opaque words of a
strict pattern and never a path (X05). Making ids is ids.py's. Read next: store.py.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from agentsh.files import from_home
from agentsh.session.store.folders import SUFFIX
from agentsh.shellwords import shell_line

# the limit of one name on the file systems that we meet, in bytes
_NAME_MAX = 255
_LONG_HEAD = 160
_SEPARATORS = re.compile(r"[/\\:]")
_ID_WORD: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}"
_FILE: Final = r"(?s)[^_]+_(?P<id>.+)\.jsonl"


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
    match = re.fullmatch(_FILE, name)
    return match["id"] if match else None


def is_id_word(word: str) -> bool:
    """Whether the word may be a session's id, or the beginning of one."""
    return re.fullmatch(_ID_WORD, word) is not None


def command_hint(verb: str, session: Sequence[str], *more: str) -> str:
    """`agentsh VERB SESSION MORE…`. To be shown as it is (shellwords.py).

    `verb` may be two words; `session`: words_for_session.
    """
    return "agentsh " + shell_line([*verb.split(), *session[:1], *more, *session[1:]])


def words_for_session(
    session_id: str, path: Path | None, *, is_owned: bool, session_dir: str | None
) -> tuple[str, ...]:
    """What names a session in a command: its id and where to look for it, or its file.

    `is_owned`: its file lies in the sessions folder of this command; `session_dir`: that folder,
    where an option named it.
    """
    if path is not None and not is_owned:
        return (str(path.absolute()),)
    if session_dir is None:
        return (session_id,)
    return (session_id, "--session-dir", str(from_home(session_dir).absolute()))

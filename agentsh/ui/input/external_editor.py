"""The draft in the person's own editor: what comes back is foreign until it was looked at.

A private folder with one file; the editor may leave anything in its place. Only a regular file of
UTF-8 within bounds becomes the draft, anything else is a UsageError, and the draft stays. The
editor is never the project's, whatever PATH or $EDITOR say, and gets no key (L10, L17).
Read next: editor.py, agentsh/ui/chat/keyboard.py, agentsh/programs.py.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from agentsh.errors import UsageError
from agentsh.files import NotRegularError, TooLargeError, read_foreign
from agentsh.programs import find_program, plain_environment
from agentsh.sanitize import safe_line

LARGEST_DRAFT = 4_000_000
_USUAL = ("/usr/bin/editor", "/usr/bin/nano", "/usr/bin/pico", "/usr/bin/vi", "/usr/bin/emacs")
_OF_EDITORS = frozenset(
    (
        "ALTERNATE_EDITOR", "EMACS_SERVER_FILE", "EMACS_SOCKET_NAME", "EMACSLOADPATH",
        "MYVIMRC", "NVIM_APPNAME", "STY", "TERMINFO", "TMUX", "VIM", "VIMINIT", "VIMRUNTIME",
        "VSCODE_IPC_HOOK_CLI", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
    )
)  # fmt: skip


def edited(text: str, environ: Mapping[str, str], project: Path) -> str:
    """The text as the editor left it. Waits for the editor. Raises UsageError."""
    with tempfile.TemporaryDirectory(prefix="agentsh-", ignore_cleanup_errors=True) as folder:
        path = Path(folder, "draft.md")
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("utf-8", "replace"))
        _run(path, environ, project)
        try:
            return read_foreign(path, LARGEST_DRAFT).decode().removesuffix("\n")
        except FileNotFoundError as e:
            raise UsageError("the editor left no file; the draft is as it was") from e
        except UnicodeDecodeError as e:
            reason = "the editor left text that is no UTF-8; the draft is as it was"
            raise UsageError(reason) from e
        except NotRegularError as e:
            raise UsageError("the editor left no regular file; the draft is as it was") from e
        except TooLargeError as e:
            raise UsageError("the editor left too much; the draft is as it was") from e
        except OSError as e:
            reason = f"what the editor left cannot be read: {e.strerror}; the draft is as it was"
            raise UsageError(reason) from e


def _run(path: Path, environ: Mapping[str, str], project: Path) -> None:
    """The editor that the person named, else the first usual one that can be started.

    Raises UsageError: it cannot, or it failed. Nobody gets another one than was named.
    """
    surroundings = plain_environment(environ, project, desktop=True)
    surroundings |= {k: v for k, v in environ.items() if k in _OF_EDITORS}
    wishes = {name: environ[name] for name in ("VISUAL", "EDITOR") if environ.get(name)}
    for command_line in wishes.values() if wishes else _USUAL:
        program, options = _command(command_line, environ, project)
        if program is None:
            continue
        try:
            code = subprocess.call([program, *options, str(path)], env=surroundings)
        except OSError:
            continue
        if code != 0:
            raise UsageError(f"the editor ended with exit code {code}; the draft is as it was")
        return
    named = " and ".join(f"{name}={safe_line(wish, 80)}" for name, wish in wishes.items())
    raise UsageError(
        f"{named or 'no editor'} cannot be started; the draft is as it was",
        hint="set VISUAL or EDITOR to a program that is there",
    )


def _command(
    command_line: str, environ: Mapping[str, str], project: Path
) -> tuple[str | None, Sequence[str]]:
    """An editor's program and its options; None where there is none of that name.

    Raises UsageError: there is one, and it is the project's.
    """
    try:
        name, *options = shlex.split(command_line) or [""]
    except ValueError:  # an open quotation mark
        return None, ()
    program = find_program(name, environ, project) if name else None
    if program is None and name and shutil.which(name, path=environ.get("PATH", "")):
        raise UsageError(
            f"the editor {name} lies in the project, and is not started",
            hint="set VISUAL or EDITOR to a program of your own",
        )
    return program, options

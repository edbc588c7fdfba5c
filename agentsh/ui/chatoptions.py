"""What the cli knows of one chat, in one value. Read next: repl.py."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from agentsh.ui.keymap import Keymap, make_keymap
from agentsh.ui.theme import Theme

HELLO = "agentsh: /help names the commands and keys"


class ChatOptions(Struct, frozen=True):
    """What the cli knows of this chat. `history` None: nothing typed is kept; nor drafts."""

    cwd: Path
    home: Path
    theme: Theme
    history: Path | None = None
    first_prompt: str | None = None
    resumed: bool = False
    offer: str | None = None
    """A draft to begin with, where there is no other."""
    bell: bool = True
    notify: bool = True
    vi: bool = False
    keymap: Keymap = make_keymap()
    ask_background: bool = False
    """The theme may follow the terminal, and nobody knows yet what it is like."""
    drafts: Path | None = None
    hello: str = HELLO

"""Calling a person who looks elsewhere: the bell, and a desktop notification through the terminal.

The bell works everywhere; OSC 9 is an extra that terminals show or ignore, wrapped for tmux, its
text stripped to one safe line. Both can be switched off, and nothing is sent where the output is no
terminal. Pure. It stands alone as text that can be tested without a terminal. Read next: repl.py.
"""

from __future__ import annotations

from agentsh.sanitize import safe_line
from agentsh.ui.terminal import Terminal

_LONGEST = 120


def notification(terminal: Terminal, words: str, *, bell: bool, desktop: bool) -> str:
    """What to write; nothing where it would not be understood."""
    if not terminal.stdout_tty or terminal.dumb:
        return ""
    return ("\x07" if bell else "") + (osc9(words, tmux=terminal.tmux) if desktop else "")


def osc9(words: str, *, tmux: bool) -> str:
    plain = "".join(c for c in safe_line(words, _LONGEST) if c.isprintable())
    sequence = f"\x1b]9;{plain}\x07"
    return f"\x1bPtmux;{sequence.replace(chr(27), chr(27) * 2)}\x1b\\" if tmux else sequence

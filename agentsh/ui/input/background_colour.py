"""Is the terminal light or dark: asked of the terminal itself (OSC 11), never waited for.

The question goes out when the first prompt is drawn; the answer comes among the keys, whenever it
comes (agentsh/ui/input/terminal_input.py). Until then, and where no answer comes, the theme is the
one that reads on both. Settings that name a theme, and COLORFGBG, are not second-guessed: then
nothing is asked. Pure. Read next: theme.py, repl.py.
"""

from __future__ import annotations

import re

from agentsh.ui.terminal import Background

QUESTION = "\x1b]11;?\x1b\\"
_ANSWER = "11;"
_COLOUR = re.compile(r"rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})")


def heard(said: str) -> Background | None:
    """What the text of an OSC says of the background; None: it is about something else."""
    return background_of(said.removeprefix(_ANSWER)) if said.startswith(_ANSWER) else None


def background_of(colour: str) -> Background:
    """`rgb:ffff/ffff/ffff` → light. By what the eye takes for bright."""
    match = _COLOUR.match(colour)
    if match is None:
        return "unknown"
    red, green, blue = (int(part, 16) / (16 ** len(part) - 1) for part in match.groups())
    return "light" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "dark"

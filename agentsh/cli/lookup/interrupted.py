"""What becomes of a session whose last turn a crash cut off: --on-interrupted (R54).

`continue`: the turn is closed, and the session goes on; `stop`: nothing is sent (exit 6); `ask`: a
chat shows what was cut off, and the next prompt is the decision; a `run` at a terminal asks, and
without one it stops. Nothing is ever run again by itself. Read next: agent/turn/interruption.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from agentsh.agent.agent import Agent
from agentsh.cli.notices import agrees, warn
from agentsh.errors import UsageError

if TYPE_CHECKING:
    from agentsh.ui.terminal import Terminal

_ANSWERS = ("ask", "continue", "stop")
STOPPED = 6


def check_way(way: str | None) -> None:
    """Raises UsageError for a word that is none of them."""
    if way is not None and way not in _ANSWERS:
        raise UsageError(f"--on-interrupted {way!r} is none of " + ", ".join(_ANSWERS))


def may_go_on(agent: Agent, way: str, ask: Callable[[str], bool] | None) -> bool:
    """Say what was cut off, and whether to go on. `ask` None: there is nobody to ask."""
    interrupted = agent.interrupted()
    if interrupted is None:
        return True
    warn([interrupted.words()])
    match way:
        case "continue":
            return True
        case "ask" if ask is not None:
            return ask("go on from there?")
        case _:
            warn(["stopped before anything was sent; --on-interrupted continue goes on"])
            return False


def asker(terminal: Terminal) -> Callable[[str], bool] | None:
    """A question as a line on stderr, since stdout is the answer's; Enter alone is no."""
    if not (terminal.stdin_tty and terminal.stderr_tty):
        return None

    def ask(question: str) -> bool:
        return agrees(question, terminal.stderr, terminal.stdin)

    return ask

"""What commands answer and a resumed chat begins with, made of the state. Pure.

Loads no library of the terminal: plain lines say the same. Read next: chatstate.py, footer.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from agentsh.agent.config import named
from agentsh.sanitize import safe_line
from agentsh.settings import POLICIES
from agentsh.ui.state.chatstate import ChatState


def model_words(state: ChatState) -> str:
    return f"model: {safe_line(named(state.endpoint, state.model), 100)}, from the next prompt on"


def resumed_words(state: ChatState, returned: Sequence[str]) -> str:
    """The first line of a chat that goes on; "" where nothing differs from a new one.

    `returned`: `model`, `thinking`, or what else came back in words.
    """
    shown = {
        "model": f"model {safe_line(named(state.endpoint, state.model), 100)}",
        "thinking": f"thinking {state.thinking}",
    }
    returned_words = [shown.get(each) or safe_line(each) for each in returned]
    return f"as it was here: {', '.join(returned_words)}" if returned_words else ""


def thinking_words(state: ChatState) -> str:
    return f"thinking: {state.thinking}"


def approve_words(state: ChatState) -> str:
    return f"approve: {state.policy} ({', '.join(POLICIES[:-1])} or {POLICIES[-1]})"


def kept_words(state: ChatState) -> str:
    """The lines of a session that are about who answers, and what is on the disk."""
    model = safe_line(named(state.endpoint, state.model), 100)
    saved = "yes" if state.saved else "NO: the disk refused the last write"
    return f"model    {model}, {thinking_words(state).replace(': ', ' ')}\nsaved    {saved}"

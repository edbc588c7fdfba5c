"""Thinking levels → the members that a server takes for them. Pure.

Nothing is sent unless the shape says that the server takes it (E24) and a level other than off is
asked for; `thinking_style` says in which words. A level that a style does not know becomes the
nearest one that it does.
"""

from __future__ import annotations

from typing import Final

from agentsh.jsontext import JsonObject
from agentsh.providers.base import Request

_EFFORT: Final = {"minimal": "low", "xhigh": "high", "max": "high"}


def effort(model: str, level: str) -> str:
    """The nearest effort; "minimal" and "xhigh" are known only to the families named here."""
    name = model.rpartition("/")[2].lower()
    if level == "minimal" and name.startswith("gpt-5") and "codex" not in name:
        return level
    if level in ("xhigh", "max") and name.startswith(("gpt-5.1-codex-max", "gpt-5.2")):
        return "xhigh"
    return _EFFORT.get(level, level)


def thinking_members(request: Request) -> JsonObject:
    shape = request.shape
    if not shape.reasoning_effort or request.thinking == "off":
        return {}
    match shape.thinking_style:
        case "openrouter":
            return {"reasoning": {"effort": effort(request.model, request.thinking)}}
        case "enabled":
            return {"thinking": {"type": "enabled"}}
        case "qwen":
            return {"enable_thinking": True}
        case "template":
            return {"chat_template_kwargs": {"enable_thinking": True}}
        case _:
            return {"reasoning_effort": effort(request.model, request.thinking)}

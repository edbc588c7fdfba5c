"""agentsh: a coding-agent shell whose history is a tree you can trust.

Programs in Python say `from agentsh import Session` (docs/python.md). Read next:
docs/architecture.md, then messages.py → session/format/entries.py → session/file/tree.py
→ context/projection.py → providers/base.py → agent/turn/loop.py. This module imports nothing: what
it offers is loaded when it is asked for, and its types are in __init__.pyi.
"""

__version__ = "0.1.0"

__all__ = [
    "AgentshError",
    "Answer",
    "Denied",
    "Event",
    "Image",
    "Request",
    "Session",
    "TurnError",
    "tool",
]

_VALUES = "agentsh.remote.python.values"
_PLACES = {
    "AgentshError": ("agentsh.errors", "AgentshError"),
    "Answer": (_VALUES, "Answer"),
    "Denied": (_VALUES, "CallDeniedError"),
    "Event": (_VALUES, "TurnNews"),
    "Image": ("agentsh.messages", "Image"),
    "Request": (_VALUES, "CallQuestion"),
    "Session": ("agentsh.cli.assembly.scripting.session", "ScriptSession"),
    "TurnError": (_VALUES, "TurnError"),
    "tool": ("agentsh.remote.python.marking", "tool"),
}


def __getattr__(name: str) -> object:
    """One of `__all__`, loaded now."""
    if name not in _PLACES:
        raise AttributeError(f"module 'agentsh' has no attribute {name!r}")
    from importlib import import_module

    module, inner = _PLACES[name]
    value = globals()[name] = getattr(import_module(module), inner)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

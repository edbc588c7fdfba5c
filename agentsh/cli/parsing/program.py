"""The program's commands by name: what there is, and the function of each.

A command lies in the module of `agentsh/cli/commands` that has its name. Nothing is loaded here but
the one that is asked for (docs/adr/0005).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, Final

COMMANDS: Final = (
    *("chat", "run", "resume", "compact", "tree", "show", "sessions", "diff", "why", "lineage"),
    *("search", "cost", "context", "verify", "replay", "checkout", "fork", "label", "rename"),
    *("retry", "ask", "pick", "fold", "hide", "unhide", "repair", "export", "import", "help"),
    *("explore", "setup", "models", "mcp", "skills", "config", "doctor", "schema", "rpc", "acp"),
)
"""In the order of the help."""
WITHOUT_TYPER: Final = (
    *("chat", "run", "resume", "rpc", "acp", "compact", "sessions", "why", "explore"),
)
"""Commands whose words are read by words.py where they are plain: most starts are one of these."""
OF_SESSIONS: Final[Mapping[str, str]] = {
    "path": "sessions",
    "relink": "sessions",
    "pin": "marks",
    "unpin": "marks",
    "tag": "marks",
    "archive": "archive",
    "unarchive": "archive",
    "rm": "trash",
    "trash": "trash",
    "restore": "trash",
    "gc": "leftovers",
}
"""`agentsh sessions NAME` → its module, which holds also what undoes it."""
OF_EXPLORE: Final[Mapping[str, str]] = {
    "list": "explorations",
    "show": "explorations",
    "diff": "explorations",
    "export": "explorations",
    "resume": "explore",
    "stop": "exploring",
    "clean": "exploring",
    "rm": "exploring",
    "pick": "exploring",
}
"""`agentsh explore NAME` → its module; any other first word is a prompt."""
RUNNER_WORD: Final = "--explore-runner"
"""Said by an exploration to the process of a branch."""
_MODULES: Final[Mapping[str, str]] = {"unhide": "hide"}
"""Commands that lie in the module of what they undo."""
_TAKEN: Final = ("import", "help", "fold")
"""Names that Python, or another module, has already: module and function end in `_`."""


def find_command(name: str) -> Callable[..., int]:
    """The function of `agentsh NAME`."""
    own = f"{name}_" if name in _TAKEN else name
    return _function(_MODULES.get(name, own), own)


def command_meant(words: Sequence[str]) -> tuple[Callable[..., int], Sequence[str]]:
    """The function of the command that begins the words, and the words that are left for it."""
    if words[0] == "explore" and words[1:2] and words[1] in OF_EXPLORE:
        return find_subcommand(words[0], words[1]), words[2:]
    return find_command(words[0]), words[1:]


def find_subcommand(group: str, name: str) -> Callable[..., int]:
    """The function of `agentsh sessions NAME` or `agentsh explore NAME`."""
    if group == "explore":
        return _function(OF_EXPLORE[name], f"explore_{name}")
    return _function(OF_SESSIONS[name], name)


def _function(module: str, name: str) -> Callable[..., int]:
    command: Callable[..., Any] = getattr(import_module(f"agentsh.cli.commands.{module}"), name)
    return command

"""The arguments of `Session.create` and `Session.open`, as the options of a command.

What an argument leaves open is the command line's: settings, environment, trust. Read next:
hosting.py, cli/parsing/modeloptions.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Final, TypedDict

from agentsh.cli.parsing.modeloptions import TurnOptions
from agentsh.errors import UsageError
from agentsh.files import from_home, is_folder, real
from agentsh.remote.python.talk import ApproveCallback


class SessionArguments(TypedDict, total=False):
    """What may be said of a session; what is left out is as the settings have it."""

    cwd: str | PathLike[str]
    """The folder that it works in; this one."""
    model: str | None
    base_url: str | None
    policy: str | None
    """never, ask, edits or all."""
    approve: ApproveCallback | None
    """Asked about calls that need it; without one a turn ends there (`blocked`)."""
    allow: Sequence[str]
    """Rules for commands that need no question."""
    tools: Sequence[Callable[..., Any]]
    """Functions that the model may call."""
    builtin_tools: Sequence[str] | None
    """Which tools to offer besides, by name; None: all."""
    max_steps: int | None
    """Requests in one turn."""
    max_tokens: int | None
    """Most that one answer may have."""
    max_retries: int | None
    idle_timeout: float | None
    context_window: int | None
    thinking: str | None
    trust: bool
    """Use the project's own settings and .env."""
    context_files: bool
    skills: bool
    mcp: bool
    sandbox: bool
    session_dir: str | PathLike[str] | None
    save: bool
    """False: in memory only."""


_LEAST: Final = {
    "max_steps": 1,
    "max_tokens": 1,
    "context_window": 1,
    "max_retries": 0,
    "idle_timeout": 0,
}


def check_arguments_given(given: SessionArguments) -> None:
    """Raises TypeError: there is no such argument. Raises UsageError: a number is none."""
    unknown = given.keys() - SessionArguments.__annotations__.keys()
    if unknown:
        raise TypeError(f"a Session takes no argument {', '.join(sorted(unknown))}")
    values = dict(given)
    for name, least in _LEAST.items():
        value = values.get(name)
        if value is None:
            continue
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or float(str(value)) < least:
            raise UsageError(f"{name} must be a number, {least} at least, and is {value!r}")


def folder_of(given: SessionArguments) -> Path:
    """Where the session works. Raises UsageError: there is no such folder."""
    folder = real(from_home(given.get("cwd", ".")))
    if not is_folder(folder):
        raise UsageError(f"there is no folder {folder}")
    return folder


def options_of(given: SessionArguments, tools: Sequence[str]) -> TurnOptions:
    """The options that say the same. `tools`: the names of the script's own."""
    allow = given.get("allow", ())
    session_dir = given.get("session_dir")
    builtin = given.get("builtin_tools")
    offered = None if builtin is None else (*_names(builtin), *tools)
    return TurnOptions(
        model=given.get("model"),
        base_url=given.get("base_url"),
        idle_timeout=given.get("idle_timeout"),
        max_retries=given.get("max_retries"),
        max_tokens=given.get("max_tokens"),
        context_window=given.get("context_window"),
        thinking=given.get("thinking"),
        session_dir=None if session_dir is None else str(session_dir),
        trust=given.get("trust", False),
        approve=given.get("policy"),
        allow=list(_names(allow)),
        sandbox=given.get("sandbox", False),
        tools=",".join(offered) if offered else None,
        no_tools=offered == (),
        no_context_files=not given.get("context_files", True),
        no_mcp=not given.get("mcp", True),
        no_skills=not given.get("skills", True),
    )


def _names(given: Sequence[str]) -> Sequence[str]:
    """One text is one name, and no list of letters."""
    return (given,) if isinstance(given, str) else given

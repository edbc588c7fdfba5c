"""May a call be done: the policy table, as one pure decision. It asks nobody and runs nothing.

| policy | reads | write, edit inside the folder | write, edit elsewhere; commands; unknown tools |
| never  | done  | refused                       | refused                                        |
| ask    | done  | asked                         | asked                                          |
| edits  | done  | done                          | asked                                          |
| all    | done  | done                          | done                                           |

What no checkpoint holds is not "inside": agentsh's own files, `.git` and `.agentsh` (their hooks
and settings run commands, and an edit there cannot be undone). Rules (rules.py) turn asked into
done, never refused into done. In the sandbox a write that is not inside is refused whatever the
policy. Asking is agent/approvals.py's. Read next: rules.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias, assert_never

from msgspec import Struct

from agentsh.tools.base import Effect
from agentsh.tools.rules import Rule, covered, covers_path, path_hint, rule_hint, why_asked

Policy: TypeAlias = Literal["never", "ask", "edits", "all"]

SHELL: Final = "bash"
"""The tool whose `command` rules are about."""
NOT_INSIDE: Final = frozenset((".git", ".agentsh"))
POLICIES: Final[tuple[Policy, ...]] = ("never", "ask", "edits", "all")


class Allowed(Struct, frozen=True):
    """Do it."""


class Refused(Struct, frozen=True):
    """Don't; `reason` becomes the error result."""

    reason: str


class Asked(Struct, frozen=True):
    """A person must agree. `shown` is all of what would be done; `rule_hint` a rule to offer."""

    shown: str
    rule_hint: str | None = None
    why: str | None = None
    """What of it needs the question, where there is more to say than the policy."""


Decision: TypeAlias = Allowed | Refused | Asked


def default_policy(*, sandboxed: bool) -> Policy:
    """What holds where nobody said anything: commands need no question in the sandbox."""
    return "all" if sandboxed else "edits"


def decide(
    policy: Policy,
    *,
    tool: str,
    effect: Effect,
    touched: Sequence[Path],
    cwd: Path,
    command: str | None = None,
    rules: Sequence[Rule] = (),
    sandboxed: bool = False,
    shown: str | None = None,
    own: Sequence[Path] = (),
) -> Decision:
    """The table. `touched`, `cwd` and `own` (agentsh's folders) are real paths (links resolved).

    `shown`: what a person is to see of a call that is no shell command (its arguments).
    """
    match effect:
        case Effect.READ:
            return Allowed()
        case Effect.WRITE:
            inside = is_inside(touched, cwd, own)
            return _decide_write(policy, tool, touched, inside, rules, sandboxed, shown)
        case Effect.EXEC | Effect.UNKNOWN:
            return _decide_command(policy, tool, command, rules, shown)
        case _:
            assert_never(effect)


def is_inside(touched: Sequence[Path], cwd: Path, own: Sequence[Path] = ()) -> bool:
    """Whether all that a call touches is the project's; nothing known is not inside."""
    return bool(touched) and all(
        path.is_relative_to(cwd)
        and NOT_INSIDE.isdisjoint(path.relative_to(cwd).parts)
        and not any(path.is_relative_to(folder) for folder in own)
        for path in touched
    )


def _decide_write(
    policy: Policy,
    tool: str,
    touched: Sequence[Path],
    inside: bool,
    rules: Sequence[Rule],
    sandboxed: bool,
    shown: str | None,
) -> Decision:
    names = ", ".join(str(path) for path in touched) or shown or "files"
    if sandboxed and not inside:
        return Refused(f"{tool} {names}: outside the project folder, which the sandbox forbids")
    match policy:
        case "never":
            return Refused(_never(tool))
        case "all":
            return Allowed()
        case "edits" if inside:
            return Allowed()
        case "ask" | "edits":
            if touched and all(any(covers_path(r, path) for r in rules) for path in touched):
                return Allowed()
            hint = path_hint(touched[0]) if len(touched) == 1 else None
            return Asked(f"{tool} {names}", hint, None if inside else _OUTSIDE)
        case _:
            assert_never(policy)


def _decide_command(
    policy: Policy,
    tool: str,
    command: str | None,
    rules: Sequence[Rule],
    shown: str | None,
) -> Decision:
    match policy:
        case "never":
            return Refused(_never(tool))
        case "all":
            return Allowed()
        case "ask" | "edits":
            if command is None or tool != SHELL:  # rules name commands of a shell, no arguments
                return Asked(" ".join((tool, *(words for words in (shown, command) if words))))
            if covered(rules, command):
                return Allowed()
            return Asked(command, rule_hint(command), why_asked(rules, command))
        case _:
            assert_never(policy)


_OUTSIDE: Final = "it is not inside the project folder"


def _never(tool: str) -> str:
    return f"{tool} was refused: the approval policy is never, which allows reading only"

"""May a call be done: the policy table, as one pure decision. It asks nobody and runs nothing.

| policy | reads | write, edit inside the folder | write, edit elsewhere; commands; unknown tools |
| never  | done  | refused                       | refused                                        |
| ask    | done  | asked                         | asked                                          |
| edits  | done  | done                          | asked                                          |
| all    | done  | done                          | done                                           |

What gives orders is not "inside", there already or new: agentsh's own files, `.git`, `.agentsh`,
`.env` (rules.py, `gives_orders`), and files that settings name, git's too
(agentsh/cli/setup/namedorders.py): what is written there runs commands later, or says where the key
is sent. Rules turn asked into done, never refused into done. In the sandbox a write that is not
inside is refused whatever the policy. Asking is agent/turn/approvals.py's. Read next: rules.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeAlias, assert_never

from msgspec import Struct

from agentsh.errors import UsageError
from agentsh.settings import POLICIES, Policy
from agentsh.tools.approval.rules import (
    Rule,
    covering,
    covers_path,
    covers_served,
    gives_orders,
    is_of_another_form,
    path_hint,
    rule_hint,
    served_hint,
    why_asked,
)
from agentsh.tools.base import Effect, ServedTool

SHELL: Final = "bash"
"""The tool whose `command` rules are about."""


def policy_named(word: str) -> Policy:
    """Raises UsageError where there is none of that name."""
    for policy in POLICIES:
        if word == policy:
            return policy
    raise UsageError(f"there is no approval policy {word!r}", hint="one of: " + ", ".join(POLICIES))


class Allowed(Struct, frozen=True):
    """Do it. By this policy, or by this rule; both None: no policy refuses it (reading)."""

    policy: Policy | None = None
    rule: str | None = None


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


def default_policy(*, sandboxed: bool, wide: bool = False) -> Policy:
    """What holds where nobody said anything: commands need no question in the sandbox.

    `wide`: the folder is the home, or above it. Nothing of that is recorded, so no edit there can
    be taken back, and settings of the shell and of ssh lie in it: everything asks.
    """
    if wide:
        return "ask"
    return "all" if sandboxed else "edits"


class CallFacts(Struct, frozen=True):
    """What is judged of a call. `touched` are real paths (links resolved)."""

    tool: str
    effect: Effect
    touched: Sequence[Path] = ()
    command: str | None = None
    """The command line of a tool that runs one."""
    shown: str | None = None
    """What a person is to see of a call that is no shell command: its arguments."""
    served: ServedTool | None = None
    """Of a server's tool: which."""


def decide(
    policy: Policy,
    call: CallFacts,
    rules: Sequence[Rule] = (),
    *,
    cwd: Path,
    sandboxed: bool = False,
    own: Sequence[Path] = (),
) -> Decision:
    """The table. `cwd` and `own` are real paths, too.

    `own`: agentsh's folders, and files and folders that settings name as commands.
    """
    match call.effect:
        case Effect.READ:
            return Allowed()
        case Effect.WRITE:
            apart = why_not_inside(call.touched, cwd, own)
            return _decide_write(policy, call, rules, apart, own, sandboxed=sandboxed)
        case Effect.EXEC | Effect.UNKNOWN:
            return _decide_command(policy, call, rules)
        case _:
            assert_never(call.effect)


def why_not_inside(touched: Sequence[Path], cwd: Path, own: Sequence[Path] = ()) -> str | None:
    """Why what a call touches is not all the project's; nothing known is not inside."""
    if not touched or not all(path.is_relative_to(cwd) for path in touched):
        return _OUTSIDE
    for path in touched:
        if gives_orders(path.relative_to(cwd)) or any(path.is_relative_to(one) for one in own):
            return _ORDERS
    return None


def _decide_write(
    policy: Policy,
    call: CallFacts,
    rules: Sequence[Rule],
    apart: str | None,
    own: Sequence[Path],
    *,
    sandboxed: bool,
) -> Decision:
    tool, touched = call.tool, call.touched
    names = ", ".join(str(path) for path in touched) or call.shown or "files"
    if sandboxed and apart:
        what = "outside the project folder" if apart is _OUTSIDE else apart
        return Refused(f"{tool} {names}: {what}, which the sandbox forbids")
    match policy:
        case "never":
            return Refused(_never(tool))
        case "all":
            return Allowed(policy)
        case "edits" if apart is None:
            return Allowed(policy)
        case "ask" | "edits":
            by = [next((r for r in rules if covers_path(r, path, own)), None) for path in touched]
            named = [str(rule) for rule in by if rule is not None]
            if named and len(named) == len(touched):
                return Allowed(rule=", ".join(dict.fromkeys(named)))
            hint = path_hint(touched[0]) if len(touched) == 1 else None
            return Asked(f"{tool} {names}", hint, apart)
        case _:
            assert_never(policy)


def _decide_command(policy: Policy, call: CallFacts, rules: Sequence[Rule]) -> Decision:
    tool, command = call.tool, call.command
    match policy:
        case "never":
            return Refused(_never(tool))
        case "all":
            return Allowed(policy)
        case "ask" | "edits":
            if call.served is not None:
                return _decide_served(call.served, call.shown or "", rules)
            if command is None or tool != SHELL:  # rules name commands of a shell, no arguments
                return Asked(" ".join((tool, *(shown for shown in (call.shown, command) if shown))))
            if (rule := covering(rules, command)) is not None:
                return Allowed(rule=str(rule))
            return Asked(command, rule_hint(command), why_asked(rules, command))
        case _:
            assert_never(policy)


def _decide_served(served: ServedTool, shown: str, rules: Sequence[Rule]) -> Decision:
    if (rule := next((r for r in rules if covers_served(r, served)), None)) is not None:
        return Allowed(rule=str(rule))
    why = None
    if any(is_of_another_form(rule, served) for rule in rules):
        why = "its description or schema has changed since it was allowed"
    return Asked(f"{served.server}/{served.tool} {shown}", served_hint(served), why)


_OUTSIDE: Final = "it is not inside the project folder"
_ORDERS: Final = "agentsh or git takes orders from it"


def _never(tool: str) -> str:
    return f"{tool} was refused: the approval policy is never, which allows reading only"

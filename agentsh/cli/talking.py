"""Declares the commands that talk to a model: chat, run, resume, compact.

Signatures only; what they do is chat.py's, run.py's and compact.py's. Loads no typer (words.py).
Annotations are kept as objects (no `from __future__`): they are read.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from agentsh.cli.modeloptions import ModelOptions, OptionalSession, TurnOptions
from agentsh.cli.words import Argument, Option

if TYPE_CHECKING:
    import typer

Continue = Annotated[
    bool, Option("-c", "--continue", help="go on with the last session of this directory")
]
Where = Annotated[
    str | None,
    Option("--session", metavar="SESSION", help="go on with it", complete="sessions"),
]
Fork = Annotated[
    str | None,
    Option(
        "--fork",
        metavar="SESSION[:ENTRY]",
        help="go on in a fork of that session",
        complete="sessions",
    ),
]
From = Annotated[
    str | None,
    Option(
        "--at",
        metavar="ENTRY",
        help="go on at that entry of the session",
        complete="entries",
    ),
]
Attach = Annotated[
    list[str], Option("-a", "--attach", metavar="FILE", help="add a file to the prompt")
]

Plain = Annotated[bool, Option("--plain", help="plain lines only, for screen readers")]


def declare(app: "typer.Typer") -> None:
    """Register them."""
    from agentsh.cli.options import add

    for command, options in COMMANDS.values():
        add(app, command, options=options)


def chat(
    options: TurnOptions,
    prompt: Annotated[str | None, Argument(help="first prompt")] = None,
    last: Continue = False,
    session: Where = None,
    fork: Fork = None,
    at: From = None,
    attach: Attach = [],  # noqa: B006  # typer's way to say "none given"; never changed
    plain: Plain = False,
) -> int:
    """Chat in this directory: a new session, or -c the last one."""
    from agentsh.cli.chat import chat as start

    return start(
        prompt,
        options,
        last=last,
        session=session,
        fork=fork,
        at=at,
        attach=tuple(attach),
        plain=plain,
    )


def run(
    options: TurnOptions,
    prompt: Annotated[str, Argument(help="the prompt, or - for stdin")],
    last: Continue = False,
    session: Where = None,
    fork: Fork = None,
    at: From = None,
    attach: Attach = [],  # noqa: B006
    output: Annotated[
        str, Option("--output", metavar="FORM", help="text, json or events")
    ] = "text",
    max_steps: Annotated[
        int | None, Option("--max-steps", least=1, metavar="N", help="stop after N requests")
    ] = None,
) -> int:
    """Run one prompt to the end of its turn; the answer is on stdout."""
    from agentsh.cli.run import start

    return start(
        prompt,
        options,
        last=last,
        session=session,
        fork=fork,
        at=at,
        attach=tuple(attach),
        output=output,
        max_steps=max_steps,
    )


def resume(options: TurnOptions, session: OptionalSession = None, plain: Plain = False) -> int:
    """Chat in a session, from its leaf; without one, choose it."""
    from agentsh.cli.chat import resume as start

    return start(session, options, plain=plain)


def compact(
    options: ModelOptions,
    session: OptionalSession = None,
    focus: Annotated[
        str | None, Option("--focus", metavar="TEXT", help="what the summary must keep")
    ] = None,
    keep: Annotated[
        int | None, Option("--keep", least=0, metavar="TOKENS", help="what stays as it is")
    ] = None,
    json: Annotated[bool, Option("--json", help="one JSON value on stdout")] = False,
) -> int:
    """Let the model summarise what is old; the file keeps it all."""
    from agentsh.cli.compact import compact as start

    return start(session, options, focus=focus, keep=keep, json=json)


COMMANDS: dict[str, tuple[Callable[..., int], type[ModelOptions]]] = {
    "chat": (chat, TurnOptions),
    "run": (run, TurnOptions),
    "resume": (resume, TurnOptions),
    "compact": (compact, ModelOptions),
}
"""What each is, and the class of its options."""

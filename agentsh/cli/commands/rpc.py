"""`agentsh rpc`: a program drives this session over JSON lines on stdin and stdout.

stdout is the protocol and nothing else; what a person should know goes to stderr. Read next:
remote/rpc/serving.py, cli/assembly/remotehosting.py, docs/rpc.md.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from msgspec.structs import replace

from agentsh.cli.notices import warn
from agentsh.cli.parsing.modeloptions import RpcOptions
from agentsh.cli.parsing.options import Continue, ForkOption, FromEntry, SessionOption
from agentsh.cli.parsing.words import Option
from agentsh.errors import UsageError

if TYPE_CHECKING:
    from agentsh.cli.lookup.choosing import Chosen, StartAt
    from agentsh.cli.setup.configuration import Configuration
    from agentsh.remote.stdio.streams import Streams


def rpc(
    options: RpcOptions,
    last: Continue = False,
    session: SessionOption = None,
    fork: ForkOption = None,
    at: FromEntry = None,
    name: Annotated[
        str | None, Option("--name", metavar="NAME", help="what the session is called")
    ] = None,
    no_session: Annotated[
        bool, Option("--no-session", help="store nothing; what needs the store is refused")
    ] = False,
) -> int:
    """Be driven by a program: JSON lines on stdin and stdout."""
    from agentsh.cli.assembly.safety import confine
    from agentsh.cli.lookup.choosing import StartAt
    from agentsh.cli.lookup.interrupted import check_way
    from agentsh.remote.stdio.streams import Streams

    streams = Streams.take()  # before anything could be printed
    check_way(options.on_interrupted)
    start = StartAt(last, session, fork, at)
    if no_session and start != StartAt():
        raise UsageError("--no-session goes with no other session (-c, --session, --fork)")
    if name is not None and not name.strip():
        raise UsageError("a session's name cannot be empty")
    cwd = Path.cwd()
    options, configuration = _configured(options, cwd)
    warn(configuration.notices)
    confine(configuration, cwd)
    chosen = _chosen(configuration, cwd, start, save=not no_session)
    return _served(configuration, options, chosen, streams, name, save=not no_session)


def _configured(options: RpcOptions, cwd: Path) -> tuple[RpcOptions, Configuration]:
    """With the endpoint that --provider names in force. Raises UsageError."""
    from agentsh.cli.setup.configuration import configure

    configuration = configure(options, os.environ, cwd)
    name, settings = options.provider, configuration.settings
    if name is None or name == settings.endpoint.name:
        return options, configuration
    endpoint = settings.endpoints.get(name)
    if endpoint is None:
        names = ", ".join(sorted(settings.endpoints)) or "none"
        raise UsageError(f"--provider {name[:80]}: there is no [endpoints.{name[:80]}]; {names}")
    model = (options.model or endpoint.model or "").removeprefix(f"{name}/")
    if not model:
        from agentsh.cli.assembly.models import configured

        return options, configured(configuration, endpoint)
    options = replace(options, model=f"{name}/{model}")
    return options, configure(options, os.environ, cwd)


def _chosen(configuration: Configuration, cwd: Path, start: StartAt, *, save: bool) -> Chosen:
    from agentsh.cli.assembly.driving import unsaved
    from agentsh.cli.lookup.choosing import open_chosen
    from agentsh.cli.lookup.finding import store_of

    if not save:
        return unsaved(store_of(configuration.places), cwd)
    return open_chosen(configuration.places, cwd, start)


def _served(
    configuration: Configuration,
    options: RpcOptions,
    chosen: Chosen,
    streams: Streams,
    name: str | None,
    *,
    save: bool,
) -> int:
    """Serve until the end, and close the session."""
    from agentsh.agent.events import code_of
    from agentsh.cli.assembly.remotehosting import ProgramRemoteHost
    from agentsh.cli.assembly.restoring import restored
    from agentsh.cli.lookup.interrupted import STOPPED, may_go_on
    from agentsh.cli.setup.endpoint import make_provider
    from agentsh.remote.rpc.serving import RpcServer

    def say(text: str) -> None:
        warn([text])

    try:
        back = restored(configuration, options, chosen.session, resumed=chosen.resumed)
        provider = make_provider(back.configuration, options, say)
    except BaseException:
        chosen.session.close()
        raise
    host = ProgramRemoteHost(configuration, options, provider, chosen.cwd, say, save=save)
    try:
        wired = host.start(chosen, back)
        warn(wired.notices)
        if not may_go_on(wired.agent, options.on_interrupted or "continue", lambda _q: True):
            return STOPPED
        if name is not None:
            wired.agent.rename(name.strip())
        return RpcServer(host, streams, _reported).serve(lambda end: code_of(end.status))
    finally:
        if host.agent is None:
            chosen.session.close()
        host.close()


def _reported(error: Exception) -> str:
    """A bug: its record, and words for the client."""
    from agentsh.cli.crash import report

    report(error, os.environ)
    return f"this is a bug in agentsh ({type(error).__name__}); stderr says where its record is"

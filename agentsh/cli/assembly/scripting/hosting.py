"""The host of one session of a script: made of arguments, closed with the session.

It satisfies remote/python/talk.ScriptHost. What few scripts ask for is loaded when it is asked for.
Read next: arguments.py, driving.py, session.py.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from agentsh.cli.assembly.driving import ProgramHost, unsaved
from agentsh.cli.assembly.restoring import restored
from agentsh.cli.assembly.safety import confine
from agentsh.cli.assembly.scripting.arguments import (
    SessionArguments,
    check_arguments_given,
    folder_of,
    options_of,
)
from agentsh.cli.lookup.choosing import Chosen, StartAt, open_chosen, opened
from agentsh.cli.lookup.finding import find_named, said_entry, store_of
from agentsh.cli.parsing.modeloptions import TurnOptions
from agentsh.cli.setup.configuration import Configuration, configure
from agentsh.cli.setup.endpoint import make_provider
from agentsh.errors import RefusedError, SessionNotFoundError, UsageError
from agentsh.jsontext import JsonObject
from agentsh.messages import Image
from agentsh.providers.base import Provider
from agentsh.remote.python.breakage import Breakage
from agentsh.session.file.session import open_session
from agentsh.tools.base import Tool

if TYPE_CHECKING:
    from agentsh.agent.structured.answers import AnswerSchema
    from agentsh.remote.python.talk import GivenPicture, GivenSchema


class _Setup(Struct, frozen=True):
    """What a session and its forks have in common."""

    cwd: Path
    configuration: Configuration
    options: TurnOptions
    tools: Sequence[Tool]
    breakage: Breakage
    max_steps: int | None


def create_host(given: SessionArguments) -> ScriptProgramHost:
    """A new session. Raises AgentshError, TypeError."""
    setup = _set_up(given)
    places, cwd = setup.configuration.places, setup.cwd
    if given.get("save", True):
        return _begun(setup, open_chosen(places, cwd, StartAt()))
    return _begun(setup, unsaved(store_of(places), cwd))


def open_host(word: str, at: str | None, fork: bool, given: SessionArguments) -> ScriptProgramHost:
    """A session that exists, or a fork of it. Raises AgentshError, TypeError."""
    if not given.get("save", True):
        raise UsageError("a session that is opened is in a file: save=False is for create")
    setup = _set_up(given)
    places, cwd = setup.configuration.places, setup.cwd
    if not fork:
        is_last = word == "last"
        start = StartAt(last=is_last, session=None if is_last else word, at=at)
        return _begun(setup, open_chosen(places, cwd, start))
    from agentsh.cli.lookup.forking import fork_here

    store = store_of(places)
    path = store.latest(str(cwd)) if word == "last" else find_named(store, word, str(cwd))
    if path is None:
        raise SessionNotFoundError(f"there is no session of {cwd} to fork")
    with open_session(path, write=False) as parent:
        point = parent.leaf if at is None else parent.resolve(at)
        home = None if store.owns(path) else str(cwd)
        child = fork_here(places, store, parent, point, cwd=home)
    return _begun(setup, opened(places, child, cwd))


def _set_up(given: SessionArguments) -> _Setup:
    check_arguments_given(given)
    breakage, functions = Breakage(), given.get("tools", ())
    tools: list[Tool] = []
    if functions:
        from agentsh.remote.python.functiontool import FunctionTool

        tools = [FunctionTool(function, breakage) for function in functions]
    cwd = folder_of(given)
    options = options_of(given, [tool.schema.name for tool in tools])
    configuration = configure(options, os.environ, cwd)
    if not given.get("save", True):  # nothing of the files is kept, either
        settings = configuration.settings
        kept = replace(settings, undo=replace(settings.undo, enabled=False))
        configuration = replace(configuration, settings=kept)
    confine(configuration, cwd)
    return _Setup(cwd, configuration, options, tools, breakage, given.get("max_steps"))


def _begun(setup: _Setup, chosen: Chosen) -> ScriptProgramHost:
    """The host of that session; where it fails, the session is closed as it was."""
    notices = list(setup.configuration.notices)
    try:
        back = restored(setup.configuration, setup.options, chosen.session, resumed=chosen.resumed)
        provider = make_provider(back.configuration, setup.options, notices.append)
        host = ScriptProgramHost(setup, chosen, provider, notices)
        try:
            wired = host.start(chosen, back)
        except BaseException:
            host.close()
            raise
    except BaseException:
        chosen.let_go()
        raise
    notices += wired.notices
    agent = wired.agent
    agent.config = replace(agent.config, max_steps=setup.max_steps)
    if (interrupted := agent.interrupted()) is not None:
        notices.append(interrupted.words())
    return host


class ScriptProgramHost(ProgramHost):
    """The surroundings of one session of a script."""

    def __init__(
        self, setup: _Setup, chosen: Chosen, provider: Provider, notices: list[str]
    ) -> None:
        super().__init__(
            setup.configuration,
            setup.options,
            provider,
            setup.cwd,
            notices.append,
            setup.tools,
            save=chosen.session.path is not None,
        )
        self._setup = setup
        self._chosen = chosen
        self._notices = notices
        self.breakage = setup.breakage

    @property
    def notices(self) -> tuple[str, ...]:
        return tuple(self._notices)

    def close(self) -> None:
        """A move that nothing came of is dropped. A script's signal handlers are its own."""
        servers, self._servers = self._servers, None
        try:
            if self.agent is not None:
                self._chosen.drop_move()
            super().close()
        finally:
            if servers is not None:
                servers.close()

    def forked(self, at: str | None) -> ScriptProgramHost:
        """A host of its own for a fork that begins there."""
        session = self.front.session
        if session.path is None:
            raise RefusedError("this session is in memory only, and so has no forks")
        path = self.fork(session.leaf if at is None else session.resolve(at))
        return _begun(self._setup, opened(self._setup.configuration.places, path, self._setup.cwd))

    # ---- what a script hands over ----------------------------------------------------------------

    def pictures(self, images: Sequence[GivenPicture]) -> tuple[Image, ...]:
        from agentsh.cli.setup.attachments import attached

        pictures: list[Image] = []
        for image in images:
            if isinstance(image, Image):
                pictures.append(image)
                continue
            text, more = attached("", (str(image),), self._setup.cwd)
            if text:
                raise UsageError(f"{image} is no picture")
            pictures += more
        return tuple(pictures)

    def answer_schema(self, schema: GivenSchema) -> AnswerSchema:
        from agentsh.agent.structured.validator import answer_schema
        from agentsh.cli.setup.answerschema import read_schema

        if isinstance(schema, str | os.PathLike):
            return read_schema(str(schema), self._setup.cwd)
        return answer_schema(dict(schema), "schema")

    # ---- what there is to look at ----------------------------------------------------------------

    def named_entry(self, word: str) -> str:
        return said_entry(self.front.session, word)

    def tree(self) -> JsonObject:
        from agentsh.remote.values.tree import tree_json

        session = self.front.session
        tree, file = session.tree, str(session.path or "")
        return tree_json(
            session.header.id,
            file,
            session.leaf,
            session.entries(),
            tree.labels,
            tree.path(session.leaf),
        )

    def view(self, name: str, at: str | None) -> JsonObject:
        session = self.front.session
        place = session.leaf if at is None else session.resolve(at)
        match name:
            case "chat" | "trace" | "raw":
                from agentsh.remote.values.views import view_json

                return view_json(session, name, place)
            case "model":
                from agentsh.remote.values.modelview import model_view_json

                return model_view_json(session, place)
            case _:
                raise UsageError(f"the view {name!r} is none of chat, trace, model, raw")

    def differences(self, a: str, b: str) -> JsonObject:
        from agentsh.cli.assembly.comparing import differences_here
        from agentsh.remote.values.differences import differences_json

        session = self.front.session
        start, end = session.resolve(a), session.resolve(b)
        differences = differences_here(self.front, self._configuration, start, end)
        return differences_json(session.header.id, differences)

    def cost(self) -> JsonObject:
        from agentsh.cli.lookup.costing import cost_of_one

        path = self.front.session.path
        if path is None:
            raise RefusedError("this session is in memory only; each answer has its cost")
        return cost_of_one(path, "turn").as_json()

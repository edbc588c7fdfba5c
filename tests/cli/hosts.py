"""The program's own hosts for tests: a project's settings, a scripted endpoint, no process."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from agentsh.cli.assembly.driving import ProgramHost, unsaved
from agentsh.cli.assembly.restoring import restored
from agentsh.cli.lookup.choosing import StartAt, open_chosen
from agentsh.cli.lookup.finding import store_of
from agentsh.cli.parsing.modeloptions import TurnOptions
from agentsh.cli.setup.configuration import configure
from agentsh.cli.setup.endpoint import make_provider
from tests.cli.working import Project
from tests.support.endpoint import Endpoint

AnyHost = TypeVar("AnyHost", bound=ProgramHost)


@contextmanager
def program_host(
    make: Callable[..., AnyHost],
    project: Project,
    endpoint: Endpoint,
    *,
    settings: str = "",
    save: bool = True,
    start: StartAt | None = None,
) -> Iterator[AnyHost]:
    """A host of that kind with a session of the project in front.

    `settings` are TOML tables that stand behind `[endpoint]`.
    """
    project.settings(f'[endpoint]\nbase_url = "{endpoint.base_url}"\nmodel = "m"\n{settings}')
    options = TurnOptions()
    configuration = configure(options, os.environ, project.tree)
    places = configuration.places
    if save:
        chosen = open_chosen(places, project.tree, start or StartAt())
    else:
        chosen = unsaved(store_of(places), project.tree)
    back = restored(configuration, options, chosen.session, resumed=chosen.resumed)
    provider = make_provider(configuration, options, lambda _: None)
    host = make(configuration, options, provider, project.tree, save=save)
    host.start(chosen, back)
    try:
        yield host
    finally:
        host.close()

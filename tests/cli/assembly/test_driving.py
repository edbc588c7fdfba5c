"""The program's own host does as a host must (tests/agent/hostcontract.py)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agentsh.agent.driven.host import SessionHost
from agentsh.cli.assembly.driving import ProgramHost
from agentsh.cli.assembly.restoring import restored
from agentsh.cli.lookup.choosing import StartAt, open_chosen
from agentsh.cli.parsing.modeloptions import TurnOptions
from agentsh.cli.setup.configuration import configure
from agentsh.cli.setup.endpoint import make_provider
from tests.agent.hostcontract import HostContract
from tests.cli.working import Project
from tests.support.endpoint import serve, text


class TestProgramHost(HostContract):
    @pytest.fixture
    def host(self, project: Project) -> Iterator[SessionHost]:
        with serve(text("a heron"), models=[{"id": "m"}, {"id": "n"}]) as endpoint:
            project.settings(f'[endpoint]\nbase_url = "{endpoint.base_url}"\nmodel = "m"\n')
            options = TurnOptions()
            environ = {"HOME": str(project.tree), "AGENTSH_HOME": str(project.home)}
            configuration = configure(options, environ, project.tree)
            places = configuration.places
            chosen = open_chosen(places, project.tree, StartAt(False, None, None, None))
            back = restored(configuration, options, chosen.session, resumed=False)
            provider = make_provider(configuration, options, lambda _: None)
            host = ProgramHost(configuration, options, provider, project.tree)
            host.start(chosen, back)
            for _ in host.front.prompt("hello"):
                pass
            yield host
            host.close()

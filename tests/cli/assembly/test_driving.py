"""The program's own host does as a host must (tests/agent/hostcontract.py)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agentsh.agent.driven.host import SessionHost
from agentsh.cli.assembly.driving import ProgramHost
from tests.agent.hostcontract import HostContract
from tests.cli.hosts import program_host
from tests.cli.working import Project
from tests.support.endpoint import serve, text


class TestProgramHost(HostContract):
    @pytest.fixture
    def host(self, project: Project) -> Iterator[SessionHost]:
        with (
            serve(text("a heron"), models=[{"id": "m"}, {"id": "n"}]) as endpoint,
            program_host(ProgramHost, project, endpoint) as host,
        ):
            for _ in host.front.prompt("hello"):
                pass
            yield host

"""The host of a driver from outside does as a host must (tests/agent/hostcontract.py)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agentsh.agent.driven.host import SessionHost
from agentsh.cli.assembly.remotehosting import ProgramRemoteHost
from tests.agent.hostcontract import HostContract
from tests.cli.hosts import program_host
from tests.cli.working import Project
from tests.support.endpoint import serve, text


class TestProgramRemoteHost(HostContract):
    @pytest.fixture
    def host(self, project: Project) -> Iterator[SessionHost]:
        with (
            serve(text("a heron"), models=[{"id": "m"}, {"id": "n"}]) as endpoint,
            program_host(ProgramRemoteHost, project, endpoint) as host,
        ):
            for _ in host.front.prompt("hello"):
                pass
            yield host


def test_an_address_is_shown_without_what_signs_in(project: Project) -> None:
    far = "http://heron:sesame@127.0.0.1:9/v1"
    settings = f'[endpoints.far]\nbase_url = "{far}"\nmodel = "n"\n'
    with (
        serve(text("x")) as endpoint,
        program_host(ProgramRemoteHost, project, endpoint, settings=settings) as host,
    ):
        [model] = [each for each in host.models() if each.endpoint == "far"]

        assert model.base_url == "http://127.0.0.1:9/v1"
        assert model.word == "far/n"

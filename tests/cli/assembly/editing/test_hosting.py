"""The sessions of an editor: each with a host that any driver may be handed."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from agentsh.agent.driven.host import SessionHost
from agentsh.cli.assembly.editing.hosting import ProgramForEditors
from agentsh.cli.parsing.modeloptions import TurnOptions
from agentsh.errors import SessionLockedError
from tests.agent.hostcontract import HostContract
from tests.cli.working import Project
from tests.support.endpoint import serve, text


class TestEditorHost(HostContract):
    @pytest.fixture
    def host(self, project: Project) -> Iterator[SessionHost]:
        with serve(text("a heron"), models=[{"id": "m"}, {"id": "n"}]) as endpoint:
            options = TurnOptions(model="m", base_url=endpoint.base_url)
            host = ProgramForEditors(options, os.environ).begin(project.tree, {})
            for _ in host.front.prompt("hello"):
                pass
            yield host
            host.close()


def test_a_session_goes_on_in_its_own_folder_by_that_folders_settings(project: Project) -> None:
    other = project.tree / "other"
    other.mkdir()
    with serve(text("a heron")) as endpoint:
        options = TurnOptions(model="m", base_url=endpoint.base_url)
        program = ProgramForEditors(options, os.environ)
        first = program.begin(other, {})
        for _ in first.front.prompt("hello"):
            pass
        session = first.front.session.header.id
        with pytest.raises(SessionLockedError):
            program.reopen(session, project.tree, {})
        first.close()

        again = program.reopen(session, project.tree, {})

        assert again.cwd == other
        again.close()

"""The host that drivers are tested with does as a host must."""

from __future__ import annotations

import pytest

from agentsh.agent.driven.host import SessionHost
from tests.agent.hostcontract import HostContract
from tests.agent.scriptedhost import ScriptedHost


class TestScriptedHost(HostContract):
    @pytest.fixture
    def host(self) -> SessionHost:
        return ScriptedHost()

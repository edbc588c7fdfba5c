"""The worker of this machine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agentsh.explore.running.local import LocalWorker
from agentsh.explore.running.worker import RunnerWorker
from tests.explore.running.worker_contract import Stage, WorkerContract

pytestmark = pytest.mark.slow  # real processes


class TestLocalWorker(WorkerContract):
    @pytest.fixture
    def worker(self, stage: Stage) -> Iterator[RunnerWorker]:
        worker = LocalWorker(3)
        yield worker
        worker.close()

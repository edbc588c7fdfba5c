"""Tests that type at a real terminal wait for what a busy machine may show late.

One that fails is run once more, by itself, and named at the end; what is wrong fails both times.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

HERE = Path(__file__).parent
AGAIN: list[str] = []


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    if not item.path.is_relative_to(HERE):
        return None
    hooks = item.ihook
    hooks.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    if any(report.failed for report in reports):
        AGAIN.append(item.nodeid)
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
    for report in reports:
        hooks.pytest_runtest_logreport(report=report)
    hooks.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for name in AGAIN:
        terminalreporter.write_line(f"run twice: {name}")

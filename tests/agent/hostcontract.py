"""What holds of every host that a driver may be handed (agent/driven/host.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsh.agent.driven.host import SessionHost
from agentsh.agent.turn.approvals import ApprovalAnswer, ApprovalRequest
from agentsh.errors import AgentshError, RefusedError, UsageError


def agree(request: ApprovalRequest) -> ApprovalAnswer:
    return ApprovalAnswer("once")


class HostContract:
    """Inherited by the test of each host, which gives `host`: something was said in its front."""

    def test_a_new_session_is_in_front_and_the_approver_goes_along(self, host: SessionHost) -> None:
        before = host.front.session.header.id
        host.front.approver = agree

        new = host.new_session()

        assert host.front is new
        assert new.session.header.id != before
        assert new.approver is agree

    def test_a_session_that_is_opened_is_in_front(self, host: SessionHost) -> None:
        before = host.front.session.header.id
        path = host.front.session.path
        assert path is not None
        host.new_session()

        opened = host.open_session(path)

        assert host.front is opened
        assert opened.session.header.id == before

    def test_what_cannot_be_opened_leaves_the_front_as_it_was(
        self, host: SessionHost, tmp_path: Path
    ) -> None:
        before = host.front

        with pytest.raises(AgentshError):
            host.open_session(tmp_path / "none.jsonl")

        assert host.front is before

    def test_a_fork_is_another_session_and_is_not_in_front_by_itself(
        self, host: SessionHost
    ) -> None:
        before = host.front

        path = host.fork(before.session.leaf)

        assert host.front is before
        assert path != before.session.path
        assert host.open_session(path).session.path == path

    def test_a_policy_counts_from_now_on_and_a_wrong_one_changes_nothing(
        self, host: SessionHost
    ) -> None:
        host.set_policy("all")
        with pytest.raises(UsageError):
            host.set_policy("maybe")

        assert host.front.report().policy == "all"

    def test_a_model_is_asked_from_now_on(self, host: SessionHost) -> None:
        choices = [choice.model for choice in host.choices()]
        assert host.front.report().model in choices

        host.choose(next(each for each in choices if each != host.front.report().model))

        assert host.front.report().model == choices[1]

    def test_the_session_in_front_is_listed_under_its_name(self, host: SessionHost) -> None:
        path = host.front.session.path
        assert path is not None

        host.rename_session(path, "heron")

        assert {row.path: row.name for row in host.sessions()}[path] == "heron"

    def test_the_session_in_front_is_not_archived(self, host: SessionHost) -> None:
        path = host.front.session.path
        assert path is not None

        with pytest.raises(RefusedError):
            host.archive_session(path)

    def test_another_session_is_archived_out_of_the_list(self, host: SessionHost) -> None:
        path = host.front.session.path
        assert path is not None
        host.new_session()

        host.archive_session(path)

        assert path not in [row.path for row in host.sessions()]

    def test_tools_have_names_and_words(self, host: SessionHost) -> None:
        assert "read" in dict(host.tools())
        assert all(words for _, words in host.tools())

"""`agentsh cost`: one session by turn or branch, many by session, project or month."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentsh.cli.lookup.finding import find_store
from agentsh.messages import AssistantMessage, Cost, Text, Usage, UserMessage
from agentsh.session.format.entries import MessageBody
from tests.cli.program import agentsh


def make(cwd: Path, *costs: float) -> str:
    cwd.mkdir(exist_ok=True)
    with find_store(os.environ.get("AGENTSH_SESSION_DIR")).create(str(cwd)) as session:
        for number, cost in enumerate(costs):
            session.append(MessageBody(UserMessage((Text(f"prompt {number} \x1b[31m"),), 1)))
            usage = Usage(input=1000, output=7, total_tokens=1007, cost=Cost(total=cost))
            said = AssistantMessage((Text("a"),), "a", "p", "m", usage, "stop", 2)
            session.append(MessageBody(said))
        session.barrier()
        return session.header.id


def asked(*words: str, cwd: Path) -> dict[str, object]:
    ended = agentsh("cost", "--json", *words, cwd=cwd)
    assert ended.code == 0, ended.err
    value = ended.json()
    assert isinstance(value, dict)
    return value


def sums(value: dict[str, object]) -> list[float]:
    groups = value["groups"]
    assert isinstance(groups, list)
    return [group["cost"] for group in groups]


def test_a_session_by_turn(tmp_path: Path) -> None:
    make(tmp_path, 1, 2)

    value = asked("last", cwd=tmp_path)

    assert value["by"] == "turn"
    assert sums(value) == [1, 2]
    assert value["total"] == value["own"]
    shown = agentsh("cost", "last", cwd=tmp_path).out
    assert "$3.0000" in shown.splitlines()[-1]
    assert "\x1b" not in shown


def test_a_fork_says_what_it_brought_along(tmp_path: Path) -> None:
    session = make(tmp_path, 1, 2)
    child = agentsh("fork", session, cwd=tmp_path).out.strip()

    value = asked(child, "--by", "branch", cwd=tmp_path)

    assert sums(value) == [3]
    assert isinstance(value["inherited"], dict)
    assert value["inherited"]["cost"] == 3
    assert "forked from" in agentsh("cost", child, cwd=tmp_path).err
    assert asked("--all", cwd=tmp_path)["total"]["cost"] == 3  # type: ignore[index]


def test_requests_without_a_price_are_counted_in_one_session_and_in_many(tmp_path: Path) -> None:
    make(tmp_path, 1, 0)
    make(tmp_path, 0)

    ended = agentsh("cost", cwd=tmp_path)
    value = asked(cwd=tmp_path)

    assert "2 of 3 requests had no price: their cost is not in it" in ended.err
    assert "1 of 1 requests had no price" in agentsh("cost", "last", cwd=tmp_path).err
    assert value["total"]["unpriced"] == 2  # type: ignore[index]
    groups = value["groups"]
    assert isinstance(groups, list)
    assert [group["unpriced"] for group in groups] == [1, 1]


def test_many_sessions_of_this_folder_or_of_all(tmp_path: Path) -> None:
    make(tmp_path / "one", 1)
    make(tmp_path / "one", 4)
    make(tmp_path / "two", 16)
    here = tmp_path / "one"

    assert sums(asked(cwd=here)) == [4, 1]
    assert sums(asked("--all", "--by", "project", cwd=here)) == [16, 5]
    assert sums(asked("--all", "--by", "month", cwd=here)) == [21]
    assert "total, 2 requests" in agentsh("cost", cwd=here).out


@pytest.mark.parametrize(
    "words", [["--by", "moon"], ["--by", "turn"], ["last", "--by", "project"], ["nosuch"]]
)
def test_wrong_use_is_said(tmp_path: Path, words: list[str]) -> None:
    make(tmp_path, 1)

    assert agentsh("cost", *words, cwd=tmp_path).code in (2, 3)


def test_requests_without_a_price_are_said_to_be_missing_in_the_sum(tmp_path: Path) -> None:
    make(tmp_path, 1, 0, 0)

    ended = agentsh("cost", "last", cwd=tmp_path)

    assert "2 of 3 requests had no price" in ended.err
    make(tmp_path, 1)
    assert "no price" not in agentsh("cost", "last", cwd=tmp_path).err

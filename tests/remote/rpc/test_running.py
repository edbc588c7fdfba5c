"""What runs beside the reading thread: one thing at a time, and how it ends where it breaks."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from typing import cast

import pytest

from agentsh.agent.driven.remotehost import RemoteHost
from agentsh.agent.events import AgentEvent, TurnEnd
from agentsh.errors import BusyError, RefusedError
from agentsh.jsontext import JsonObject
from agentsh.remote.rpc.dialogs import Dialogs
from agentsh.remote.rpc.records import encode_record
from agentsh.remote.rpc.running import Runner
from agentsh.remote.values.rpcrecords import RpcRecord
from tests.agent.scriptedhost import ScriptedHost
from tests.ui.fakes import FakeAgent, Script, says


class Driven(ScriptedHost):
    max_retries = 3


class Around:
    """A runner, what it said, and how often it asked to be looked at."""

    def __init__(self, script: Script, *, gone: bool = False) -> None:
        self.host = Driven(script)
        self.records: list[JsonObject] = []
        self.woken = threading.Event()
        self._is_gone = gone
        self.runner = Runner(
            cast("RemoteHost", self.host), self._say, Dialogs(self._say), self.woken.set
        )

    def _say(self, record: RpcRecord) -> None:
        if self._is_gone:
            raise BrokenPipeError
        self.records.append(json.loads(encode_record(record)))

    def turn(self) -> None:
        self.runner.start_turn(self.runner.claim_turn("go", ()))
        self.runner.wait()

    def of(self, kind: str) -> list[JsonObject]:
        return [record for record in self.records if record["type"] == kind]


def raising(error: BaseException) -> Script:
    def play(agent: FakeAgent, text: str) -> Iterator[AgentEvent]:
        yield from ()
        raise error

    return play


def test_a_turn_that_breaks_off_is_told_with_its_hint_and_settles() -> None:
    around = Around(raising(RefusedError("no herons here", hint="look at the lake")))

    around.turn()

    assert [(n["level"], n["text"]) for n in around.of("notice")] == [
        ("error", "no herons here"),
        ("info", "look at the lake"),
    ]
    assert around.records[-1] == {"type": "agent_settled", "aborted": False}
    assert isinstance(around.runner.last_end, TurnEnd)
    assert around.runner.last_end.reason == "error"
    assert around.runner.activity is None
    assert around.runner.failure is None


def test_a_bug_in_a_turn_reaches_the_reading_thread_and_all_settles_all_the_same() -> None:
    bug = LookupError("heron")
    around = Around(raising(bug))

    around.turn()

    assert around.runner.failure is bug
    assert around.woken.is_set()
    assert around.records[-1]["type"] == "agent_settled"


def test_a_reader_that_is_gone_reaches_the_reading_thread_once() -> None:
    around = Around(says("a heron"), gone=True)

    around.turn()

    assert isinstance(around.runner.failure, BrokenPipeError)
    assert around.runner.activity is None


def test_what_breaks_beside_reaches_the_reading_thread_and_the_session_is_free() -> None:
    around = Around(says("x"))
    bug = LookupError("stork")

    def job() -> Callable[[], None]:
        raise bug

    around.runner.claim("bash")
    around.runner.beside(job, "bash")
    around.runner.wait()

    assert around.runner.failure is bug
    around.runner.claim("turn")  # free


def test_the_first_failure_is_the_one_that_counts() -> None:
    first, second = LookupError("first"), LookupError("second")
    around = Around(raising(first))
    around.turn()
    around.host.front = FakeAgent(raising(second))

    around.turn()

    assert around.runner.failure is first


def test_one_thing_at_a_time_and_the_refusal_says_what_runs() -> None:
    around = Around(says("x"))
    with around.runner.alone("navigation"):
        for activity in ("turn", "bash", "session"):
            with pytest.raises(BusyError, match="a branch is being left"):
                around.runner.claim(activity)

    around.runner.claim("compaction")
    with pytest.raises(BusyError, match="the context is being compacted"):
        around.runner.claim("turn")


def test_what_is_done_alone_leaves_the_session_free_when_it_fails() -> None:
    around = Around(says("x"))

    with pytest.raises(LookupError), around.runner.alone("session"):
        raise LookupError

    assert around.runner.activity is None


def test_what_came_after_the_last_look_is_said_before_all_is_settled() -> None:
    """A steer of the last moment: the turn had ended, and the client could not know."""

    def late(agent: FakeAgent, text: str) -> Iterator[AgentEvent]:
        yield from says("a heron")(agent, text)
        if text == "go":
            agent.steer("one more")
            agent.follow_up("and another")

    around = Around(late)

    around.turn()

    assert around.host.front.prompts == ["go", "one more", "and another"]
    assert len(around.of("agent_settled")) == 1
    assert len(around.of("agent_start")) == 3
    assert around.of("queue_update")[-1] == {
        "type": "queue_update",
        "steering": [],
        "followUp": [],
    }


def test_an_end_that_was_no_good_one_leaves_what_waits() -> None:
    def stopped(agent: FakeAgent, text: str) -> Iterator[AgentEvent]:
        agent.follow_up("later")
        agent.abort()
        yield from says("x")(agent, text)

    around = Around(stopped)

    around.turn()

    assert around.host.front.prompts == ["go"]
    assert [item.text for item in around.host.front.queued()] == ["later"]
    assert around.records[-1] == {"type": "agent_settled", "aborted": True}


def test_a_wish_to_stop_at_rest_is_not_for_what_comes_next() -> None:
    around = Around(says("a heron"))

    around.runner.stop()
    around.turn()

    assert around.of("agent_settled") == [{"type": "agent_settled", "aborted": False}]


def test_what_waits_is_said_once_where_nothing_changed() -> None:
    around = Around(says("x"))
    around.host.front.steer("heron")

    around.runner.tell_queue()
    around.runner.tell_queue()

    assert around.of("queue_update") == [
        {"type": "queue_update", "steering": ["heron"], "followUp": []}
    ]

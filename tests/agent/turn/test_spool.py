"""What has come of an answer survives a crash, and leaves nothing behind otherwise."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentsh.abort import Abort
from agentsh.agent.events import TextPart
from agentsh.agent.turn.spool import WINDOW, StreamSpool
from agentsh.errors import ConnectionFailedError, ProviderError, RequestRejectedError
from agentsh.messages import AssistantMessage
from agentsh.providers.base import Request, StreamEvent, TextDelta, ThinkingDelta
from agentsh.session.health.evidence import read_stream, spool_folder
from tests.agent.builders import make_agent, messages, prompts, reopen, run, start_session
from tests.support.scripted import Doing, ScriptedProvider


def test_text_and_reasoning_come_back(tmp_path: Path) -> None:
    spool = StreamSpool(tmp_path / "d" / "s.spool")
    spool.add(1.0, thinking="hm ")
    spool.add(1.0 + WINDOW, text="well ")
    spool.add(1.0 + 2 * WINDOW, text="then")
    spool.close()
    assert read_stream(tmp_path / "d" / "s.spool") == ("well then", "hm ")


@pytest.mark.parametrize("kind", ["link", "pipe", "file", "folder is a link"])
def test_only_a_file_that_is_made_anew_is_written_to(tmp_path: Path, kind: str) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    place = tmp_path / "d" / "s.spool"
    if kind == "folder is a link":
        place.parent.symlink_to(theirs)
    else:
        place.parent.mkdir()
    match kind:
        case "link":
            place.symlink_to(theirs / "s.spool")
        case "pipe":
            os.mkfifo(place)
        case "file":
            place.write_bytes(b"x")

    spool = StreamSpool(place)
    spool.add(1.0, text="the model's words")
    spool.discard()

    assert list(theirs.iterdir()) == []
    assert kind != "file" or place.read_bytes() == b"x"
    assert read_stream(place) == ("", "")


def test_it_writes_at_most_once_a_window(tmp_path: Path) -> None:
    spool = StreamSpool(tmp_path / "s.spool")
    for i in range(1000):
        spool.add(1.0 + i * WINDOW / 500, text="x")
    spool.close()
    assert (tmp_path / "s.spool").read_bytes().count(b"\n") <= 3


def test_it_is_private_and_gone_when_it_has_done_its_work(tmp_path: Path) -> None:
    path = tmp_path / "d" / "s.spool"
    spool = StreamSpool(path)
    spool.add(1.0, text="x")
    assert path.stat().st_mode & 0o777 == 0o600
    spool.discard()
    assert not path.parent.exists()
    spool.discard()


def test_a_disk_that_refuses_costs_the_spool_not_the_answer(tmp_path: Path) -> None:
    (tmp_path / "d").write_text("a file where the folder should be")
    spool = StreamSpool(tmp_path / "d" / "s.spool")
    spool.add(1.0, text="x")
    spool.add(2.0, text="y")
    spool.discard()


def test_without_a_place_it_does_nothing() -> None:
    spool = StreamSpool(None)
    spool.add(1.0, text="x")
    spool.discard()


# ---- in a turn -----------------------------------------------------------------------------------


def then(error: ProviderError | None, *before: StreamEvent) -> Doing:
    def doing(request: Request, abort: Abort) -> Iterator[StreamEvent]:
        yield from before
        if error is not None:
            raise error

    return doing


def lost() -> ConnectionFailedError:
    error = ConnectionFailedError("lost")
    error.retry_after = 0.0
    return error


@pytest.mark.parametrize(
    "first",
    [
        "fine",
        then(RequestRejectedError("no"), TextDelta("half")),
        then(None, TextDelta("half")),
    ],
)
def test_no_turn_leaves_a_spool(first: str | Doing, tmp_path: Path) -> None:
    session = start_session(tmp_path)
    agent = make_agent(session, ScriptedProvider(first, "well"), tmp_path)
    run(agent)
    assert session.path is not None
    assert not spool_folder(session.path).exists()


def test_a_repeat_leaves_no_spool_of_the_attempt_before(tmp_path: Path) -> None:
    session = start_session(tmp_path)
    provider = ScriptedProvider(then(lost(), ThinkingDelta("hm")), "well")
    run(make_agent(session, provider, tmp_path))
    assert len(provider.requests) == 2
    assert session.path is not None
    assert not spool_folder(session.path).exists()


def test_killed_in_the_stream_what_came_is_an_aborted_answer_that_is_never_sent(
    tmp_path: Path,
) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    session = start_session(tmp_path)
    agent = make_agent(session, ScriptedProvider("the first words"), tmp_path)
    for event in agent.prompt("go"):
        if isinstance(event, TextPart):
            assert session.path is not None
            (copy / "session.jsonl").write_bytes(session.path.read_bytes())
            (copy / "session.d").mkdir()
            for spool in spool_folder(session.path).iterdir():
                (copy / "session.d" / spool.name).write_bytes(spool.read_bytes())
    from agentsh.session.file.session import open_session

    with open_session(copy / "session.jsonl", write=True) as again:
        provider = ScriptedProvider("hello")
        run(make_agent(again, provider, copy), "next")
        answers = [m for m in messages(again) if isinstance(m, AssistantMessage)]
        assert [(m.text, m.stop_reason) for m in answers] == [
            ("the first words", "aborted"),
            ("hello", "stop"),
        ]
        assert prompts(again) == ["go", "next"]
    assert b"the first words" not in provider.bodies[0]
    with reopen(copy) as once_more:
        assert len(messages(once_more)) == len(messages(again))

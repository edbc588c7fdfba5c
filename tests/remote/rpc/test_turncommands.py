"""What is said in a turn: prompts, pictures, what waits, stops."""

from __future__ import annotations

import base64

import pytest

from agentsh.jsontext import JsonObject
from tests.cli.working import Project
from tests.remote.rpc.direct import (
    DirectClient,
    direct_client,
    refusal,
)
from tests.support.endpoint import Reply, stream, text
from tests.support.pictures import png

PICTURE: JsonObject = {
    "type": "image",
    "data": base64.b64encode(png(8, 8)).decode(),
    "mimeType": "image/png",
}


def slow(words: str = "slow") -> Reply:
    """An answer that begins and does not end by itself."""
    return stream({"content": words}, 30.0)


def in_a_turn(client: DirectClient) -> None:
    client.ok("prompt", message="go")
    client.wait(lambda r: r["type"] == "message_update")


def said(client: DirectClient) -> list[str]:
    """The prompts and steers of the path, in their order."""
    return [each["text"] for each in client.ok("get_fork_messages")["messages"]]


def queues(client: DirectClient) -> list[tuple[list[str], list[str]]]:
    updates = [r for r in client.records if r["type"] == "queue_update"]
    return [(r["steering"], r["followUp"]) for r in updates]


# ---- prompts -------------------------------------------------------------------------------------


def test_a_prompt_with_nothing_in_it_starts_no_turn(project: Project) -> None:
    with direct_client(project, text("x")) as client:
        assert refusal(client.ask("prompt", message=" \n"))[0] == "usage"

        assert client.endpoint.requests == []
        assert client.ok("get_state")["messageCount"] == 0


def test_a_picture_goes_with_its_prompt_under_the_type_that_it_has(project: Project) -> None:
    misnamed = PICTURE | {"mimeType": "image/jpeg"}
    with direct_client(project, text("a heron")) as client:
        client.ok("prompt", message="", images=[misnamed])
        client.settled()

        [first, *_] = [m for m in client.ok("get_messages")["messages"] if m["role"] == "user"]
        assert first["content"] == [PICTURE]


@pytest.mark.parametrize(
    ("image", "words"),
    [
        (PICTURE | {"data": "no base64!"}, "image 1 is no base64"),
        (PICTURE | {"data": base64.b64encode(b"words").decode()}, "image 1 is no picture"),
        (
            PICTURE | {"data": base64.b64encode(png(8, 8)[:40]).decode()},
            "image 1 (image/png) cannot",
        ),
    ],
)
def test_what_is_no_picture_is_said_and_nothing_is_sent(
    image: JsonObject, words: str, project: Project
) -> None:
    with direct_client(project, text("x")) as client:
        code, error = refusal(client.ask("prompt", message="look", images=[image]))

        assert code == "usage"
        assert error.startswith(words)
        assert client.endpoint.requests == []


def test_a_second_prompt_is_busy_and_its_error_names_the_way(project: Project) -> None:
    with direct_client(project, slow()) as client:
        in_a_turn(client)

        code, words = refusal(client.ask("prompt", message="and?"))

        assert code == "busy"
        assert "streamingBehavior" in words


@pytest.mark.parametrize(("behaviour", "place"), [("steer", 0), ("followUp", 1)])
def test_a_prompt_may_say_where_it_waits_while_a_turn_runs(
    behaviour: str, place: int, project: Project
) -> None:
    with direct_client(project, slow(), text("x")) as client:
        in_a_turn(client)

        data = client.ok("prompt", message="heron", streamingBehavior=behaviour)

        assert data == {"disposition": "queued"}
        assert queues(client)[-1][place] == ["heron"]


def test_at_rest_a_prompt_starts_whatever_it_says_of_waiting(project: Project) -> None:
    with direct_client(project, text("x")) as client:
        data = client.ok("prompt", message="heron", streamingBehavior="steer")
        client.settled()

        assert data == {"disposition": "started"}
        assert said(client) == ["heron"]


def test_an_unknown_skill_is_no_turn_and_the_next_prompt_is_taken(project: Project) -> None:
    with direct_client(project, text("x")) as client:
        assert refusal(client.ask("prompt", message="/skill:heron"))[0] == "not_found"

        assert client.prompt("hi")[-1] == {"type": "agent_settled", "aborted": False}


# ---- what waits ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "members"),
    [
        ("steer", {}),
        ("follow_up", {}),
        ("prompt", {"streamingBehavior": "steer"}),
        ("prompt", {"streamingBehavior": "followUp"}),
    ],
)
def test_pictures_wait_with_their_words_and_are_sent_with_them(
    command: str, members: JsonObject, project: Project
) -> None:
    with direct_client(project, stream({"content": "slow"}, 1.0), text("a heron")) as client:
        in_a_turn(client)

        queued = client.ok(command, message="look", images=[PICTURE], **members)

        assert queued == {"disposition": "queued"}
        client.settled()
        said_by_user = [m for m in client.ok("get_messages")["messages"] if m["role"] == "user"]
        assert said_by_user[-1]["content"] == [{"type": "text", "text": "look"}, PICTURE]
        assert str(PICTURE["data"]) in str(client.endpoint.requests[-1].body)


@pytest.mark.parametrize("command", ["steer", "follow_up"])
def test_what_is_no_picture_does_not_wait(command: str, project: Project) -> None:
    with direct_client(project, slow()) as client:
        in_a_turn(client)
        broken = PICTURE | {"data": "no base64!"}

        code, words = refusal(client.ask(command, message="look", images=[broken]))

        assert (code, "image 1 is no base64" in words) == ("usage", True)
        assert queues(client) == []


@pytest.mark.parametrize("kind", ["steer", "follow_up"])
def test_nothing_waits_that_says_nothing(kind: str, project: Project) -> None:
    with direct_client(project, slow()) as client:
        in_a_turn(client)

        assert refusal(client.ask(kind, message="  "))[0] == "usage"

        assert client.ok("get_state")["pendingMessageCount"] == 0


def test_what_is_steered_at_rest_waits_for_the_next_prompt(project: Project) -> None:
    with direct_client(project, text("one"), text("two")) as client:
        client.ok("steer", message="mind the heron")
        assert client.ok("get_state")["pendingMessageCount"] == 1
        assert client.endpoint.requests == []

        client.prompt("go")

        assert said(client) == ["go", "mind the heron"]
        assert queues(client) == [(["mind the heron"], []), ([], [])]


def test_clear_queue_gives_back_each_text_under_its_kind_also_where_two_are_the_same(
    project: Project,
) -> None:
    with direct_client(project, slow()) as client:
        in_a_turn(client)
        client.ok("steer", message="same")
        client.ok("follow_up", message="same")
        client.ok("follow_up", message="later")

        cleared = client.ok("clear_queue")

        assert cleared == {"steering": ["same"], "followUp": ["same", "later"]}
        assert client.ok("clear_queue") == {"steering": [], "followUp": []}
        assert queues(client)[-1] == ([], [])


def test_what_waits_survives_an_abort_and_goes_with_the_next_prompt(project: Project) -> None:
    with direct_client(project, slow(), text("two"), text("three")) as client:
        in_a_turn(client)
        client.ok("follow_up", message="later")
        client.ok("abort")
        assert client.settled() == {"type": "agent_settled", "aborted": True}
        assert said(client) == ["go"]

        client.prompt("on")

        assert said(client) == ["go", "on", "later"]

"""What is said in a turn and beside it: queues, pictures, stops, commands of the person, moves."""

from __future__ import annotations

import base64
import time
from pathlib import Path

import pytest

from agentsh.jsontext import JsonObject
from tests.cli.working import Project
from tests.remote.rpc.direct import (
    DirectClient,
    direct_client,
    entries,
    prompt_entry,
    refusal,
)
from tests.support.endpoint import Reply, calls, chunk, status, stream, text
from tests.support.pictures import png
from tests.support.rpcclient import Record

PICTURE: JsonObject = {
    "type": "image",
    "data": base64.b64encode(png(8, 8)).decode(),
    "mimeType": "image/png",
}


LITTLE = "[compaction]\nkeep = 100\n"
"""Tokens that a compaction leaves alone."""


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


@pytest.mark.parametrize("kind", ["steer", "follow_up"])
def test_a_message_that_waits_holds_text_only_and_pictures_are_refused_by_name(
    kind: str, project: Project
) -> None:
    with direct_client(project, slow()) as client:
        in_a_turn(client)

        code, words = refusal(client.ask(kind, message="look", images=[PICTURE]))
        beside = refusal(
            client.ask("prompt", message="look", images=[PICTURE], streamingBehavior="steer")
        )

        assert (code, beside[0]) == ("usage", "usage")
        assert "a message that waits holds text only" in words
        assert queues(client) == []
        assert client.ok(kind, message="look", images=[]) == {"disposition": "queued"}


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


# ---- a command of the person ---------------------------------------------------------------------


def test_bash_while_a_turn_runs_is_busy_and_the_turn_goes_on(project: Project) -> None:
    pieces = [chunk({"content": f"{n} "}) for n in range(3)]
    held = stream(pieces[0], 1.0, *pieces[1:], chunk({}, "stop"))
    with direct_client(project, held) as client:
        in_a_turn(client)

        code, words = refusal(client.ask("bash", command="echo a > a.txt"))

        assert code == "busy"
        assert "a turn is running" in words
        client.settled()
        assert client.ok("get_last_assistant_text") == {"text": "0 1 2 "}
        assert project.files() == {}
        assert client.ok("bash", command="echo a > a.txt")["exitCode"] == 0
        assert project.files() == {"a.txt": "a\n"}


def test_bash_gives_output_and_code_and_the_model_is_told_unless_it_is_left_out(
    project: Project,
) -> None:
    with direct_client(project, text("x")) as client:
        told = client.ok("bash", command="echo heron; exit 3")
        client.ok("bash", command="echo badger", excludeFromContext=True)
        client.prompt("hi")

        assert told == {
            "output": "heron\n",
            "exitCode": 3,
            "cancelled": False,
            "truncated": False,
        }
        sent = client.endpoint.requests[0].raw
        assert (b"heron" in sent, b"badger" in sent) == (True, False)


def test_output_that_is_too_long_is_cut_and_its_file_holds_all(project: Project) -> None:
    with direct_client(project, text("x")) as client:
        data = client.ok("bash", command="seq 100000")

        assert data["truncated"]
        whole = Path(data["fullOutputPath"]).read_text()
        assert whole == "".join(f"{n}\n" for n in range(1, 100_001))
        assert len(data["output"]) < len(whole)


def test_abort_bash_ends_the_command_and_says_so(project: Project) -> None:
    with direct_client(project, text("x")) as client:
        number = client.send("bash", command="echo begun; sleep 30")
        client.wait(lambda r: r["type"] == "bash_execution_update")
        began = time.monotonic()
        client.ok("abort_bash")

        assert client.response(number)["data"]["cancelled"] is True
        assert time.monotonic() - began < 10
        assert client.prompt("hi")[-1] == {"type": "agent_settled", "aborted": False}


def test_abort_bash_leaves_a_turn_alone(project: Project) -> None:
    held = stream({"content": "slow"}, 0.5, chunk({}, "stop"))
    with direct_client(project, held) as client:
        in_a_turn(client)
        client.ok("abort_bash")

        assert client.settled() == {"type": "agent_settled", "aborted": False}


def test_a_command_that_is_none_is_refused_and_nothing_is_occupied(project: Project) -> None:
    with direct_client(project, text("x")) as client:
        assert refusal(client.ask("bash", command=" "))[0] == "usage"
        assert client.prompt("hi")[-1]["type"] == "agent_settled"


# ---- compaction ----------------------------------------------------------------------------------


def test_compact_answers_when_it_is_done_with_what_it_made(project: Project) -> None:
    replies = text("word " * 400), text("two"), text("SUMMARY")
    with direct_client(project, *replies, settings=LITTLE) as client:
        client.prompt("first " * 400)
        client.prompt("second")

        data = client.ok("compact", customInstructions="mind the heron")

        assert data["summary"].startswith("SUMMARY")
        assert data["tokensBefore"] > 0
        assert data["entryId"] in [entry["id"] for entry in entries(client)]
        assert b"mind the heron" in client.endpoint.requests[-1].raw
        kinds = [r["type"] for r in client.records]
        assert kinds.index("compaction_start") < kinds.index("compaction_end")
        summaries = [m for m in client.ok("get_messages")["messages"] if "summary" in m]
        assert [m["role"] for m in summaries] == ["compactionSummary"]


def test_where_there_is_nothing_to_compact_it_is_refused_and_the_session_is_free(
    project: Project,
) -> None:
    with direct_client(project, text("x")) as client:
        assert refusal(client.ask("compact"))[0] == "refused"

        assert client.prompt("hi")[-1]["type"] == "agent_settled"


def test_a_compaction_that_the_endpoint_refuses_ends_in_words_and_changes_nothing(
    project: Project,
) -> None:
    refused = status(400, {"error": {"message": "no herons here"}})
    replies = text("word " * 400), text("two"), refused
    with direct_client(project, *replies, settings=LITTLE) as client:
        client.prompt("first " * 400)
        client.prompt("second")
        before = client.ok("get_messages")

        code, words = refusal(client.ask("compact"))

        assert code == "endpoint"
        assert "no herons here" in words
        [end] = [r for r in client.records if r["type"] == "compaction_end"]
        assert "no herons here" in end["errorMessage"]
        assert "result" not in end
        assert client.ok("get_messages") == before


# ---- moves ---------------------------------------------------------------------------------------


def moved(client: DirectClient) -> list[Record]:
    return [r for r in client.records if r["type"] == "leaf_changed"]


def test_to_a_prompt_means_before_it_and_its_text_is_the_editors(project: Project) -> None:
    with direct_client(project, text("one"), text("two")) as client:
        client.prompt("first")
        answer = client.ok("get_state")["leafId"]
        client.prompt("second")

        data = client.ok("navigate_tree", targetId=prompt_entry(client, 1))

        assert data["editorText"] == "second"
        assert data["cancelled"] is False
        assert said(client) == ["first"]
        assert moved(client) == [
            {"type": "leaf_changed", "leafId": data["leafId"], "reason": "navigate"}
        ]
        assert client.ok("get_last_assistant_text") == {"text": "one"}
        assert answer in [entry["id"] for entry in entries(client)]


def test_a_move_may_name_its_place(project: Project) -> None:
    with direct_client(project, text("one"), text("two")) as client:
        client.prompt("first")
        place = client.ok("get_state")["leafId"]
        client.prompt("second")

        client.ok("navigate_tree", targetId=place, label="here")

        assert client.ok("get_state")["leafId"] is not None
        client.prompt("third")
        assert client.ok("navigate_tree", targetId="here")["cancelled"] is False
        assert said(client) == ["first"]


def test_a_move_that_sums_up_holds_up_no_other_command_and_labels_the_summary(
    project: Project,
) -> None:
    summary = stream({"content": "SUM"}, 1.0, {"content": "MED"}, chunk({}, "stop"))
    with direct_client(project, text("one"), text("two"), summary) as client:
        client.prompt("first")
        client.prompt("second")
        number = client.send(
            "navigate_tree",
            targetId=prompt_entry(client, 1),
            summarize=True,
            customInstructions="mind the heron",
            label="left",
        )

        assert client.ok("get_state")["messageCount"] == 4
        assert refusal(client.ask("prompt", message="x"))[0] == "busy"
        data = client.response(number)["data"]

        assert b"mind the heron" in client.endpoint.requests[-1].raw
        [made] = [e for e in entries(client) if e["id"] == data["summaryEntryId"]]
        assert "SUMMED" in made["summary"]
        tree = client.ok("get_tree")["tree"]
        assert labels(tree) == {data["summaryEntryId"]: "left"}
        roles = [m["role"] for m in client.ok("get_messages")["messages"]]
        assert "branchSummary" in roles


def labels(tree: list[Record]) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in tree:
        if "label" in node:
            found[node["entry"]["id"]] = node["label"]
        found |= labels(node["children"])
    return found


def test_a_move_to_nowhere_is_not_found_and_nothing_moves(project: Project) -> None:
    with direct_client(project, text("one")) as client:
        client.prompt("first")
        leaf = client.ok("get_state")["leafId"]

        for more in ({}, {"summarize": True}):
            code, _ = refusal(client.ask("navigate_tree", targetId="ffffffff", **more))
            assert code == "not_found"

        assert client.ok("get_state")["leafId"] == leaf
        assert moved(client) == []


def test_a_move_with_files_brings_them_back_and_says_what_it_did(project: Project) -> None:
    write = calls(("c1", "bash", {"command": "echo a > a.txt"}))
    with direct_client(project, write, text("done")) as client:
        client.ok("set_policy", policy="all")
        client.prompt("go")
        assert project.files() == {"a.txt": "a\n"}

        data = client.ok("navigate_tree", targetId=prompt_entry(client), files=True)

        assert data["notices"] == ["deleted: a.txt"]
        assert project.files() == {}


def test_a_move_while_a_turn_runs_is_busy(project: Project) -> None:
    with direct_client(project, slow()) as client:
        in_a_turn(client)

        assert refusal(client.ask("navigate_tree", targetId="root"))[0] == "busy"
        assert refusal(client.ask("navigate_tree", targetId="root", summarize=True))[0] == "busy"
        assert refusal(client.ask("compact"))[0] == "busy"

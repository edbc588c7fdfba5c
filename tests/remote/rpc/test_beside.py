"""What takes the place of a turn: a command of the person, a compaction, a move in the tree."""

from __future__ import annotations

import time
from pathlib import Path

from tests.cli.working import Project
from tests.remote.rpc.direct import (
    DirectClient,
    direct_client,
    entries,
    prompt_entry,
    refusal,
)
from tests.remote.rpc.test_turncommands import in_a_turn, said, slow
from tests.support.endpoint import calls, chunk, status, stream, text
from tests.support.rpcclient import Record

LITTLE = "[compaction]\nkeep = 100\n"
"""Tokens that a compaction leaves alone."""


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

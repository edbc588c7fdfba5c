"""Sessions and their tree, for a client: new, other, forked, named; labels, files back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import agentsh, make_talk
from tests.cli.working import Project
from tests.remote.rpc.direct import DirectClient, direct_client, entries, prompt_entry, refusal
from tests.support.endpoint import Reply, calls, stream, text
from tests.support.rpcclient import Record


def bash(command: str) -> Reply:
    return calls(("c1", "bash", {"command": command}))


def prompts(client: DirectClient) -> list[str]:
    return [each["text"] for each in client.ok("get_fork_messages")["messages"]]


def told(client: DirectClient) -> list[Record]:
    """What was said of places that were gone to."""
    return [r for r in client.records if r["type"] == "leaf_changed"]


# ---- files back ----------------------------------------------------------------------------------


def changed_twice(client: DirectClient) -> tuple[str, str]:
    """a.txt was made in the first turn and changed in the second; the prompts of both."""
    client.ok("set_policy", policy="all")
    client.prompt("first")
    client.prompt("second")
    return prompt_entry(client), prompt_entry(client, 1)


TWICE = (bash("echo one > a.txt"), text("done"), bash("echo two > a.txt"), text("done"))


def test_undo_files_brings_the_files_back_and_the_conversation_stays(project: Project) -> None:
    with direct_client(project, *TWICE) as client:
        _, second = changed_twice(client)
        here = client.ok("get_state")["leafId"]

        data = client.ok("undo_files", targetId=second)

        assert data == {
            "changed": [{"path": "a.txt", "kind": "change"}],
            "kept": [],
            "notices": ["changed back: a.txt"],
        }
        assert project.files() == {"a.txt": "one\n"}
        assert prompts(client) == ["first", "second"]
        assert client.ok("undo_files", targetId=here)["notices"] == ["changed back: a.txt"]
        assert project.files() == {"a.txt": "two\n"}


def test_undo_files_to_a_prompt_means_before_it(project: Project) -> None:
    with direct_client(project, *TWICE) as client:
        first, _ = changed_twice(client)

        data = client.ok("undo_files", targetId=first)

        assert data["changed"] == [{"path": "a.txt", "kind": "delete"}]
        assert project.files() == {}


def test_a_dry_run_says_what_would_be_done_and_does_nothing(project: Project) -> None:
    with direct_client(project, *TWICE) as client:
        _, second = changed_twice(client)
        before = entries(client)

        data = client.ok("undo_files", targetId=second, dryRun=True)

        assert data == {
            "changed": [{"path": "a.txt", "kind": "change"}],
            "kept": [],
            "notices": ["change back: a.txt"],
        }
        assert project.files() == {"a.txt": "two\n"}
        assert entries(client) == before


def test_what_somebody_else_changed_is_kept_and_named_unless_it_is_overwritten(
    project: Project,
) -> None:
    with direct_client(project, *TWICE) as client:
        _, second = changed_twice(client)
        project.put("a.txt", "mine\n")

        kept = client.ok("undo_files", targetId=second)
        assert kept["changed"] == []
        [row] = kept["kept"]
        assert row["path"] == "a.txt"
        assert row["why"]
        assert project.files() == {"a.txt": "mine\n"}

        overwritten = client.ok("undo_files", targetId=second, overwrite=True)
        assert overwritten["changed"] == [{"path": "a.txt", "kind": "change"}]
        assert overwritten["kept"] == []
        assert project.files() == {"a.txt": "one\n"}


def test_where_no_file_was_changed_nothing_is_brought_back_and_that_is_said(
    project: Project,
) -> None:
    with direct_client(project, text("x")) as client:
        client.prompt("hi")

        data = client.ok("undo_files", targetId="root")

        assert (data["changed"], data["kept"]) == ([], [])
        assert "changed no files" in data["notices"][0]


def test_files_are_not_brought_back_under_a_turn(project: Project) -> None:
    with direct_client(project, *TWICE[:2], stream({"content": "slow"}, 30.0)) as client:
        client.ok("set_policy", policy="all")
        client.prompt("first")
        client.ok("prompt", message="go")
        client.wait(lambda r: r.get("assistantMessageEvent", {}).get("delta") == "slow")

        assert refusal(client.ask("undo_files", targetId="root"))[0] == "busy"

        assert project.files() == {"a.txt": "one\n"}


# ---- another session in front --------------------------------------------------------------------


def test_a_new_session_is_empty_and_may_name_where_it_comes_from(project: Project) -> None:
    with direct_client(project, text("x")) as client:
        client.prompt("hi")
        before = client.ok("get_state")

        assert client.ok("new_session", parentSession=before["sessionId"]) == {"cancelled": False}

        after = client.ok("get_state")
        assert after["sessionId"] != before["sessionId"]
        assert (after["messageCount"], after["leafId"]) == (0, None)
        assert told(client) == [{"type": "leaf_changed", "leafId": None, "reason": "session"}]
        assert client.host.front.session.header.parent_session == before["sessionFile"]


@pytest.mark.parametrize("kind", ["path", "id", "last"])
def test_a_session_is_gone_to_by_any_word_and_the_one_before_is_free(
    kind: str, project: Project
) -> None:
    talk = make_talk(project.tree, "herons")
    words = {"path": str(talk.path), "id": talk.id[:13], "last": "last"}
    with direct_client(project, text("x")) as client:
        before = client.ok("get_state")["sessionFile"]

        client.ok("switch_session", sessionPath=words[kind])

        assert client.ok("get_state")["sessionFile"] == str(talk.path)
        assert prompts(client) == ["herons"]
        # the file of an empty session may be away again; one that is there can be written by others
        assert not Path(before).exists() or agentsh("rename", before, "free").code == 0


def test_to_the_session_in_front_is_no_change(project: Project) -> None:
    with direct_client(project, text("x")) as client:
        client.prompt("hi")
        agent = client.host.front

        client.ok("switch_session", sessionPath=client.ok("get_state")["sessionId"])

        assert client.host.front is agent


def test_a_session_that_is_none_leaves_the_front_as_it_is(project: Project) -> None:
    with direct_client(project, text("x")) as client:
        client.prompt("hi")
        state = client.ok("get_state")

        for kind, member in (("switch_session", "sessionPath"), ("new_session", "parentSession")):
            assert refusal(client.ask(kind, **{member: "ffffffff"}))[0] == "not_found"
        assert refusal(client.ask("fork", entryId="ffffffff"))[0] == "not_found"

        assert client.ok("get_state") == state
        assert told(client) == []


def test_last_where_there_is_no_other_session_is_not_found(project: Project) -> None:
    with direct_client(project, text("x")) as client:
        code, words = refusal(client.ask("switch_session", sessionPath="last"))

        assert code == "not_found"
        assert str(project.tree) in words


def test_a_fork_at_a_prompt_ends_before_it_and_gives_its_text(project: Project) -> None:
    with direct_client(project, text("one"), text("two"), text("three")) as client:
        client.prompt("first")
        client.prompt("second")
        parent = client.ok("get_state")

        data = client.ok("fork", entryId=prompt_entry(client, 1))

        assert data == {"text": "second", "cancelled": False}
        assert prompts(client) == ["first"]
        child = client.ok("get_state")
        assert child["sessionId"] != parent["sessionId"]
        client.prompt("third")
        assert prompts(client) == ["first", "third"]
        client.ok("switch_session", sessionPath=parent["sessionId"])
        assert prompts(client) == ["first", "second"]


def test_a_fork_at_an_answer_ends_with_it_and_gives_no_text(project: Project) -> None:
    with direct_client(project, text("one"), text("two")) as client:
        client.prompt("first")
        place = client.ok("get_state")["leafId"]
        client.prompt("second")

        assert client.ok("fork", entryId=place) == {"text": "", "cancelled": False}

        assert client.ok("get_last_assistant_text") == {"text": "one"}


def test_a_clone_holds_the_whole_path_and_an_empty_session_has_none(project: Project) -> None:
    with direct_client(project, text("one")) as client:
        assert refusal(client.ask("clone"))[0] == "usage"
        client.prompt("first")
        before = client.ok("get_state")["sessionId"]

        assert client.ok("clone") == {"cancelled": False}

        assert prompts(client) == ["first"]
        assert client.ok("get_state")["sessionId"] != before


def test_before_the_first_entry_there_is_nothing_to_fork_at_or_to_label(project: Project) -> None:
    with direct_client(project, text("one")) as client:
        client.prompt("first")

        assert refusal(client.ask("fork", entryId="root"))[0] == "not_found"
        assert refusal(client.ask("set_label", entryId="root", label="x"))[0] == "not_found"


@pytest.mark.parametrize(
    ("kind", "members"),
    [
        ("new_session", {}),
        ("switch_session", {"sessionPath": "last"}),
        ("clone", {}),
        ("fork", {"entryId": "leaf"}),
    ],
)
def test_a_session_is_not_taken_away_under_a_turn(
    kind: str, members: dict[str, str], project: Project
) -> None:
    with direct_client(project, text("one"), stream({"content": "slow"}, 30.0)) as client:
        client.prompt("first")
        before = client.ok("get_state")["sessionId"]
        client.ok("prompt", message="go")
        client.wait(lambda r: r.get("assistantMessageEvent", {}).get("delta") == "slow")

        assert refusal(client.ask(kind, **members))[0] == "busy"

        assert client.ok("get_state")["sessionId"] == before


# ---- names, labels, lists ------------------------------------------------------------------------


def test_a_name_is_told_after_the_response_and_an_empty_one_is_none(project: Project) -> None:
    with direct_client(project, text("x")) as client:
        client.ok("set_session_name", name="  herons  ")
        assert client.records[-1] == {"type": "session_info_changed", "name": "herons"}

        assert refusal(client.ask("set_session_name", name=" "))[0] == "usage"

        assert client.ok("get_state")["sessionName"] == "herons"


def test_a_label_names_its_entry_until_it_is_cleared(project: Project) -> None:
    with direct_client(project, text("one")) as client:
        client.prompt("first")
        place = prompt_entry(client)

        client.ok("set_label", entryId=place[:6], label="start")
        [root] = client.ok("get_tree")["tree"]
        labelled = node_of(root, place)
        assert labelled["label"] == "start"
        assert labelled["labelTimestamp"].startswith("20")

        client.ok("set_label", entryId="start", label=None)
        [root] = client.ok("get_tree")["tree"]
        assert "label" not in node_of(root, place)


def node_of(node: Record, entry: str) -> Record:
    nodes = [node]
    while nodes:
        each: Record = nodes.pop()
        if each["entry"]["id"] == entry:
            return each
        nodes += each["children"]
    raise LookupError(entry)


def test_a_list_is_that_of_sessions_and_a_page_of_it_says_how_many_there_are(
    project: Project, tmp_path: Path
) -> None:
    for number in range(3):
        make_talk(project.tree, f"talk {number}")
    far = tmp_path / "far"
    far.mkdir()
    make_talk(far, "far away")
    with direct_client(project, text("x")) as client:
        here = client.ok("list_sessions")
        assert here["total"] == 3
        assert here["sessions"] == agentsh("sessions", "--json", cwd=project.tree).json()

        page = client.ok("list_sessions", limit=1, offset=1)
        assert (page["sessions"], page["total"]) == (here["sessions"][1:2], 3)
        assert client.ok("list_sessions", limit=-1, offset=-5)["sessions"] == []
        assert client.ok("list_sessions", offset=99)["sessions"] == []

        everywhere = client.ok("list_sessions", scope="all")
        assert everywhere["total"] == 4
        assert str(far) in [row["cwd"] for row in everywhere["sessions"]]


def test_entries_are_given_as_their_lines_stand_and_from_where_they_are_wanted(
    project: Project,
) -> None:
    with direct_client(project, text("one"), text("two")) as client:
        client.prompt("first")
        leaf = client.ok("get_state")["leafId"]
        client.prompt("second")

        every = client.ok("get_entries")
        later = client.ok("get_entries", since=leaf)

        ids = [entry["id"] for entry in every["entries"]]
        assert later["entries"] == every["entries"][ids.index(leaf) + 1 :]
        assert every["leafId"] == later["leafId"] == client.ok("get_state")["leafId"]
        raw = agentsh("show", "last", "--view", "raw", "--json", cwd=project.tree).json()
        assert isinstance(raw, dict)
        assert every["entries"] == raw["entries"]
        assert refusal(client.ask("get_entries", since="ffffffff"))[0] == "not_found"

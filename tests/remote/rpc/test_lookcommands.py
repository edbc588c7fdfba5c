"""What a client may look at: state, figures, views, differences, hits, costs, tools, a page.

Where the command line has the same, both give the same value.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import agentsh
from tests.cli.working import Project
from tests.remote.rpc.direct import DirectClient, direct_client, entries, prompt_entry, refusal
from tests.support.endpoint import calls, serve, stream, text

TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


def worked(client: DirectClient) -> None:
    """Two turns; the first one made a file."""
    client.ok("set_policy", policy="all")
    client.prompt("count the herons")
    client.prompt("and now the storks")


def cli(project: Project, *words: str) -> object:
    ended = agentsh(*words, "--json", cwd=project.tree)
    assert ended.code == 0, ended.err
    return ended.json()


WORK = (
    calls(("c1", "bash", {"command": "echo 3 > herons.txt"})),
    text("three herons"),
    text("two storks"),
)


# ---- state and figures ---------------------------------------------------------------------------


def test_state_tells_of_the_session_and_of_what_runs(project: Project) -> None:
    with direct_client(project, text("one"), stream({"content": "slow"}, 30.0)) as client:
        client.prompt("hi")
        at_rest = client.ok("get_state")
        client.ok("set_session_name", name="  herons ")
        client.ok("prompt", message="go")
        client.wait(lambda r: r.get("assistantMessageEvent", {}).get("delta") == "slow")
        client.ok("follow_up", message="later")
        state = client.ok("get_state")

        session = client.host.front.session
        assert at_rest["protocol"] == "agentsh-rpc/1"
        assert (at_rest["sessionId"], at_rest["sessionFile"]) == (
            session.header.id,
            str(session.path),
        )
        assert (at_rest["cwd"], at_rest["policy"]) == (str(project.tree), "edits")
        assert (at_rest["messageCount"], at_rest["isStreaming"]) == (2, False)
        assert "sessionName" not in at_rest
        assert (state["isStreaming"], state["isCompacting"]) == (True, False)
        assert (state["pendingMessageCount"], state["sessionName"]) == (1, "herons")


def test_figures_count_what_is_on_the_path_and_tokens_of_all_that_was_asked(
    project: Project,
) -> None:
    settings = "[models.m]\ncontext_window = 1000\n"
    with direct_client(project, *WORK, settings=settings) as client:
        worked(client)
        client.ok("bash", command="echo hi")

        stats = client.ok("get_session_stats")

        counts = ("userMessages", "assistantMessages", "toolCalls", "toolResults", "bashExecutions")
        assert [stats[name] for name in counts] == [2, 3, 1, 1, 1]
        assert stats["totalMessages"] == 7
        assert (stats["tokens"]["input"], stats["tokens"]["output"]) == (300, 30)
        assert stats["tokens"]["total"] == 330
        assert stats["cost"] == 0.0
        usage = stats["contextUsage"]
        assert usage["contextWindow"] == 1000
        assert usage["percent"] == round(usage["tokens"] / 10, 2)


def test_without_a_window_that_is_known_there_is_no_share_of_it(project: Project) -> None:
    with direct_client(project, text("x")) as client:
        assert "contextUsage" not in client.ok("get_session_stats")


def test_the_last_answer_that_says_something_is_the_last_text(project: Project) -> None:
    silent = calls(("c1", "bash", {"command": "true"}))
    with direct_client(project, text("one"), silent, stream({"content": "  "}, 30.0)) as client:
        assert client.ok("get_last_assistant_text") == {"text": None}
        client.ok("set_policy", policy="all")
        client.prompt("hi")
        client.ok("prompt", message="go")
        client.wait(lambda r: r["type"] == "tool_execution_end")
        client.ok("abort")

        assert client.ok("get_last_assistant_text") == {"text": "one"}


def test_tools_are_named_with_what_they_do_and_those_that_are_left_out_are_not_offered(
    project: Project,
) -> None:
    with direct_client(project, text("x"), settings='[tools]\nexclude = ["grep"]\n') as client:
        client.prompt("hi")
        tools = {tool["name"]: tool for tool in client.ok("get_tools")["tools"]}

        assert tools["bash"]["offered"]
        assert all(tool["description"] for tool in tools.values())
        effects = {name: tools[name]["effect"] for name in ("read", "edit", "bash")}
        assert effects == {"read": "read", "edit": "write", "bash": "exec"}
        [request] = client.endpoint.bodies
        sent = {tool["function"]["name"] for tool in request["tools"]}  # type: ignore[union-attr,index,call-overload]
        assert sent == {name for name, tool in tools.items() if tool["offered"]}


def test_commands_are_the_skills_and_templates_that_a_prompt_may_begin_with(
    project: Project,
) -> None:
    project.home.mkdir(parents=True, exist_ok=True)
    (project.home / "prompts").mkdir()
    (project.home / "prompts" / "ship.md").write_text("---\ndescription: Ship it\n---\nShip $1.")
    skill = project.home / "skills" / "heron"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: heron\ndescription: Knows herons\n---\nCount.")
    with direct_client(project, text("x")) as client:
        commands = {each["name"]: each for each in client.ok("get_commands")["commands"]}

        ship, heron = commands["ship"], commands["skill:heron"]
        assert (ship["source"], ship["description"]) == ("prompt", "Ship it")
        assert (heron["source"], heron["description"]) == ("skill", "Knows herons")
        assert ship["sourceInfo"] == {
            "path": str(project.home / "prompts" / "ship.md"),
            "source": "user",
            "scope": "user",
            "origin": "top-level",
        }


# ---- as the command line says it -----------------------------------------------------------------


@pytest.mark.parametrize("view", ["chat", "trace", "model", "raw"])
def test_a_view_is_that_of_show(view: str, project: Project) -> None:
    with direct_client(project, *WORK) as client:
        worked(client)
        place = prompt_entry(client, 1)

        assert client.ok("get_view", view=view) == cli(project, "show", "last", "--view", view)
        assert client.ok("get_view", view=view, at=place) == cli(
            project, "show", "last", "--view", view, "--at", place
        )


def test_a_view_of_a_place_that_is_none_is_not_found(project: Project) -> None:
    with direct_client(project, text("x")) as client:
        assert refusal(client.ask("get_view", at="ffffffff"))[0] == "not_found"
        assert refusal(client.ask("get_view", view="heron"))[0] == "usage"


def test_a_difference_is_that_of_diff_and_begins_before_the_last_prompt(project: Project) -> None:
    with direct_client(project, *WORK) as client:
        worked(client)
        first, second = prompt_entry(client), prompt_entry(client, 1)

        whole = client.ok("get_diff", a="root", b="leaf")
        assert whole == cli(project, "diff", "last", "root", "leaf")
        assert client.ok("get_diff", a=first, b=second) == cli(
            project, "diff", "last", first, second
        )
        usual = client.ok("get_diff")
        assert [m["text"] for m in usual["messages"]["b"] if m["role"] == "user"] == [
            "and now the storks"
        ]
        assert usual["files"] == []
        assert refusal(client.ask("get_diff", a="ffffffff"))[0] == "not_found"


def test_a_difference_names_the_files_that_a_turn_changed(project: Project) -> None:
    with direct_client(project, *WORK[:2]) as client:
        client.ok("set_policy", policy="all")
        client.prompt("count the herons")

        differs = client.ok("get_diff")

        assert differs["files"] == [{"path": "herons.txt", "kind": "create"}]
        assert differs["patch"].endswith("\n+3")


def test_hits_are_those_of_search_with_its_filters(project: Project) -> None:
    with direct_client(project, *WORK) as client:
        worked(client)

        for words, members in (
            ((), {}),
            (("--role", "user"), {"role": "user"}),
            (("--limit", "1"), {"limit": 1}),
            (("--tool", "bash"), {"tool": "bash"}),
            (("--project", "."), {"project": "."}),
        ):
            hits = client.ok("search", query="herons", **members)["hits"]
            assert hits == cli(project, "search", "herons", *words), words
            assert hits, words


@pytest.mark.parametrize(
    "members", [{"query": " "}, {"query": "x", "limit": 0}, {"query": "x", "since": "someday"}, {}]
)
def test_a_search_that_asks_for_nothing_that_can_be_is_usage(
    members: dict[str, object], project: Project
) -> None:
    with direct_client(project, text("x")) as client:
        assert refusal(client.ask("search", **members))[0] == "usage"


def test_costs_are_those_of_cost(project: Project) -> None:
    settings = "[models.m]\nprices = { input = 1.0, output = 2.0 }\n"
    with direct_client(project, *WORK, settings=settings) as client:
        worked(client)

        session = client.ok("get_state")["sessionId"]
        for words, members in (
            ((), {}),
            (("--by", "month"), {"by": "month"}),
            (("--all",), {"all": True}),
            ((session,), {"session": session}),
            ((session, "--by", "branch"), {"session": session, "by": "branch"}),
        ):
            assert client.ok("get_cost", **members) == cli(project, "cost", *words), words
        assert client.ok("get_session_stats")["cost"] > 0


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ({"by": "heron"}, "usage"),
        ({"by": "turn"}, "usage"),
        ({"session": "last", "by": "project"}, "usage"),
        ({"session": "ffffffff"}, "not_found"),
    ],
)
def test_a_grouping_that_is_none_is_usage_and_a_session_that_is_none_not_found(
    members: dict[str, object], code: str, project: Project
) -> None:
    with direct_client(project, text("x")) as client:
        client.prompt("hi")

        assert refusal(client.ask("get_cost", **members))[0] == code


# ---- a page --------------------------------------------------------------------------------------


def test_a_page_is_new_each_time_and_redacted(project: Project) -> None:
    with direct_client(project, text(f"the token is {TOKEN}")) as client:
        client.prompt("say it")

        first, second = (Path(client.ok("export_html")["path"]) for _ in range(2))

        assert first != second
        assert (first.parent, second.parent) == (project.tree, project.tree)
        for page in (first, second):
            assert page.read_text().startswith("<!DOCTYPE html>")
            assert "the token is" in page.read_text()
            assert TOKEN not in page.read_text()


def test_a_page_has_all_where_raw_is_asked_for(project: Project) -> None:
    with direct_client(project, text(f"the token is {TOKEN}")) as client:
        client.prompt("say it")

        client.ok("export_html", outputPath="./all.html", raw=True)

        assert TOKEN in (project.tree / "all.html").read_text()


def test_a_page_takes_the_place_of_no_other_file(project: Project) -> None:
    mine = project.put("mine.html", "mine")
    with direct_client(project, text("x")) as client:
        client.prompt("hi")

        assert refusal(client.ask("export_html", outputPath="mine.html"))[0] == "refused"
        assert refusal(client.ask("export_html", outputPath="session.jsonl"))[0] == "usage"
        assert refusal(client.ask("export_html", outputPath="~nobody-here/x.html"))[0] == "refused"

        assert mine.read_text() == "mine"
        assert project.files() == {"mine.html": "mine"}


# ---- nothing is stored ---------------------------------------------------------------------------


def test_what_is_looked_at_in_the_session_needs_no_store(project: Project) -> None:
    with direct_client(project, *WORK, save=False) as client:
        worked(client)

        assert "sessionFile" not in client.ok("get_state")
        assert client.ok("get_session_stats")["sessionFile"] is None
        assert client.ok("get_view", view="chat")["messages"]
        assert client.ok("get_entries")["entries"] == entries(client)
        assert Path(client.ok("export_html")["path"]).exists()


def test_looking_holds_for_a_turn_that_runs(project: Project) -> None:
    with direct_client(project, text("one"), stream({"content": "slow"}, 30.0)) as client:
        client.prompt("count the herons")
        client.ok("prompt", message="go")
        client.wait(lambda r: r.get("assistantMessageEvent", {}).get("delta") == "slow")

        for kind, members in (
            ("get_messages", {}),
            ("get_session_stats", {}),
            ("get_view", {"view": "raw"}),
            ("get_diff", {}),
            ("search", {"query": "herons"}),
            ("get_cost", {}),
            ("get_tree", {}),
            ("get_entries", {}),
            ("export_html", {}),
        ):
            assert client.ask(kind, **members)["success"], kind


def test_models_of_an_endpoint_that_is_gone_are_those_that_are_named(project: Project) -> None:
    with serve(text("x")) as gone:
        settings = f'[endpoints.far]\nbase_url = "{gone.base_url}"\nmodel = "n"\n'
    with direct_client(project, text("x"), settings=settings) as client:
        models = client.ok("get_available_models")["models"]

        assert [(m["provider"], m["id"]) for m in models if m["provider"] == "far"] == [
            ("far", "n")
        ]

"""Servers in whole sessions: what is asked, what holds, what is left when it is over."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentsh.agent.events import AgentEvent, Notice, ToolEnd, TurnEnd
from agentsh.agent.turn.approvals import ApprovalAnswer, ApprovalRequest
from agentsh.cli.assembly.driving import ProgramHost
from agentsh.cli.assembly.restoring import restored
from agentsh.cli.lookup.choosing import StartAt, open_chosen
from agentsh.cli.parsing.modeloptions import TurnOptions
from agentsh.cli.setup.configuration import configure
from agentsh.cli.setup.endpoint import make_provider
from agentsh.jsontext import JsonObject
from agentsh.messages import Text
from tests.cli.program import agentsh
from tests.cli.working import Project, results
from tests.support.endpoint import Reply, calls, serve, text
from tests.support.mcpservers import faulty, is_gone, until

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.timeout(180)  # each starts programs, and loads what a call loads


def once(name: str, arguments: JsonObject | None = None) -> tuple[Reply, Reply]:
    """An answer that calls that tool, and the one behind it."""
    return calls((f"c-{name}-{os.urandom(3).hex()}", name, arguments or {})), text("done")


@contextmanager
def hosted(
    project: Project, settings: str, script: Sequence[Reply], *, last: bool = False
) -> Iterator[ProgramHost]:
    """A session with those servers, whose model says that."""
    with serve(*script) as endpoint:
        base = f'[endpoint]\nbase_url = "{endpoint.base_url}"\nmodel = "m"\n'
        project.settings(base + settings)
        options = TurnOptions()
        environ = {**os.environ, "AGENTSH_HOME": str(project.home)}
        configuration = configure(options, environ, project.tree)
        start = StartAt(last, None, None, None)
        chosen = open_chosen(configuration.places, project.tree, start)
        back = restored(configuration, options, chosen.session, resumed=chosen.resumed)
        provider = make_provider(configuration, options, lambda _: None)
        host = ProgramHost(configuration, options, provider, project.tree)
        try:
            host.start(chosen, back)
            yield host
        finally:
            host.close()


def said(events: Sequence[AgentEvent]) -> list[str]:
    """What the tools said."""
    return [
        "".join(b.text for b in event.result.content if isinstance(b, Text))
        for event in events
        if isinstance(event, ToolEnd)
    ]


def test_an_always_holds_for_the_definition_that_was_shown(
    project: Project, tmp_path: Path
) -> None:
    birds = faulty(tmp_path / "birds", "rewritten")
    questions: list[ApprovalRequest] = []

    def person(request: ApprovalRequest) -> ApprovalAnswer:
        questions.append(request)
        return ApprovalAnswer("session", rule=request.rule_hint)

    script = [r for _ in range(4) for r in once("mcp__birds__count", {"bird": "owl"})]
    with hosted(project, birds.table(), script) as host:
        host.front.approver = person
        first = list(host.front.prompt("count"))
        again = list(host.front.prompt("count again"))
    with hosted(project, birds.table(), script[4:], last=True) as host:
        host.front.approver = person
        same = list(host.front.prompt("and again"))  # it is started: it says something else now
        changed = list(host.front.prompt("and once more"))

    assert [said(each) for each in (first, again, same, changed)] == [["owl: 4"]] * 4
    assert [q.shown for q in questions] == ['birds/count {"bird":"owl"}'] * 2
    assert questions[0].rule_hint != questions[1].rule_hint
    assert questions[1].why == "its description or schema has changed since it was allowed"
    assert told(changed) == ["birds: its tools have changed: changed count"]


def test_a_list_that_changes_in_a_turn_counts_from_the_next_prompt_and_replays_without_the_server(
    project: Project, tmp_path: Path
) -> None:
    birds = faulty(tmp_path / "birds", "changing")
    steps = [once("mcp__birds__count", {"bird": "owl"}), once("mcp__birds__extra")]
    with hosted(
        project, birds.table() + '[approve]\npolicy = "all"\n', [*steps[0], *steps[1]]
    ) as host:
        names = [name for name, _ in host.tools()]
        assert not [name for name in names if name.startswith("mcp__")]  # nothing is started yet
        list(host.front.prompt("count"))
        assert until(lambda: "+ extra" in " ".join(told(list(host.front.prompt("the new one")))))
    project.settings("")

    assert agentsh("replay", "last", "--check", cwd=project.tree).code == 0


def told(events: Sequence[AgentEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, Notice)]


def test_a_new_session_of_the_same_chat_keeps_the_servers_that_run(
    project: Project, tmp_path: Path
) -> None:
    birds = faulty(tmp_path / "birds")
    script = [r for _ in range(2) for r in once("mcp__birds__count", {"bird": "owl"})]
    with hosted(project, birds.table() + '[approve]\npolicy = "all"\n', script) as host:
        first = said(list(host.front.prompt("count")))
        second = said(list(host.new_session().prompt("count")))

    assert first == second == ["owl: 4"]
    assert len(birds.pids()) == 1
    assert all(map(is_gone, birds.pids()))


def test_a_required_server_that_is_missing_sends_nothing_and_stores_nothing(
    project: Project, tmp_path: Path
) -> None:
    dead = faulty(tmp_path / "dead", "dies")
    with hosted(project, dead.table("dead", required=True), [text("never")]) as host:
        before = host.front.session.leaf
        events = list(host.front.prompt("hello"))

        assert [type(event) for event in events] == [TurnEnd]
        assert isinstance(events[0], TurnEnd)
        assert (events[0].reason, host.front.session.leaf) == ("error", before)
        assert "the server dead is required" in (events[0].error or "")


def test_a_required_server_whose_list_is_kept_must_be_there_all_the_same(
    project: Project, tmp_path: Path
) -> None:
    birds = faulty(tmp_path / "birds")
    gone = tmp_path / "gone"
    command = f"test -e {gone} && exit 7; exec {shlex.join(birds.argv)}"
    table = f"[mcp.servers.birds]\ncommand = 'sh'\nargs = ['-c', {json.dumps(command)}]\n"
    table += "required = true\n"
    with hosted(project, table, [text("hello")]) as host:
        assert said(list(host.front.prompt("hello"))) == []
        assert len(birds.pids()) == 1

    gone.touch()
    with hosted(project, table, [text("never")]) as host:
        [end] = host.front.prompt("hello")

    assert isinstance(end, TurnEnd)
    assert "the server birds is required" in (end.error or "")
    assert "exit code 7" in (end.error or "")


def test_no_mcp_leaves_all_out(project: Project, tmp_path: Path) -> None:
    birds = faulty(tmp_path / "birds")
    project.settings(birds.table())
    with project.answering() as endpoint:
        assert project.run("--no-mcp", "hello").code == 0

    assert "mcp__" not in json.dumps(endpoint.requests[0].body["tools"])
    assert birds.pids() == []


def test_tools_may_name_one_of_a_server_that_was_never_asked(
    project: Project, tmp_path: Path
) -> None:
    birds = faulty(tmp_path / "birds")
    project.settings(birds.table())
    with project.answering() as endpoint:
        assert project.run("--tools", "read,mcp__birds__count", "hello").code == 0
        wrong = project.run("--tools", "mcp__birds__nosuch", "hello")

    tools = endpoint.requests[0].body["tools"]
    assert isinstance(tools, list)
    assert [tool["function"]["name"] for tool in tools] == ["read", "mcp__birds__count"]
    assert wrong.code == 2
    assert "there is no tool mcp__birds__nosuch" in wrong.err


def test_hooks_go_round_the_tools_of_servers(project: Project, tmp_path: Path) -> None:
    birds = faulty(tmp_path / "birds")
    guard = 'case "$AGENTSH_TOOL" in mcp__birds__wipe) echo no wiping; exit 1;; esac'
    project.settings(f"{birds.table()}[hooks]\nbefore_tool = '{guard}'\n")
    with project.answering((("c1", "mcp__birds__wipe", {}),)) as endpoint:
        project.run("--approve", "all", "go")

    assert "no wiping" in results(endpoint)[0]
    assert birds.notes("called") == []


def test_the_servers_of_an_untrusted_project_are_named_and_not_started(
    project: Project, tmp_path: Path
) -> None:
    birds = faulty(tmp_path / "birds")
    project.put(".agentsh/config.toml", birds.table())

    [status] = json.loads(agentsh("mcp", "--json", cwd=project.tree).out)

    assert (status["name"], status["state"], status["tools"]) == ("birds", "untrusted", [])
    assert status["source"].endswith(".agentsh/config.toml:2")
    assert birds.pids() == []


def test_the_command_says_what_each_is(project: Project, tmp_path: Path) -> None:
    birds, dead = faulty(tmp_path / "birds"), faulty(tmp_path / "dead", "dies")
    project.settings(birds.table(exclude=["wipe"]) + dead.table("dead"))

    words = agentsh("mcp", cwd=project.tree)
    one = agentsh("mcp", "birds", cwd=project.tree)
    none = agentsh("mcp", "nosuch", cwd=project.tree)

    assert words.code == 1
    assert "birds: ready, stdio, good 1, protocol 2025-11-25, running, 7 of 8 tools" in words.out
    assert "dead: failed, stdio" in words.out
    assert "cannot find the licence" in words.out
    assert (one.code, none.code) == (0, 2)
    assert "  mcp__birds__peek  peek  (reads): Look only." in one.out
    assert "  -  wipe  (not offered)" in one.out
    assert all(map(is_gone, birds.pids()))


def test_a_file_that_a_server_runs_is_not_edited_unasked(project: Project) -> None:
    project.put("tools/server.py", "print()\n")
    project.settings('[mcp.servers.s]\ncommand = "python3"\nargs = ["tools/server.py"]\n')
    call: JsonObject = {"path": "tools/server.py", "content": "import os\n"}
    with project.answering((("c1", "write", call),)):
        ended = project.run("--no-mcp", "go")

    assert ended.code == 6
    assert project.files()["tools/server.py"] == "print()\n"


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")
def test_in_the_sandbox_a_server_is_confined_unless_its_table_says_otherwise(
    project: Project, tmp_path: Path
) -> None:
    inside, outside = (faulty(project.tree / name) for name in ("in", "out"))
    tables = inside.table("inside") + outside.table("outside", sandbox=False)
    project.settings(f'{tables}[approve]\npolicy = "all"\n')
    with project.answering():
        probe = project.run("--sandbox", "hi")
    if "bubblewrap" in probe.err:
        pytest.skip("bubblewrap does not work here")
    bird: JsonObject = {"bird": "owl"}
    both = (("c1", "mcp__inside__count", bird), ("c2", "mcp__outside__count", bird))
    with project.answering(both) as endpoint:
        ended = project.run("--sandbox", "go")

    assert ended.code == 0, ended.err
    assert results(endpoint)[0] == "owl: 4"
    assert inside.pids()[-1] < 10  # of a sandbox's own processes
    assert outside.pids()[-1] > 10


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_in_a_call_leaves_no_process_and_a_log_that_ends_well(
    project: Project, tmp_path: Path, number: signal.Signals
) -> None:
    birds = faulty(tmp_path / "birds", "stays")
    project.settings(birds.table())
    with serve(*once("mcp__birds__slow")) as endpoint:
        environ = {**os.environ, "OPENAI_BASE_URL": endpoint.base_url, "AGENTSH_MODEL": "m"}
        words = [sys.executable, "-m", "agentsh", "run", "--approve", "all", "go"]
        process = subprocess.Popen(
            words,
            cwd=project.tree,
            env={**environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            assert until(lambda: birds.notes("called"), 30)
            process.send_signal(number)
            assert process.wait(20) == 128 + number
        finally:
            process.kill()
            process.wait()

    assert all(map(is_gone, birds.pids()))
    assert agentsh("verify", "last", cwd=project.tree).code == 0

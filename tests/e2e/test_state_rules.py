"""What is stored, what is not, and what follows from it: rules R01 to R37 that no module owns."""

from __future__ import annotations

import ast
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentsh.abort import Abort
from agentsh.agent.agent import Agent
from agentsh.agent.events import MessageDone, StepStart, TextPart
from agentsh.agent.turn.approvals import ApprovalAnswer, ApprovalRequest
from agentsh.providers.base import Finished, Request, StreamEvent, TextDelta
from agentsh.session.format.facts import STATE_KEYS, RequestSent
from agentsh.session.store.catalog import Index
from agentsh.session.store.store import summarize_each
from tests.agent.builders import (
    facts,
    make_agent,
    path_of,
    quick,
    reopen,
    results,
    run,
    set_model,
    start_session,
)
from tests.cli.program import agentsh
from tests.session.disks import CountingDisk, around
from tests.session.sealed import lines_of, write_lines, write_session
from tests.support.crash import earlier_turns, kill_turn
from tests.support.crash import run as run_cli
from tests.support.endpoint import Endpoint, serve, text
from tests.support.longer_sessions import write
from tests.support.scripted import Call, ScriptedProvider

_ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serve(text("unused")) as server:
        yield server


def test_r01_no_live_object_is_in_a_file(tmp_path: Path, endpoint: Endpoint) -> None:
    data = write("grown", tmp_path, endpoint).read_bytes()

    for trace in (b"object at 0x", b"<function", b"<built-in", b"<_io.", b"<socket", b"<bound"):
        assert trace not in data


def test_r02_a_killed_session_is_in_a_new_process_what_it_was(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    earlier_turns("on a branch", tmp_path, endpoint)
    path = kill_turn("on a branch", "after result", tmp_path, endpoint)

    def shown() -> list[str]:
        views = [["show", str(path), "--json", "--view", v] for v in ("chat", "model", "raw")]
        return [
            agentsh(*words, cwd=tmp_path).out for words in (*views, ["tree", str(path), "--json"])
        ]

    first = shown()
    assert all(first)
    assert shown() == first
    model = agentsh("show", str(path), "--view", "model", "--json", cwd=tmp_path).json()
    assert run_cli(endpoint, tmp_path, [text("on")], "-c", "and on").code == 0
    sent = endpoint.requests[0].body
    assert isinstance(model, dict)
    assert sent["messages"][:-1] == model["messages"]  # type: ignore[index]
    assert sent["model"] == "m"


def _reasons(agent: Agent) -> list[str]:
    found = [fact for fact in facts(path_of(agent.session)) if isinstance(fact, RequestSent)]
    return [fact.reason for fact in found]


@pytest.mark.parametrize("what", ["model", "thinking", "sections", "tools", "nothing", "window"])
def test_r04_each_change_before_a_request_is_a_new_snapshot_and_says_change(
    what: str, tmp_path: Path
) -> None:
    provider = ScriptedProvider("first", "second")
    agent = make_agent(start_session(tmp_path), provider, tmp_path)
    run(agent)
    before = len(path_of(agent.session))
    options: dict[str, object] = {}
    match what:
        case "model":
            agent.use(agent.provider, "model-2")
        case "thinking":
            agent.set_thinking("high")
        case "sections":
            options["sections"] = {"preamble": "You are another."}
        case "tools":
            options["tools"] = ()
        case "window":
            options["context_window"] = 123_456
    if options:
        agent = make_agent(agent.session, provider, tmp_path, **options)  # type: ignore[arg-type]
    run(agent)

    # R28: what a model can hold is no part of what it is told
    changed = what not in ("nothing", "window")
    assert _reasons(agent) == ["initial", "change" if changed else "resume"]
    entries = path_of(agent.session)[before:]
    kinds = {type(entry.body).__name__ for entry in entries}
    expected = {
        "model": {"ModelChange"},
        "thinking": {"ThinkingLevelChange"},
    }
    assert expected.get(what, set()) <= kinds
    assert ("ModelChange" in kinds) == (what == "model")


@pytest.mark.slow
def test_r06_whatever_one_does_a_file_only_grows(tmp_path: Path, endpoint: Endpoint) -> None:
    chance = random.Random(6)
    path = write("straight", tmp_path, endpoint)
    for _ in range(40):
        tree = agentsh("tree", str(path), "--json", cwd=tmp_path).json()
        assert isinstance(tree, dict)
        entries = [e["id"] for e in tree["entries"] if e["type"] == "message"]
        somewhere = chance.choice(entries)
        before = path.read_bytes()
        match chance.randrange(7):
            case 0:
                run_cli(endpoint, tmp_path, [text("yes")], "--session", str(path), "more")
            case 1:
                agentsh("checkout", str(path), somewhere, cwd=tmp_path)
            case 2:
                agentsh("label", str(path), somewhere, "mark", cwd=tmp_path)
            case 3:
                agentsh("rename", str(path), "name", cwd=tmp_path)
            case 4:
                agentsh("fork", str(path), "--at", somewhere, cwd=tmp_path)
            case 5:
                endpoint.script = [text("short")]
                words = ("compact", str(path), "--keep", "0", "--base-url", endpoint.base_url)
                agentsh(*words, cwd=tmp_path)
            case _:
                agentsh("show", str(path), "--view", "trace", cwd=tmp_path)
        assert path.read_bytes().startswith(before)
    assert agentsh("verify", str(path)).code == 0
    assert agentsh("replay", str(path), "--check").code == 0


def test_r08_without_any_cache_the_next_request_is_the_same(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    path = write("straight", tmp_path, endpoint)
    words = ("show", str(path), "--view", "model", "--json")
    before = agentsh(*words, cwd=tmp_path).out
    home = Path(os.environ["AGENTSH_HOME"])
    gone = [p for p in home.rglob("*") if p.is_file() and p != path]
    for each in gone:
        each.unlink()

    assert agentsh(*words, cwd=tmp_path).out == before
    assert agentsh("replay", str(path), "--check").code == 0


def test_r09_what_differs_is_said_and_strict_refuses(tmp_path: Path, endpoint: Endpoint) -> None:
    path = write("straight", tmp_path, endpoint)
    before = path.read_bytes()
    options = ("-c", "more", "-m", "another-model")

    refused = run_cli(endpoint, tmp_path, [text("no")], *options, "--strict")
    assert refused.code == 4
    assert "model m → another-model" in refused.err
    assert endpoint.requests == []
    assert path.read_bytes() == before

    same = run_cli(endpoint, tmp_path, [text("yes")], "-c", "more", "--strict")
    assert (same.code, "changed since" in same.err) == (0, False)
    told = run_cli(endpoint, tmp_path, [text("yes")], *options)
    assert (told.code, "changed since: model m → another-model" in told.err) == (0, True)


def test_r10_a_compaction_hides_nothing(tmp_path: Path, endpoint: Endpoint) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    path = write("straight", folder, endpoint)
    model = ("show", str(path), "--view", "model", "--json")
    before = agentsh(*model).json()
    chat = agentsh("show", str(path), "--json").json()
    leaf = agentsh("tree", str(path), "--json").json()
    assert isinstance(before, dict)
    assert isinstance(chat, dict)
    assert isinstance(leaf, dict)
    endpoint.script = [text("short")]
    words = ("compact", str(path), "--keep", "0", "--base-url", endpoint.base_url)
    assert agentsh(*words, cwd=folder).code == 0

    after = agentsh("show", str(path), "--json").json()
    assert isinstance(after, dict)
    assert after["messages"][: len(chat["messages"])] == chat["messages"]
    assert agentsh("checkout", str(path), leaf["leaf"]).code == 0
    again = agentsh(*model).json()
    assert isinstance(again, dict)
    assert again["messages"] == before["messages"]


_INDEXER = """
import sys
from pathlib import Path
from agentsh.session.store.catalog import Index
print("ready", flush=True)
while True:
    Index(Path(sys.argv[1])).summaries([Path(p) for p in sys.argv[2:]])
"""


@pytest.mark.slow
def test_r11_killed_while_it_catches_up_the_index_doubles_and_misses_nothing(
    tmp_path: Path,
) -> None:
    chance = random.Random(11)
    paths = [tmp_path / f"{i}.jsonl" for i in range(20)]
    for i, path in enumerate(paths):
        write_session(path, session=f"5e551011-0000-4000-8000-{i:012}")
    whole = {path: lines_of(path) for path in paths}
    for path in paths:
        write_lines(path, whole[path][:6])
    index = tmp_path / "index.db"
    for kill in range(6):
        child = subprocess.Popen(
            [sys.executable, "-c", _INDEXER, str(index), *map(str, paths)], stdout=subprocess.PIPE
        )
        assert child.stdout is not None
        child.stdout.readline()
        for path in paths:  # the log leads
            write_lines(path, whole[path][: 8 + 2 * kill])
        time.sleep(chance.uniform(0, 0.03))
        child.send_signal(signal.SIGKILL)
        child.communicate()

        assert Index(index).summaries(paths) == summarize_each(paths)


def test_r14_every_kind_of_state_is_registered() -> None:
    used: set[str] = set()
    for file in (_ROOT / "agentsh").rglob("*.py"):
        tree = ast.parse(file.read_text("utf-8"))
        names = {
            node.targets[0].id: node.value.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and isinstance(node.value, ast.Constant)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "StateSet":
                key = node.args[0]
                value = key.value if isinstance(key, ast.Constant) else names[ast.unparse(key)]
                assert isinstance(value, str)
                used.add(value)

    assert used
    assert used <= set(STATE_KEYS), "a state that is not registered in session/format/facts.py"


def test_r20_a_rule_of_one_branch_says_nothing_on_another(tmp_path: Path) -> None:
    asked: list[str] = []

    def approve(request: ApprovalRequest) -> ApprovalAnswer:
        asked.append(request.shown)
        return ApprovalAnswer("rule", rule="echo")

    call = (Call("call_1", "bash", {"command": "echo one"}),)
    provider = ScriptedProvider("hello", call, "done", call, "done", call, "done")
    agent = make_agent(start_session(tmp_path), provider, tmp_path, policy="ask", approver=approve)
    run(agent)
    beside = agent.session.leaf
    run(agent)
    run(agent)
    assert len(asked) == 1, "the rule holds on its path"
    agent.checkout(beside)
    run(agent)
    assert len(asked) == 2, "and nowhere else"


def test_r20_asked_and_not_decided_is_not_granted_in_the_next_process(tmp_path: Path) -> None:
    """The crash comes while the question stands: what is on the disk then is what there is."""
    other = tmp_path / "other"
    other.mkdir()
    asked: list[str] = []

    def approve(request: ApprovalRequest) -> ApprovalAnswer:
        asked.append(request.shown)
        if len(asked) == 1:
            (other / "session.jsonl").write_bytes((tmp_path / "session.jsonl").read_bytes())
        return ApprovalAnswer("once")

    call = (Call("call_1", "bash", {"command": "echo ran >> effects"}),)
    first = start_session(tmp_path)
    run(make_agent(first, ScriptedProvider(call, "x"), tmp_path, policy="ask", approver=approve))

    again = reopen(other)
    provider = ScriptedProvider(call, "done")
    agent = make_agent(again, provider, other, policy="ask", approver=approve)
    run(agent)

    assert len(asked) == 2
    told = [text for _, text, _ in results(again)]
    assert "interrupted while it waited for an approval" in told[0]
    assert (other / "effects").read_text() == "ran\n"


def test_r32_each_branch_is_rebuilt_with_its_own_model(tmp_path: Path, endpoint: Endpoint) -> None:
    assert run_cli(endpoint, tmp_path, [text("a")], "root", "-m", "m").code == 0
    tree = agentsh("tree", "last", "--json", cwd=tmp_path).json()
    assert isinstance(tree, dict)
    at = next(e["id"] for e in tree["entries"] if e["text"] == "a")
    for model in ("left", "right"):
        done = run_cli(endpoint, tmp_path, [text(model)], "-c", "--at", at, "on", "-m", model)
        assert done.code == 0
    assert agentsh("checkout", "last", at, cwd=tmp_path).code == 0
    # the newest in the file is "right", the nearest on the path is "m"
    replay = agentsh("replay", "last", "--json", cwd=tmp_path).json()
    assert isinstance(replay, dict)
    assert [r["model"] for r in replay["requests"]] == ["m", "left", "right"]
    assert agentsh("replay", "last", "--check", cwd=tmp_path).code == 0
    same = run_cli(endpoint, tmp_path, [text("b")], "-c", "back", "-m", "m", "--strict")
    assert same.code == 0


def test_r35_no_part_of_an_answer_waits_for_the_disk(tmp_path: Path) -> None:
    disk = CountingDisk()

    def stream(request: Request, abort: Abort) -> Iterator[StreamEvent]:
        for number in range(500):
            yield TextDelta(f"{number} ")
        yield Finished(provider.message())

    provider = ScriptedProvider(stream)
    agent = make_agent(start_session(tmp_path, around(disk)), provider, tmp_path)
    marks: dict[str, int] = {}
    for event in agent.prompt("go"):
        if isinstance(event, StepStart):
            marks["sent"] = len(disk.order)
        if isinstance(event, TextPart):
            marks["last part"] = len(disk.order)
        if isinstance(event, MessageDone):
            marks["stored"] = len(disk.order)

    # R64: nor is any part a line
    assert marks["sent"] == marks["last part"]
    assert "sync" not in disk.order[marks["last part"] : marks["stored"]]
    assert b"499 " not in b"".join(lines_of(tmp_path / "session.jsonl")[:-3])


def test_r77_a_running_request_is_not_touched_by_what_is_set_meanwhile(tmp_path: Path) -> None:
    def stream(request: Request, abort: Abort) -> Iterator[StreamEvent]:
        set_model(agent, "another")
        agent.set_thinking("high")
        yield from provider.answering("x")

    provider = ScriptedProvider(stream, "y")
    agent = make_agent(start_session(tmp_path, quick()), provider, tmp_path)
    run(agent)
    assert [request.model for request in provider.requests] == ["model-1"]
    assert agentsh("replay", str(tmp_path / "session.jsonl"), "--check").code == 0

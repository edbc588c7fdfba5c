"""What holds when runs meet crashes, other processes and other files: rules R40 to R72 (e2e)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentsh.agent.events import Notice
from agentsh.jsontext import loads_object
from agentsh.messages import Text, ToolCallId, ToolResultMessage
from agentsh.providers.endpoint import read_endpoint
from agentsh.session.format.entries import Entry, EntryId, MessageBody
from agentsh.session.format.facts import ToolStarted
from agentsh.views.sessionviews import trace_view
from tests.agent.builders import facts, make_agent, path_of, run, start_session
from tests.cli.program import agentsh
from tests.session.sealed import lines_of
from tests.support.crash import HALF, kill_turn
from tests.support.crash import run as run_cli
from tests.support.endpoint import Endpoint, calls, chunk, serve, silence, stream, text, usage_chunk
from tests.support.scripted import Call, ScriptedProvider


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serve(text("unused")) as server:
        yield server


def _agentsh(endpoint: Endpoint, folder: Path, *words: str) -> subprocess.Popen[str]:
    """The installed command, in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "agentsh", *words, "--base-url", endpoint.base_url],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _file() -> Path:
    (path,) = Path(os.environ["AGENTSH_HOME"]).rglob("*.jsonl")
    return path


def _wait(what: str, there: object) -> None:
    assert callable(there)
    deadline = time.monotonic() + 20
    while not there():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def test_r40_the_header_is_short_even_for_a_long_folder(tmp_path: Path, endpoint: Endpoint) -> None:
    folder = tmp_path / ("d" * 100) / ("e" * 100)
    folder.mkdir(parents=True)
    assert run_cli(endpoint, folder, [text("a")], "hello").code == 0

    header = lines_of(_file())[0]
    assert len(header) <= 512
    # lineage and all else is in the root entry
    assert set(loads_object(header)) <= {"type", "version", "id", "timestamp", "cwd", "agentsh"}


@pytest.mark.slow
def test_r46b_a_run_is_watched_by_complete_lines_without_a_lock_or_a_write(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    assert run_cli(endpoint, tmp_path, [text("one")], "first").code == 0
    path = _file()
    home = Path(os.environ["AGENTSH_HOME"])
    before = sorted(home.rglob("*"))
    watcher = subprocess.Popen(
        [sys.executable, "-m", "agentsh", "show", str(path), "--view", "raw", "--follow"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert watcher.stdout is not None
    try:
        seen = [watcher.stdout.readline() for _ in lines_of(path)]
        assert sorted(home.rglob("*")) == before, "looking left something"
        for number in range(3):
            done = run_cli(endpoint, tmp_path, [text("more")], "-c", f"turn {number}")
            assert done.code == 0, done.err
        seen += [watcher.stdout.readline() for _ in lines_of(path)[len(seen) :]]
    finally:
        watcher.kill()
        watcher.communicate()

    assert [line.rstrip("\n").encode() for line in seen] == lines_of(path)


@pytest.mark.slow
def test_r46b_a_watcher_survives_a_batch_that_is_cut_off_and_says_when_the_file_is_gone(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    assert run_cli(endpoint, tmp_path, [text("one")], "first").code == 0
    path = _file()
    whole = path.read_bytes()
    watcher = subprocess.Popen(
        [sys.executable, "-m", "agentsh", "show", str(path), "--view", "raw", "--follow"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert watcher.stdout is not None
    line = whole.splitlines()[-1].replace(b'"id":"', b'"id":"f', 1)
    doomed, instead = line.replace(b"completed", b"aborted"), line.replace(b"completed", b"blocked")
    try:
        seen = [watcher.stdout.readline() for _ in whole.splitlines()]
        with path.open("ab") as file:
            file.write(doomed + b"\n" + line[:40])
        seen.append(watcher.stdout.readline())
        os.truncate(path, len(whole))
        looked = _sleeps(watcher.pid)
        _wait("it has looked since", lambda: _sleeps(watcher.pid) >= looked + 4)
        with path.open("ab") as file:
            file.write(instead + b"\n")
        seen.append(watcher.stdout.readline())
        path.unlink()
        _, err = watcher.communicate(timeout=20)
    finally:
        watcher.kill()
        watcher.communicate()

    assert "aborted" in seen[-2]
    assert "blocked" in seen[-1]
    assert len(seen) == len(whole.splitlines()) + 2
    assert (watcher.returncode, "is gone" in err) == (3, True)


def _sleeps(pid: int) -> int:
    """How often a process has gone to sleep by itself; a watcher does so after each look."""
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    return int(status.rpartition("\nvoluntary_ctxt_switches:")[2].split()[0])


@pytest.mark.slow
def test_r50_a_second_process_goes_on_with_the_finished_result_and_the_repair(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    marker = tmp_path / "marker"
    slow = f"echo mine > {marker}; exec sleep 25"
    endpoint.script = [
        calls(
            ("call_1", "bash", {"command": "echo finished"}), ("call_2", "bash", {"command": slow})
        )
    ]
    first = _agentsh(endpoint, tmp_path, "run", "do both", "--approve", "all")
    try:
        _wait("the second call runs", marker.exists)
        # its group is on record right after it was started: a moment later than it can act
        _wait("both groups", lambda: _file().read_bytes().count(b'"ev":"process"') == 2)
    finally:
        first.send_signal(signal.SIGKILL)
        first.communicate()
    endpoint.script = [text("on it goes")]
    endpoint.requests.clear()
    second = _agentsh(endpoint, tmp_path, "run", "-c", "go on")
    out, err = second.communicate(timeout=30)
    assert (second.returncode, out) == (0, "on it goes\n"), err
    # R22: what still runs is named, with what ends it
    assert "still running" in err
    group = int(err.partition("kill -- -")[2].split("`")[0])
    os.killpg(group, signal.SIGKILL)

    messages = endpoint.requests[0].body["messages"]
    assert isinstance(messages, list)
    told = {m["tool_call_id"]: m["content"] for m in messages if m["role"] == "tool"}
    assert "finished" in told["call_1"]
    assert "outcome is unknown" in told["call_2"]
    assert agentsh("verify", str(_file())).code == 0


def test_r57_a_call_that_was_done_on_another_branch_is_counted_and_said(tmp_path: Path) -> None:
    call = (Call("call_1", "bash", {"command": "echo x >> effects"}),)
    provider = ScriptedProvider("hello", call, "done", call, "done again")
    agent = make_agent(start_session(tmp_path), provider, tmp_path)
    run(agent)
    beside = agent.session.leaf
    assert [e for e in run(agent) if isinstance(e, Notice)] == []
    first = [fact for fact in facts(path_of(agent.session)) if isinstance(fact, ToolStarted)]
    agent.checkout(beside)
    warned = [e.text for e in run(agent) if isinstance(e, Notice)]
    second = [fact for fact in facts(path_of(agent.session)) if isinstance(fact, ToolStarted)]

    assert len(warned) == 1
    assert "runs again as it did before" in warned[0]
    assert [(f.key, f.attempt) for f in first] == [(second[0].key, 1)]
    assert [f.attempt for f in second] == [2]
    assert (tmp_path / "effects").read_text() == "x\nx\n"


@pytest.mark.slow
def test_r58_a_tool_that_kills_agentsh_in_its_effect_left_its_start_on_record(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    # the shell is a session of its own; its parent is the program
    deed = "echo ran >> effects; kill -9 $PPID; sleep 0.2"
    endpoint.script = [calls(("call_1", "bash", {"command": deed}))]
    child = _agentsh(endpoint, tmp_path, "run", "do it", "--approve", "all")
    child.communicate(timeout=30)
    assert child.returncode == -signal.SIGKILL
    path = _file()
    assert b'"customType":"agentsh.tool","data":{"v":1,"ev":"start"' in path.read_bytes()

    assert run_cli(endpoint, tmp_path, [text("ok")], "-c", "on").code == 0
    assert b'"code":"TOOL_OUTCOME_UNKNOWN"' in path.read_bytes()
    assert (tmp_path / "effects").read_text() == "ran\n"


def test_r60_a_tools_own_transaction_is_in_the_trace() -> None:
    message = ToolResultMessage(
        ToolCallId("c"), "pay", (Text("done"),), False, {"ash": {"tx": "tx-4711"}}
    )
    (event,) = trace_view([Entry(EntryId("e"), None, "T", MessageBody(message))])

    assert isinstance(event, dict)
    assert event["tx"] == "tx-4711"


def test_r64_a_long_stream_is_no_more_lines_than_a_short_one(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    pieces = [chunk({"content": f"{number} "}) for number in range(2000)]
    long = stream(*pieces, chunk({}, "stop"), usage_chunk())
    assert run_cli(endpoint, tmp_path, [long], "count").code == 0
    path = _file()
    lines, size = len(lines_of(path)), path.stat().st_size
    said = sum(len(f"{number} ") for number in range(2000))
    assert run_cli(endpoint, tmp_path, [text("x")], "-c", "again").code == 0

    assert lines < 15
    assert size < said + 12_000
    assert not list(path.parent.glob("*.d")), "the spool is gone with the answer"


def test_r68_neither_key_nor_userinfo_nor_query_reaches_the_disk(
    tmp_path: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-the-key")
    url = endpoint.base_url.replace("http://", "http://me:userinfo-secret@") + "?token=query-secret"
    done = agentsh("run", "hello", "--base-url", url, "-m", "m", cwd=tmp_path)
    assert done.code == 0
    assert "query-secret" in endpoint.requests[0].path

    for path in Path(os.environ["AGENTSH_HOME"]).rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            for secret in (b"sk-secret", b"userinfo-secret", b"query-secret", b"Bearer"):
                assert secret not in data, path
    assert read_endpoint(url).shown == endpoint.base_url


@pytest.mark.slow
def test_r70_killed_inside_a_compaction_compact_works_afterwards(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    assert run_cli(endpoint, tmp_path, [text("long " * 200)], "first").code == 0
    assert run_cli(endpoint, tmp_path, [text("more")], "-c", "second").code == 0
    path = _file()
    endpoint.requests.clear()
    endpoint.script = [silence]
    child = _agentsh(endpoint, tmp_path, "compact", str(path), "--keep", "0")
    _wait("the summary was asked for", lambda: endpoint.requests)
    child.send_signal(signal.SIGKILL)
    child.communicate()
    assert b'"customType":"agentsh.compaction","data":{"v":1,"ev":"start"}' in path.read_bytes()
    assert b'"type":"compaction"' not in path.read_bytes()

    endpoint.requests.clear()
    endpoint.script = [text("in short")]
    words = ("compact", str(path), "--keep", "0", "--base-url", endpoint.base_url)
    ended = agentsh(*words, cwd=tmp_path)
    assert ended.code == 0, ended.err
    assert path.read_bytes().count(b'"type":"compaction"') == 1
    assert agentsh("verify", str(path)).code == 0


@pytest.mark.slow
def test_r27_the_half_answer_is_kept_as_aborted_and_not_sent(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    path = kill_turn("first turn", "mid-stream", tmp_path, endpoint)
    assert list(path.parent.glob("*.d/stream-*")), "the spool holds it"
    shown = agentsh("show", str(path), "--view", "trace", "--json").json()
    assert isinstance(shown, dict)
    halves = [e for e in shown["events"] if e.get("stop_reason") == "aborted"]
    assert [HALF in e["text"] for e in halves] == [True]

    assert run_cli(endpoint, tmp_path, [text("ok")], "-c", "on").code == 0
    assert HALF not in endpoint.requests[0].raw.decode()
    assert HALF.encode() in path.read_bytes()

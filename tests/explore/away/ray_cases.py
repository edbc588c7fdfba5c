"""What holds of `explore --engine ray`; run by test_onray.py, where there is loopback alone.

Two nodes: this machine, and one from which project and home cannot be seen.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.endpoint import Endpoint, Handler, calls, serve, text

RAY = str(Path(sys.executable).with_name("ray"))
KEY = "sk-0123456789abcdef"
ADDRESS = "127.0.0.1:6399"
ON = ("--engine", "ray", "--ray-address", ADDRESS, "--slots", "2", "--lead", "0")
PROMPT = "Write a colour into answer.txt."
pytestmark = pytest.mark.timeout(170)


class Team:
    """Branches write `colour N`; their second answers wait until they are let go."""

    def __init__(self) -> None:
        self.firsts = self.seconds = 0
        self.free = threading.Event()
        self._lock = threading.Lock()

    def reply(self, handler: Handler) -> None:
        body = json.loads(handler.scripted.requests[-1].raw)
        with self._lock:
            if is_second := any(m["role"] == "tool" for m in body["messages"]):
                self.seconds += 1
            else:
                self.firsts += 1
            n = self.firsts
        if is_second:
            self.free.wait(100)
            text("done")(handler)
        else:
            calls(("c1", "write", {"path": "answer.txt", "content": f"colour {n}\n"}))(handler)


@pytest.fixture
def team() -> Team:
    return Team()


@pytest.fixture
def endpoint(team: Team) -> Iterator[Endpoint]:
    with serve(team.reply) as serving:
        yield serving
        team.free.set()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "own/project"
    (folder / "lib").mkdir(parents=True)
    (folder / "a.txt").write_text("one\n")
    (folder / ".gitignore").write_text("lib/\n")
    (folder / "lib/there").write_text("lent\n")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "base"]):
        who = ["-c", "user.name=a", "-c", "user.email=a@localhost"]
        subprocess.run(["git", *who, *words], cwd=folder, check=True)
    return folder


@pytest.fixture
def logs() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="r-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def cluster(project: Path, endpoint: Endpoint, logs: Path) -> Iterator[Path]:
    """Two nodes; the folder with Ray's own logs."""
    away = ("bwrap", "--dev-bind", "/", "/", "--tmpfs", str(project.parent), "--chdir", "/")
    head = ("--head", "--port=6399", "--include-dashboard=false", f"--temp-dir={logs}")
    other = (f"--address={ADDRESS}", "--node-ip-address=127.0.0.2")
    for before, words in (((), head), (away, other)):
        subprocess.run(
            [*before, RAY, "start", *words, "--num-cpus=1", "--object-store-memory=80000000",
             "--disable-usage-stats"],
            cwd="/", env=environ(project, endpoint), check=True, capture_output=True, timeout=120,
        )  # fmt: skip
    yield logs
    for pid in running("ray/core/src/ray", "ray::", "ray/_private", "ray/dashboard"):
        os.kill(pid, signal.SIGKILL)
    until(lambda: not running("raylet/raylet", "gcs_server"))


def environ(project: Path, endpoint: Endpoint) -> dict[str, str]:
    return {
        **os.environ,
        "AGENTSH_HOME": str(project.parent / "home"),
        "OPENAI_BASE_URL": endpoint.base_url,
        "OPENAI_API_KEY": KEY,
        "AGENTSH_MODEL": "m",
    }


def begin(project: Path, endpoint: Endpoint, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "agentsh", "explore", *words],
        cwd=project,
        env=environ(project, endpoint),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(begun: subprocess.Popen[str]) -> tuple[int, str, str]:
    try:
        out, err = begun.communicate(timeout=90)
    except subprocess.TimeoutExpired:
        begun.kill()
        out, err = begun.communicate()
        pytest.fail(f"it did not end: {out[-1000:]} {err[-3000:]}")
    return begun.returncode, out, err


def explore(project: Path, endpoint: Endpoint, *words: str) -> tuple[int, str, str]:
    return ended(begin(project, endpoint, *words))


def running(*marks: str) -> list[int]:
    """The processes of this namespace whose command holds one of those."""
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = each.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if any(mark in command for mark in marks) and int(each.parent.name) != os.getpid():
            found.append(int(each.parent.name))
    return found


def until(holds: Callable[[], object], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def everything(root: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


def rows_of(out: str) -> Sequence[dict[str, Any]]:
    branches: list[dict[str, Any]] = json.loads(out)["branches"]
    return branches


def told(row: dict[str, Any]) -> list[str]:
    """The roles of what the session that came back holds."""
    lines = [json.loads(line) for line in Path(row["path"]).read_text().splitlines()]
    assert lines[0]["type"] == "session"
    return [line["message"]["role"] for line in lines if line["type"] == "message"]


WHOLE = ["user", "assistant", "toolResult", "assistant"]


def test_rows_files_and_sessions_are_those_of_one_machine(
    project: Path, endpoint: Endpoint, team: Team, cluster: Path
) -> None:
    team.free.set()
    before = everything(project)
    check = "git log --format=%s && cat lib/there && grep -q colour answer.txt"
    check += '; env | grep -E "^(RAY_|OMP_|PYTHONPATH)"; grep -q colour answer.txt'

    code, out, err = explore(
        project, endpoint, *ON, "-n", "4", "--share", "lib", "--check", check,
        "--setup", "echo made > made.txt", "--output", "json", PROMPT,
    )  # fmt: skip

    assert code == 0, err
    rows = rows_of(out)
    assert [row["status"] for row in rows] == ["completed"] * 4, err
    assert {row["check"]["output"] for row in rows} == {"base\nlent\n"}
    assert [row["changed"] for row in rows] == [[{"path": "answer.txt", "kind": "create"}]] * 4
    assert [[role for role in told(row) if role in WHOLE] for row in rows] == [WHOLE] * 4
    assert (team.firsts, team.seconds) == (4, 4)
    assert everything(project) == before
    assert json.loads(out)["engine"] == "ray"
    assert all(row["workspace"] is None for row in rows)
    code, out, err = explore(project, endpoint, "pick", "2")
    assert code == 0, err
    assert (project / "answer.txt").read_text().startswith("colour ")
    held = [p for p in cluster.rglob("*") if p.is_file() and KEY.encode() in p.read_bytes()]
    assert held == []


def test_settings_a_revision_and_recorded_files_are_there_as_they_are_here(
    project: Path, endpoint: Endpoint, team: Team, cluster: Path
) -> None:
    team.free.set()
    home = project.parent / "home"
    home.mkdir()
    usual = 'engine = "ray"\nparallel = 2\nshare = ["lib"]\nsetup = "echo made > made.txt"\n'
    (home / "config.toml").write_text(f"[explore]\n{usual}")
    (project / "note.txt").write_text("then\n")
    run = [sys.executable, "-m", "agentsh", "run", "--approve", "all", PROMPT]
    subprocess.run(
        run, cwd=project, env=environ(project, endpoint), check=True, capture_output=True
    )
    (project / "note.txt").write_text("later\n")
    (project / "a.txt").write_text("two\n")
    who = ("-c", "user.name=a", "-c", "user.email=a@localhost")
    subprocess.run(["git", *who, "commit", "-qam", "later"], cwd=project, check=True)
    check = "git log --format=%s; cat a.txt lib/there made.txt; cat note.txt || true"
    tasks = project.parent / "tasks.jsonl"
    tasks.write_text(json.dumps({"prompt": PROMPT, "base": "HEAD~1", "check": check}) + "\n")
    on = ("--ray-address", ADDRESS, "--slots", "2", "--output", "json")

    code, out, err = explore(project, endpoint, *on, "-n", "1", "--tasks", str(tasks))
    assert code == 0, err
    [row] = rows_of(out)
    assert row["check"]["output"].startswith("base\none\nlent\nmade\n"), row
    assert json.loads(out)["engine"] == "ray"

    words = ("-c", "--at", "leaf", "--files", "-n", "1", "--check", check, PROMPT)
    code, out, err = explore(project, endpoint, *on, *words)
    assert code == 0, err
    [row] = rows_of(out)
    assert row["check"]["output"] == "later\nbase\none\nlent\nmade\nthen\n", row


@pytest.mark.parametrize("victim", ["machine", "runner"])
def test_what_dies_costs_its_branches_one_more_try(
    victim: str, project: Path, endpoint: Endpoint, team: Team, cluster: Path
) -> None:
    begun = begin(project, endpoint, *ON, "-n", "4", "--output", "json", PROMPT)
    until(lambda: team.seconds == 4, 90)

    [at_work, *_] = rows_of(explore(project, endpoint, "show", "--json")[1])
    runner: int = at_work["process"]["pid"]
    os.kill(runner if victim == "runner" else running("ray::RayMachine")[0], signal.SIGKILL)
    until(lambda: team.firsts + team.seconds > 8)
    team.free.set()
    code, out, err = ended(begun)

    assert code == 0, err
    rows = rows_of(out)  # and nothing of Ray's stands before it
    assert [row["status"] for row in rows] == ["completed"] * 4
    again = [row for row in rows if row["tries"] == 2]
    assert 1 <= len(again) <= 2
    assert [row["files"] for row in rows] == [1] * 4
    assert team.seconds <= 4 + len(again)
    assert all(told(row)[-1] == "assistant" for row in rows)
    assert "goes on" in err


def test_killed_in_the_middle_it_goes_on(
    project: Path, endpoint: Endpoint, team: Team, cluster: Path
) -> None:
    begun = begin(project, endpoint, *ON, "-n", "2", PROMPT)
    until(lambda: team.seconds == 2, 90)
    begun.kill()
    begun.communicate()
    until(lambda: not running("--explore-runner"), 15)
    [listed] = json.loads(explore(project, endpoint, "list", "--json")[1])
    assert listed["status"] == "stopped"
    team.free.set()

    code, out, err = explore(project, endpoint, "resume", "--output", "json")

    assert code == 0, err
    assert [(row["status"], row["tries"], row["files"]) for row in rows_of(out)] == [
        ("completed", 2, 1)
    ] * 2
    code, out, _ = explore(project, endpoint, "resume", "--output", "json")
    assert (code, team.firsts, team.seconds) == (0, 4, 4)


def test_a_cluster_of_our_own_goes_with_us_and_may_have_the_key(
    project: Path, endpoint: Endpoint, team: Team
) -> None:
    team.free.set()

    code, out, err = explore(
        project, endpoint, "--engine", "ray", "-n", "1", "--send-key", "--output", "json", PROMPT
    )

    assert code == 0, err
    assert rows_of(out)[0]["status"] == "completed"
    assert {r.headers["authorization"] for r in endpoint.requests} == {f"Bearer {KEY}"}
    until(lambda: not running("raylet/raylet", "gcs_server"), 20)


@pytest.mark.parametrize("who", ["nobody", "somebody"])
def test_a_cluster_that_is_not_there_is_told_before_anything_is_made(
    who: str, project: Path, endpoint: Endpoint
) -> None:
    address = f"127.0.0.1:{endpoint.port}" if who == "somebody" else "127.0.0.1:6390"

    code, _, err = explore(project, endpoint, "--engine", "ray", "--ray-address", address, PROMPT)

    assert code == 2, err
    assert f"--ray-address {address}" in err
    assert "Traceback" not in err
    assert not list((project.parent / "home").rglob("explore/*"))

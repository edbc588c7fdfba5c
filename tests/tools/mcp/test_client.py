"""The client against servers that go wrong: what becomes of a call, and of the processes."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from agentsh.abort import Abort
from agentsh.errors import ToolAbortedError, ToolFailedError, ToolTimeoutError
from agentsh.jsontext import JsonObject
from agentsh.tools.mcp.client import McpClient
from agentsh.tools.mcp.definition import Server
from agentsh.tools.mcp.tool import ServerAnswer
from tests.support.mcpservers import Heard, faulty, is_gone, opened_client, until


def call(
    heard: Heard,
    server: Server,
    tool: str,
    arguments: JsonObject | None = None,
    abort: Abort | None = None,
    told: list[str] | None = None,
) -> ServerAnswer:
    news = [] if told is None else told
    return heard.client.call(server, None, tool, arguments or {}, abort or Abort(), news.append)


def texts(answer: ServerAnswer) -> list[object]:
    content = answer.result["content"]
    assert isinstance(content, list)
    return [block["text"] for block in content]


def test_a_call_starts_its_server_and_brings_its_answer(tmp_path: Path) -> None:
    birds = faulty(tmp_path / "birds")
    with opened_client(tmp_path) as heard:
        first = call(heard, birds.server(), "count", {"bird": "owl"})
        second = call(heard, birds.server(), "count", {"bird": "emu"})

    assert (texts(first), texts(second)) == (["owl: 4"], ["emu: 4"])
    assert len(birds.pids()) == 1
    assert [name for name, _ in heard.lists] == ["birds"]
    assert heard.lists[0][1].server == "good"
    assert all(map(is_gone, birds.pids()))


@pytest.mark.parametrize(
    ("argv", "folder", "words"),
    [
        (("npx -y birds",), ".", "`command` is the program alone, each of its words goes into"),
        (("ls",), "nosuch", r"its folder \(cwd\) .*nosuch is not there"),
        (("no-such-program",), ".", "No such file"),
    ],
)
def test_a_program_that_is_not_there_is_said_with_what_to_do(
    tmp_path: Path, argv: tuple[str, ...], folder: str, words: str
) -> None:
    server = Server("birds", "d" * 64, tmp_path / folder, argv=argv)
    with opened_client(tmp_path) as heard, pytest.raises(ToolFailedError, match=words):
        call(heard, server, "count")


def test_a_server_that_dies_in_a_call_is_an_error_at_once_and_comes_back(tmp_path: Path) -> None:
    birds = faulty(tmp_path / "birds")
    with opened_client(tmp_path) as heard:
        begun = time.monotonic()
        with pytest.raises(ToolFailedError, match=r"exit code 3: .*boom-on-stderr"):
            call(heard, birds.server(), "crash")
        assert time.monotonic() - begun < 10
        assert texts(call(heard, birds.server(), "count", {"bird": "owl"})) == ["owl: 4"]

    assert birds.notes("called") == ["crash", "count"]
    assert len(birds.pids()) == 2


def test_after_three_deaths_within_a_minute_it_is_not_started_before_it_is_forgiven(
    tmp_path: Path,
) -> None:
    birds = faulty(tmp_path / "birds")
    with opened_client(tmp_path) as heard:
        for _ in range(3):
            with pytest.raises(ToolFailedError, match="exit code 3"):
                call(heard, birds.server(), "crash")
        with pytest.raises(ToolFailedError, match=r"three times within a minute.*boom-on-stderr"):
            call(heard, birds.server(), "count", {"bird": "owl"})
        heard.client.forgive()
        assert texts(call(heard, birds.server(), "count", {"bird": "owl"})) == ["owl: 4"]

    assert len(birds.pids()) == 4


def test_a_call_that_takes_too_long_is_told_to_the_server_which_lives(tmp_path: Path) -> None:
    birds = faulty(tmp_path / "birds")
    server = birds.server(timeout=0.5)
    with opened_client(tmp_path) as heard:
        with pytest.raises(ToolTimeoutError, match=r"timed out after 0\.5 s"):
            call(heard, server, "slow", {"seconds": 1.5})
        assert until(lambda: birds.notes("cancelled"))
        assert texts(call(heard, server, "count", {"bird": "owl"})) == ["owl: 4"]
        time.sleep(1.5)
        assert texts(call(heard, server, "count", {"bird": "emu"})) == ["emu: 4"]

    assert len(birds.pids()) == 1


def test_progress_begins_the_time_of_a_call_anew_and_is_told(tmp_path: Path) -> None:
    birds = faulty(tmp_path / "birds")
    told: list[str] = []
    with opened_client(tmp_path) as heard:
        server = birds.server(timeout=1.0)
        assert texts(call(heard, server, "steps", told=told)) == ["four steps"]

    assert told == ["at 0", "at 1", "at 2", "at 3"]


def test_an_abort_stops_the_call_and_leaves_the_server_alive(tmp_path: Path) -> None:
    birds = faulty(tmp_path / "birds")
    abort = Abort()
    with opened_client(tmp_path) as heard:
        call(heard, birds.server(), "count", {"bird": "owl"})
        threading.Timer(0.3, abort.set).start()
        begun = time.monotonic()
        with pytest.raises(ToolAbortedError):
            call(heard, birds.server(), "slow", {"seconds": 20}, abort)
        assert time.monotonic() - begun < 3
        assert until(lambda: birds.notes("cancelled"))
        assert texts(call(heard, birds.server(), "count", {"bird": "emu"})) == ["emu: 4"]

    assert len(birds.pids()) == 1


def test_what_is_no_message_goes_to_the_log(tmp_path: Path) -> None:
    birds = faulty(tmp_path / "birds", "garbage")
    with opened_client(tmp_path) as heard:
        assert texts(call(heard, birds.server(), "count", {"bird": "owl"})) == ["owl: 4"]

    log = tmp_path / "logs" / "mcp-birds.log"
    assert b"Welcome!" in log.read_bytes()
    assert b"noise-on-stderr" in log.read_bytes()
    assert log.stat().st_mode & 0o777 == 0o600


def test_a_line_without_an_end_ends_the_server(tmp_path: Path) -> None:
    birds = faulty(tmp_path / "birds", "endless")
    with opened_client(tmp_path) as heard:
        with pytest.raises(ToolFailedError, match="a message of over 64 MiB"):
            call(heard, birds.server(), "count", {"bird": "owl"})
        assert until(lambda: all(map(is_gone, birds.pids())))


def test_an_old_server_that_leaves_the_probe_unanswered_works(tmp_path: Path) -> None:
    birds = faulty(tmp_path / "birds", "mute")
    server = birds.server(start_timeout=3)
    with opened_client(tmp_path) as heard:
        assert texts(call(heard, server, "count", {"bird": "owl"})) == ["owl: 4"]
        heard.client.stop("birds")
        begun = time.monotonic()
        heard.client.call(server, "handshake", "count", {}, Abort(), print)
        assert time.monotonic() - begun < 0.9

    assert [listing.era for _, listing in heard.lists] == ["handshake", "handshake"]


def test_a_result_that_breaks_its_schema_is_given_with_a_note(tmp_path: Path) -> None:
    birds = faulty(tmp_path / "birds", "liar")
    with opened_client(tmp_path) as heard:
        answer = call(heard, birds.server(), "count", {"bird": "owl"})

    assert texts(answer) == ["owl: 4"]
    assert answer.result["structuredContent"] == {"total": "many", "seen": 77}
    assert "not what its server says" in answer.note
    [(_, listing)] = heard.lists
    assert len(listing.tools) == 8
    assert len(listing.odd) == 4


def test_json_that_only_the_lenient_reader_takes_is_read(tmp_path: Path) -> None:
    birds = faulty(tmp_path / "birds", "odd")
    with opened_client(tmp_path) as heard:
        answer = call(heard, birds.server(), "count", {"bird": "owl"})

    assert texts(answer) == ["half \ufffd and owl: 4"]


def test_a_list_that_changes_is_heard(tmp_path: Path) -> None:
    birds = faulty(tmp_path / "birds", "changing")
    with opened_client(tmp_path) as heard:
        call(heard, birds.server(), "count", {"bird": "owl"})
        assert until(lambda: len(heard.lists) == 2)

    assert [len(listing.tools) for _, listing in heard.lists] == [8, 9]


@pytest.mark.parametrize(
    ("mode", "words"),
    [("dies", "exit code 7: .*cannot find the licence"), ("silent", "was not ready within 0.5 s")],
)
def test_a_server_that_does_not_start_is_an_error_with_its_words(
    tmp_path: Path, mode: str, words: str
) -> None:
    birds = faulty(tmp_path / "birds", mode)
    with opened_client(tmp_path) as heard, pytest.raises(Exception, match=words):
        call(heard, birds.server(start_timeout=0.5 if mode == "silent" else 20), "count")


def test_no_program_is_an_error_that_names_it(tmp_path: Path) -> None:
    server = Server("gone", "d" * 64, tmp_path, argv=("/no/such/program",))
    with opened_client(tmp_path) as heard, pytest.raises(ToolFailedError, match="/no/such/program"):
        call(heard, server, "count")


def test_nothing_is_left_of_a_launcher_its_children_and_one_that_ignores_term(
    tmp_path: Path,
) -> None:
    birds = faulty(tmp_path / "birds", "stays")
    child = tmp_path / "child"
    inner = " ".join(f"'{word}'" for word in birds.argv)
    script = f"sleep 300 & echo $! > '{child}'; {inner}; true"
    server = Server("birds", "d" * 64, tmp_path, argv=("bash", "-c", script), env=dict(os.environ))
    with opened_client(tmp_path) as heard:
        call(heard, server, "count", {"bird": "owl"})

    assert all(map(is_gone, [*birds.pids(), int(child.read_text())]))


def test_l29_a_server_holds_up_nobody_by_what_it_says_of_itself(tmp_path: Path) -> None:
    """A pattern that backtracks for ever would stop the loop, and with it time-outs and the end."""
    birds = faulty(tmp_path / "birds", "catching")
    began = time.monotonic()
    with opened_client(tmp_path) as heard:
        assert texts(call(heard, birds.server(), "count", {"bird": "owl"})) == ["owl: 4"]

    assert time.monotonic() - began < 30
    [(_, listing)] = heard.lists
    assert len(listing.server) <= 100
    assert "\x1b" not in listing.server


class Held(McpClient):
    """Something holds up its loop, so that its end is never told."""

    killed = False

    async def _end_all(self) -> None:
        raise TimeoutError

    def kill(self) -> None:
        self.killed = True


def test_a_loop_that_is_held_up_is_left_and_its_servers_are_ended(tmp_path: Path) -> None:
    client = Held(tmp_path, None, str, lambda _server, _listing: None)
    client.close()

    assert client.killed

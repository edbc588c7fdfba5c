from __future__ import annotations

import os
import re
import signal
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from agentsh.errors import InvalidArgumentsError, ToolAbortedError, ToolFailedError
from agentsh.files import boot_id
from agentsh.tools.base import StartedProcess
from agentsh.tools.files.truncate import MAX_BYTES
from agentsh.tools.shell import groups
from agentsh.tools.shell import leftovers as background
from agentsh.tools.shell.bash import BashTool, explicit_repositories
from tests.support.tooling import Bench, text_of

BASH = BashTool()


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    yield
    background.end_all()
    assert not [t for t in threading.enumerate() if t.name == "drain"]


def _pid(path: Path) -> int:
    until = time.monotonic() + 5
    while time.monotonic() < until:
        if path.exists() and path.read_text().strip():
            return int(path.read_text())
        time.sleep(0.02)
    raise AssertionError(f"no {path}")


def _is_dead(pid: int, seconds: float = 5) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        row = groups.seen(pid)
        if row is None or row.state in "ZX":
            return True
        time.sleep(0.02)
    return False


def _file_named_in(text: str) -> Path:
    found = re.search(r"/\S+\.log", text)
    assert found, text
    return Path(found[0])


def test_output_and_errors_are_one_stream_in_order(bench: Bench) -> None:
    text = bench.text(BASH, command="echo 1; echo 2 >&2; echo 3; [[ a == a ]] && echo ünï")
    assert text == "1\n2\n3\nünï"
    assert bench.text(BASH, command="true") == "(no output)"


def test_the_folder_is_the_sessions_and_every_shell_is_fresh(bench: Bench) -> None:
    bench.text(BASH, command="cd /; X=1")
    assert bench.text(BASH, command='pwd -P; echo "[$X]"') == f"{bench.cwd.resolve()}\n[]"


def test_a_non_zero_exit_is_an_error_after_the_output(bench: Bench) -> None:
    outcome = bench.outcome(BASH, command="echo out; exit 3")
    assert (text_of(outcome), outcome.is_error) == ("out\n\nexit code 3", True)
    assert "exit code 137 (ended by SIGKILL)" in bench.text(BASH, command="kill -9 $$")
    assert "127" in bench.text(BASH, command="no-such-program-here")


def test_nothing_can_wait_for_a_person(bench: Bench) -> None:
    os.environ["EDITOR"] = os.environ["GIT_EDITOR"] = "sleep 600 #"
    try:
        text = bench.text(
            BASH,
            command='cat; read x; echo "read=$?"; cat </dev/tty; tty; $EDITOR f; echo "ed=$?";'
            ' sh -c "$GIT_EDITOR f"; echo "git=$? $GIT_TERMINAL_PROMPT $PAGER"',
            timeout=10,
        )
    finally:
        del os.environ["EDITOR"], os.environ["GIT_EDITOR"]
    assert "read=1" in text
    assert "not a tty" in text
    assert "No such device" in text
    assert "ed=1" in text
    assert "give the text on the command line" in text
    assert "git=1 0 cat" in text


def test_the_environment_is_the_contexts_and_the_ids_of_the_call(bench: Bench) -> None:
    text = bench.text(BASH, command="echo $AGENTSH_CALL_ID $AGENTSH_IDEMPOTENCY_KEY $HOME")
    assert text == f"call_1 {'k' * 32} {os.environ['HOME']}"


def test_a_call_ends_with_its_shell_though_a_child_holds_the_pipe(bench: Bench) -> None:
    began = time.monotonic()
    outcome = bench.outcome(BASH, command="sleep 300 & echo $! > pid; echo done")
    assert time.monotonic() - began < 3
    assert not outcome.is_error
    assert "Background work" in text_of(outcome)
    pid = _pid(bench.cwd / "pid")
    assert groups.seen(pid)
    background.end_all()
    assert _is_dead(pid)


def test_a_child_with_its_output_elsewhere_is_noticed_too(bench: Bench) -> None:
    text = bench.text(BASH, command="sleep 300 >/dev/null 2>&1 & echo $! > pid")
    assert "Background work" in text
    background.end_all()
    assert _is_dead(_pid(bench.cwd / "pid"))


def test_what_is_left_goes_on_writing_to_the_file_that_is_named(bench: Bench) -> None:
    text = bench.text(BASH, command="(sleep 0.9; echo late; sleep 60) & echo early")
    path = _file_named_in(text)
    until = time.monotonic() + 5
    while "late" not in path.read_text() and time.monotonic() < until:
        time.sleep(0.05)
    assert path.read_text() == "early\nlate\n"


def test_a_talker_in_background_does_not_keep_the_call_open(bench: Bench) -> None:
    began = time.monotonic()
    text = bench.text(BASH, command="(while :; do echo tick; sleep .1; done) & echo up")
    assert "up" in text
    assert time.monotonic() - began < 4


def test_a_time_out_ends_the_tree_also_what_left_the_group(bench: Bench) -> None:
    outcome = bench.outcome(
        BASH,
        command="setsid sh -c 'echo $$ > a; exec sleep 300' & (setsid env -i sleep 301 & "
        "echo $! > b; wait) & bash -c 'sleep 302 & echo $! > c; wait' & echo started; wait",
        timeout=1,
    )
    assert outcome.is_error
    assert text_of(outcome).startswith("started\n\ntimed out after 1 s")
    assert all(_is_dead(_pid(bench.cwd / name), 1) for name in "abc")


def test_a_command_that_ignores_term_is_killed(bench: Bench) -> None:
    began = time.monotonic()
    command = "trap '' TERM INT HUP; echo $$ > pid; while :; do sleep 1; done"
    assert "timed out" in bench.text(BASH, command=command, timeout=0.5)
    assert 2 < time.monotonic() - began < 6
    assert _is_dead(_pid(bench.cwd / "pid"))


def test_a_stopped_command_is_ended_as_well(bench: Bench) -> None:
    began = time.monotonic()
    bench.text(BASH, command="kill -STOP $$", timeout=0.5)
    assert time.monotonic() - began < 2


def test_an_abort_ends_the_tree_at_once_and_is_told_with_the_output(bench: Bench) -> None:
    threading.Timer(0.5, bench.abort.set).start()
    began = time.monotonic()
    with pytest.raises(ToolAbortedError, match=r"(?s)begun.*stopped by the user"):
        bench.text(BASH, command="echo begun; sleep 300 & echo $! > pid; wait")
    assert time.monotonic() - began < 4
    assert _is_dead(_pid(bench.cwd / "pid"))
    with pytest.raises(ToolAbortedError, match="not started"):
        bench.text(BASH, command="touch ran")
    assert not (bench.cwd / "ran").exists()


def test_a_start_that_cannot_be_recorded_is_undone(bench: Bench) -> None:
    class DiskFullError(Exception):
        pass

    pids = []

    def refuse(process: StartedProcess) -> None:
        pids.append(process.pgid)
        raise DiskFullError

    bench.on_start = refuse
    with pytest.raises(DiskFullError):
        bench.text(BASH, command="sleep 300")
    assert _is_dead(pids[0])


def test_the_record_of_the_process_is_that_of_the_shell(bench: Bench) -> None:
    shell = int(bench.text(BASH, command="echo $$"))
    (process,) = bench.started
    assert process.pgid == shell
    assert process.start > 0
    assert process.boot == boot_id()
    assert not groups.is_running(process)


def test_a_flood_keeps_its_tail_and_memory_stays_flat(bench: Bench) -> None:
    command = "yes 'forty characters of output, over and over' | head -c 300000000; echo the-end"
    text = bench.text(BASH, command=command)
    assert text.split("\n\n")[0].endswith("the-end")
    assert len(text.encode()) < MAX_BYTES + 500
    path = _file_named_in(text)
    assert path.stat().st_size == 100 * 1024 * 1024
    assert "The first 100.0 MB" in text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert path.parent == bench.output_dir


def test_the_last_2000_lines_and_how_many_there_were(bench: Bench) -> None:
    text = bench.text(BASH, command="for i in $(seq 5000); do echo row $i; done")
    assert text.startswith("row 3001\n")
    assert "Lines 3001-5000 of 5000" in text
    assert _file_named_in(text).read_text().startswith("row 1\n")


def test_a_huge_line_is_clipped_not_dropped(bench: Bench) -> None:
    command = "head -c 1500000 /dev/zero | tr '\\0' x; printf '\\nshort\\n'"
    text = bench.text(BASH, command=command)
    assert re.search(r"x{40000}\nshort\n", text)
    assert "too long" in text


def test_a_character_in_two_pieces_arrives_whole(bench: Bench) -> None:
    text = bench.text(BASH, command=r"printf '\xe2'; sleep .3; printf '\x80\x94 \xf0\x9f\x98\x80'")
    assert text == "— 😀"
    assert "".join(bench.progress) == "— 😀"


def test_control_codes_do_not_get_through(bench: Bench) -> None:
    command = r"printf 'ok\0\001\033[31mred\033]52;c;ZXZpbA==\007 \033[2J\xff\r10%%\r20%%\n'"
    assert bench.text(BASH, command=command) == "20%␁red \ufffd"


def test_the_spool_holds_the_output_while_it_comes_and_may_be_removed_after(bench: Bench) -> None:
    bench.spool = bench.output_dir / "call.spool"
    text = bench.text(BASH, command=f"echo early; sleep .3; cp {bench.spool} c; cat c")
    assert text == "early\nearly"
    text = bench.text(BASH, command="seq 3000")
    bench.spool.unlink()
    assert _file_named_in(text).read_text().startswith("1\n2\n")


def test_an_output_folder_that_cannot_be_written_costs_the_file_only(bench: Bench) -> None:
    bench.output_dir.write_text("a file")
    text = bench.text(BASH, command="seq 3000")
    assert "3000\n\n" in text
    assert "could not be kept" in text


@pytest.mark.parametrize("command", ["", "  ", "a\0b", "x" * 200_000])
def test_what_no_shell_can_take_is_refused(command: str) -> None:
    with pytest.raises(InvalidArgumentsError):
        BASH.check({"command": command})


def test_a_session_folder_that_is_gone_is_an_error(bench: Bench) -> None:
    bench.cwd.rmdir()
    with pytest.raises(ToolFailedError, match="folder is gone"):
        bench.text(BASH, command="true")


def test_without_bash_sh_is_used(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, _mode: str(path) == "/bin/sh")
    assert bench.text(BASH, command="echo $0") in ("/bin/sh", "sh")


def test_many_calls_with_background_children_leave_nothing(bench: Bench) -> None:
    bench.text(BASH, command="true")
    fds = set(Path("/proc/self/fd").iterdir())
    for _ in range(20):
        bench.text(BASH, command="sleep 300 >/dev/null 2>&1 & sleep 300 2>&1 & exec true")
        background.end_all()
    assert set(Path("/proc/self/fd").iterdir()) == fds
    own = os.getpid()
    assert not [r for r in groups.table() if r.parent == own]
    mark = background.new_mark().partition(".")[0]  # this process's: others may run tests too
    assert mark
    assert not groups.bearers(mark)


def test_the_end_of_a_session_leaves_what_others_run(bench: Bench) -> None:
    for name in ("one", "two"):
        context = replace(bench.context(), session_id=name)
        command = f"setsid sleep 300 >/dev/null 2>&1 & echo $! > {name}; sleep 300 & exec true"
        BASH.run({"command": command}, context)
    pids = {name: _pid(bench.cwd / name) for name in ("one", "two")}

    background.end_session("one")

    assert _is_dead(pids["one"])
    assert not _is_dead(pids["two"])
    background.end_all()
    assert _is_dead(pids["two"])


def test_end_all_may_come_from_a_signal_handler(bench: Bench) -> None:
    bench.text(BASH, command="sleep 300 & echo $! > pid")
    before = signal.signal(signal.SIGUSR1, lambda _n, _f: background.end_all())
    try:
        os.kill(os.getpid(), signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert _is_dead(_pid(bench.cwd / "pid"))


def test_a_time_out_that_can_only_mean_milliseconds_is_read_so_and_said(bench: Bench) -> None:
    text = bench.text(BASH, command="echo hi", timeout=30000)

    assert text == "hi\n\n[timeout 30000 was read as milliseconds: 30 s]"
    assert bench.text(BASH, command="echo hi", timeout=3600) == "hi"
    with pytest.raises(InvalidArgumentsError, match="in seconds and at most 3600, 7201 were given"):
        BASH.check({"command": "x", "timeout": 7201})
    with pytest.raises(InvalidArgumentsError, match=r"at most 3600, 1e\+12 were given"):
        BASH.check({"command": "x", "timeout": 1e12})


def test_git_obeys_no_folder_that_edits_made_into_a_repository(bench: Bench) -> None:
    for name in ("objects", "refs"):
        (bench.cwd / name).mkdir()
    (bench.cwd / "HEAD").write_text("ref: refs/heads/main\n")
    mark = bench.cwd / "ran"
    (bench.cwd / "config").write_text(
        "[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\n"
        f'fsmonitor = "touch {mark}; false"\n'
    )

    for word in ("status", "diff", "log", "ls-files"):
        assert bench.outcome(BASH, command=f"git {word}").is_error
    assert not mark.exists()


def test_settings_of_git_in_the_environment_stay() -> None:
    given = {"GIT_CONFIG_COUNT": "2", "GIT_CONFIG_KEY_1": "user.name"}

    assert explicit_repositories(given) == {
        "GIT_CONFIG_COUNT": "3",
        "GIT_CONFIG_KEY_2": "safe.bareRepository",
        "GIT_CONFIG_VALUE_2": "explicit",
    }

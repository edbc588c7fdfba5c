from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from agentsh.errors import InvalidArgumentsError, ToolFailedError
from agentsh.jsontext import JsonObject
from agentsh.messages import Text
from agentsh.tools.base import JobEnd
from agentsh.tools.shell import groups, jobs
from agentsh.tools.shell import leftovers as background
from agentsh.tools.shell.bash import BashTool
from agentsh.tools.shell.jobs import JobsTool
from tests.support.tooling import Bench

BASH, JOBS = BashTool(), JobsTool()
MARKED = {**os.environ, groups.MARK: "of-a-command."}


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    yield
    background.end_all()


def _job(bench: Bench, command: str) -> int:
    began = time.monotonic()
    outcome = bench.outcome(BASH, command=command, background=True)
    assert time.monotonic() - began < 2
    assert not outcome.is_error
    return bench.started[-1].pgid


def _until(bench: Bench, number: int, words: str) -> str:
    until = time.monotonic() + 8
    while time.monotonic() < until:
        text = bench.text(JOBS, action="read", id=number)
        if words in text:
            return text
        time.sleep(0.05)
    raise AssertionError(text)


def test_a_job_runs_on_and_its_output_can_be_read(bench: Bench) -> None:
    number = _job(bench, "echo one; sleep .6; echo two; sleep 300")
    _until(bench, number, "one")
    text = _until(bench, number, "two")
    assert f"job {number}: runs since" in text
    assert f"job {number}: runs" in bench.text(JOBS, action="list")


def test_a_job_can_be_ended_with_all_that_it_started(bench: Bench) -> None:
    number = _job(bench, "sleep 300 & sleep 300; echo never")
    assert "was ended" in bench.text(JOBS, action="end", id=number)
    assert "already ended" in bench.text(JOBS, action="end", id=str(number))


def test_the_end_of_a_job_is_told_with_its_exit_code(bench: Bench) -> None:
    number = _job(bench, "echo bye; exit 7")
    assert "bye" in _until(bench, number, "ended with exit code 7")


def _ends(session: str, count: int) -> list[JobEnd]:
    """So many jobs that have ended, each asked for until it is there."""
    found: list[JobEnd] = []
    until = time.monotonic() + 8
    while len(found) < count and time.monotonic() < until:
        found += background.ended_jobs(session)
        time.sleep(0.05)
    return found


def test_the_end_of_a_job_is_given_once_to_the_session_that_started_it(bench: Bench) -> None:
    number = _job(bench, "sleep .4; echo 7 bytes; exit 3")
    assert background.ended_jobs(str(bench.cwd)) == ()
    assert background.ended_jobs("another session") == ()

    (end,) = _ends(str(bench.cwd), 1)
    assert (end.call_id, end.pgid, end.code, end.bytes) == ("call_1", number, 3, 8)
    assert 0.3 <= end.seconds < 8
    assert background.ended_jobs(str(bench.cwd), final=True) == ()


def test_a_job_that_ends_with_agentsh_is_given_as_well(bench: Bench) -> None:
    _job(bench, "echo one; sleep 300")
    background.end_all()

    (end,) = background.ended_jobs(str(bench.cwd), final=True)
    assert (end.code, end.bytes) in ((143, 4), (143, 0))  # perhaps before it came to print


def test_a_job_is_there_for_its_own_session_alone(bench: Bench) -> None:
    number = _job(bench, "sleep 300")
    other = replace(bench.context(), session_id="another session")

    listed = JOBS.run(JOBS.check({"action": "list"}), other)
    with pytest.raises(ToolFailedError, match=f"there is no job {number}"):
        JOBS.run(JOBS.check({"action": "end", "id": number}), other)

    assert listed.content == (Text("There are no jobs."),)
    assert f"job {number}: runs" in bench.text(JOBS, action="list")


def test_an_unknown_job_is_an_error_and_an_id_is_needed(bench: Bench) -> None:
    with pytest.raises(ToolFailedError, match="no job 999999"):
        bench.text(JOBS, action="read", id=999999)
    wrong: list[JsonObject] = [{"action": "read"}, {"action": "burn", "id": 1}, {}]
    for arguments in wrong:
        with pytest.raises(InvalidArgumentsError):
            JOBS.check(arguments)


def test_a_job_of_an_earlier_process_is_found_and_can_be_ended(bench: Bench) -> None:
    with subprocess.Popen(["sleep", "300"], start_new_session=True, env=MARKED) as child:
        process = groups.started(child.pid)
        output = bench.output_dir / "bash-1.log"
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text("what it said\n")
        job: JsonObject = {"id": child.pid, "start": process.start, "boot": process.boot}
        own, outputs = bench.context().session_id, bench.output_dir
        assert not jobs.adopt({"job": {**job, "start": process.start + 1}}, own, outputs)
        assert not jobs.adopt({"job": {**job, "boot": "another"}}, own, outputs)
        assert not jobs.adopt({"exitCode": 0}, own, outputs)
        said: JsonObject = {**job, "command": "sleep 300", "output": str(output)}
        assert jobs.adopt({"job": said}, own, outputs)
        assert "what it said" in bench.text(JOBS, action="read", id=child.pid)
        assert "was ended" in bench.text(JOBS, action="end", id=child.pid)
    assert child.returncode == -15
    assert not jobs.adopt({"job": job}, own, outputs)


@pytest.mark.parametrize("place", ["secret", "outputs/secret", "outputs/bash-link", "bash-2.log"])
def test_l01_a_job_that_a_session_file_makes_up_shows_no_file_and_ends_no_process(
    bench: Bench, place: str
) -> None:
    """The file may be a stranger's: it names neither what is read nor what is ended."""
    outputs = bench.cwd / "outputs"
    outputs.mkdir()
    bench.file("secret", "precious\n")
    (outputs / "bash-link").symlink_to(bench.cwd / "secret")
    if place != "outputs/bash-link":
        bench.file(place, "precious\n")
    own = bench.context().session_id
    for environ, is_taken in (({}, False), (MARKED, True)):
        with subprocess.Popen(["sleep", "300"], start_new_session=True, env=environ) as child:
            process = groups.started(child.pid)
            job: JsonObject = {"id": child.pid, "start": process.start, "boot": process.boot}
            details: JsonObject = {"job": {**job, "output": str(bench.cwd / place)}}
            assert jobs.adopt(details, own, outputs) is is_taken
            if is_taken:
                assert "precious" not in bench.text(JOBS, action="read", id=child.pid)
            else:
                with pytest.raises(ToolFailedError, match="there is no job"):
                    bench.text(JOBS, action="end", id=child.pid)
            child.kill()

"""The jobs tool: list, read and end what `bash` with background: true began.

A job is known by the number of its process group, to its own session alone: a process may hold
several. Those of this process are in leftovers.py;
those that an earlier one left behind (it was killed) are taken in from the details of their
stored results by `adopt`, and are listed as long as they still run: a session's file may be a
stranger's, so only what bears the mark of a command of ours is one, and only outputs are read.
Ending is TERM, two seconds, KILL, for the whole tree. Its effect counts as reading: it touches
nothing but what this session was allowed to start.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from agentsh.errors import InvalidArgumentsError, ToolFailedError
from agentsh.files import is_link, read_end, real
from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import Text, ToolSchema
from agentsh.tools import schemas
from agentsh.tools.arguments import check_arguments
from agentsh.tools.base import Effect, StartedProcess, ToolContext, ToolOutcome
from agentsh.tools.files.truncate import MAX_BYTES, bytes_words, tail
from agentsh.tools.shell import groups, leftovers
from agentsh.tools.shell.controls import harmless, settled
from agentsh.tools.shell.leftovers import GRACE, Live

_COMMAND_SHOWN = 100
_READ = 4 * MAX_BYTES


class _Adopted(Struct, frozen=True):
    """A job of an earlier process that was killed before it could end its jobs."""

    process: StartedProcess
    command: str
    output: Path | None
    session_id: str


_adopted: dict[int, _Adopted] = {}


def adopt(details: JsonValue, session: str, outputs: Path) -> bool:
    """Take in a job from the details of a bash result of that session; True if it still runs.

    `outputs`: the folder that whole outputs are kept in.
    """
    job = details.get("job") if isinstance(details, Mapping) else None
    if not isinstance(job, Mapping):
        return False
    number, start, boot = job.get("id"), job.get("start"), job.get("boot")
    if not (isinstance(number, int) and isinstance(start, int) and isinstance(boot, str)):
        return False
    if number < 2 or any(live.process.pgid == number for live in leftovers.jobs()):
        return False
    process = StartedProcess(number, start, boot)
    if not (groups.is_running(process) and groups.is_marked(number)):
        return False
    output = _own_output(job.get("output"), outputs)
    _adopted[number] = _Adopted(process, str(job.get("command", "")), output, session)
    return True


def _own_output(output: JsonValue, outputs: Path) -> Path | None:
    """The file of a command's output that is named; None for any other file."""
    path = Path(output) if isinstance(output, str) else None
    if path is None or not path.name.startswith("bash-") or is_link(path):
        return None
    return path if real(path.parent) == real(outputs) else None


class JobsTool(Struct, frozen=True):
    """`jobs`."""

    schema: ToolSchema = schemas.JOBS
    effect: Effect = Effect.READ

    def check(self, arguments: JsonObject) -> JsonObject:
        checked = check_arguments(self.schema, arguments)
        if checked["action"] != "list" and "id" not in checked:
            raise InvalidArgumentsError(f"jobs: {checked['action']} needs the job's id")
        return checked

    def touches(self, arguments: JsonObject, cwd: Path, home: Path) -> tuple[Path, ...]:
        return ()

    def expect(self, arguments: JsonObject, context: ToolContext) -> Mapping[str, str] | None:
        return None

    def run(self, arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        if arguments["action"] == "list":
            return ToolOutcome((Text(_list(context.session_id)),))
        number = arguments["id"]
        assert isinstance(number, int)
        job = _find(number, context.session_id)
        if arguments["action"] == "read":
            return ToolOutcome((Text(f"{_line(job)}\n{_output(job)}"),))
        return ToolOutcome((Text(_end(job)),))


def words_on_jobs(action: str, number: int | None, session: str) -> str:
    """What a person is told who asks for a session's jobs: `list`, `show` or `stop` of one.

    Raises ToolFailedError: there is no such job, or it could not be ended.
    """
    if number is None:
        return _list(session)
    job = _find(number, session)
    return _end(job) if action == "stop" else f"{_line(job)}\n{_output(job)}"


def _of(session: str) -> list[Live | _Adopted]:
    every: list[Live | _Adopted] = [*leftovers.jobs(), *_adopted.values()]
    return [job for job in every if job.session_id == session]


def _find(number: int, session: str) -> Live | _Adopted:
    for job in _of(session):
        if job.process.pgid == number:
            return job
    raise ToolFailedError(f"there is no job {number}. {_list(session)}")


def _list(session: str) -> str:
    rows = [_line(job) for job in _of(session)]
    return "\n".join(rows) if rows else "There are no jobs."


def _line(job: Live | _Adopted) -> str:
    command = " ".join(harmless(job.command).split())
    if len(command) > _COMMAND_SHOWN:
        command = command[:_COMMAND_SHOWN] + "…"
    return f"job {job.process.pgid}: {_state(job)}: {command} (output: {job.output})"


def _state(job: Live | _Adopted) -> str:
    if isinstance(job, _Adopted):
        return "runs since an earlier start" if groups.is_running(job.process) else "has ended"
    code = job.poll()
    if code is None:
        return f"runs since {time.time() - job.began:.0f} s"
    ended = f"ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
    return f"{ended}, what it started still runs" if job.may_run() else ended


def _output(job: Live | _Adopted) -> str:
    """The end of the output file, as a result may hold it."""
    if job.output is None:
        return "(its output was not kept)"
    try:
        size = job.output.stat().st_size
        data = read_end(job.output, _READ)
    except OSError as e:
        return f"(its output cannot be read: {e.strerror})"
    if not data:
        return "(no output yet)"
    if size > _READ:
        data = data.lstrip(bytes(range(0x80, 0xC0)))
    cut = tail(harmless(settled(data.decode("utf-8", "replace"))))
    if cut.is_whole and size <= _READ:
        return cut.text
    return f"{cut.text}\n[The end of {bytes_words(size)}; all of it: {job.output}]"


def _end(job: Live | _Adopted) -> str:
    number = job.process.pgid
    if isinstance(job, Live):
        if not job.may_run():
            return f"Job {number} had already ended."
        done = leftovers.end(job)
    else:
        if not groups.is_running(job.process):
            return f"Job {number} had already ended."
        done = _end_adopted(job.process)
    if not done:
        raise ToolFailedError(f"job {number} could not be ended")
    return f"Job {number} was ended."


def _end_adopted(process: StartedProcess) -> bool:
    for number in (signal.SIGTERM, signal.SIGKILL):
        groups.send((process.pgid,), None, number)
        if number is signal.SIGTERM:
            groups.send((process.pgid,), None, signal.SIGCONT)
        until = time.monotonic() + GRACE
        while time.monotonic() < until:
            if not groups.is_running(process):
                return True
            time.sleep(0.05)
    return False

"""The bash tool: one fresh shell per call, its output and how it ended.

The shell has no terminal and nothing on stdin, pagers and editors are switched off, and the
environment is what the context hands in (the endpoint's credentials are gone already) plus the
call's ids. Output is one stream, cut to its tail; the whole is in a file that the result names.
With `background` the command becomes a job (jobs.py) and the call returns at once. It judges no
command: policy.py does. Read next: process.py, capture.py.
"""

from __future__ import annotations

import codecs
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from agentsh.errors import InvalidArgumentsError, ToolAbortedError, ToolFailedError
from agentsh.files import is_folder
from agentsh.jsontext import JsonObject, JsonValue, clean
from agentsh.messages import Text, ToolSchema
from agentsh.programs import find_program
from agentsh.tools import schemas
from agentsh.tools.arguments import check_arguments
from agentsh.tools.base import Effect, ToolContext, ToolOutcome
from agentsh.tools.shell import leftovers, process
from agentsh.tools.shell.capture import Capture
from agentsh.tools.shell.controls import harmless
from agentsh.tools.shell.leftovers import Live
from agentsh.tools.shell.process import ProcessEnd

MAX_COMMAND = 120_000
"""Bytes; the kernel takes one argument of 128 KiB."""
MAX_TIMEOUT = 24 * 3600.0
_PROGRESS_EVERY = 0.1
_PROGRESS_MOST = 8192

_NO_EDITOR = (
    'echo "agentsh: there is no editor here; give the text on the command line (-m)" >&2; false'
)
_QUIET: Mapping[str, str] = {
    **dict.fromkeys(
        ("PAGER", "GIT_PAGER", "MANPAGER", "SYSTEMD_PAGER", "GH_PAGER", "BAT_PAGER", "AWS_PAGER"),
        "cat",
    ),
    "EDITOR": "false",
    "VISUAL": "false",
    "GIT_EDITOR": _NO_EDITOR,
    "GIT_SEQUENCE_EDITOR": _NO_EDITOR,
    "GIT_TERMINAL_PROMPT": "0",
    "SSH_ASKPASS_REQUIRE": "never",
    "DEBIAN_FRONTEND": "noninteractive",
    "TERM": "dumb",
}
"""What keeps a command from waiting for a person."""


MOST_TIMEOUT = 3600.0
"""What a model may ask for; a larger number is taken for milliseconds, or refused."""


class ShellResult(Struct, frozen=True):
    """A command that has ended. `code`: the shell's, 128+N after signal N, None if stopped."""

    text: str
    notes: tuple[str, ...]
    code: int | None
    stopped: process.Stopped | None
    is_cut: bool
    full_output: Path | None
    is_left: bool = False
    """Something that it started still runs."""


class BashTool(Struct, frozen=True):
    """`bash`."""

    schema: ToolSchema = schemas.BASH
    effect: Effect = Effect.EXEC

    def check(self, arguments: JsonObject) -> JsonObject:
        checked = check_arguments(self.schema, arguments)
        command = str(checked["command"])
        if not command.strip():
            raise InvalidArgumentsError("bash: command is empty")
        if "\0" in command:
            raise InvalidArgumentsError("bash: command has a NUL character in it")
        if len(command.encode("utf-8", "replace")) > MAX_COMMAND:
            raise InvalidArgumentsError(
                f"bash: command is longer than {MAX_COMMAND} bytes; write it to a file and run that"
            )
        _check_timeout(checked.get("timeout"))
        return checked

    def touches(self, arguments: JsonObject, cwd: Path, home: Path) -> tuple[Path, ...]:
        return ()

    def expect(self, arguments: JsonObject, context: ToolContext) -> Mapping[str, str] | None:
        return None

    def run(self, arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        command = clean(str(arguments["command"]))
        if arguments.get("background"):
            return start_job(command, context)
        given = arguments.get("timeout")
        timeout, note = context.timeout, ""
        if isinstance(given, int | float) and given:
            timeout, note = _seconds(given)
        result = run_shell(command, context, min(timeout, MAX_TIMEOUT))
        notes = "\n".join((note, *result.notes) if note else result.notes)
        text = "\n\n".join(part for part in (result.text.rstrip("\n"), notes) if part)
        if result.stopped == "aborted":
            raise ToolAbortedError(text)
        details: JsonObject = {"exitCode": result.code}
        if result.full_output is not None:
            details["fullOutputPath"] = str(result.full_output)
        if result.is_cut:
            details["truncation"] = {"truncated": True}
        if result.is_left:
            details["ash"] = {"left": True}
        return ToolOutcome((Text(text),), is_error=result.code != 0, details=details)


def _check_timeout(given: JsonValue) -> None:
    """Above an hour only whole thousands pass: 30000 means milliseconds, 7200 may be either.

    In milliseconds an hour is the most as well.
    """
    if not isinstance(given, int | float) or given <= MOST_TIMEOUT:
        return
    if given % 1000 or given / 1000 > MOST_TIMEOUT:
        raise InvalidArgumentsError(
            f"bash: timeout is in seconds and at most {MOST_TIMEOUT:g}, {given:g} were given;"
            " set background for what runs longer"
        )


def _seconds(given: float) -> tuple[float, str]:
    """A checked time-out in seconds, and a note if it was read in another unit."""
    if given <= MOST_TIMEOUT:
        return float(given), ""
    return given / 1000, f"[timeout {given:g} was read as milliseconds: {given / 1000:g} s]"


def run_shell(command: str, context: ToolContext, timeout: float) -> ShellResult:
    """Run one command to the end of its shell. Raises ToolFailedError if it cannot be started."""
    capture = Capture(context.output_dir, context.spool)
    live = _start(command, context, capture, is_job=False)
    progress = _Progress(context.progress)
    finished = process.wait(live, abort=context.abort, timeout=timeout, tell=progress.tell)
    try:
        progress.flush()
        captured = capture.text()
        output_file = capture.keep_file() if captured.is_cut or finished.is_left else None
    finally:
        leftovers.settle(live)  # from here on the capture may be the drain's
    notes = []
    if captured.is_cut:
        notes.append(f"[{captured.note} {capture.where()}]")
    if finished.is_left:
        where = f"; what it prints goes to {output_file}" if output_file is not None else ""
        notes.append(
            f"[Background work of this command remains (process group {live.process.pgid}){where}."
            " It ends with agentsh.]"
        )
    code = _shell_code(finished.code)
    ending = _ending(finished, code, timeout)
    if ending:
        notes.append(ending)
    text = captured.text if captured.size else "(no output)"
    return ShellResult(
        text,
        tuple(notes),
        None if finished.stopped else code,
        finished.stopped,
        captured.is_cut,
        output_file,
        finished.is_left,
    )


def start_job(command: str, context: ToolContext) -> ToolOutcome:
    """Start a command that runs on; what it prints goes to a file from its first byte."""
    capture = Capture(context.output_dir, None)
    output = capture.keep_file()
    if output is None:
        raise ToolFailedError(f"no file for the job's output: {capture.file_error}")
    live = _start(command, context, capture, is_job=True)
    live.call_id = context.call_id
    leftovers.leave(live)
    started = live.process
    job: JsonObject = {
        "id": started.pgid,
        "start": started.start,
        "boot": started.boot,
        "command": command,
        "output": str(output),
    }
    text = (
        f"Job {started.pgid} runs in background; its output goes to {output}."
        f" Look with jobs (action read, id {started.pgid}), end it with action end."
    )
    return ToolOutcome((Text(text),), details={"job": job})


def _start(command: str, context: ToolContext, capture: Capture, *, is_job: bool) -> Live:
    if context.abort.is_set:
        capture.close()
        raise ToolAbortedError("stopped by the user; the command was not started")
    if not is_folder(context.cwd):
        capture.close()
        raise ToolFailedError(f"the session's folder is gone: {context.cwd}")
    argv = [_shell(context.environ.get("PATH", os.defpath), context.cwd), "-c", command]
    if context.sandbox is not None:
        argv = context.sandbox(argv)
    environ = {
        **context.environ,
        **_QUIET,
        **explicit_repositories(context.environ),
        "AGENTSH_CALL_ID": clean(context.call_id).replace("\0", ""),
        "AGENTSH_IDEMPOTENCY_KEY": context.key,
    }
    live = process.start(
        argv,
        command=command,
        cwd=context.cwd,
        environ=environ,
        capture=capture,
        is_job=is_job,
        session_id=context.session_id,
    )
    try:
        context.started(live.process)
    except BaseException:
        leftovers.end(live)  # what is not on record must not run
        raise
    return live


def explicit_repositories(environ: Mapping[str, str]) -> Mapping[str, str]:
    """git obeys no folder that only looks like a repository: edits can make one, with `config`.

    It is one more of the settings that git takes from the environment; those there are stay.
    """
    given = environ.get("GIT_CONFIG_COUNT", "")
    count = int(given) if given.isascii() and given.isdigit() and len(given) < 6 else 0
    return {
        "GIT_CONFIG_COUNT": str(count + 1),
        f"GIT_CONFIG_KEY_{count}": "safe.bareRepository",
        f"GIT_CONFIG_VALUE_{count}": "explicit",
    }


def _shell(path: str, project: Path) -> str:
    """The path of bash, or of sh.

    One of the project is never taken: it would run outside the sandbox, or in hooks.
    """
    for name in ("bash", "sh"):
        program = find_program(name, {"PATH": f"{path}:/bin:/usr/bin"}, project)
        if program is not None:
            return program
    raise ToolFailedError("there is neither bash nor sh on PATH")


def _shell_code(code: int | None) -> int | None:
    return 128 - code if code is not None and code < 0 else code


def _ending(finished: ProcessEnd, code: int | None, timeout: float) -> str:
    if finished.stopped == "timeout":
        return f"timed out after {timeout:g} s; the command and all that it started were ended"
    if finished.stopped == "aborted":
        return "stopped by the user; the command and all that it started were ended"
    if finished.code is not None and finished.code < 0:
        try:
            name = signal.Signals(-finished.code).name
        except ValueError:
            name = f"signal {-finished.code}"
        return f"exit code {code} (ended by {name})"
    return f"exit code {code}" if code else ""


class _Progress:
    """Hands output on for display: decoded piece by piece, not too often, not too much.

    What came too soon is handed on a moment later, also where nothing more comes.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._told = tell
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._waiting = ""
        self._last = 0.0
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def tell(self, data: bytes) -> None:
        with self._lock:
            # of a flood only the end is ever shown, so the rest need not be decoded twice
            if len(data) > _PROGRESS_MOST and len(self._waiting) >= _PROGRESS_MOST:
                self._decoder.reset()
                data = data[-_PROGRESS_MOST:]
            self._waiting = (self._waiting + self._decoder.decode(data))[-_PROGRESS_MOST:]
            wait = self._last + _PROGRESS_EVERY - time.monotonic()
            if wait <= 0:
                self._hand_on()
            elif self._timer is None:
                self._timer = threading.Timer(wait, self.flush)
                self._timer.daemon = True
                self._timer.start()

    def flush(self) -> None:
        """What there is, now."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            self._hand_on()

    def _hand_on(self) -> None:
        if self._waiting:
            self._last = time.monotonic()
            text, self._waiting = self._waiting, ""
            self._told(harmless(text))

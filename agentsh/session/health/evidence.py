"""What the machine shows of an interrupted turn: read-only, and never an error.

Only the calls without a result are looked at: the files that they were to change (digests against
those on record), the command's spooled output, whether its process group still lives, and the half
answer beside the session. Looking decides nothing; repair.py makes words of it (R22, R61).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path, PurePath

from agentsh.files import boot_id, open_folder, open_regular, read_end, read_foreign
from agentsh.jsontext import JsonError, JsonObject, clean, loads_object
from agentsh.session.format.entries import Branch
from agentsh.session.format.facts import ToolProcess, ToolStarted
from agentsh.session.health.repair import Evidence
from agentsh.session.health.unfinished import plan_open_calls

MAX_DIGESTED = 64 * 1024 * 1024
MAX_OUTPUT = 4096
_BLOCK = 1024 * 1024
_MAX_STREAM = 64 * 1024 * 1024


def spool_folder(session_path: Path) -> Path:
    """Where a session's spools lie: `<name>.d` beside it."""
    return session_path.with_name(session_path.name.removesuffix(".jsonl") + ".d")


def stream_spool(session_path: Path, request_id: str) -> Path:
    """The spool of the answer to one request."""
    return spool_folder(session_path) / f"stream-{request_id}.spool"


def gather(
    branch: Branch,
    session_path: Path | None,
    *,
    torn_line: int | None = None,
    torn_bytes: int | None = None,
) -> Evidence:
    """Everything that can be known of what the branch's end left open."""
    calls = plan_open_calls(branch)
    files = {path: digest(path) for start in calls.starts.values() for path in _paths(start)}
    outputs, running = {}, {}
    for call_id, start in calls.starts.items():
        process = calls.processes.get(call_id)
        if session_path is not None and (output := _spooled(session_path, start, process)):
            outputs[call_id] = output
        if process is not None and _is_alive(process):
            running[call_id] = process.pgid
    text = thinking = ""
    if calls.request is not None and session_path is not None:
        text, thinking = read_stream(stream_spool(session_path, calls.request))
    return Evidence(
        files={path: file_digest for path, file_digest in files.items() if file_digest != ""},
        outputs=outputs,
        running=running,
        text=text,
        thinking=thinking,
        torn_line=torn_line,
        torn_bytes=torn_bytes,
    )


def digest(path: str) -> str | None:
    """SHA-256 of a regular file; None where there is no such file, "" where it cannot be told."""
    try:
        fd = open_regular(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return ""
    try:
        if os.fstat(fd).st_size > MAX_DIGESTED:
            return ""
        state = hashlib.sha256()
        while block := os.read(fd, _BLOCK):
            state.update(block)
    except OSError:
        return ""
    finally:
        os.close(fd)
    return state.hexdigest()


def read_stream(path: Path) -> tuple[str, str]:
    """(text, thinking) of a spool that a crash left; ("", "") where there is none."""
    text: list[str] = []
    thinking: list[str] = []
    for piece in _pieces(path):
        text.append(str(piece.get("text", "")))
        thinking.append(str(piece.get("thinking", "")))
    return "".join(text), "".join(thinking)


def _pieces(path: Path) -> Iterator[JsonObject]:
    try:
        folder = open_folder(path.parent)
        try:
            data = read_foreign(path.name, _MAX_STREAM, follow=False, folder=folder)
        finally:
            os.close(folder)
    except OSError:
        return
    for line in data.split(b"\n"):
        try:
            yield loads_object(line)
        except JsonError:
            continue  # the torn last line of a crash


def _paths(start: ToolStarted) -> list[str]:
    paths = (f.get("path") for f in (*start.pre_images, *start.expected))
    return [p for p in dict.fromkeys(paths) if isinstance(p, str)]


def _spooled(session_path: Path, start: ToolStarted, process: ToolProcess | None) -> str:
    """The last that a command had printed."""
    named: object = process.spool if process is not None else None
    if named is None and start.process is not None:
        named = start.process.get("spool")
    if not isinstance(named, str):
        return ""
    # a session file is data: the name in it is only looked up in this session's own folder, or a
    # file that a stranger made could have any file of the user read out to the model
    try:
        folder = open_folder(spool_folder(session_path))
        try:
            data = read_end(PurePath(named).name, MAX_OUTPUT, follow=False, folder=folder)
        finally:
            os.close(folder)
    except OSError:
        return ""
    return clean(data.decode("utf-8", "replace")).strip()


def _is_alive(process: ToolProcess) -> bool:
    """Whether that very process group still runs: same boot, same start time (R22)."""
    try:
        if boot_id() != process.boot:
            return False
        fields = Path(f"/proc/{process.pgid}/stat").read_text("utf-8", "replace")
        # the name in parentheses may hold anything; the fields count after the last one
        started = int(fields.rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return False
    return process.start in (0, started)

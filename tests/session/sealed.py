"""A whole session file as agentsh writes it, without a program around it."""

from __future__ import annotations

from pathlib import Path

from agentsh.session.file.disk import Disk
from agentsh.session.file.newfile import NewFile
from agentsh.session.format.entries import (
    EntryId,
    Header,
    Label,
    MessageBody,
    ModelChange,
    SessionId,
    SessionInfo,
)
from agentsh.session.format.facts import Origin, TurnEnded, TurnStarted
from agentsh.session.health.repair import Closing
from tests.session.builders import requested, result, said, started, user

SESSION = SessionId("5e551011-0000-4000-8000-000000000001")


def write_session(
    path: Path,
    *,
    session: str = SESSION,
    cwd: str = "/home/user/project",
    prompts: tuple[str, ...] = ("alpha", "beta"),
    name: str | None = None,
    time: str = "2026-01-01T00:00:00.000Z",
) -> Path:
    """Turns with a tool and a label each, sealed where the program seals; perhaps a name."""
    header = Header(SessionId(session), time, cwd)
    with NewFile(path, header, disk=Disk(), copied_ids=set()) as file:
        at: EntryId = file.add(Origin(session, "agentsh 0", "user"), parent=None, time=time)
        at = file.add(ModelChange("scripted", "scripted-1"), parent=at, time=time)
        for i, prompt in enumerate(prompts):
            start = at = file.add(TurnStarted(i + 1), parent=at, time=time)
            at = file.add(MessageBody(user(prompt)), parent=at, time=time)
            request = at = file.add(requested(i + 1), parent=at, time=time, seal=True)
            call = f"c{i}"
            calling = MessageBody(said("", (call, "bash")))
            asked = at = file.add_stamped(Closing(calling, time, request=request), at)
            begun = at = file.add(started(call), parent=at, time=time, seal=True)
            done = Closing(MessageBody(result(call)), time, sources=(asked, begun))
            at = file.add_stamped(done, at)
            request = at = file.add(requested(i + 1), parent=at, time=time, seal=True)
            told = MessageBody(said(f"answer to {prompt}"))
            answer = at = file.add_stamped(Closing(told, time, request=request), at)
            at = file.add(TurnEnded(start, "completed"), parent=at, time=time, seal=True)
            at = file.add(Label(answer, f"mark {prompt}"), parent=at, time=time, seal=True)
        if name is not None:
            file.add(SessionInfo(name), parent=at, time=time, seal=True)
        return file.publish()


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().removesuffix(b"\n").split(b"\n")


def write_lines(path: Path, lines: list[bytes]) -> Path:
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path

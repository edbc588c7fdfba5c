"""Runs commands in this process, as the door does, and says what came of it."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from agentsh.cli import app
from agentsh.cli.lookup.finding import find_store
from agentsh.messages import AssistantMessage, BashExecutionMessage, Text, Usage, UserMessage
from agentsh.session.file.session import open_session
from agentsh.session.format.entries import EntryId, MessageBody, SessionId


class _Stream(io.TextIOWrapper):
    def __init__(self) -> None:
        self.bytes = io.BytesIO()
        super().__init__(self.bytes, encoding="utf-8", write_through=True)


class Ended(Struct, frozen=True):
    code: int
    out: str
    err: str

    def json(self) -> object:
        return json.loads(self.out)


def agentsh(*words: str, cwd: Path | None = None) -> Ended:
    """`agentsh WORDS`, with stdin empty and stdout no terminal."""
    out, err = _Stream(), _Stream()
    code: object = None
    with _in(cwd), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            app.run_program(words)
        except SystemExit as e:
            code = e.code
    assert isinstance(code, int)
    return Ended(code, out.bytes.getvalue().decode(), err.bytes.getvalue().decode())


@contextlib.contextmanager
def _in(folder: Path | None) -> Iterator[None]:
    with contextlib.chdir(folder) if folder is not None else contextlib.nullcontext():
        yield


class Talk(Struct, frozen=True):
    """A session that was made for a test; `ids` of its messages by their text."""

    id: SessionId
    path: Path
    ids: dict[str, EntryId]


def run_for_oneself(talk: Talk, command: str, output: str) -> None:
    """`!!command` at the session's end."""
    with open_session(talk.path, write=True) as session:
        session.append(MessageBody(BashExecutionMessage(command, output, 0, excluded=True)))
        session.append(MessageBody(UserMessage((Text("afterwards"),), 3)))
        session.barrier()


def make_talk(cwd: Path, *prompts: str) -> Talk:
    """A session of that folder: each prompt, answered by `answer to PROMPT`."""
    ids: dict[str, EntryId] = {}
    with find_store(os.environ.get("AGENTSH_SESSION_DIR")).create(str(cwd)) as session:
        for prompt in prompts:
            ids[prompt] = session.append(MessageBody(UserMessage((Text(prompt),), 1))).id
            reply = AssistantMessage(
                (Text(f"answer to {prompt}"),), "openai-completions", "p", "m", Usage(), "stop", 2
            )
            ids[f"answer to {prompt}"] = session.append(MessageBody(reply)).id
        session.barrier()
        assert session.path is not None
        return Talk(session.header.id, session.path, ids)

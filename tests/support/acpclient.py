"""The official ACP client in a thread, around an `agentsh acp` of its own process.

Calls are synchronous; what the agent says is in `messages`, as it came. What an editor's person
says to a question is `decide`: given the question's parameters, it names the kind of an option,
`cancelled`, or None for no answer ever.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from acp import schema
from acp.client.connection import ClientSideConnection
from acp.connection import StreamEvent
from acp.exceptions import RequestError

Message = dict[str, Any]
Decide = Callable[[schema.RequestPermissionRequest], str | None]
T = TypeVar("T")


class Face:
    """What the official package calls of a client; `files` are the editor_texts of its editor."""

    def __init__(self, decide: Decide, files: dict[str, str]) -> None:
        self.decide = decide
        self.files = files
        self.asked: list[schema.RequestPermissionRequest] = []
        self.reads: list[str] = []
        self.is_deaf = False
        """Reads of files are never answered."""

    async def request_permission(
        self, options: Any, session_id: str, tool_call: Any, **more: Any
    ) -> schema.RequestPermissionResponse:
        asked = schema.RequestPermissionRequest(
            session_id=session_id, tool_call=tool_call, options=options
        )
        self.asked.append(asked)
        word = self.decide(asked)
        if word is None:
            await asyncio.sleep(3600)
        if word == "cancelled":
            outcome: Any = schema.DeniedOutcome(outcome="cancelled")
        else:
            chosen = next(o.option_id for o in options if o.kind == word)
            outcome = schema.AllowedOutcome(outcome="selected", option_id=chosen)
        return schema.RequestPermissionResponse(outcome=outcome)

    async def read_text_file(
        self, path: str, session_id: str, **more: Any
    ) -> schema.ReadTextFileResponse:
        self.reads.append(path)
        if self.is_deaf:
            await asyncio.sleep(3600)
        if path not in self.files:
            raise RequestError.resource_not_found(path)
        return schema.ReadTextFileResponse(content=self.files[path])

    async def write_text_file(
        self, content: str, path: str, session_id: str, **more: Any
    ) -> schema.WriteTextFileResponse:
        self.files[path] = content
        return schema.WriteTextFileResponse()

    async def session_update(self, session_id: str, update: Any, **more: Any) -> None: ...

    def on_connect(self, conn: Any) -> None: ...


class AcpClient:
    """One editor."""

    def __init__(self, loop: asyncio.AbstractEventLoop, face: Face) -> None:
        self.face = face
        self.messages: list[Message] = []
        self.err = b""
        self._loop = loop
        self._news = threading.Condition()
        self.process: Process
        self.connection: ClientSideConnection

    async def start(self, words: tuple[str, ...], cwd: Path) -> None:
        self.process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "agentsh", "acp", *words,
            cwd=cwd, stdin=PIPE, stdout=PIPE, stderr=PIPE, limit=64 << 20,
        )  # fmt: skip
        stdin, stdout = self.process.stdin, self.process.stdout
        face: Any = self.face  # it has what is called here, and no more
        assert stdin is not None
        assert stdout is not None
        self.connection = ClientSideConnection(
            face,
            stdin,
            stdout,
            use_unstable_protocol=True,
            observers=[self._seen],
        )

    def _seen(self, event: StreamEvent) -> None:
        if event.direction.value == "incoming":
            with self._news:
                self.messages.append(event.message)
                self._news.notify_all()

    async def stop(self) -> int:
        """Close its input, as an editor that ends; the exit code."""
        assert self.process.stdin is not None
        assert self.process.stderr is not None
        self.process.stdin.close()
        try:
            code = await asyncio.wait_for(self.process.wait(), 20)
        except TimeoutError:
            self.process.kill()
            code = await self.process.wait()
        self.err = await self.process.stderr.read()
        await self.connection.close()
        return code

    # ---- from the test's thread ----------------------------------------------------------------

    def begin(self, work: Awaitable[T]) -> Future[T]:
        async def run() -> T:
            return await work

        return asyncio.run_coroutine_threadsafe(run(), self._loop)

    def ask(self, method: str, **members: Any) -> Any:
        """Raises RequestError."""
        return self.send(method, **members).result(30)

    def send(self, method: str, **members: Any) -> Future[Any]:
        call: Callable[..., Coroutine[Any, Any, Any]] = getattr(self.connection, method)
        return self.begin(call(**members))

    def initialize(self, **can: Any) -> Any:
        capabilities = schema.ClientCapabilities.model_validate(can)
        return self.ask("initialize", protocol_version=1, client_capabilities=capabilities)

    def session(self, cwd: Path, servers: list[Any] | None = None) -> str:
        return str(self.ask("new_session", cwd=str(cwd), mcp_servers=servers or []).session_id)

    def prompt(self, session: str, *blocks: Any) -> Any:
        return self.send_prompt(session, *blocks).result(30)

    def send_prompt(self, session: str, *blocks: Any) -> Future[Any]:
        said = [
            schema.TextContentBlock(type="text", text=each) if isinstance(each, str) else each
            for each in blocks
        ]
        return self.send("prompt", session_id=session, prompt=said)

    def wait(self, claim: Callable[[Message], object], seconds: float = 20) -> Message:
        """The first message that the claim holds for."""

        def seen() -> Message | None:
            return next((each for each in self.messages if claim(each)), None)

        with self._news:
            self._news.wait_for(seen, seconds)
            message = seen()
        assert message is not None, self.messages[-5:]
        return message

    def updates(self, kind: str | None = None, since: int = 0) -> list[Message]:
        return [
            message["params"]["update"]
            for message in self.messages[since:]
            if message.get("method") == "session/update"
            and kind in (None, message["params"]["update"]["sessionUpdate"])
        ]

    def text(self, kind: str = "agent_message_chunk", since: int = 0) -> str:
        return "".join(each["content"].get("text", "") for each in self.updates(kind, since))


@contextmanager
def acp_client(
    *words: str,
    cwd: Path,
    decide: Decide = lambda _asked: "allow_once",
    files: dict[str, str] | None = None,
) -> Iterator[AcpClient]:
    """An editor and its agent, until the block ends; then the agent must end well."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    client = AcpClient(loop, Face(decide, {} if files is None else files))
    try:
        asyncio.run_coroutine_threadsafe(client.start(words, cwd), loop).result(20)
        code = None
        try:
            yield client
        finally:
            code = asyncio.run_coroutine_threadsafe(client.stop(), loop).result(30)
        assert code == 0, client.err
        assert b"Traceback" not in client.err, client.err
    finally:
        for task in asyncio.all_tasks(loop):
            loop.call_soon_threadsafe(task.cancel)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()

"""An editor that talks to the messages' door in this process; the program is the real one."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from agentsh.cli.assembly.editing.hosting import ProgramForEditors
from agentsh.cli.parsing.modeloptions import TurnOptions
from agentsh.jsontext import JsonObject, JsonValue
from agentsh.remote.acp.messages import Messages
from tests.cli.working import Project
from tests.support.endpoint import Endpoint, Reply, serve

Message = dict[str, Any]
TWO_MODELS: list[JsonValue] = [{"id": "m"}, {"id": "n"}]


class DirectEditor:
    """`said` is what came; `bugs` what crashed, `words` what an editor's log would hold."""

    def __init__(self, project: Project, endpoint: Endpoint, options: TurnOptions) -> None:
        self.project = project
        self.endpoint = endpoint
        self.said: list[Message] = []
        self.bugs: list[BaseException] = []
        self.words: list[str] = []
        self._news = threading.Condition()
        self._number = 0
        self.program = _Program(self, options)
        self.door = Messages(self.program, self._say, self.bugs.append)

    def _say(self, message: JsonObject) -> None:
        with self._news:
            self.said.append(json.loads(json.dumps(message)))
            self._news.notify_all()

    def put(self, message: JsonObject) -> None:
        self.door.take(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def send(self, method: str, **params: Any) -> int:
        self._number += 1
        self.put({"id": self._number, "method": method, "params": params})
        return self._number

    def answer(self, number: int) -> Message:
        return self.wait(lambda m: m.get("id") == number and "method" not in m)

    def ask(self, method: str, **params: Any) -> Message:
        return self.answer(self.send(method, **params))

    def ok(self, method: str, **params: Any) -> Any:
        answer = self.ask(method, **params)
        assert "result" in answer, answer
        return answer["result"]

    def code(self, method: str, **params: Any) -> int:
        return int(self.ask(method, **params)["error"]["code"])

    def wait(self, claim: Callable[[Message], object], since: int = 0) -> Message:
        def seen() -> Message | None:
            return next((each for each in self.said[since:] if claim(each)), None)

        with self._news:
            self._news.wait_for(seen, 20)
            message = seen()
        assert message is not None, self.said[-5:]
        return message

    def new(self) -> Any:
        return self.ok("session/new", cwd=str(self.project.tree), mcpServers=[])

    def session(self) -> str:
        return str(self.new()["sessionId"])

    def load(self, session: str) -> Any:
        return self.ok("session/load", sessionId=session, cwd=str(self.project.tree), mcpServers=[])

    def prompt(self, session: str, text: str) -> Any:
        said = [{"type": "text", "text": text}]
        return self.ok("session/prompt", sessionId=session, prompt=said)

    def updates(self, kind: str | None = None, since: int = 0) -> list[Message]:
        return [
            each["params"]["update"]
            for each in self.said[since:]
            if each.get("method") == "session/update"
            and kind in (None, each["params"]["update"]["sessionUpdate"])
        ]

    def text(self, since: int = 0, kind: str = "agent_message_chunk") -> str:
        return "".join(each["content"].get("text", "") for each in self.updates(kind, since))

    def question(self, since: int = 0) -> Message:
        return self.wait(lambda m: m.get("method") == "session/request_permission", since)

    def decide(self, question: Message, kind: str) -> None:
        option = next(o for o in question["params"]["options"] if o["kind"] == kind)
        outcome = {"outcome": "selected", "optionId": option["optionId"]}
        self.put({"id": question["id"], "result": {"outcome": outcome}})


class _Program(ProgramForEditors):
    def __init__(self, editor: DirectEditor, options: TurnOptions) -> None:
        super().__init__(options, os.environ)
        self._editor = editor

    def tell(self, text: str) -> None:
        self._editor.words.append(text)

    def report(self, error: BaseException) -> str:
        self._editor.bugs.append(error)
        return repr(error)


@contextmanager
def direct_editor(
    project: Project,
    *script: Reply,
    models: list[JsonValue] | None = None,
    settings: str = "",
    **options: Any,
) -> Iterator[DirectEditor]:
    with serve(*script, models=models or TWO_MODELS) as endpoint:
        if settings:
            project.settings(settings)
        turn = TurnOptions(model="m", base_url=endpoint.base_url, **options)
        editor = DirectEditor(project, endpoint, turn)
        try:
            yield editor
        finally:
            editor.door.editor.leave()
            editor.door.sessions.end()
        assert editor.bugs == []

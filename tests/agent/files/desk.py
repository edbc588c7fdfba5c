"""A project with an agent at work in it: a scripted model, real tools, a real shadow store."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from agentsh.agent.agent import Agent
from agentsh.agent.files.filestates import timeline
from agentsh.messages import Message, UserMessage
from agentsh.session.format.entries import EntryId, MessageBody
from agentsh.tools.undo.checkpointer import Checkpointer
from tests.agent.builders import make_agent, reopen, run, start_session, text_of
from tests.support.scripted import Call, ScriptedProvider, Step


class Grown(ScriptedProvider):
    """Its script may be added to."""

    @property
    def script(self) -> list[Step]:
        return list(self._script)

    @script.setter
    def script(self, steps: list[Step]) -> None:
        self._script = steps


class Desk(Struct):
    """A project with an agent at work in it."""

    tree: Path
    state: Path
    agent: Agent
    provider: Grown

    def put(self, name: str, text: str) -> None:
        place = self.tree / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)

    def files(self) -> dict[str, str]:
        places = (p for p in self.tree.rglob("*") if p.is_file() and "outputs" not in p.parts)
        return {str(p.relative_to(self.tree)): p.read_text() for p in places}

    def turn(self, prompt: str, *steps: Step) -> EntryId:
        """Run a turn of those steps; the prompt's entry."""
        self.provider.script = [*self.provider.script, *steps, "done"]
        run(self.agent, prompt)
        return self.entry(lambda m: isinstance(m, UserMessage) and text_of(m) == prompt)

    def entry(self, wanted: Callable[[Message], bool]) -> EntryId:
        return next(
            e.id
            for e in self.agent.session.entries()
            if isinstance(e.body, MessageBody) and wanted(e.body.message)
        )

    @property
    def leaf(self) -> EntryId:
        leaf = self.agent.session.leaf
        assert leaf is not None
        return leaf

    def whens(self) -> list[str]:
        return [fact.when for fact in timeline(self.agent.session)]


def at_work(tree: Path, state: Path, *, recording: bool = True, path: str | None = None) -> Desk:
    provider = Grown()
    environ = {**os.environ, "PATH": path if path is not None else os.environ["PATH"]}
    fresh = not (state / "session.jsonl").exists()
    session = start_session(state) if fresh else reopen(state)
    agent = make_agent(
        session,
        provider,
        tree,
        open_checkpointer=lambda: Checkpointer(
            tree, state / "checkpoints", environ, (tree / "outputs",)
        ),
        record_files=recording,
        record_share=0,
    )
    return Desk(tree, state, agent, provider)


def bash(command: str, name: str = "c") -> tuple[Call, ...]:
    return (Call(f"{name}{abs(hash(command)) % 10**6}", "bash", {"command": command}),)


def write(path: str, content: str) -> tuple[Call, ...]:
    return (
        Call(f"w{abs(hash((path, content))) % 10**6}", "write", {"path": path, "content": content}),
    )

"""Agents for tests: real sessions, real recorders, a scripted provider, toys for tools."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace

from agentsh.agent.agent import Agent
from agentsh.agent.config import Config
from agentsh.agent.events import AgentEvent, TurnEnd
from agentsh.agent.grants import Grants
from agentsh.agent.prompts.around import HookedTurns
from agentsh.agent.prompts.expansion import Expander
from agentsh.agent.replay import verifier
from agentsh.agent.turn.approvals import Approver
from agentsh.agent.turn.inbox import Queued
from agentsh.agent.workbench import Workbench
from agentsh.cli.assembly.tools import own_tools, run_command
from agentsh.messages import (
    AssistantMessage,
    Message,
    ModelRef,
    Text,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from agentsh.providers.base import Provider
from agentsh.session.file.environment import Surroundings
from agentsh.session.file.session import Session, new_session, open_session
from agentsh.session.format.entries import Custom, Entry, EntryId, Header, MessageBody, SessionId
from agentsh.session.format.factcodec import decode_fact
from agentsh.session.format.facts import Fact
from agentsh.session.health.evidence import spool_folder
from agentsh.settings import Policy
from agentsh.tools.approval.rules import Rule
from agentsh.tools.base import Tool
from agentsh.tools.ledger import FileLedger
from agentsh.tools.toolset import Toolset
from agentsh.tools.undo.checkpointer import Checkpointer
from tests.session.disks import Clock, QuickDisk, around

HEADER = Header(SessionId("01890000-0000-7000-8000-00000000abcd"), "2026-01-01T00:00:00Z", "/")
SECTIONS = {"preamble": "You are a test.", "rules": "Be brief."}


def quick() -> Surroundings:
    return around(QuickDisk())


def start_session(folder: Path | None, surroundings: Surroundings | None = None) -> Session:
    path = None if folder is None else folder / "session.jsonl"
    return new_session(path, HEADER, around=surroundings or quick())


def reopen(folder: Path, surroundings: Surroundings | None = None) -> Session:
    return open_session(folder / "session.jsonl", write=True, around=surroundings or quick())


def make_agent(
    session: Session,
    provider: Provider,
    cwd: Path,
    *,
    tools: Sequence[Tool] | None = None,
    policy: Policy = "all",
    approver: Approver | None = None,
    rules: tuple[Rule, ...] = (),
    model: str = "model-1",
    open_checkpointer: Callable[[], Checkpointer] | None = None,
    grants: Grants | None = None,
    verified: bool = True,
    expander: Expander | None = None,
    hooked: HookedTurns | None = None,
    **config: object,
) -> Agent:
    """An agent over that session; each of its requests is rebuilt from disk before it is sent,
    unless it is not to be `verified`."""
    bench = Workbench(
        session_id=session.header.id,
        cwd=cwd.resolve(),
        home=cwd.resolve() / "home",
        toolset=Toolset(own_tools()) if tools is None else Toolset.of(*tools),
        policy=policy,
        ledger=FileLedger(),
        environ=dict(os.environ),
        output_dir=cwd / "outputs",
        run_command=run_command,
        rules=rules,
        grants=grants or Grants(),
        timeout=30.0,
        spool_dir=spool_folder(session.path) if session.path else None,
    )
    made = Config(model=ModelRef(provider.name, model), thinking="off", sections=SECTIONS)
    for name, value in config.items():
        made = _with(made, name, value)
    return Agent(
        session,
        provider,
        bench,
        made,
        clock=Clock(),
        approver=approver,
        verify=verifier(session.path) if verified and session.path is not None else None,
        open_checkpointer=open_checkpointer,
        expander=expander,
        around=hooked,
    )


def set_model(agent: Agent, name: str) -> None:
    """As `Agent.use` does, but in the midst of a turn."""
    agent.config = replace(agent.config, model=ModelRef(agent.provider.name, name))


def _with(config: Config, name: str, value: object) -> Config:
    return replace(config, **{name: value})


def run(agent: Agent, text: str = "go") -> list[AgentEvent]:
    return list(agent.prompt(text))


def ending(events: Iterable[AgentEvent]) -> TurnEnd:
    *_, last = events
    assert isinstance(last, TurnEnd), last
    return last


def during(
    agent: Agent, text: str, kind: type[AgentEvent], do: Callable[[], object]
) -> list[AgentEvent]:
    """Run a turn, and do something when the first event of that kind arrives."""
    events: list[AgentEvent] = []
    done = False
    for event in agent.prompt(text):
        events.append(event)
        if isinstance(event, kind) and not done:
            done = True
            do()
    return events


# ---- what is on the path -----------------------------------------------------------------------


def path_of(session: Session) -> tuple[Entry, ...]:
    return session.branch(repaired=False).entries


def messages(session: Session) -> list[Message]:
    return [e.body.message for e in path_of(session) if isinstance(e.body, MessageBody)]


def facts(entries: Iterable[Entry]) -> list[Fact]:
    found = (decode_fact(e.body) for e in entries if isinstance(e.body, Custom))
    return [fact for fact in found if fact is not None]


def results(session: Session) -> list[tuple[str, str, bool]]:
    """(call id, text, is error) of each stored result."""
    return [
        (m.tool_call_id, text_of(m), m.is_error)
        for m in messages(session)
        if isinstance(m, ToolResultMessage)
    ]


def prompts(session: Session) -> list[str]:
    return [text_of(m) for m in messages(session) if isinstance(m, UserMessage)]


def text_of(message: UserMessage | ToolResultMessage | AssistantMessage) -> str:
    return "".join(block.text for block in message.content if isinstance(block, Text))


def unpaired(entries: Iterable[Entry]) -> list[str]:
    """Every fault of calls and results on a stored path, by the strictest reading.

    Between a valid answer with calls and the next message stand its results: each once, in order.
    """
    faults: list[str] = []
    open_calls: list[ToolCall] = []
    for entry in entries:
        if not isinstance(entry.body, MessageBody):
            continue
        match entry.body.message:
            case ToolResultMessage() as result:
                if not open_calls or open_calls[0].id != result.tool_call_id:
                    faults.append(f"{entry.id}: a result of {result.tool_call_id} out of place")
                else:
                    open_calls.pop(0)
            case UserMessage() | AssistantMessage() as said:
                faults += [f"{entry.id}: {c.id} has no result before it" for c in open_calls]
                open_calls = []
                if isinstance(said, AssistantMessage) and said.stop_reason not in (
                    "error",
                    "aborted",
                ):
                    open_calls = list(said.tool_calls)
            case _:
                pass
    return faults + [f"the end: {c.id} has no result" for c in open_calls]


def entry_of(entries: Iterable[Entry], kind: type[Fact]) -> EntryId:
    """The first entry that states such a fact."""
    for entry in entries:
        if isinstance(entry.body, Custom) and isinstance(decode_fact(entry.body), kind):
            return entry.id
    raise LookupError(kind.__name__)


def texts(queued: Iterable[Queued]) -> tuple[str, ...]:
    """What waits, or waited, as it was typed."""
    return tuple(each.text for each in queued)

"""Commands that only look: state, messages, figures, views, differences, hits, costs, tools.

They are answered whatever runs. Nothing but `get_available_models` and its like asks an endpoint.
Read next: sessionvalues.py, agent/driven/remotehost.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import assert_never

from msgspec.structs import asdict

from agentsh.agent.driven.remotehost import RemoteHost
from agentsh.agent.prompts.expansion import PromptCommand
from agentsh.jsontext import JsonObject, JsonValue
from agentsh.remote.rpc.commands import (
    ExportHtml,
    GetCommands,
    GetCost,
    GetDiff,
    GetLastAssistantText,
    GetMessages,
    GetSessionStats,
    GetState,
    GetTools,
    GetView,
    LookCommand,
    SearchSessions,
)
from agentsh.remote.rpc.replies import Outcome
from agentsh.remote.rpc.running import Runner
from agentsh.remote.rpc.sessionvalues import (
    count_messages,
    last_answer_text,
    messages_of,
    model_json,
    stats_json,
)
from agentsh.remote.rpc.settingcommands import ClientModes
from agentsh.session.format.entries import EntryId
from agentsh.session.search.wish import SearchWish
from agentsh.tools.toolset import Offer, Toolset

PROTOCOL = "agentsh-rpc/1"


class LookCommands:
    """What a client wants to know."""

    def __init__(self, host: RemoteHost, runner: Runner, modes: ClientModes) -> None:
        self._host = host
        self._runner = runner
        self._modes = modes

    def obey(self, command: LookCommand) -> Outcome:
        return Outcome(self._value(command))

    def _value(self, command: LookCommand) -> JsonObject:
        match command:
            case (
                GetState()
                | GetMessages()
                | GetSessionStats()
                | GetLastAssistantText()
                | GetCommands()
                | GetTools()
            ):
                return self._now(command)
            case GetView() | GetDiff() | SearchSessions() | GetCost() | ExportHtml():
                return self._report(command)
            case _:
                assert_never(command)

    def _now(
        self,
        command: GetState
        | GetMessages
        | GetSessionStats
        | GetLastAssistantText
        | GetCommands
        | GetTools,
    ) -> JsonObject:
        agent = self._host.front
        match command:
            case GetState():
                return self._state()
            case GetMessages():
                return {"messages": [*messages_of(agent.session)]}
            case GetSessionStats():
                return stats_json(agent.session, agent.report())
            case GetLastAssistantText():
                return {"text": last_answer_text(agent.session)}
            case GetCommands():
                return {"commands": [*map(command_json, agent.expander.commands())]}
            case GetTools():
                return {"tools": [*tools_json(self._host.toolset())]}

    def _report(
        self, command: GetView | GetDiff | SearchSessions | GetCost | ExportHtml
    ) -> JsonObject:
        match command:
            case GetView(view=view, at=at):
                return self._host.view(view, self._place(at))
            case GetDiff(a=a, b=b):
                return self._host.differences(a, b)
            case SearchSessions():
                return {"hits": [*self._host.search(SearchWish(**asdict(command)))]}
            case GetCost(session=word, by=by, everywhere=everywhere):
                return self._host.cost(word, by, everywhere=everywhere is True)
            case ExportHtml(output_path=to, raw=raw):
                path: Path = self._host.export_html(to, raw=raw is True)
                return {"path": str(path)}

    def _place(self, word: str | None) -> EntryId | None:
        session = self._host.front.session
        return session.leaf if word is None else session.resolve(word)

    def _state(self) -> JsonObject:
        agent = self._host.front
        session, figures = agent.session, agent.report()
        state: JsonObject = {
            "model": model_json(self._host.model()),
            "thinkingLevel": figures.thinking,
            "isStreaming": self._runner.activity == "turn",
            "isCompacting": self._runner.activity == "compaction",
            "steeringMode": self._modes.steering,
            "followUpMode": self._modes.follow_up,
            "sessionId": session.header.id,
            "autoCompactionEnabled": self._modes.auto_compaction,
            "autoRetryEnabled": self._modes.auto_retry,
            "messageCount": count_messages(session),
            "pendingMessageCount": len(agent.queued()),
            "policy": figures.policy,
            "cwd": figures.cwd,
            "leafId": session.leaf,
            "protocol": PROTOCOL,
        }
        if session.path is not None:
            state["sessionFile"] = str(session.path)
        if session.tree.name is not None:
            state["sessionName"] = session.tree.name
        return state


def command_json(command: PromptCommand) -> JsonObject:
    """Pi's RpcSlashCommand."""
    scope = command.source if command.source in ("user", "project") else "temporary"
    return {
        "name": command.word,
        "description": command.help,
        "source": "skill" if command.word.startswith("skill:") else "prompt",
        "sourceInfo": {
            "path": command.path or "",
            "source": command.source,
            "scope": scope,
            "origin": "top-level",
        },
    }


def tools_json(toolset: Toolset) -> list[JsonValue]:
    """Every tool that there is; those that the model is told of are `offered`."""
    offered = {offer.name for offer in toolset.offers}
    return [_tool(offer, offer.name in offered) for offer in toolset.every]


def _tool(offer: Offer, is_offered: bool) -> JsonObject:
    return {
        "name": offer.name,
        "description": offer.schema.description,
        "source": offer.source,
        "effect": offer.load().effect.value,
        "offered": is_offered,
    }

"""Commands that only look: state, messages, figures, views, differences, hits, costs, tools.

They are answered whatever runs. Nothing but `get_available_models` and its like asks an endpoint.
Read next: sessionvalues.py, agent/driven/remotehost.py.
"""

from __future__ import annotations

from typing import assert_never

from msgspec import UNSET
from msgspec.structs import asdict

from agentsh.agent.driven.remotehost import RemoteHost
from agentsh.agent.prompts.expansion import PromptCommand
from agentsh.jsontext import JsonObject
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
    described_model,
    last_answer_text,
    messages_of,
    stats_of,
)
from agentsh.remote.rpc.settingcommands import ClientModes
from agentsh.remote.values.rpcdata import (
    ContextMessagesData,
    HitsData,
    LastTextData,
    ListedToolData,
    ListedToolsData,
    PageFileData,
    RpcData,
    SlashWordData,
    SlashWordsData,
    StateData,
    WordScope,
    WordSourceData,
)
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

    def _value(self, command: LookCommand) -> RpcData | JsonObject:
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
    ) -> RpcData:
        agent = self._host.front
        match command:
            case GetState():
                return self._state()
            case GetMessages():
                return ContextMessagesData((*messages_of(agent.session),))
            case GetSessionStats():
                return stats_of(agent.session, agent.report())
            case GetLastAssistantText():
                return LastTextData(last_answer_text(agent.session))
            case GetCommands():
                return SlashWordsData((*map(slash_word, agent.expander.commands()),))
            case GetTools():
                return ListedToolsData(listed_tools(self._host.toolset()))

    def _report(
        self, command: GetView | GetDiff | SearchSessions | GetCost | ExportHtml
    ) -> RpcData | JsonObject:
        match command:
            case GetView(view=view, at=at):
                return self._host.view(view, self._place(at))
            case GetDiff(a=a, b=b):
                return self._host.differences(a, b)
            case SearchSessions():
                return HitsData((*self._host.search(SearchWish(**asdict(command))),))
            case GetCost(session=word, by=by, everywhere=everywhere):
                return self._host.cost(word, by, everywhere=everywhere is True)
            case ExportHtml(output_path=to, raw=raw):
                return PageFileData(str(self._host.export_html(to, raw=raw is True)))

    def _place(self, word: str | None) -> EntryId | None:
        session = self._host.front.session
        return session.leaf if word is None else session.resolve(word)

    def _state(self) -> StateData:
        agent = self._host.front
        session, figures = agent.session, agent.report()
        return StateData(
            model=described_model(self._host.model()),
            thinking_level=figures.thinking,
            is_streaming=self._runner.activity == "turn",
            is_compacting=self._runner.activity == "compaction",
            steering_mode=self._modes.steering,
            follow_up_mode=self._modes.follow_up,
            session_id=session.header.id,
            auto_compaction_enabled=self._modes.auto_compaction,
            auto_retry_enabled=self._modes.auto_retry,
            message_count=count_messages(session),
            pending_message_count=len(agent.queued()),
            policy=figures.policy,
            cwd=figures.cwd,
            leaf_id=session.leaf,
            protocol=PROTOCOL,
            session_file=UNSET if session.path is None else str(session.path),
            session_name=UNSET if session.tree.name is None else session.tree.name,
        )


def slash_word(command: PromptCommand) -> SlashWordData:
    """Pi's RpcSlashCommand."""
    return SlashWordData(
        command.word,
        command.help,
        "skill" if command.word.startswith("skill:") else "prompt",
        WordSourceData(command.path or "", command.source, _scope(command.source), "top-level"),
    )


def _scope(source: str) -> WordScope:
    match source:
        case "user" | "project":
            return source
        case _:
            return "temporary"


def listed_tools(toolset: Toolset) -> tuple[ListedToolData, ...]:
    """Every tool that there is; those that the model is told of are `offered`."""
    offered = {offer.name for offer in toolset.offers}
    return tuple([_tool(offer, offer.name in offered) for offer in toolset.every])


def _tool(offer: Offer, is_offered: bool) -> ListedToolData:
    effect = offer.load().effect.value
    return ListedToolData(offer.name, offer.schema.description, offer.source, effect, is_offered)

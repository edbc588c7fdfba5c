"""Commands about what is in force: model, thinking, policy, and how what waits is said.

The modes are this process's: they are not stored, and hold for whatever session comes to the front.
Read next: agent/driven/remotehost.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from msgspec import Struct

from agentsh.agent.driven.remotehost import DrivenModel, RemoteHost
from agentsh.errors import ModelNotFoundError
from agentsh.messages import THINKING_LEVELS
from agentsh.remote.rpc.commands import (
    CycleModel,
    CycleThinkingLevel,
    GetAvailableModels,
    GetAvailableThinkingLevels,
    QueueMode,
    SetAutoCompaction,
    SetAutoRetry,
    SetFollowUpMode,
    SetModel,
    SetPolicy,
    SetSteeringMode,
    SetThinkingLevel,
    SettingCommand,
)
from agentsh.remote.rpc.records import NULL
from agentsh.remote.rpc.replies import DONE, Outcome
from agentsh.remote.rpc.running import Runner, Say
from agentsh.remote.rpc.sessionvalues import described_model
from agentsh.remote.values.rpcdata import (
    CycledLevelData,
    CycledModelData,
    LevelListData,
    ModelListData,
    RpcData,
)
from agentsh.remote.values.rpcrecords import NoticeRecord, ThinkingLevelRecord


class ClientModes(Struct):
    """How this client wants it, in every session."""

    steering: QueueMode = "all"
    follow_up: QueueMode = "one-at-a-time"
    auto_compaction: bool = True
    auto_retry: bool = True

    def apply(self, host: RemoteHost) -> None:
        """To the session that came to the front."""
        host.set_queue_mode("steer", at_once=self.steering == "all")
        host.set_queue_mode("follow-up", at_once=self.follow_up == "all")
        host.set_auto_compaction(self.auto_compaction)
        if not self.auto_retry:
            host.set_auto_retry(False)


class SettingCommands:
    """What a client wants to be in force."""

    def __init__(self, host: RemoteHost, runner: Runner, say: Say, modes: ClientModes) -> None:
        self._host = host
        self._runner = runner
        self._say = say
        self._modes = modes

    def obey(self, command: SettingCommand) -> Outcome:
        match command:
            case SetModel() | CycleModel() | GetAvailableModels():
                return self._models(command)
            case SetThinkingLevel() | CycleThinkingLevel() | GetAvailableThinkingLevels():
                return self._thinking(command)
            case SetSteeringMode() | SetFollowUpMode() | SetAutoCompaction() | SetAutoRetry():
                return self._mode(command)
            case SetPolicy(policy=policy):
                self._host.set_policy(policy)
                return DONE
            case _:
                assert_never(command)

    # ---- models ----------------------------------------------------------------------------------

    def _models(self, command: SetModel | CycleModel | GetAvailableModels) -> Outcome:
        if isinstance(command, GetAvailableModels):
            return Outcome(ModelListData((*map(described_model, self._host.models()),)))
        with self._runner.alone("session"):  # before anybody is asked for a list
            models = self._host.models()
            match command:
                case SetModel(provider=provider, model_id=model):
                    matching = [m for m in models if (m.endpoint, m.info.id) == (provider, model)]
                    if not matching:
                        raise ModelNotFoundError(f"there is no model {provider}/{model}"[:300])
                    return self._chosen(matching[0], described_model(matching[0]))
                case CycleModel():
                    return self._next(models)

    def _next(self, models: Sequence[DrivenModel]) -> Outcome:
        now = self._host.model().word
        words = [each.word for each in models]
        if len(words) < 2:
            return Outcome(NULL)
        number = words.index(now) + 1 if now in words else 0
        model = models[number % len(words)]
        level = self._host.front.report().thinking
        data = CycledModelData(described_model(model), level, is_scoped=False)
        return self._chosen(model, data)

    def _chosen(self, model: DrivenModel, data: RpcData) -> Outcome:
        notices = self._host.choose(model.word)
        self._modes.apply(self._host)

        def tell() -> None:
            for words in notices:
                self._say(NoticeRecord("info", words))

        return Outcome(data, tell)

    # ---- thinking --------------------------------------------------------------------------------

    def _thinking(
        self, command: SetThinkingLevel | CycleThinkingLevel | GetAvailableThinkingLevels
    ) -> Outcome:
        levels = THINKING_LEVELS if self._host.model().info.reasons is not False else ("off",)
        match command:
            case GetAvailableThinkingLevels():
                return Outcome(LevelListData((*levels,)))
            case SetThinkingLevel(level=level):
                return self._at(level)
            case CycleThinkingLevel():
                if len(levels) < 2:
                    return Outcome(NULL)
                now = self._host.front.report().thinking
                number = levels.index(now) + 1 if now in levels else 0
                level = levels[number % len(levels)]
                return self._at(level, CycledLevelData(level))

    def _at(self, level: str, data: RpcData | None = None) -> Outcome:
        self._host.front.set_thinking(level)
        say = lambda: self._say(ThinkingLevelRecord(level))  # noqa: E731
        return Outcome(after=say) if data is None else Outcome(data, say)

    # ---- modes -----------------------------------------------------------------------------------

    def _mode(
        self, command: SetSteeringMode | SetFollowUpMode | SetAutoCompaction | SetAutoRetry
    ) -> Outcome:
        modes, host = self._modes, self._host
        match command:
            case SetSteeringMode(mode=mode):
                host.set_queue_mode("steer", at_once=mode == "all")
                modes.steering = mode
            case SetFollowUpMode(mode=mode):
                host.set_queue_mode("follow-up", at_once=mode == "all")
                modes.follow_up = mode
            case SetAutoCompaction(enabled=enabled):
                host.set_auto_compaction(enabled)
                modes.auto_compaction = enabled
            case SetAutoRetry(enabled=enabled):
                with self._runner.alone("session"):
                    host.set_auto_retry(enabled)
                modes.auto_retry = enabled
        return DONE

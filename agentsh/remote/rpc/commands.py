"""What a client may say: a closed union of commands, and the answer to a question.

Names and members are Pi's where Pi has the command (docs/rpc.md); members that nobody knows are
passed over. A command is made of the parsed line at once, so that whatever is wrong with it is said
before anything is done. Pure. Read next: dispatcher.py.
"""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias, get_args

import msgspec
from msgspec import Struct, field

from agentsh.errors import UsageError
from agentsh.jsontext import JsonError, JsonObject, dumps, loads
from agentsh.remote.rpc.records import CommandId

QueueMode: TypeAlias = Literal["all", "one-at-a-time"]


class PictureBlock(Struct, frozen=True, rename="camel"):
    """An image as Pi's messages hold it."""

    data: str
    mime_type: str


class _Command(Struct, frozen=True, kw_only=True, rename="camel", tag_field="type"):
    pass


# ---- a turn, and what is said in it --------------------------------------------------------------


class _Said(_Command, frozen=True, kw_only=True):
    message: str
    images: tuple[PictureBlock, ...] | None = None


class Prompt(_Said, frozen=True, kw_only=True, tag="prompt"):
    streaming_behavior: Literal["steer", "followUp"] | None = None


class Steer(_Said, frozen=True, kw_only=True, tag="steer"):
    pass


class FollowUp(_Said, frozen=True, kw_only=True, tag="follow_up"):
    pass


class AbortTurn(_Command, frozen=True, tag="abort"):
    pass


class ClearQueue(_Command, frozen=True, tag="clear_queue"):
    pass


class AbortRetry(_Command, frozen=True, tag="abort_retry"):
    pass


class AbortBash(_Command, frozen=True, tag="abort_bash"):
    pass


class RunBash(_Command, frozen=True, kw_only=True, tag="bash"):
    command: str
    exclude_from_context: bool | None = None


class CompactSession(_Command, frozen=True, kw_only=True, tag="compact"):
    custom_instructions: str | None = None


# ---- sessions ------------------------------------------------------------------------------------


class NewSession(_Command, frozen=True, kw_only=True, tag="new_session"):
    parent_session: str | None = None


class SwitchSession(_Command, frozen=True, kw_only=True, tag="switch_session"):
    session_path: str


class ForkSession(_Command, frozen=True, kw_only=True, tag="fork"):
    entry_id: str


class CloneSession(_Command, frozen=True, tag="clone"):
    pass


class SetSessionName(_Command, frozen=True, kw_only=True, tag="set_session_name"):
    name: str


class ListSessions(_Command, frozen=True, kw_only=True, tag="list_sessions"):
    scope: Literal["current", "all"] = "current"
    limit: int | None = None
    offset: int | None = None


# ---- the tree ------------------------------------------------------------------------------------


class NavigateTree(_Command, frozen=True, kw_only=True, tag="navigate_tree"):
    target_id: str
    summarize: bool | None = None
    custom_instructions: str | None = None
    label: str | None = None
    files: bool | None = None
    overwrite: bool | None = None


class SetLabel(_Command, frozen=True, kw_only=True, tag="set_label"):
    entry_id: str
    label: str | None = None


class UndoFiles(_Command, frozen=True, kw_only=True, tag="undo_files"):
    target_id: str
    overwrite: bool | None = None
    dry_run: bool | None = None


class GetForkMessages(_Command, frozen=True, tag="get_fork_messages"):
    pass


class GetEntries(_Command, frozen=True, kw_only=True, tag="get_entries"):
    since: str | None = None


class GetTree(_Command, frozen=True, tag="get_tree"):
    pass


# ---- looking -------------------------------------------------------------------------------------


class GetState(_Command, frozen=True, tag="get_state"):
    pass


class GetMessages(_Command, frozen=True, tag="get_messages"):
    pass


class GetSessionStats(_Command, frozen=True, tag="get_session_stats"):
    pass


class GetLastAssistantText(_Command, frozen=True, tag="get_last_assistant_text"):
    pass


class GetCommands(_Command, frozen=True, tag="get_commands"):
    pass


class GetTools(_Command, frozen=True, tag="get_tools"):
    pass


class GetView(_Command, frozen=True, kw_only=True, tag="get_view"):
    view: Literal["chat", "trace", "model", "raw"] = "chat"
    at: str | None = None


class GetDiff(_Command, frozen=True, kw_only=True, tag="get_diff"):
    a: str | None = None
    b: str | None = None


class SearchSessions(_Command, frozen=True, kw_only=True, tag="search"):
    query: str
    project: str | None = None
    since: str | None = None
    until: str | None = None
    role: str | None = None
    tool: str | None = None
    file: str | None = None
    model: str | None = None
    label: str | None = None
    limit: int = 50


class GetCost(_Command, frozen=True, kw_only=True, tag="get_cost"):
    session: str | None = None
    by: str | None = None
    everywhere: bool | None = field(default=None, name="all")


class ExportHtml(_Command, frozen=True, kw_only=True, tag="export_html"):
    output_path: str | None = None
    raw: bool | None = None


# ---- what is in force ----------------------------------------------------------------------------


class SetModel(_Command, frozen=True, kw_only=True, tag="set_model"):
    provider: str
    model_id: str


class CycleModel(_Command, frozen=True, tag="cycle_model"):
    pass


class GetAvailableModels(_Command, frozen=True, tag="get_available_models"):
    pass


class SetThinkingLevel(_Command, frozen=True, kw_only=True, tag="set_thinking_level"):
    level: str


class CycleThinkingLevel(_Command, frozen=True, tag="cycle_thinking_level"):
    pass


class GetAvailableThinkingLevels(_Command, frozen=True, tag="get_available_thinking_levels"):
    pass


class SetSteeringMode(_Command, frozen=True, kw_only=True, tag="set_steering_mode"):
    mode: QueueMode


class SetFollowUpMode(_Command, frozen=True, kw_only=True, tag="set_follow_up_mode"):
    mode: QueueMode


class SetAutoCompaction(_Command, frozen=True, kw_only=True, tag="set_auto_compaction"):
    enabled: bool


class SetAutoRetry(_Command, frozen=True, kw_only=True, tag="set_auto_retry"):
    enabled: bool


class SetPolicy(_Command, frozen=True, kw_only=True, tag="set_policy"):
    policy: str


class Shutdown(_Command, frozen=True, kw_only=True, tag="shutdown"):
    abort: bool | None = None


TalkCommand: TypeAlias = Prompt | Steer | FollowUp | AbortTurn | ClearQueue | AbortRetry | AbortBash
BesideCommand: TypeAlias = RunBash | CompactSession | NavigateTree
SessionCommand: TypeAlias = (
    NewSession | SwitchSession | ForkSession | CloneSession | SetSessionName | ListSessions
)
TreeCommand: TypeAlias = SetLabel | UndoFiles | GetForkMessages | GetEntries | GetTree
LookCommand: TypeAlias = (
    GetState
    | GetMessages
    | GetSessionStats
    | GetLastAssistantText
    | GetCommands
    | GetTools
    | GetView
    | GetDiff
    | SearchSessions
    | GetCost
    | ExportHtml
)
SettingCommand: TypeAlias = (
    SetModel
    | CycleModel
    | GetAvailableModels
    | SetThinkingLevel
    | CycleThinkingLevel
    | GetAvailableThinkingLevels
    | SetSteeringMode
    | SetFollowUpMode
    | SetAutoCompaction
    | SetAutoRetry
    | SetPolicy
)
RpcCommand: TypeAlias = (
    TalkCommand
    | BesideCommand
    | SessionCommand
    | TreeCommand
    | LookCommand
    | SettingCommand
    | Shutdown
)


def _tag(command: type[Struct]) -> str:
    return str(command.__struct_config__.tag)


RPC_COMMANDS: Final = {_tag(each): each for each in get_args(RpcCommand)}
"""By the word that a client sends."""


class DialogAnswer(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a client says to a question: one of Pi's three forms, or ours."""

    id: str
    value: str | None = None
    confirmed: bool | None = None
    cancelled: bool | None = None
    decision: Literal["once", "always", "rule", "no"] | None = None
    reason: str | None = None
    command: str | None = None


ANSWER: Final = "extension_ui_response"
PARSE: Final = "parse"


class BadLine(Struct, frozen=True):
    """A line that is no command; `kind` is the word that the response gives."""

    kind: str
    words: str
    id: CommandId = None


class Received(Struct, frozen=True):
    """A command, or an answer, under the name and id that it came with."""

    kind: str
    said: RpcCommand | DialogAnswer
    id: CommandId = None


def read_command(line: bytes) -> Received | BadLine:
    """What a line says."""
    try:
        value = loads(line)
        if re.search(rb"\\u[dD][89a-fA-F]", line):
            value = loads(dumps(value))  # without half characters, which nothing can store
    except JsonError as e:
        return BadLine(PARSE, f"this line is no JSON: {e}")
    if not isinstance(value, dict):
        return BadLine(PARSE, "a command is a JSON object")
    kind = value.get("type")
    if not isinstance(kind, str):
        return BadLine(PARSE, "a command has a `type`, which is a string")
    command_id = _id_in(value)
    try:
        return Received(kind, _said(kind, value), command_id)
    except UsageError as e:
        return BadLine(kind, str(e), command_id)


def _id_in(value: JsonObject) -> CommandId:
    """As it was given; what is neither a string nor a number is none."""
    given = value.get("id")
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        return None
    return given


def _said(kind: str, value: JsonObject) -> RpcCommand | DialogAnswer:
    form = DialogAnswer if kind == ANSWER else RPC_COMMANDS.get(kind)
    if form is None:
        raise UsageError(f"there is no command {kind[:80]!r}")
    try:
        said: RpcCommand | DialogAnswer = msgspec.convert(value, form)
    except msgspec.ValidationError as e:
        raise UsageError(str(e)) from e
    return said

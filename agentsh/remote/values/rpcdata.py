"""What a client of `agentsh rpc` is told because it asked, as values: the `data` of responses.

Names and members are Pi's where Pi has the command (docs/rpc.md), and public: members are added,
never changed. `agentsh schema rpc` prints what these classes say (remote/schemas.py). Lines of a
session are handed through as they stand (remote/rpc/sessionvalues.py writes `EntryLinesData` and
`EntryTreeData` by hand), and so are the values of `--json`.
Pure. Read next: rpcrecords.py, remote/rpc/commands.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType, field

from agentsh.remote.values.rpcrecords import CompactionResult, PiMessage
from agentsh.remote.values.sessions import ListedSession

ErrorCode: TypeAlias = Literal["usage", "not_found", "refused", "busy", "endpoint", "bug"]
WordScope: TypeAlias = Literal["user", "project", "temporary"]
EntryLine: TypeAlias = Annotated[
    dict[str, Any], Meta(description="A line of the session (docs/session-format.md).")
]


class _Data(Struct, frozen=True, rename="camel"):
    pass


# ---- turns ---------------------------------------------------------------------------------------


class AcceptedData(_Data, frozen=True):
    """What became of a message."""

    disposition: Literal["started", "queued"]


class TakenBackData(_Data, frozen=True):
    """What waited, and does no more."""

    steering: tuple[str, ...]
    follow_up: tuple[str, ...]


class ShellData(_Data, frozen=True):
    """A command that the client ran. No `exitCode`: it did not end by itself."""

    output: str
    exit_code: int | None
    cancelled: bool
    truncated: bool
    full_output_path: str | UnsetType = UNSET


# ---- sessions ------------------------------------------------------------------------------------


class ChangedData(_Data, frozen=True):
    """Another session is in front."""

    cancelled: bool


class ForkedData(_Data, frozen=True):
    """A copy is in front; `text` is the prompt before which it ends."""

    text: str
    cancelled: bool


class SessionPageData(_Data, frozen=True):
    """Some of the sessions that there are; `total` counts all."""

    sessions: tuple[ListedSession, ...]
    total: int


class NavigatedData(_Data, frozen=True):
    """Where the next entry follows now. `editorText`: the prompt before which that is."""

    cancelled: bool
    leaf_id: str | None
    notices: tuple[str, ...]
    editor_text: str | UnsetType = UNSET
    summary_entry_id: str | UnsetType = UNSET


class FileBackData(_Data, frozen=True):
    """A file that was, or would be, brought back."""

    path: str
    kind: str


class FileLeftData(_Data, frozen=True):
    """A file that stays as it is."""

    path: str
    why: str | None


class FilesUndoneData(_Data, frozen=True):
    """What became of the working files."""

    changed: tuple[FileBackData, ...]
    kept: tuple[FileLeftData, ...]
    notices: tuple[str, ...]


class ForkPointData(_Data, frozen=True):
    """A prompt of the path."""

    entry_id: str
    text: str


class ForkPointsData(_Data, frozen=True):
    """The prompts of the path."""

    messages: tuple[ForkPointData, ...]


class EntryLinesData(_Data, frozen=True):
    """Lines in the order of the file."""

    entries: tuple[EntryLine, ...]
    leaf_id: str | None


class EntryNodeData(_Data, frozen=True):
    """An entry, and what follows it."""

    entry: EntryLine
    children: tuple[EntryNodeData, ...]
    label: str | UnsetType = UNSET
    label_timestamp: str | UnsetType | None = UNSET


class EntryTreeData(_Data, frozen=True):
    """The whole session."""

    tree: tuple[EntryNodeData, ...]
    leaf_id: str | None


# ---- looking -------------------------------------------------------------------------------------


class PricesData(_Data, frozen=True):
    """US dollars per million tokens; 0 where nobody said."""

    input: float
    output: float
    cache_read: float
    cache_write: float


class PiModelData(_Data, frozen=True):
    """A model; null is what nobody said."""

    id: str
    name: str
    api: str
    provider: str
    base_url: str
    reasoning: bool
    input: tuple[str, ...]
    context_window: int | None
    max_tokens: int | None
    cost: PricesData


class StateData(_Data, frozen=True):
    """What is in force. No `sessionFile`: nothing is stored."""

    model: PiModelData
    thinking_level: str
    is_streaming: bool
    is_compacting: bool
    steering_mode: Literal["all", "one-at-a-time"]
    follow_up_mode: Literal["all", "one-at-a-time"]
    session_id: str
    auto_compaction_enabled: bool
    auto_retry_enabled: bool
    message_count: int
    pending_message_count: int
    policy: str
    cwd: str
    leaf_id: str | None
    protocol: str
    session_file: str | UnsetType = UNSET
    session_name: str | UnsetType = UNSET


class ContextMessagesData(_Data, frozen=True):
    """What the model is sent of the path."""

    messages: tuple[PiMessage, ...]


class TokenSumData(_Data, frozen=True):
    """Tokens of all requests of the session."""

    input: int
    output: int
    cache_read: int
    cache_write: int
    total: int


class ContextFillData(_Data, frozen=True):
    """How much of the window is in use."""

    tokens: int
    context_window: int
    percent: float


class StatsData(_Data, frozen=True):
    """Counts of the path; tokens and cost (US dollars) of all that it took."""

    session_file: str | None
    session_id: str
    user_messages: int
    assistant_messages: int
    tool_calls: int
    tool_results: int
    bash_executions: int
    total_messages: int
    tokens: TokenSumData
    cost: float
    context_usage: ContextFillData | UnsetType = UNSET


class LastTextData(_Data, frozen=True):
    """The text of the newest answer that has one."""

    text: str | None


class WordSourceData(_Data, frozen=True):
    """Where a skill or a template stands."""

    path: str
    source: str
    scope: WordScope
    origin: str


class SlashWordData(_Data, frozen=True):
    """A word that a prompt may begin with, after a `/`."""

    name: str
    description: str
    source: Literal["skill", "prompt"]
    source_info: WordSourceData


class SlashWordsData(_Data, frozen=True):
    """The skills and templates that there are."""

    commands: tuple[SlashWordData, ...]


class ListedToolData(_Data, frozen=True):
    """A tool; the model is told of it where it is `offered`."""

    name: str
    description: str
    source: str
    effect: str
    is_offered: bool = field(name="offered")


class ListedToolsData(_Data, frozen=True):
    """Every tool that there is."""

    tools: tuple[ListedToolData, ...]


class HitsData(_Data, frozen=True):
    """As `agentsh search --json`."""

    hits: tuple[dict[str, Any], ...]


class PageFileData(_Data, frozen=True):
    """A new file."""

    path: str


# ---- what is in force ----------------------------------------------------------------------------


class CycledModelData(_Data, frozen=True):
    """The next model of the list is asked from now on."""

    model: PiModelData
    thinking_level: str
    is_scoped: bool


class ModelListData(_Data, frozen=True):
    """The models of every endpoint."""

    models: tuple[PiModelData, ...]


class CycledLevelData(_Data, frozen=True):
    """The next level is in force."""

    level: str


class LevelListData(_Data, frozen=True):
    """The levels that the model may be asked for."""

    levels: tuple[str, ...]


RpcData: TypeAlias = _Data | CompactionResult

_View: TypeAlias = Annotated[dict[str, Any], Meta(description="As `agentsh show --json`.")]
_Diff: TypeAlias = Annotated[dict[str, Any], Meta(description="As `agentsh diff --json`.")]
_Costs: TypeAlias = Annotated[dict[str, Any], Meta(description="As `agentsh cost --json`.")]

RPC_DATA: Final[Mapping[str, Any]] = {
    "prompt": AcceptedData,
    "steer": AcceptedData,
    "follow_up": AcceptedData,
    "clear_queue": TakenBackData,
    "bash": ShellData,
    "compact": CompactionResult,
    "new_session": ChangedData,
    "switch_session": ChangedData,
    "fork": ForkedData,
    "clone": ChangedData,
    "list_sessions": SessionPageData,
    "navigate_tree": NavigatedData,
    "undo_files": FilesUndoneData,
    "get_fork_messages": ForkPointsData,
    "get_entries": EntryLinesData,
    "get_tree": EntryTreeData,
    "get_state": StateData,
    "get_messages": ContextMessagesData,
    "get_session_stats": StatsData,
    "get_last_assistant_text": LastTextData,
    "get_commands": SlashWordsData,
    "get_tools": ListedToolsData,
    "get_view": _View,
    "get_diff": _Diff,
    "search": HitsData,
    "get_cost": _Costs,
    "export_html": PageFileData,
    "set_model": PiModelData,
    "cycle_model": CycledModelData | None,
    "get_available_models": ModelListData,
    "cycle_thinking_level": CycledLevelData | None,
    "get_available_thinking_levels": LevelListData,
}
"""What the response to a command has as `data`; the others have none."""

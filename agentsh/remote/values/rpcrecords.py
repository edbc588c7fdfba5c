"""What a client of `agentsh rpc` is told without asking, as values: events, and questions.

Names and members are Pi's where Pi has the event (docs/rpc.md), and public: members are added,
never changed. `agentsh schema rpc` prints what these classes say (remote/schemas.py); their
docstrings are its words. Messages and usages are the ones of docs/session-format.md, and are
handed through. Pure. Read next: rpcdata.py, remote/rpc/events.py.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType, to_builtins

from agentsh.jsontext import JsonObject

PiMessage: TypeAlias = Annotated[
    dict[str, Any],
    Meta(
        description="A message, as docs/session-format.md has it.",
        extra_json_schema={"required": ["role"], "properties": {"role": {"type": "string"}}},
    ),
]
PiUsage: TypeAlias = Annotated[
    dict[str, Any],
    Meta(
        description="Tokens and cost, as `usage` in a message of docs/session-format.md.",
        extra_json_schema={"required": ["input", "output", "totalTokens", "cost"]},
    ),
]
CompactionWhy: TypeAlias = Literal["manual", "threshold", "overflow"]
LeafWhy: TypeAlias = Literal["navigate", "session", "compaction"]


class CompactionResult(Struct, frozen=True, rename="camel"):
    """What a compaction did; `entryId` is the entry that it made."""

    summary: str
    first_kept_entry_id: str | None
    tokens_before: int
    estimated_tokens_after: int
    usage: PiUsage
    details: Any
    entry_id: str


# ---- turns ---------------------------------------------------------------------------------------


class _Record(Struct, frozen=True, rename="camel", tag_field="type"):
    pass


class AgentStartRecord(_Record, frozen=True, tag="agent_start"):
    """A prompt was accepted."""


class TurnStartRecord(_Record, frozen=True, tag="turn_start"):
    """A request, and the tools that its answer calls."""


class MessageStartRecord(_Record, frozen=True, tag="message_start"):
    """A message begins; of an answer that is written it is empty. A second one: it begins anew."""

    message: PiMessage


class MessageEndRecord(_Record, frozen=True, tag="message_end"):
    """A message is whole, and stored."""

    message: PiMessage
    entry_id: str


class TurnEndRecord(_Record, frozen=True, tag="turn_end"):
    """The answer, and the results of the calls in it."""

    message: PiMessage
    tool_results: tuple[PiMessage, ...]


class AgentEndRecord(_Record, frozen=True, tag="agent_end"):
    """What was said since agent_start."""

    messages: tuple[PiMessage, ...]
    will_retry: bool


class AgentSettledRecord(_Record, frozen=True, tag="agent_settled"):
    """It always comes; from then on a prompt is accepted."""

    aborted: bool


# ---- an answer that is written -------------------------------------------------------------------


class _Part(Struct, frozen=True, rename="camel", tag_field="type"):
    content_index: int


class TextBegun(_Part, frozen=True, tag="text_start"):
    """A block of text begins."""


class TextGrown(_Part, frozen=True, tag="text_delta"):
    """It grows."""

    delta: str


class TextWhole(_Part, frozen=True, tag="text_end"):
    """It is whole."""

    content: str


class ThinkingBegun(_Part, frozen=True, tag="thinking_start"):
    """A block of reasoning begins."""


class ThinkingGrown(_Part, frozen=True, tag="thinking_delta"):
    """It grows."""

    delta: str


class ThinkingWhole(_Part, frozen=True, tag="thinking_end"):
    """It is whole."""

    content: str


class CallBegun(_Part, frozen=True, tag="toolcall_start"):
    """A call begins; `id` is empty until it is whole."""

    id: str
    tool_name: str


class CallGrown(_Part, frozen=True, tag="toolcall_delta"):
    """Some of its arguments, as text."""

    delta: str


class CallWhole(_Part, frozen=True, tag="toolcall_end"):
    """It is whole: `toolCall` is the block of the message."""

    tool_call: dict[str, Any]


AnswerPart: TypeAlias = (
    TextBegun
    | TextGrown
    | TextWhole
    | ThinkingBegun
    | ThinkingGrown
    | ThinkingWhole
    | CallBegun
    | CallGrown
    | CallWhole
)


class MessageUpdateRecord(_Record, frozen=True, tag="message_update"):
    """Some of an answer, as it comes. `usage` is known at message_end."""

    usage: PiUsage
    assistant_message_event: AnswerPart


# ---- tools ---------------------------------------------------------------------------------------


class ToolContent(Struct, frozen=True):
    """Text and pictures, as blocks of a message; `details` are the tool's own."""

    content: tuple[dict[str, Any], ...]
    details: Any


class CallStartRecord(_Record, frozen=True, tag="tool_execution_start"):
    """A tool begins to run."""

    tool_call_id: str
    tool_name: str
    args: dict[str, Any]


class CallUpdateRecord(_Record, frozen=True, tag="tool_execution_update"):
    """Some of its output, which goes on where the last one ended."""

    tool_call_id: str
    tool_name: str
    args: dict[str, Any]
    partial_result: ToolContent


class CallEndRecord(_Record, frozen=True, tag="tool_execution_end"):
    """What the model is told of it; each call has one, also where it was not run."""

    tool_call_id: str
    tool_name: str
    result: ToolContent
    is_error: bool
    entry_id: str
    duration_ms: int | UnsetType = UNSET


# ---- what else happens ---------------------------------------------------------------------------


class QueueRecord(_Record, frozen=True, tag="queue_update"):
    """All that waits."""

    steering: tuple[str, ...]
    follow_up: tuple[str, ...]


class CompactionStartRecord(_Record, frozen=True, tag="compaction_start"):
    """A summary of what is old is about to be asked for."""

    reason: CompactionWhy


class CompactionEndRecord(_Record, frozen=True, tag="compaction_end"):
    """A compaction was made, or failed: `errorMessage`."""

    reason: CompactionWhy
    aborted: bool
    will_retry: bool
    error_message: str | UnsetType = UNSET
    result: CompactionResult | UnsetType = UNSET


class _Repeat(_Record, frozen=True):
    attempt: int
    max_attempts: int
    delay_ms: int
    error_message: str


class RetryStartRecord(_Repeat, frozen=True, tag="auto_retry_start"):
    """A request failed, and is sent again after `delayMs`."""


class SummaryRetryRecord(_Repeat, frozen=True, tag="summarization_retry_scheduled"):
    """The same, of the request for a summary."""


class RetryEndRecord(_Record, frozen=True, tag="auto_retry_end"):
    """The repeats are over; `finalError`: they did not help."""

    success: bool
    attempt: int
    final_error: str | UnsetType = UNSET


class SessionNameRecord(_Record, frozen=True, tag="session_info_changed"):
    """The session has another name."""

    name: str


class ThinkingLevelRecord(_Record, frozen=True, tag="thinking_level_changed"):
    """Another level of reasoning is in force."""

    level: str


class ShellRecord(_Record, frozen=True, tag="bash_execution_update"):
    """Some output of the command `bash`; `id` is that of the command, where it had one."""

    delta: str
    id: str | int | float | UnsetType = UNSET


class LeafRecord(_Record, frozen=True, tag="leaf_changed"):
    """The place where the next entry follows has changed, and by no message."""

    leaf_id: str | None
    reason: LeafWhy


class NoticeRecord(_Record, frozen=True, tag="notice"):
    """Something that the user should know now."""

    level: Literal["info", "warning", "error"]
    text: str


class AskedCall(Struct, frozen=True, rename="camel"):
    """The call that is asked about. `shown` is all that would be done; `rule` covers it."""

    tool_call_id: str
    tool_name: str
    args: dict[str, Any]
    shown: str
    diff: str | UnsetType = UNSET
    rule: str | UnsetType = UNSET
    why: str | UnsetType = UNSET


class QuestionRecord(_Record, frozen=True, tag="extension_ui_request"):
    """A question, answered by an `extension_ui_response` of this `id`."""

    id: str
    method: Literal["select"]
    title: str
    message: str
    options: tuple[str, ...]
    approval: AskedCall


_TurnRecord: TypeAlias = (
    AgentStartRecord
    | TurnStartRecord
    | MessageStartRecord
    | MessageUpdateRecord
    | MessageEndRecord
    | TurnEndRecord
    | AgentEndRecord
    | AgentSettledRecord
)
_WaitRecord: TypeAlias = (
    CompactionStartRecord
    | CompactionEndRecord
    | RetryStartRecord
    | SummaryRetryRecord
    | RetryEndRecord
)
RpcRecord: TypeAlias = (
    _TurnRecord
    | CallStartRecord
    | CallUpdateRecord
    | CallEndRecord
    | QueueRecord
    | _WaitRecord
    | SessionNameRecord
    | ThinkingLevelRecord
    | ShellRecord
    | LeafRecord
    | NoticeRecord
    | QuestionRecord
)


def record_json(record: RpcRecord) -> JsonObject:
    """As it stands on a line."""
    value: JsonObject = to_builtins(record)
    return value

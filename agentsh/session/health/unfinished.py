"""What the end of a path left open: a turn, a request, calls without results. Pure.

A turn of ours is a bracket on a path that others may leave and enter anywhere: Pi moves to any
entry without a fact about it, asks, labels or sums up there, and copies any path into a file of its
own. So a bracket is open only for the session that opened it, and no longer where somebody went on
below it: a line without our stamp that says something ends it, and so does any such line behind a
finished answer or inside a turn whose end stands on another branch (`Whose`). Such a turn was left,
not interrupted, and its calls without results are the outbound pass's business; so is all that was
copied from another file (whoever copies an open turn of ours closes it: fork.py, salvage.py). A
line that says nothing (a setting, a label) below a turn that is open everywhere leaves it
interrupted.

It plans nothing and reads no file. Read next: repair.py, which closes what is open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from agentsh.messages import (
    AssistantMessage,
    BashExecutionMessage,
    CustomRoleMessage,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from agentsh.session.format.entries import (
    Branch,
    BranchSummary,
    Compaction,
    Custom,
    CustomMessage,
    Entry,
    EntryId,
    MessageBody,
    places_of,
)
from agentsh.session.format.factcodec import decode_fact, names_of
from agentsh.session.format.facts import (
    ApprovalAsked,
    ApprovalDecided,
    AttemptEnded,
    Fact,
    Navigated,
    RequestSent,
    ToolProcess,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)

_RESETTING = names_of(TurnStarted, TurnEnded, Navigated)


class Whose(Struct, frozen=True):
    """What a path does not say of itself."""

    session: str | None = None
    """The mark of this session's own lines (`ash.s`); None: every marked line is its own."""
    ended: frozenset[EntryId] = frozenset()
    """Starts of turns that have their end on another branch."""

    def owns(self, entry: Entry) -> bool:
        return entry.stamp is not None and self.session in (None, entry.stamp.session)


ANYBODY = Whose()


class Unfinished(Struct):
    """What the end of a path looks like. Filled by `unfinished_of`."""

    turn: EntryId | None = None
    request: tuple[EntryId, RequestSent] | None = None
    """Sent and not answered."""
    asked: tuple[EntryId, tuple[ToolCall, ...]] | None = None
    """The last message with calls, as long as nothing but results and facts follows it."""
    has_record: bool = True
    """This session wrote that message, with starts on record; of another's nothing follows."""
    is_answered: bool = False
    """The turn's last message is an answer without calls."""
    is_entered: bool = False
    """Somebody else's line stands below the start of the open turn."""
    answered: set[str] = field(default_factory=set)
    started: dict[str, tuple[EntryId, ToolStarted]] = field(default_factory=dict)
    processes: dict[str, ToolProcess] = field(default_factory=dict)
    waiting: set[str] = field(default_factory=set)
    """Calls whose approval was asked and never decided (R20)."""
    timestamp: int = 0

    @property
    def unanswered(self) -> tuple[ToolCall, ...]:
        if self.asked is None:
            return ()
        return tuple(c for c in self.asked[1] if c.id not in self.answered)

    def leave(self) -> None:
        """Somebody went elsewhere on purpose: what is open above was left, not interrupted."""
        self.turn = self.asked = self.request = None


class OpenCalls(Struct, frozen=True):
    """The calls that a cold start finds without results, and what is on record of them."""

    starts: Mapping[str, ToolStarted]
    processes: Mapping[str, ToolProcess]
    request: EntryId | None
    """The request whose answer never came."""


def plan_open_calls(branch: Branch) -> OpenCalls:
    """What evidence is worth gathering."""
    end = unfinished_of(branch.entries)
    unanswered = {c.id for c in end.unanswered}
    return OpenCalls(
        {k: fact for k, (_, fact) in end.started.items() if k in unanswered},
        {k: v for k, v in end.processes.items() if k in unanswered},
        end.request[0] if end.request else None,
    )


def plan_sound_end(entries: Sequence[Entry], whose: Whose = ANYBODY) -> int:
    """How many entries of a path to keep so that every call of its last step has its result.

    The rule for going to a place inside a turn (R42): back to before the message whose calls are
    not all answered. Calls further up belong to the outbound pass.
    """
    end = unfinished_of(entries, whose)
    if not end.unanswered or end.asked is None:
        return len(entries)
    asked = end.asked[0]
    return next(i for i, entry in enumerate(entries) if entry.id == asked)


def plan_open_turn(entries: Sequence[Entry], whose: Whose = ANYBODY) -> EntryId | None:
    """The start of the turn that the path ends in."""
    return unfinished_of(entries, whose).turn


def plan_entered_turn(entries: Sequence[Entry], whose: Whose) -> EntryId | None:
    """The start of an open turn in which somebody else wrote: its end may stand elsewhere."""
    end = unfinished_of(entries, whose)
    return end.turn if end.is_entered else None


def unfinished_of(entries: Sequence[Entry], whose: Whose = ANYBODY) -> Unfinished:
    """The end of a path, from the last thing on that closes whatever was open before it."""
    begin = _last_reset(entries)
    end = Unfinished(timestamp=_timestamp_before(entries, begin))
    for entry in entries[begin:]:
        if entry.stamp is None:
            _read_foreign(end, entry, whose)
        match entry.body:
            case MessageBody(message):
                end.timestamp = getattr(message, "timestamp", 0) or end.timestamp
                _read_message(end, entry, message, is_own=whose.owns(entry))
            case Custom() as custom:
                fact = decode_fact(custom)
                if fact is not None:
                    _read_fact(end, entry.id, fact, is_own=whose.owns(entry))
            case Compaction() | BranchSummary() | CustomMessage():
                end.asked = None
            case _:
                pass
    return end


def says_something(entry: Entry) -> bool:
    """Whether an entry is part of the talk, and not about it."""
    return isinstance(entry.body, MessageBody | CustomMessage | BranchSummary | Compaction)


def _read_foreign(end: Unfinished, entry: Entry, whose: Whose) -> None:
    """A line without our stamp, before it is read for what it says."""
    if end.turn is None:
        return
    end.is_entered = True
    if says_something(entry) or end.is_answered or end.turn in whose.ended:
        end.leave()


def _last_reset(entries: Sequence[Entry]) -> int:
    """The index from which a turn is looked for: the last start or end of a turn, or the last move.

    Without any it is the last prompt.
    """
    for i in reversed(places_of(entries, Custom)):
        body = entries[i].body
        assert isinstance(body, Custom)
        if body.custom_type in _RESETTING and isinstance(
            decode_fact(body), TurnStarted | TurnEnded | Navigated
        ):
            return i
    for i in range(len(entries) - 1, -1, -1):
        body = entries[i].body
        if isinstance(body, MessageBody) and isinstance(body.message, UserMessage):
            return i
    return 0


def _timestamp_before(entries: Sequence[Entry], end: int) -> int:
    for i in range(end - 1, -1, -1):
        body = entries[i].body
        if isinstance(body, MessageBody) and (timestamp := getattr(body.message, "timestamp", 0)):
            return int(timestamp)
    return 0


def _read_message(end: Unfinished, entry: Entry, message: object, *, is_own: bool) -> None:
    match message:
        case AssistantMessage(stop_reason="error" | "aborted"):
            # left out of every context whole, its calls included
            end.request = end.asked = None
            end.is_answered = False
        case AssistantMessage():
            end.request = None
            # of a copy the calls were answered in the file that it is from, if anywhere
            is_open = bool(message.tool_calls) and (is_own or entry.stamp is None)
            end.asked = (entry.id, message.tool_calls) if is_open else None
            end.is_answered = not message.tool_calls
            end.has_record = is_own
            end.answered, end.started, end.processes = set(), {}, {}
            end.waiting = set()
        case ToolResultMessage():
            end.answered.add(message.tool_call_id)
            end.is_answered = False
        case UserMessage() | CustomRoleMessage() | BashExecutionMessage():
            end.asked = None
            end.is_answered = False
        case _:
            pass


def _read_fact(end: Unfinished, id_: EntryId, fact: Fact, *, is_own: bool) -> None:
    match fact:
        case TurnStarted():
            end.turn = id_ if is_own else None
            end.asked = end.request = None
            end.is_answered = end.is_entered = False
        case TurnEnded() | Navigated():
            end.leave()
        case RequestSent(kind="step") if is_own:
            end.request = (id_, fact)
            end.is_answered = False
        case AttemptEnded(request=request) if end.request and end.request[0] == request:
            end.request = None  # a side question's failure is none of the turn's
        case ToolStarted():
            end.started[fact.call_id] = (id_, fact)
            end.waiting.discard(fact.call_id)
        case ToolProcess():
            end.processes[fact.call_id] = fact
        case ApprovalAsked():
            end.waiting.add(fact.call_id)
        case ApprovalDecided():
            end.waiting.discard(fact.call_id)
        case _:
            pass

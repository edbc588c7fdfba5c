"""Short makers of entries and messages, and Hypothesis strategies for whole paths."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st
from msgspec.structs import replace

from agentsh.context.projection import Context, Item, SummaryMessage, project
from agentsh.context.system import checkpoint
from agentsh.jsontext import JsonObject
from agentsh.messages import (
    AssistantBlock,
    AssistantMessage,
    BashExecutionMessage,
    CustomRoleMessage,
    Image,
    Message,
    StopReason,
    SystemMessage,
    Text,
    Thinking,
    ToolCall,
    ToolCallId,
    ToolResultMessage,
    ToolSchema,
    UnknownRoleMessage,
    Usage,
    UserBlock,
    UserMessage,
)
from agentsh.session.format.entries import (
    Body,
    Branch,
    BranchSummary,
    Compaction,
    ContextEdit,
    Custom,
    CustomMessage,
    Damaged,
    Entry,
    EntryId,
    Label,
    MessageBody,
    ModelChange,
    SessionInfo,
    ThinkingLevelChange,
    Unknown,
    UsageRecord,
)

API, PROVIDER, MODEL = "openai-completions", "here", "model-a"
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)


def user(*content: str | UserBlock) -> UserMessage:
    return UserMessage(tuple(Text(c) if isinstance(c, str) else c for c in content))


def call(id_: str, name: str = "read", **arguments: object) -> ToolCall:
    plain: JsonObject = {key: str(value) for key, value in arguments.items()}
    return ToolCall(ToolCallId(id_), name, plain)


def said(
    *content: str | AssistantBlock,
    stop: StopReason = "stop",
    usage: Usage | None = None,
    model: str = MODEL,
) -> AssistantMessage:
    blocks = tuple(Text(c) if isinstance(c, str) else c for c in content)
    return AssistantMessage(blocks, API, PROVIDER, model, usage or Usage(), stop)


def result(
    id_: str, *content: str | UserBlock, error: bool = False, tool: str = "read"
) -> ToolResultMessage:
    blocks = tuple(Text(c) if isinstance(c, str) else c for c in content)
    return ToolResultMessage(ToolCallId(id_), tool, blocks, error)


def path(*bodies: Body | Message) -> tuple[Entry, ...]:
    """Entries e0, e1, … each the child of the one before it."""
    found: list[Entry] = []
    for i, body in enumerate(bodies):
        parent = EntryId(f"e{i - 1}") if i else None
        found.append(Entry(EntryId(f"e{i}"), parent, "2026-01-01T00:00:00.000Z", as_body(body)))
    return tuple(found)


def as_body(body: Body | Message) -> Body:
    match body:
        case (
            UserMessage()
            | AssistantMessage()
            | ToolResultMessage()
            | BashExecutionMessage()
            | CustomRoleMessage()
            | SystemMessage()
            | UnknownRoleMessage()
        ):
            return MessageBody(body)
        case _:
            return body


def context(*bodies: Body | Message) -> Context:
    return project(Branch(path(*bodies)))


def kept(first: str | None, summary: str = "SUMMARY") -> Compaction:
    return Compaction(summary, None if first is None else EntryId(first), 100)


def texts(items: Sequence[Item]) -> list[str]:
    """What the items say, one string each."""
    found: list[str] = []
    for item in items:
        match item.message:
            case SummaryMessage(summary=summary):
                found.append(summary)
            case BashExecutionMessage(command=command):
                found.append(command)
            case message:
                found.append(text_of(message.content))
    return found


def text_of(content: Sequence[UserBlock | AssistantBlock]) -> str:
    return "".join(b.text for b in content if isinstance(b, Text))


# ---- strategies ------------------------------------------------------------------------------

WORDS = st.sampled_from(
    ["", " ", "one", "two words", "x" * 90, "a\ud800b", "naïve 漢字", "</summary>", "```"]
)
IDS = st.sampled_from(["", "a", "b", "call_1_0", "bash:0", "call_x|fc_y", "i" * 60, "odd\udc00"])
BLOCKS = st.one_of(
    WORDS.map(Text), st.sampled_from([Image(PNG, "image/png"), Image("AAAA", "image/png")])
)
CONTENT = st.lists(BLOCKS, max_size=3).map(tuple)
CALLS = st.builds(
    ToolCall,
    IDS.map(ToolCallId),
    st.sampled_from(["read", "bash", "", "odd name"]),
    st.sampled_from([{}, {"path": "a"}, {"k\ud800": ["v\udfff", 1, None, {"x": True}]}]),
)
THOUGHTS = st.builds(Thinking, WORDS, st.sampled_from([None, "reasoning_content", "sig"]))


def _answer(
    content: Sequence[AssistantBlock], stop: StopReason, model: str, total: int
) -> AssistantMessage:
    return said(*content, stop=stop, model=model, usage=Usage(input=total, total_tokens=total))


USERS = CONTENT.map(UserMessage)
ANSWERS = st.builds(
    _answer,
    st.lists(st.one_of(WORDS.map(Text), THOUGHTS, CALLS), max_size=4),
    st.sampled_from(["stop", "stop", "toolUse", "length", "error", "aborted"]),
    st.sampled_from([MODEL, "model-b"]),
    st.integers(0, 300),
)
RESULTS = st.builds(ToolResultMessage, IDS.map(ToolCallId), st.just("read"), CONTENT, st.booleans())
COMMANDS = st.builds(
    BashExecutionMessage,
    st.just("ls"),
    WORDS,
    st.sampled_from([None, 0, 2]),
    excluded=st.booleans(),
)
MESSAGES = st.one_of(USERS, ANSWERS, RESULTS, RESULTS, COMMANDS)
SYSTEMS = st.builds(
    SystemMessage,
    content=st.sampled_from(["", "plain"]),
    sections=st.dictionaries(
        st.sampled_from(["preamble", "rules", "cwd"]), st.sampled_from([None, "A", "B"])
    ),
    tools_added=st.lists(
        st.sampled_from([ToolSchema("read", "1", {}), ToolSchema("ls", "2", {})]), max_size=2
    ).map(tuple),
    tools_removed=st.lists(st.sampled_from(["read", "ls"]), max_size=1).map(tuple),
)
SETTINGS = st.one_of(
    SYSTEMS.map(MessageBody),
    st.builds(ModelChange, st.just(PROVIDER), st.sampled_from([MODEL, "model-b"])),
    st.builds(ThinkingLevelChange, st.sampled_from(["off", "high"])),
    st.sampled_from(["x", "y"]).map(
        lambda v: Custom("agentsh.state", {"key": "approve.rules", "value": v})
    ),
)
LOG_ONLY: st.SearchStrategy[Body] = st.one_of(
    st.sampled_from(
        [
            Custom("agentsh.turn", {"ev": "start", "no": 1}),
            Custom("agentsh.leaf", None),
            Custom("other", {"key": "k", "value": 1}),
            Label(EntryId("e0"), "here"),
            SessionInfo("name"),
            UsageRecord("warm", PROVIDER, "model-z", Usage(total_tokens=9)),
            Unknown("future", {"type": "future"}),
            Damaged("cut"),
            MessageBody(UnknownRoleMessage("future", {"role": "future"})),
            MessageBody(BashExecutionMessage("ls", "out", excluded=True)),
            BranchSummary("", "root"),
        ]
    )
)


# made once, since Hypothesis pays for each strategy that is built while it draws
_PLAIN: st.SearchStrategy[Body] = st.one_of(
    MESSAGES.map(MessageBody),
    MESSAGES.map(MessageBody),
    st.builds(CustomMessage, st.just("x"), CONTENT),
    st.builds(BranchSummary, WORDS, st.just("root")),
    SETTINGS,
    LOG_ONLY,
)
_TARGETS = st.integers(0, 14).map(lambda n: EntryId("gone" if n == 14 else f"e{n}"))
_EDITS = st.builds(ContextEdit, _TARGETS, st.one_of(st.none(), CONTENT))
_CUTS = st.builds(Compaction, WORDS, st.one_of(st.none(), _TARGETS), st.just(9))


def bodies(*, rewrites: bool = True, least: int = 0) -> st.SearchStrategy[list[Body]]:
    """A path of any kinds, in any order: also such as no program would write.

    `rewrites` False: nothing on it changes what stood before (no compaction, no edit).
    """
    kinds = st.one_of(_PLAIN, _PLAIN, _PLAIN, _EDITS, _CUTS) if rewrites else _PLAIN
    return st.lists(kinds, min_size=least, max_size=12)


def stating(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The path, each compaction of it stating what is in force there, as ours do."""
    found: list[Entry] = []
    for entry in entries:
        if isinstance(entry.body, Compaction):
            now = project(Branch(tuple(found)))
            model = now.model
            ours: JsonObject = {
                "provider": model.provider if model else None,
                "model": model.model if model else None,
                "thinking": now.thinking,
                "state": dict(now.state),
            }
            body = replace(entry.body, system=checkpoint(now.system), details={"ash": ours})
            found.append(replace(entry, body=body))
        else:
            found.append(entry)
    return tuple(found)


def cut_at_compaction(entries: tuple[Entry, ...]) -> Branch:
    """The path from the kept range of its last compaction on, as a reader of the tail has it."""
    at = max((i for i, e in enumerate(entries) if isinstance(e.body, Compaction)), default=None)
    if at is None:
        return Branch(entries)
    body = entries[at].body
    assert isinstance(body, Compaction)
    ids = [e.id for e in entries[:at]]
    start = ids.index(body.first_kept) if body.first_kept in ids else at
    return Branch(entries[start:], complete=start == 0)


@st.composite
def talks(draw: st.DrawFn) -> list[Message]:
    """A well-formed conversation: turns with steps, each call answered in order."""
    found: list[Message] = []
    for turn in range(draw(st.integers(1, 5))):
        found.append(user(f"question {turn} " + "w " * draw(st.integers(0, 60))))
        for step in range(draw(st.integers(0, 4))):
            ids = [f"c{turn}_{step}_{n}" for n in range(draw(st.integers(1, 3)))]
            found.append(said("looking", *(call(i, path=f"f{i}") for i in ids), stop="toolUse"))
            found += [result(i, f"R-{i} " + "z " * draw(st.integers(0, 90))) for i in ids]
        if draw(st.booleans()):
            found.append(said(f"answer {turn}"))
    return found

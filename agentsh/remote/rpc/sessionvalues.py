"""A session in Pi's words: its messages, its entries, its tree, figures, the model. Pure.

Entries are given as their lines stand, so that what nobody here knows reaches the client as well.
The tree is written without recursion: a long talk is as deep as it is long.
Read next: docs/session-format.md, views/sessionviews.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from msgspec import UNSET, UnsetType

from agentsh.agent.config import StatusFigures
from agentsh.agent.driven.host import ReadableSession
from agentsh.agent.driven.remotehost import DrivenModel
from agentsh.context.projection import ContextMessage, SummaryMessage, project
from agentsh.jsontext import JsonError, JsonObject, dumps, loads_object
from agentsh.messages import (
    AssistantMessage,
    BashExecutionMessage,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from agentsh.remote.rpc.records import Encoded
from agentsh.remote.values.rpcdata import (
    ContextFillData,
    ForkPointData,
    PiModelData,
    PricesData,
    StatsData,
    TokenSumData,
)
from agentsh.session.format.entries import (
    Branch,
    BranchSummary,
    Compaction,
    Entry,
    EntryId,
    Label,
    MessageBody,
)
from agentsh.session.format.messagecodec import encode_message
from agentsh.views.describe import blocks_text


def messages_of(session: ReadableSession) -> list[JsonObject]:
    """What the model is sent of the path, as Pi's messages."""
    branch = session.live()
    entries = {entry.id: entry for entry in branch.entries}
    return [
        _message(item.message, None if item.entry is None else entries.get(item.entry))
        for item in project(branch).items
    ]


def count_messages(session: ReadableSession) -> int:
    return len(project(session.live()).items)


def _message(message: ContextMessage, entry: Entry | None) -> JsonObject:
    if not isinstance(message, SummaryMessage):
        return encode_message(message)
    body = None if entry is None else entry.body
    value: JsonObject = {"role": f"{message.kind}Summary", "summary": message.summary}
    if isinstance(body, Compaction):
        value["tokensBefore"] = body.tokens_before
    if isinstance(body, BranchSummary):
        value["fromId"] = body.from_id
    return value | {"timestamp": 0 if entry is None else _milliseconds(entry.time)}


def _milliseconds(time: str) -> int:
    try:
        return round(datetime.fromisoformat(time).timestamp() * 1000)
    except ValueError:
        return 0  # a foreign file may say anything


def last_answer_text(session: ReadableSession) -> str | None:
    """The text of the newest answer of the path that has one."""
    for entry in reversed(session.live().entries):
        match entry.body:
            case MessageBody(AssistantMessage() as message):
                if message.text.strip():
                    return message.text
            case _:
                continue
    return None


def prompts_of(branch: Branch) -> tuple[ForkPointData, ...]:
    """Each prompt of the path."""
    return tuple(
        ForkPointData(entry.id, blocks_text(entry.body.message.content))
        for entry in branch.entries
        if isinstance(entry.body, MessageBody) and isinstance(entry.body.message, UserMessage)
    )


def entries_since(session: ReadableSession, since: EntryId | None) -> Encoded:
    """Every line after that one, in the order of the file, and the leaf."""
    ids = tuple(session.tree)
    if since is not None:
        ids = ids[ids.index(since) + 1 :]
    lines = b",".join(_lines(session, ids))
    return Encoded(b'{"entries":[' + lines + b'],"leafId":' + dumps(session.leaf) + b"}")


def _lines(session: ReadableSession, ids: Iterable[EntryId]) -> Iterator[bytes]:
    for each in ids:
        if (line := _line(session, each)) is not None:
            yield line


def _line(session: ReadableSession, entry: EntryId) -> bytes | None:
    """None: a line that is damaged is no JSON, and would break the whole answer."""
    line = session.raw(entry).strip()
    try:
        loads_object(line)
    except JsonError:
        return None
    return line


def tree_of(session: ReadableSession) -> Encoded:
    """Pi's nodes: `{entry, children, label?, labelTimestamp?}`, and the leaf."""
    tree, times = session.tree, _label_times(session)
    labels = tree.labels
    pieces: list[bytes] = [b'{"tree":[']
    # what is to be written next: an entry to open, or the text that ends one
    todo: list[tuple[EntryId | None, bytes]] = [(e, b"") for e in reversed(tree.roots)]
    while todo:
        each, end = todo.pop()
        if each is None:
            pieces.append(end)
            continue
        line = _line(session, each) or dumps({"type": "damaged", "id": each})
        comma = b"" if pieces[-1].endswith(b"[") else b","
        pieces.append(comma + b'{"entry":' + line + b',"children":[')
        todo.append((None, b"]" + _label(labels.get(each), times.get(each)) + b"}"))
        todo += [(child, b"") for child in reversed(tree.children(each))]
    pieces.append(b'],"leafId":' + dumps(session.leaf) + b"}")
    return Encoded(b"".join(pieces))


def _label(label: str | None, time: str | None) -> bytes:
    if label is None:
        return b""
    return b',"label":' + dumps(label) + b',"labelTimestamp":' + dumps(time)


def _label_times(session: ReadableSession) -> Mapping[EntryId, str]:
    tree = session.tree
    if not tree.labels:
        return {}
    entries = (session.entry(each) for each in tree if tree.kind(each) == Label.type)
    return {e.body.target: e.time for e in entries if isinstance(e.body, Label)}


def stats_of(session: ReadableSession, figures: StatusFigures) -> StatsData:
    messages = [item.message for item in project(session.live()).items]
    answers = [each for each in messages if isinstance(each, AssistantMessage)]
    return StatsData(
        session_file=None if session.path is None else str(session.path),
        session_id=session.header.id,
        user_messages=_count(messages, UserMessage),
        assistant_messages=len(answers),
        tool_calls=sum(len(each.tool_calls) for each in answers),
        tool_results=_count(messages, ToolResultMessage),
        bash_executions=_count(messages, BashExecutionMessage),
        total_messages=len(messages),
        tokens=_tokens(figures.usage),
        cost=figures.cost,
        context_usage=_fill(figures),
    )


def _count(messages: Sequence[ContextMessage], kind: type) -> int:
    return sum(isinstance(each, kind) for each in messages)


def _tokens(usage: Usage) -> TokenSumData:
    sent = usage.input + usage.cache_read + usage.cache_write
    total = usage.total_tokens or sent + usage.output
    return TokenSumData(usage.input, usage.output, usage.cache_read, usage.cache_write, total)


def _fill(figures: StatusFigures) -> ContextFillData | UnsetType:
    tokens, window = figures.context_tokens, figures.context_window
    if window is None:
        return UNSET
    return ContextFillData(tokens, window, round(tokens / window * 100, 2))


def described_model(model: DrivenModel) -> PiModelData:
    """Pi's Model object; what nobody said is a usual value, or null."""
    info = model.info
    prices = info.prices or {}
    return PiModelData(
        id=info.id,
        name=info.id,
        api=model.api,
        provider=model.endpoint,
        base_url=model.base_url,
        reasoning=info.reasons is True,
        input=("text",) if info.accepts_images is False else ("text", "image"),
        context_window=info.context_window,
        max_tokens=info.max_output,
        cost=PricesData(
            input=prices.get("input", 0.0),
            output=prices.get("output", 0.0),
            cache_read=prices.get("cache_read", 0.0),
            cache_write=prices.get("cache_write", 0.0),
        ),
    )

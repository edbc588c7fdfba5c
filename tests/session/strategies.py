"""Hypothesis strategies for everything that a line may hold."""

from __future__ import annotations

from hypothesis import strategies as st

from agentsh.jsontext import JsonValue
from agentsh.messages import (
    AssistantMessage,
    BashExecutionMessage,
    Cost,
    CustomRoleMessage,
    Image,
    Message,
    SystemMessage,
    Text,
    Thinking,
    ToolCall,
    ToolCallId,
    ToolResultMessage,
    ToolSchema,
    UnknownRoleMessage,
    Usage,
    UserMessage,
)
from agentsh.session.format import entries as e

# all but lone surrogates, which jsontext replaces; separators of other line rules are wanted
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
words = st.text("abcdefghij", min_size=1, max_size=8)
counts = st.integers(0, 2**40)
numbers = st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9).filter(lambda x: x != 0)
json_values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
present = json_values.filter(lambda value: value is not None)
# names that no known member has
extras = st.dictionaries(words.map("x-{}".format), json_values, max_size=2)
ids = st.text("0123456789abcdef", min_size=8, max_size=8).map(e.EntryId)
call_ids = words.map(ToolCallId)

text_blocks = st.builds(Text, texts, extras)
images = st.builds(Image, words, words)
user_blocks = st.lists(text_blocks | images, max_size=3).map(tuple)
tool_calls = st.builds(
    ToolCall,
    call_ids,
    words,
    st.dictionaries(texts, json_values, max_size=3),
    st.none() | texts,
    st.none() | texts,
    extras,
)
assistant_blocks = st.lists(
    text_blocks | st.builds(Thinking, texts, st.none() | texts, st.booleans(), extras) | tool_calls,
    max_size=3,
).map(tuple)
costs = st.builds(Cost, *[st.floats(0, 1e6) for _ in range(5)])
usages = st.builds(Usage, counts, counts, counts, counts, counts, counts, costs)
schemas = st.builds(
    ToolSchema, words, texts, st.dictionaries(texts, json_values, max_size=2), extras
)
systems = st.builds(
    SystemMessage,
    texts,
    st.dictionaries(words, st.none() | texts, max_size=3),
    st.lists(schemas, max_size=2).map(tuple),
    st.lists(words, max_size=2).map(tuple),
    counts,
    extras,
)
messages: st.SearchStrategy[Message] = st.one_of(
    st.builds(UserMessage, user_blocks, counts, extras),
    st.builds(
        AssistantMessage,
        assistant_blocks,
        words,
        words,
        words,
        usages,
        st.sampled_from(["stop", "length", "toolUse", "error", "aborted"]),
        counts,
        st.none() | texts,
        st.none() | texts,
        st.none() | texts,
        st.none() | words,
        st.none() | counts,
        st.none() | counts,
        st.none() | counts,
        extras,
    ),
    st.builds(
        ToolResultMessage,
        call_ids,
        words,
        user_blocks,
        st.booleans(),
        json_values,
        counts,
        st.none() | counts,
        extras,
    ),
    systems,
    st.builds(
        BashExecutionMessage,
        texts,
        texts,
        st.none() | st.integers(-255, 255),
        st.booleans(),
        st.booleans(),
        st.none() | texts,
        st.booleans(),
        counts,
        extras,
    ),
    st.builds(CustomRoleMessage, words, user_blocks, st.booleans(), json_values, counts, extras),
    extras.map(lambda raw: UnknownRoleMessage("futureRole", {"role": "futureRole", **raw})),
)

bodies: st.SearchStrategy[e.Body] = st.one_of(
    st.builds(e.MessageBody, messages),
    st.builds(e.ModelChange, words, words),
    st.builds(e.ThinkingLevelChange, words),
    st.builds(
        e.Compaction,
        texts,
        st.none() | ids,
        counts,
        json_values,
        st.none() | systems,
        st.none() | usages,
        st.none() | st.lists(messages, max_size=2).map(tuple),
        st.booleans(),
    ),
    st.builds(e.BranchSummary, texts, words, json_values, st.none() | usages, st.booleans()),
    st.builds(e.Custom, words, json_values),
    st.builds(e.CustomMessage, words, user_blocks, st.booleans(), json_values),
    st.builds(e.Label, ids, st.none() | texts),
    st.builds(e.SessionInfo, st.none() | texts),
    st.builds(e.UsageRecord, words, words, words, usages, st.none() | texts),
    st.builds(e.ContextEdit, ids, st.none() | user_blocks | assistant_blocks),
)
stamps = st.builds(
    e.Stamp,
    words,
    counts,
    st.none() | st.text("0123456789abcdef", min_size=16, max_size=16),
    st.lists(ids, max_size=3).map(tuple),
    st.none() | ids,
    st.none() | words,
)
times = st.just("2026-01-01T00:00:00.000Z")
entries = st.builds(e.Entry, ids, st.none() | ids, times, bodies, st.none() | stamps, extras)
headers = st.builds(
    e.Header,
    words.map(e.SessionId),
    times,
    texts,
    st.just(3),
    st.none() | texts,
    extras,
)

"""What is sent next after an import is what Claude Code would have sent.

A small writer keeps the conversation as that program holds it in memory, and writes rows as it
does: compactions by itself and by hand, with messages kept, side talks, prompts of the queue,
places gone back to. The conversation in its memory is the right value.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from agentsh.context.projection import SummaryMessage, project
from agentsh.jsontext import JsonObject
from agentsh.messages import AssistantMessage, Text, ToolCall, ToolResultMessage, UserMessage
from agentsh.session.exchange.claude_code import read_claude
from agentsh.session.exchange.claude_lines import arrange
from agentsh.session.exchange.foreign import Foreign
from agentsh.session.format.entries import Branch, Entry, EntryId


class Writer:
    """Claude Code, as far as its file and what it sends go."""

    def __init__(self) -> None:
        self.rows: list[JsonObject] = []
        self.live: list[tuple[str, str]] = []
        """(uuid, text) of what would be sent next."""
        self.leaf: str | None = None
        self.size = 0

    def row(self, kind: str, parent: str | None, **more: object) -> str:
        self.size += 1
        uuid = f"row-{self.size}"
        self.rows.append(
            {
                "parentUuid": parent,
                "isSidechain": False,
                "sessionId": "s",
                "type": kind,
                "uuid": uuid,
                "timestamp": "2026-09-01T10:00:00.000Z",
                **more,  # type: ignore[dict-item]
            }
        )
        return uuid

    def user(self, text: str, parent: str | None, **more: object) -> str:
        return self.row("user", parent, message={"role": "user", "content": text}, **more)

    def assistant(self, block: JsonObject, parent: str | None, message: str) -> str:
        said = {"id": message, "role": "assistant", "model": "claude-sonnet-5", "content": [block]}
        return self.row("assistant", parent, message=said)

    def say(self, text: str) -> None:
        self.leaf = self.user(text, self.leaf)
        self.live.append((self.leaf, text))
        answer = f"answer to {text}"
        block: JsonObject = {"type": "text", "text": answer}
        self.leaf = self.assistant(block, self.leaf, f"msg-{self.size}")
        self.live.append((self.leaf, answer))

    def call(self, results: int, queued: str) -> None:
        """One step with calls side by side; each result hangs on the block that asked."""
        message = f"msg-{self.size}"
        asked = []
        for number in range(results):
            name = f"{message}-{number}"
            block: JsonObject = {"type": "tool_use", "id": name, "name": "Bash", "input": {}}
            self.leaf = self.assistant(block, self.leaf, message)
            asked.append((self.leaf, name))
            self.live.append((self.leaf, f"call {name}"))
        for asker, name in asked:
            result = [{"type": "tool_result", "tool_use_id": name, "content": f"result {name}"}]
            self.leaf = self.row("user", asker, message={"role": "user", "content": result})
            self.live.append((self.leaf, f"result {name}"))
        if queued:
            self.queue(f"typed meanwhile {self.size}", queued)
        self.say(f"after the step {self.size}")

    def queue(self, text: str, how: str) -> None:
        """A prompt that was typed while the agent worked, as three versions write it."""
        enqueue = {"type": "queue-operation", "operation": "enqueue", "content": text}
        self.rows.append({**enqueue, "sessionId": "s"})
        given = {"type": "queued_command", "prompt": text, "commandMode": "prompt"}
        if how == "named" and self.size % 2:
            self.rows.append({"type": "queue-operation", "operation": "remove", "content": text})
        if how == "named":
            self.leaf = self.row("attachment", self.leaf, attachment=given)
            self.live.append((self.leaf, text))
            return
        self.live.append((f"queued-{self.size}", text))
        if how == "unnamed":
            self.rows.append({"type": "attachment", "attachment": given})
        else:
            self.rows.append(
                {
                    "type": "queue-operation",
                    "operation": "remove",
                    "reason": "absorbed_mid_turn",
                }
            )

    def beside(self) -> None:
        """Rows that say nothing to the model, and a talk of a subagent."""
        self.leaf = self.row("system", self.leaf, subtype="informational", content="x")
        self.rows.append({"type": "file-history-snapshot", "messageId": "m"})
        side = self.user(f"side {self.size}", None)
        self.rows[-1]["isSidechain"] = True
        self.user(f"more of it {self.size}", side)
        self.rows[-1]["isSidechain"] = True

    def back(self, steps: int) -> None:
        """Go back to before a prompt: its answer's rows stay, the leaf is what was before."""
        prompts = [n for n, (_, text) in enumerate(self.live) if text.startswith("prompt ")]
        if len(prompts) < 2:
            return
        at = prompts[max(1, len(prompts) - steps)]
        uuid = self.live[at - 1][0]
        if not uuid.startswith("row-"):
            return
        self.live = self.live[:at]
        self.leaf = uuid
        self.say(f"prompt again {self.size}")

    def compact(self, kept: int, how: str) -> None:
        if not self.live or self.leaf is None:
            return
        old = self.leaf
        keep = self.live[len(self.live) - kept :] if 0 < kept < len(self.live) else []
        if any(text.startswith(("SUMMARY", "call", "result", "typed")) for _, text in keep):
            keep = []
        meta: JsonObject = {"trigger": "auto" if how == "auto" else "manual", "preTokens": 9}
        wrapped = how == "before"
        if wrapped:
            self.commands(old)
        boundary = self.row("system", None, subtype="compact_boundary", logicalParentUuid=old)
        self.rows[-1]["compactMetadata"] = meta
        text = f"SUMMARY {self.size}"
        summary = self.user(text, boundary, isCompactSummary=True)
        if keep:
            head, tail = keep[0][0], keep[-1][0]
            meta["preservedSegment"] = {"headUuid": head, "anchorUuid": summary, "tailUuid": tail}
            old = tail
        self.live = [(summary, text), *keep]
        match how:
            case "auto":
                self.leaf = old if keep else summary
            case "before":
                self.leaf = self.stdout if self.size % 2 else summary
            case "detached":
                self.leaf = self.commands(old)
            case _:
                self.leaf = self.commands(summary)

    def commands(self, parent: str) -> str:
        """The rows of a compaction by hand."""
        caveat = self.user("<local-command-caveat>x</local-command-caveat>", parent, isMeta=True)
        named = self.user("<command-name>/compact</command-name>", caveat)
        text = "<local-command-stdout>Compacted</local-command-stdout>"
        self.stdout = self.user(text, named)
        return self.stdout


def sent(foreign: Foreign) -> list[str]:
    """The words of what a model would see of its leaf."""
    entries = {entry.name: entry for entry in foreign.entries}
    path: list[Entry] = []
    name = foreign.leaf
    while name is not None:
        one = entries[name]
        parent = None if one.parent is None else EntryId(one.parent)
        path.append(Entry(EntryId(name), parent, one.time, one.body))
        name = one.parent
    words: list[str] = []
    for item in project(Branch(tuple(reversed(path)))).items:
        match item.message:
            case UserMessage(content):
                words.append("".join(b.text for b in content if isinstance(b, Text)))
            case AssistantMessage() as answer:
                calls = [block for block in answer.content if isinstance(block, ToolCall)]
                words += [answer.text] if answer.text else [f"call {call.id}" for call in calls]
            case ToolResultMessage():
                words.append(f"result {item.message.tool_call_id}")
            case SummaryMessage(summary=summary):
                words.append(summary)
            case other:
                words.append(f"? {other}")
    return words


STEPS = st.one_of(
    st.tuples(st.just("say")),
    st.tuples(
        st.just("call"),
        st.integers(1, 3),
        st.sampled_from(["", "named", "unnamed", "absorbed"]),
    ),
    st.tuples(st.just("beside")),
    st.tuples(st.just("back"), st.integers(1, 2)),
    st.tuples(
        st.just("compact"),
        st.integers(0, 4),
        st.sampled_from(["auto", "before", "detached", "after"]),
    ),
)


def written(steps: list[tuple[object, ...]]) -> Writer:
    writer = Writer()
    for number, (name, *rest) in enumerate(steps):
        given = [f"prompt {number}"] if name == "say" else rest
        getattr(writer, str(name))(*given)
    return writer


@given(st.lists(STEPS, min_size=1, max_size=12))
@settings(max_examples=200)
def test_what_is_sent_next_is_what_that_program_would_have_sent(
    steps: list[tuple[object, ...]],
) -> None:
    writer = written(steps)

    assert sent(read_claude(writer.rows)) == [text for _, text in writer.live]


@given(st.lists(st.sampled_from(["say", "beside"]), max_size=6), st.data())
def test_a_lost_line_costs_that_line_and_the_rest_is_joined(
    names: list[str], data: st.DataObject
) -> None:
    writer = written([("say",), *((name,) for name in names)])
    lost = data.draw(st.sampled_from([uuid for uuid, _ in writer.live]))

    arranged = read_claude(row for row in writer.rows if row.get("uuid") != lost)

    assert sent(arranged) == [text for uuid, text in writer.live if uuid != lost]
    if lost != writer.leaf:
        assert sum(arranged.joined.values()) == 1


def test_a_circle_and_a_line_that_is_its_own_parent_are_cut() -> None:
    rows: list[JsonObject] = [
        {"type": "user", "uuid": "a", "parentUuid": "b"},
        {"type": "user", "uuid": "b", "parentUuid": "a"},
        {"type": "user", "uuid": "c", "parentUuid": "c"},
    ]

    arranged = arrange(rows)

    assert [line.uuid for line in arranged.lines] == ["a", "b", "c"]
    assert sum(arranged.joined.values()) == 2


@given(st.sets(st.integers(0, 5), min_size=2, max_size=2))
def test_whatever_line_closes_a_circle_all_that_was_said_before_the_leaf_is_sent(
    ends: set[int],
) -> None:
    writer = Writer()
    for text in ("first", "second", "third"):
        writer.say(text)
    first, last = sorted(ends)
    writer.rows[first]["parentUuid"] = writer.rows[last]["uuid"]
    foreign = read_claude(writer.rows)

    assert sent(foreign) == [text for _, text in writer.live][first:]
    assert sum(foreign.joined.values()) == 1


def test_a_prompt_that_was_never_sent_is_counted() -> None:
    writer = Writer()
    writer.say("prompt")
    writer.rows += [
        {"type": "queue-operation", "operation": "enqueue", "content": "later"},
        {"type": "queue-operation", "operation": "enqueue", "content": "prompt"},
        {"type": "queue-operation", "operation": "dequeue"},
    ]

    assert read_claude(writer.rows).dropped == {"queued prompts that were never sent": 2}


def test_prompts_of_the_queue_that_were_sent_as_one_are_there_once() -> None:
    writer = Writer()
    writer.say("yes")
    for text in ("yes", "and", "no"):
        writer.rows.append({"type": "queue-operation", "operation": "enqueue", "content": text})
    writer.rows.append({"type": "queue-operation", "operation": "popAll"})
    writer.say("yes\nand\nno")
    writer.rows.append({"type": "queue-operation", "operation": "enqueue", "content": "yes"})

    foreign = read_claude(writer.rows)

    assert sent(foreign) == [text for _, text in writer.live]
    assert foreign.dropped == {"queued prompts that were never sent": 1}


def test_a_summary_of_the_end_stands_behind_what_is_kept() -> None:
    writer = Writer()
    writer.say("first")
    writer.say("second")
    boundary = writer.row("system", None, subtype="compact_boundary", logicalParentUuid="row-4")
    writer.user("SUMMARY", boundary, isCompactSummary=True)
    segment = {"headUuid": "row-1", "anchorUuid": boundary, "tailUuid": "row-2"}
    writer.rows[4]["compactMetadata"] = {"preservedSegment": segment}

    assert sent(read_claude(writer.rows)) == ["first", "answer to first", "SUMMARY"]


def test_the_file_of_a_subagent_goes_on_at_its_end() -> None:
    writer = Writer()
    writer.say("search")
    for row in writer.rows:
        row["isSidechain"] = True

    assert sent(read_claude(writer.rows)) == ["search", "answer to search"]


def test_what_that_program_says_in_a_models_place_names_no_model() -> None:
    writer = Writer()
    writer.say("prompt")
    message = writer.rows[1]["message"]
    assert isinstance(message, dict)
    message["model"] = "<synthetic>"

    models = [
        entry.body.message.model  # type: ignore[union-attr]
        for entry in read_claude(writer.rows).entries[1:]
    ]

    assert models == [""]

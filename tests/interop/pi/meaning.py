"""What Pi and agentsh say of a path, in one form, so that both can be held side by side.

Left out of both: words around summaries and commands, times, ids of calls (a result stands behind
its call). `ours_of_pi` and `sent_of_pi` put into Pi's answer what agentsh does otherwise on
purpose; each such difference is named there, and README.md lists them. It shares no code with what
it checks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agentsh.context.projection import Context, ContextMessage, SummaryMessage
from agentsh.context.wording import NO_OUTPUT, NO_RESULT
from agentsh.messages import (
    AssistantMessage,
    BashExecutionMessage,
    CustomRoleMessage,
    Image,
    SentMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)

Json = dict[str, Any]
Said = tuple[Any, ...]

HIDDEN = "(This result was taken out of the conversation.)"
NOTHING = ("result", (("text", "<none>"),))
VOID = ("error", "aborted")
ROLES = (
    *("user", "assistant", "toolResult", "bashExecution"),
    *("custom", "branchSummary", "compactionSummary"),
)
_ANY_SUMMARY = re.compile(r".*?<summary>\n(.*?)\n?</summary>", re.DOTALL)
_PI_COMMAND = re.compile(
    r"Ran `(.*?)`\n(?:```\n(.*?)\n```|\(no output\))"
    r"(?:\n\n\((command cancelled)\)|\n\nCommand exited with code (\d+))?"
    r"(?:\n\n\[Output truncated\. Full output: (.*)\])?",
    re.DOTALL,
)
_OUR_COMMAND = re.compile(
    r"I ran this command myself: `(.*?)`\n(?:```\n(.*?)\n```|\(no output\))"
    r"(?:\n(It was cancelled)\.|\nIts exit code was (\d+)\.)?"
    r"(?:\nThe output is cut; all of it is in (.*))?",
    re.DOTALL,
)


# ---- blocks ----------------------------------------------------------------------------------


def blocks_of_pi(content: Any) -> Said:
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    found: list[Said] = []
    for block in content or ():
        match block["type"]:
            case "text" if block["text"]:
                found.append(("text", block["text"]))
            case "image":
                found.append(("image", block["mimeType"], block["data"]))
            case "thinking":
                found.append(("thinking", block["thinking"], block.get("thinkingSignature")))
            case "toolCall":
                found.append(("call", block["id"], block["name"], plain(block["arguments"])))
            case _:
                pass
    return tuple(found)


def blocks_of_ours(blocks: Iterable[Text | Image | Thinking | ToolCall]) -> Said:
    found: list[Said] = []
    for block in blocks:
        match block:
            case Text(text) if text:
                found.append(("text", text))
            case Image(data, mime):
                found.append(("image", mime, data))
            case Thinking(thinking, signature):
                found.append(("thinking", thinking, signature))
            case ToolCall():
                found.append(("call", block.id, block.name, plain(block.arguments)))
            case _:
                pass
    return tuple(found)


def plain(arguments: Any) -> str:
    return json.dumps(arguments, sort_keys=True)


# ---- the projection --------------------------------------------------------------------------


def projection_of_ours(context: Context) -> list[Said]:
    return [(item.entry, *_item(item.message)) for item in context.items]


def _item(message: ContextMessage) -> Said:
    head: Said
    match message:
        case UserMessage():
            return ("user", blocks_of_ours(message.content))
        case CustomRoleMessage():
            return ("custom", message.custom_type, message.display, blocks_of_ours(message.content))
        case AssistantMessage():
            head = ("assistant", message.provider, message.model, message.api, message.stop_reason)
            return (*head, blocks_of_ours(message.content))
        case ToolResultMessage():
            head = ("result", message.tool_call_id, message.tool_name, message.is_error)
            return (*head, blocks_of_ours(message.content))
        case BashExecutionMessage():
            head = ("bash", message.command, message.output, message.exit_code, message.cancelled)
            return (*head, message.truncated, message.full_output_path)
        case SummaryMessage():
            return (message.kind, message.summary)


def ours_of_pi(entries: Sequence[Json], stored: Mapping[str, Json]) -> list[Said]:
    """Pi's projection, without what Pi drops when it sends and agentsh as it projects: failed and
    stopped answers, commands with `!!`, roles that nobody knows. And with what agentsh does better:
    with an answer go the results of its calls (Pi sends them without a call, which servers
    refuse), and a hidden result leaves a note, since its call stays."""
    said: list[Said] = []
    lone = lone_results(entries, stored)
    for shown in entries:
        original = stored[shown["id"]].get("message", {})
        messages = [m for m in shown["messages"] if m.get("stopReason") not in VOID]
        if original.get("role") == "toolResult":
            if shown["id"] in lone:
                continue
            messages = messages or [original | {"content": [{"type": "text", "text": HIDDEN}]}]
        said += [
            (shown["id"], *_message(m))
            for m in messages
            if m["role"] in ROLES and not m.get("excludeFromContext")
        ]
    return said


def lone_results(entries: Sequence[Json], stored: Mapping[str, Json]) -> set[str]:
    """Results whose call is not sent, because its answer is hidden, edited, failed or stopped."""
    lone: set[str] = set()
    gone: set[str] = set()
    for shown in entries:
        original = stored[shown["id"]].get("message", {})
        if original.get("role") == "assistant":
            sent = [m for m in shown["messages"] if m["stopReason"] not in VOID]
            gone = set(_calls(original)) - {c for m in sent for c in _calls(m)}
        if original.get("role") == "toolResult" and original["toolCallId"] in gone:
            lone.add(shown["id"])
    return lone


def _calls(message: Json) -> list[str]:
    return [b["id"] for b in message["content"] or () if b["type"] == "toolCall"]


def _message(m: Json) -> Said:
    content = blocks_of_pi(m.get("content"))
    match m["role"]:
        case "user":
            return ("user", content)
        case "custom":
            return ("custom", m["customType"], m["display"], content)
        case "assistant":
            return ("assistant", m["provider"], m["model"], m["api"], m["stopReason"], content)
        case "toolResult":
            return ("result", m["toolCallId"], m["toolName"], m["isError"], content)
        case "bashExecution":
            head = ("bash", m["command"], m["output"], m.get("exitCode"), m["cancelled"])
            return (*head, m["truncated"], m.get("fullOutputPath"))
        case "branchSummary":
            return ("branch", m["summary"])
        case "compactionSummary":
            return ("compaction", m["summary"])
        case role:
            raise ValueError(role)


def system_of_ours(context: Context) -> Said:
    texts = [text for _, text in context.system.sections if text]
    tools = [(t.name, t.description, plain(t.parameters)) for t in context.system.tools]
    return ("\n\n".join(texts), tuple(tools))


def system_of_pi(system: Json | None) -> Said:
    """The text as `getSystemMessageText` renders it."""
    if system is None:
        return ("", ())
    texts = [system["content"], *system.get("sections", {}).values()]
    tools = [
        (t["name"], t["description"], plain(t["parameters"])) for t in system.get("toolsAdded", ())
    ]
    return ("\n\n".join(t for t in texts if t), tuple(tools))


# ---- what is sent ----------------------------------------------------------------------------


def sent_of_ours(sent: Sequence[SentMessage]) -> list[Said]:
    return [s for m in sent if (s := _sent(m)) is not None]


def _sent(message: SentMessage) -> Said | None:
    content = blocks_of_ours(message.content)
    match message:
        case UserMessage():
            return _user(content)
        case AssistantMessage():
            return _answer(content)
        case ToolResultMessage():
            return _result(content, (NO_RESULT, HIDDEN))


def sent_of_pi(everything: Sequence[Json], lone: Iterable[Json]) -> list[Said]:
    """What Pi hands to its provider, paired: a result that no call asked for goes out of it, one
    that came late goes to its call, and what is empty is left out (Pi does that a step later).
    `lone` are the stored messages of results that must not be taken for those of another call
    with the same id; their times tell them apart."""
    said: list[Said] = []
    times = {m["timestamp"] for m in lone}
    sent = [m for m in everything if m["role"] != "toolResult" or m["timestamp"] not in times]
    for i, message in enumerate(sent):
        content = blocks_of_pi(message["content"])
        match message["role"]:
            case "user":
                said += [u] if (u := _user(content)) else []
            case "assistant":
                said += [a] if (a := _answer(content)) else []
                until = next(
                    (n for n in range(i + 1, len(sent)) if sent[n]["role"] == "assistant"),
                    len(sent),
                )
                said += _results(
                    content, [m for m in sent[i + 1 : until] if m["role"] == "toolResult"]
                )
            case _:
                pass
    return said


def _results(content: Said, results: list[Json]) -> Iterable[Said]:
    made_up = [{"type": "text", "text": "No result provided"}]
    left = sorted(results, key=lambda r: bool(r["content"] == made_up))
    for call in (b for b in content if b[0] == "call"):
        found = next((r for r in left if r["toolCallId"] == call[1]), None)
        if found is None:
            yield NOTHING
            continue
        left.remove(found)
        yield _result(blocks_of_pi(found["content"]), ("No result provided", HIDDEN))


def _user(content: Said) -> Said | None:
    texts = [b[1] for b in content if b[0] == "text"]
    images = tuple(b for b in content if b[0] == "image")
    text = "\n".join(texts)
    if command := _PI_COMMAND.fullmatch(text) or _OUR_COMMAND.fullmatch(text):
        ran, output, cancelled, code, path = command.groups()
        return (
            "command",
            ran,
            (output or "").rstrip("\n"),
            bool(cancelled),
            code or "",
            path or "",
        )
    if summary := _ANY_SUMMARY.fullmatch(text):
        said = summary[1].strip()
        return ("summary", said) if said else None  # Pi sends the empty frame, agentsh nothing
    return ("user", text, images) if text.strip() or images else None


def _answer(content: Said) -> Said | None:
    texts = [b[1] for b in content if b[0] == "text"]
    text = "".join(t for t in texts if t.strip())
    thoughts = tuple(b[1:] for b in content if b[0] == "thinking" and b[2])
    calls = tuple(b[2:] for b in content if b[0] == "call")
    return ("assistant", text, thoughts, calls) if text or calls else None


def _result(content: Said, missing: Sequence[str]) -> Said:
    if len(content) == 1 and content[0][0] == "text" and content[0][1] in missing:
        return NOTHING
    blank = all(b[0] == "text" and (b[1] == NO_OUTPUT or not b[1].strip()) for b in content)
    return ("result", () if blank else content)


# ---- chat completions ------------------------------------------------------------------------

_MARKERS = ("(see attached image)", "(see the image below)", "(no tool output)", NO_OUTPUT)


def wire(messages: Sequence[Json]) -> list[Said]:
    """The messages of a request, system aside. Left out besides: reasoning, since whether it goes
    back is each program's own choice by model."""
    said: list[Said] = []
    for message in messages:
        content: Any = message.get("content") or ""
        whole: list[Json] = [{"type": "text", "text": content}]
        parts = whole if isinstance(content, str) else content
        texts = [p["text"] for p in parts if p["type"] == "text"]
        images = tuple(p["image_url"]["url"] for p in parts if p["type"] == "image_url")
        blocks = tuple(("text", t) for t in texts)
        match message["role"]:
            case "user" if images and said and said[-1][0] == "result":
                said[-1] = (*said[-1], images)  # the images of a run of results
            case "user":
                head = _user(blocks) or ("user", "", ())
                said.append((*head, images) if images else head)
            case "assistant":
                called: list[Json] = [c["function"] for c in message.get("tool_calls") or ()]
                calls = tuple((c["name"], plain(json.loads(c["arguments"]))) for c in called)
                said.append(("assistant", content, calls))
            case "tool":
                text = texts[0] if texts else ""
                for marker in _MARKERS:
                    text = text.removesuffix(marker).rstrip("\n")
                said.append(("result", "<none>" if text in _MISSING else text))
            case _:
                pass
    return said


_MISSING = ("No result provided", NO_RESULT, HIDDEN)

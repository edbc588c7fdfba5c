"""Sessions that Pi wrote: what we would send says the same as what Pi itself then sent.

The samples lie beside the repository where there are any: `<name>.jsonl` and the request that Pi
made of it. Free are our own words around summaries and commands, and how images of results travel.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agentsh.context.outbound import OutboundRules, prepare
from agentsh.context.pairing import problems
from agentsh.context.projection import project
from agentsh.context.wording import NO_OUTPUT, NO_RESULT
from agentsh.messages import (
    AssistantMessage,
    Image,
    SentMessage,
    Thinking,
    ToolResultMessage,
    UserMessage,
)
from agentsh.session.file.session import open_session
from agentsh.session.format.entries import Branch
from tests.context.builders import text_of

SAMPLES = Path(__file__).resolve().parents[3] / "shared" / "pi-sessions"
# the reader keeps more of these damaged files than Pi does, or Pi did not open them
OTHER_THAN_PI = {"edge-malformed", "edge-missing-parent", "edge-long-cwd"}
NAMES = sorted(
    p.name.removesuffix(".context.json")
    for p in SAMPLES.glob("*.context.json")
    if p.name.removesuffix(".context.json") not in OTHER_THAN_PI
)
pytestmark = [
    pytest.mark.interop,
    pytest.mark.skipif(not NAMES, reason="no samples of Pi's sessions beside the repository"),
]

_WRAPPED = re.compile(
    r"The (?:conversation history before|following is a summary of a branch).*?"
    r"<summary>\n?(.*?)\n?</summary>",
    re.DOTALL,
)
_COMMAND = re.compile(
    r"Ran `(.*?)`\n(?:```\n(.*?)\n*```|\(no output\))"
    r"(?:\n\n.*?(?:code (\d+)|output: (\S+)\]|\(.*))?",
    re.DOTALL,
)
_PLACEHOLDERS = {
    "No result provided": [NO_RESULT],
    "(no tool output)": [NO_OUTPUT],
    "(see attached image)": [],
    "Attached image(s) from tool result:": [],
}

Said = tuple[str, list[str], int]
"""Role and id, what the text must hold in this order, number of images."""


def branch_of(name: str, folder: Path) -> Branch:
    copy = folder / f"{name}.jsonl"
    shutil.copy(SAMPLES / copy.name, copy)
    with open_session(copy, write=False) as session:
        return session.branch(repaired=False)


def essence(text: str) -> list[str]:
    """The text, or what is inside of Pi's own words."""
    if text in _PLACEHOLDERS:
        return _PLACEHOLDERS[text]
    if found := _WRAPPED.fullmatch(text):
        return [found[1].strip()]
    if found := _COMMAND.fullmatch(text):
        return [part.strip() for part in found.groups() if part]
    return [text.strip()] if text.strip() else []


def of_pi(messages: Sequence[dict[str, Any]]) -> list[Said]:
    found: list[Said] = []
    for message in messages:
        content = message.get("content") or ""
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        pieces = [e for p in parts if p["type"] == "text" for e in essence(p["text"])]
        images = sum(p["type"] == "image_url" for p in parts)
        role = message["role"]
        if role == "tool":
            role = f"tool {message['tool_call_id']}"
        if role == "user" and not pieces and found and found[-1][0].startswith("tool"):
            found[-1] = (*found[-1][:2], images)  # the images of a run of results
            continue
        if thought := message.get("reasoning_content"):
            pieces.insert(0, thought)
        for call in message.get("tool_calls") or ():
            arguments = json.loads(call["function"]["arguments"])
            pieces += [call["id"], call["function"]["name"], json.dumps(arguments)]
        found.append((role, pieces, images))
    return found


def of_ours(messages: Sequence[SentMessage]) -> list[tuple[str, str, int]]:
    found = []
    for message in messages:
        images = sum(isinstance(b, Image) for b in message.content)
        text = text_of(message.content)
        match message:
            case UserMessage():
                found.append(("user", text, images))
            case ToolResultMessage():
                found.append((f"tool {message.tool_call_id}", text, images))
            case AssistantMessage():
                thoughts = [b.thinking for b in message.content if isinstance(b, Thinking)]
                calls = [f"{c.id} {c.name} {json.dumps(c.arguments)}" for c in message.tool_calls]
                found.append(("assistant", " ".join([*thoughts, text, *calls]), images))
    return found


def holds(text: str, pieces: list[str]) -> bool:
    at = 0
    for piece in pieces:
        at = text.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return True


@pytest.mark.parametrize("name", NAMES)
def test_what_we_would_send_says_what_pi_sent(name: str, tmp_path: Path) -> None:
    [request] = json.loads((SAMPLES / f"{name}.context.json").read_text("utf-8"))["requests"]
    context = project(branch_of(name, tmp_path))
    assert context.model is not None
    rules = OutboundRules(context.model.provider, context.model.model)
    sent = prepare(context, rules)
    want = of_pi([m for m in request if m["role"] != "system"])[:-1]  # the last asks for a probe
    have = of_ours(sent)

    assert problems(sent) == ()
    assert [role for role, _, _ in have] == [role for role, _, _ in want]
    assert sum(images for _, _, images in have) == sum(images for _, _, images in want)
    for (role, pieces, _), (_, text, _) in zip(want, have, strict=True):
        assert holds(text, pieces), (role, pieces, text)
        free = text.count("<summary>") or text.startswith("I ran this command")
        size = len("".join("".join(pieces).split()))
        assert free or len("".join(text.split())) == size, (role, pieces, text)


def test_a_large_old_session_goes_out_sound_and_whole(tmp_path: Path) -> None:
    branch = branch_of("real-v1-large", tmp_path)
    sent = prepare(project(branch), OutboundRules())
    prompts = [
        e for e in branch.entries if isinstance(getattr(e.body, "message", None), UserMessage)
    ]

    assert problems(sent) == ()
    assert sum(isinstance(m, UserMessage) for m in sent) == len(prompts)

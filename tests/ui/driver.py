"""A chat with a scripted agent, for a pseudo-terminal: `python -m tests.ui.driver NAME`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from agentsh.agent.turn.approvals import ApprovalRequest
from agentsh.ui.chat.chat import ChatOptions
from agentsh.ui.chat.plainchat import PlainChat
from agentsh.ui.chat.repl import Repl
from agentsh.ui.chat.view import TranscriptView
from agentsh.ui.input.keymap import make_keymap
from agentsh.ui.terminal import describe_terminal
from agentsh.ui.theme import Theme, choose_theme
from tests.ui.fakes import FakeAgent, FakeSession, Script, call, says
from tests.ui.hosts import FakeHost
from tests.ui.scripts import asks, breaks, ponders, says_at_last, thinks, uses_a_tool
from tests.ui.scripts import waits_for_steer as waits
from tests.ui.tree.test_outline import FORKED

LONG = "".join(f"paragraph K{i:03d}z\n\n" for i in range(1, 61)) + "".join(
    f"- item K{i:03d}z\n" for i in range(61, 121)
)
LONG += "\n```python\n" + "".join(f"code_K{i:03d}z = {i}\n" for i in range(121, 181)) + "```\nOver."
WIDE = "The file:\n\n```python\n" + "".join(
    f"    value_K{i:03d}z = compute_it({i}, with_some='long words', and_others='to be as wide')\n"
    for i in range(1, 41)
)
WIDE += "```\nOver."
REQUEST = ApprovalRequest(
    call("bash", command="touch p"), "bash", "touch p # \x1b]0;x\x07flamingo", None, "touch"
)
# 20,000 tokens of four letters, as answers are: paragraphs, a list, some code
TOKENS = "".join(
    f"Paragraph {n} says **what** is so and `how` it is done, at some length, to the end.\n\n"
    f"- one item of a list\n- and another\n\n```python\nvalue_{n} = {n}  # a line\n```\n\n"
    for n in range(500)
)
KEYS = {"unfold": "f2", "newline": "alt-j"}
SCRIPTS: dict[str, Script] = {
    "echo": says("an **answer** of few words"),
    "wide": says(WIDE, pieces=160, pause=0.04),
    "long": says(LONG, pieces=150, pause=0.01),
    "slow": says("slow words on and on\n\n" * 200, pieces=400, pause=0.05),
    "steer": waits("the first part\n\n", "the last part"),
    "ask": asks(REQUEST),
    "stream": says(TOKENS * 10, pieces=200_000, pause=0.005),
    "tokens": says(TOKENS + "\n\nTHE-END", pieces=20_000),
    "paced": says(TOKENS + "\n\nTHE-END", pieces=20_000, pause=0.004),
    "silent": says_at_last(TOKENS + "\n\nTHE-END", waits=20_000, pause=0.004),
    "whole": says(TOKENS + "\n\nTHE-END"),
    "tool": uses_a_tool("\n".join(f"line {n}" for n in range(1, 61))),
    "think": thinks("herons are birds"),
    "ponder": ponders,
    "tree": says("still here"),
    "bug": breaks,
}


def main(name: str) -> None:
    terminal = describe_terminal(sys.stdin, sys.stdout, sys.stderr, os.environ)
    session = FakeSession(list(FORKED)) if name == "tree" else FakeSession()
    agent = FakeAgent(SCRIPTS[name], session)
    host = FakeHost(agent)
    if not terminal.is_interactive:
        PlainChat(agent, host, terminal).run()
        return
    theme = choose_theme("auto", terminal.background, terminal.colours)

    def view(theme: Theme) -> TranscriptView:
        return TranscriptView(terminal, theme)

    cwd = Path.cwd()
    history = Path(os.environ["CHAT_HISTORY"]) if "CHAT_HISTORY" in os.environ else None
    options = ChatOptions(
        cwd,
        cwd,
        theme,
        history=history,
        resumed=name == "tree",
        vi="VI" in os.environ,
        drafts=Path("drafts"),
        keymap=make_keymap(KEYS if "KEYS" in os.environ else None),
        ask_background="ASK" in os.environ,
    )
    Repl(agent, host, terminal, view, options).run()
    Path("left").write_text(f"aborted={agent.aborted.is_set()}")
    kinds = [image.mime_type for image in host.agent.images]
    sys.stdout.write(
        f"prompts={host.agent.prompts!r} moves={host.agent.moves!r} images={kinds!r}\n"
    )


if __name__ == "__main__":
    main(sys.argv[1])

"""docs/chat.md and the code agree: each command and key is on the page, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from agentsh.agent.turn.approvals import ApprovalRequest
from agentsh.ui.asking.approval import question_keys
from agentsh.ui.asking.reader import READER_KEYS
from agentsh.ui.chat.plainchat import PLAIN_NAMES
from agentsh.ui.input.commands import SLASH_COMMANDS
from agentsh.ui.input.keymap import ACTIONS, FIXED
from agentsh.ui.tree.navtext import NAVIGATOR_KEYS
from tests.ui.fakes import call

DOC = Path(__file__).resolve().parents[3] / "docs/chat.md"


def test_the_page_about_the_chat_names_every_command_and_key() -> None:
    page = DOC.read_text("utf-8")

    rows = (
        {(c.usage, c.help) for c in SLASH_COMMANDS}
        | set(FIXED)
        | set(NAVIGATOR_KEYS)
        | set(READER_KEYS)
    )
    rows |= {(action.name, f"{action.shown or '–'} | {action.does}") for action in ACTIONS}
    missing = [row for row in rows if f"| `{row[0]}` | {row[1]} |" not in page]
    assert missing == []
    request = ApprovalRequest(call("bash"), "bash", "rm x", None, "rm")
    asking = page[page.index("## Questions") : page.index("## The tree")]
    listed = re.findall(r"(?m)^\| `(.+?)` \| (.+) \|$", page.replace(asking, ""))
    keys = {key.split(" ")[0] for key in question_keys(request)}
    assert set(re.findall(r"(?m)^\| `(.+?)` \|", asking)) == keys
    assert [row for row in listed if row not in rows] == [], "the page has more than there is"


def test_plain_lines_have_commands_of_the_table_and_no_others() -> None:
    assert set(PLAIN_NAMES) <= {command.name for command in SLASH_COMMANDS}
    assert "/settings" in DOC.read_text("utf-8")

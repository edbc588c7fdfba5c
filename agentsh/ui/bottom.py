"""What stands below the transcript, asked anew at each drawing: question, queue, status.

Read next: screen.py, status.py, repl.py.
"""

from __future__ import annotations

import time
from typing import Protocol

from agentsh.ui.approval import Desk
from agentsh.ui.chatoptions import ChatOptions
from agentsh.ui.editor import Editor
from agentsh.ui.face import AgentReport, ChatAgent
from agentsh.ui.screen import Parts
from agentsh.ui.status import (
    Activity,
    Hint,
    attachment_lines,
    question_lines,
    queue_lines,
    status_line,
)
from agentsh.ui.terminal import Terminal


class Shown(Protocol):
    """The chat, as its bottom shows it (repl.py)."""

    agent: ChatAgent
    terminal: Terminal
    options: ChatOptions
    report: AgentReport | None
    branch: str | None
    busy: bool
    busy_since: float
    brief: Hint
    editor: Editor
    desk: Desk


def bottom_parts(chat: Shown) -> Parts:
    mark = "› " if chat.terminal.unicode else "> "

    def width() -> int:
        return chat.terminal.size[0] - 1

    return Parts(
        question=lambda: question_lines(
            chat.desk.question,
            width(),
            drafting=bool(chat.editor.draft) and not chat.editor.is_borrowed,
        ),
        queue=lambda: [
            *queue_lines(chat.agent.queued(), width()),
            *attachment_lines(chat.editor.attachments, width()),
        ],
        status=lambda: _status(chat, width()),
        rows=lambda: chat.terminal.size[1],
        mark=lambda: chat.editor.mark or mark,
    )


def _status(chat: Shown, width: int) -> str:
    now = time.monotonic()
    activity = Activity(
        seconds=now - chat.busy_since if chat.busy else None,
        queued=len(chat.agent.queued()),
        asks=chat.desk.question is not None,
        hint=chat.brief.text(now),
    )
    return status_line(chat.report, chat.branch, chat.options.home, activity, width)

"""What stands below the transcript, asked anew at each drawing: question, queue, status.

It stands alone because it knows the chat, which nothing that is drawn here does.
Read next: ui/state/footer.py, repl.py.
"""

from __future__ import annotations

import time

from agentsh.sanitize import safe_line
from agentsh.ui.cells import width_of
from agentsh.ui.chat.chat import Chat
from agentsh.ui.input.editor import Editor
from agentsh.ui.screen import Parts
from agentsh.ui.state.chatstate import Around
from agentsh.ui.state.footer import footer
from agentsh.ui.status import attachment_lines, choice_lines, question_lines, queue_lines

FRAME = ("╭" + "─" * 23, "╰" + "─" * 23)
FRAME_ASCII = ("+" + "-" * 23, "+" + "-" * 23)
PLACEHOLDER = "ask, or / command, ! shell, @ file, ? keys"
PLACEHOLDER_BUSY = "say more: it hears that with its next request"
PLACEHOLDER_LOOKING = "what you say is sent when this is over"


def bottom_parts(chat: Chat) -> Parts:
    mark = "› " if chat.terminal.unicode else "> "

    def width() -> int:
        return chat.terminal.size[0] - 1

    return Parts(
        question=lambda: question_lines(chat.desk.question, width(), is_above=_stands_above(chat)),
        choices=lambda: choice_lines(
            chat.desk.question,
            width(),
            chat.terminal.size[1],
            drafting=bool(chat.editor.draft) and not chat.editor.is_borrowed,
        ),
        queue=lambda: [
            *aside_lines(chat, width()),
            *queue_lines(chat.agent.queued(), width()),
            *attachment_lines(chat.editor.attachments, width()),
            *command_lines(chat.editor),
        ],
        status=lambda: _status(chat, width()),
        rows=lambda: chat.terminal.size[1],
        mark=lambda: chat.editor.mark or mark,
        frame=FRAME if chat.terminal.unicode else FRAME_ASCII,
        hides=lambda: chat.editor.is_hidden,
        placeholder=lambda: placeholder(chat, width() - width_of(mark)),
    )


def _stands_above(chat: Chat) -> bool:
    """Whether the question was just printed, and is low enough to be seen whole."""
    view = chat.made_view
    return view is not None and 0 < view.question_rows <= chat.terminal.size[1] // 3


def placeholder(chat: Chat, width: int) -> str:
    """What may be typed here, where it fits."""
    if chat.editor.is_borrowed or chat.desk.question is not None:
        return ""
    text = PLACEHOLDER
    if chat.busy:  # with a turn, or with something of our own
        is_heard = chat.state.can_stop and not chat.state.looks_for
        text = PLACEHOLDER_BUSY if is_heard else PLACEHOLDER_LOOKING
    return text if len(text) <= width else ""


def aside_lines(chat: Chat, width: int) -> list[str]:
    """The side question that is being answered."""
    asked = chat.aside
    return [] if asked is None else [safe_line(f"aside, being answered: {asked.words}", width)]


def command_lines(editor: Editor) -> list[str]:
    """That Enter runs the draft, before anybody presses it."""
    if not editor.is_command:
        return []
    who = "for yourself only" if editor.buffer.text.startswith("!!") else "for the model to see"
    return [f"Enter runs this in the shell, {who}"]


def _status(chat: Chat, width: int) -> str:
    now = time.monotonic()
    hint = chat.brief.text(now)
    if hint is not None:
        return safe_line(hint, width)
    asks = chat.desk.question is not None or chat.editor.is_borrowed
    chat.hear(Around(len(chat.agent.queued()), asks))
    options = chat.options
    return footer(chat.state, now, width, options.home, chat.branch, options.status)

"""`/btw`: a side question, in a thread of its own beside the turn's. At most one at a time.

Its answer is shown when it is whole, so that it never stands within what a turn writes meanwhile.
Read next: agent/asides.py, chat.py.
"""

from __future__ import annotations

from functools import partial

from agentsh.abort import Abort
from agentsh.agent.events import AgentEvent, MessageDone, Notice, Retry, TextPart
from agentsh.errors import AgentshError
from agentsh.sanitize import safe_line
from agentsh.ui.chat.chat import Chat
from agentsh.ui.chat.worker import Awaited

_SHOWN = 200


class SideQuestion:
    """Asks and shows it; `chat.aside` is what stops it."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    def ask(self, question: str) -> None:
        chat = self._chat
        if not question:
            chat.say("what is asked aside? /btw QUESTION")
        elif chat.aside is not None:
            chat.set_draft(f"/btw {question}")
            chat.hint("one side question at a time; this one waits in the editor")
        else:
            chat.aside = asked = Awaited(question, Abort())
            chat.worker.beside(lambda: self._run(asked), "agentsh-aside")
            chat.redraw()

    def _run(self, asked: Awaited) -> None:
        """In its thread. How it ended and that it ended are one piece of news: who sees the answer
        may ask the next."""
        chat = self._chat
        answer: MessageDone | None = None
        failed: AgentshError | None = None
        try:
            for event in chat.agent.aside(asked.words, asked.abort):
                if isinstance(event, MessageDone):
                    answer = event
                elif not isinstance(event, TextPart):
                    chat.post(partial(self._show, event))
        except AgentshError as e:
            failed = None if asked.abort.is_set else e
        finally:
            chat.post(partial(self._over, asked.words, answer, failed))

    def _show(self, event: AgentEvent) -> None:
        match event:
            case Notice(text):
                self._chat.say(text, "warn")
            case Retry(error=error):
                self._chat.hint(f"the side question failed and is asked again: {error}")
            case _:
                pass

    def _over(self, question: str, answer: MessageDone | None, failed: AgentshError | None) -> None:
        chat = self._chat
        chat.aside = None
        if answer is not None:
            chat.view.beside(f"aside: {safe_line(question, _SHOWN)}", answer.entry)
            chat.view.whole(answer.message.text)
            chat.refresh()
        if failed is not None:
            chat.complain(failed)
        if not chat.busy and not chat.leaving:
            chat.refresh_report()
        chat.redraw()

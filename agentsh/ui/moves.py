"""Going somewhere else: in the tree, to another session, to a fork. `/tree /undo /resume …`.

Reads the whole tree on demand, shows the full-screen views, and asks the agent to move. After a
move the last messages of the new place are shown, and a prompt's text is back in the editor.
Read next: navigator.py, picker.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from agentsh.errors import AgentshError
from agentsh.messages import UserMessage
from agentsh.session.entries import EntryId, MessageBody
from agentsh.ui.chat import Chat
from agentsh.ui.describe import notice_line
from agentsh.ui.face import ChatAgent, MovedTo
from agentsh.ui.navigator import Forked, Left, Went, navigate
from agentsh.ui.picker import pick, session_rows

SHOWN_AFTER_MOVE = 6


class Moves:
    """The commands that change where the next prompt goes."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    def tree(self, _: str) -> None:
        if self._chat.busy:
            self._chat.hint("the tree waits for the end of the turn; Esc stops it")
            return
        self._chat.show_screen(self._navigate)

    def checkout(self, argument: str) -> None:
        if not argument:
            self._chat.say("/checkout wants an entry: id, label, leaf, root, X~N; or use /tree")
            return
        target = self._chat.agent.session.resolve(argument)
        self._moved(self._chat.agent.checkout(target))

    def undo(self, _: str) -> None:
        """Before the last prompt of the path."""
        for entry in reversed(self._chat.agent.session.live().entries):
            body = entry.body
            if isinstance(body, MessageBody) and isinstance(body.message, UserMessage):
                self._moved(self._chat.agent.checkout(entry.id))
                return
        self._chat.say("there is no prompt to go back before")

    def fork(self, argument: str) -> None:
        session = self._chat.agent.session
        at = session.resolve(argument) if argument else session.leaf
        self._fork(at)

    def new(self, _: str) -> None:
        agent = self._chat.host.new_session()
        self._chat.use(agent)
        self._chat.say(f"new session {agent.session.header.id}")

    def resume(self, _: str) -> None:
        self._chat.show_screen(self._pick_session)

    # ---- full-screen ----------------------------------------------------------------------------

    def _navigate(self) -> None:
        choice = navigate(
            self._chat.agent.session,
            self._chat.terminal,
            self._chat.theme,
            label=lambda target, name: self._chat.agent.label(target, name),
            copy=self._chat.copy,
        )
        match choice:
            case Left():
                pass
            case Forked(target):
                self._guarded(lambda: self._fork(target))
            case Went(target, summarize, files):
                self._go(target, summarize=summarize, files=files)
            case _:
                assert_never(choice)

    def _go(self, target: EntryId, *, summarize: bool, files: bool) -> None:
        agent = self._chat.agent
        if not summarize:
            self._guarded(lambda: self._moved(agent.checkout(target, files=files)))
            return

        def job() -> None:
            moved = agent.checkout(target, summarize=True, files=files)
            self._chat.post(lambda: self._moved(moved))

        self._chat.say("summarising what is left…")
        self._chat.start(job)

    def _pick_session(self) -> None:
        def choose() -> None:
            sessions = self._chat.host.sessions()
            rows = session_rows(sessions)
            found = pick("sessions of this folder", rows, self._chat.terminal, self._chat.theme)
            if found is None or found == self._chat.agent.session.header.id:
                return
            row = next(r for r in sessions if r.id == found)
            self._switch(self._chat.host.open_session(row.path))

        self._guarded(choose)

    # ---- inside ---------------------------------------------------------------------------------

    def _fork(self, at: EntryId | None) -> None:
        path = self._chat.host.fork(at)
        self._switch(self._chat.host.open_session(path))

    def _switch(self, agent: ChatAgent) -> None:
        self._chat.use(agent)
        session = agent.session
        self._chat.view.say(f"session {session.header.id}")
        self._chat.view.replay(session.live())
        for notice in session.notices:
            self._chat.view.say(notice_line(notice), "warn")
        self._chat.refresh()

    def _moved(self, moved: MovedTo) -> None:
        view = self._chat.view
        view.say(f"now at {moved.leaf or 'the beginning'}; what follows is a new branch")
        view.replay(self._chat.agent.session.live(), SHOWN_AFTER_MOVE)
        for notice in moved.notices:
            view.say(notice, "warn")
        if moved.editor_text is not None:
            self._chat.set_draft(moved.editor_text)
        self._chat.refresh_report()
        self._chat.refresh()

    def _guarded(self, action: Callable[[], object]) -> None:
        try:
            action()
        except AgentshError as e:
            self._chat.complain(e)

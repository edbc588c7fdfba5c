"""Going somewhere else: in the tree, to another session, to a fork. `/tree /undo /resume …`.

Reads the whole tree on demand, shows the full-screen views, and asks the agent to move. After a
move the last messages of the new place are shown, and a prompt's text is back in the editor.
Read next: navigator.py, picker.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import assert_never

from agentsh.errors import AgentshError
from agentsh.session.entries import EntryId
from agentsh.ui.chat import Chat
from agentsh.ui.describe import notice_line
from agentsh.ui.face import ChatAgent, MovedTo
from agentsh.ui.navigator import Forked, Left, Went, navigate
from agentsh.ui.pickers import pick_label, pick_session
from agentsh.ui.rewind import UNDO_WORDS, last_prompt, undo_preview
from agentsh.ui.sanitize import safe_line

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
        word, _, more = argument.partition(" ")
        labels = self._chat.agent.session.tree.labels
        if not word and labels and not self._chat.busy:
            self._chat.show_screen(lambda: self._guarded(lambda: self._pick_label(labels)))
            return
        if not word or more.strip() not in ("", "files"):
            self._chat.say("/checkout wants an entry: id, label, leaf, root, X~N; or use /tree")
            return
        target = self._chat.agent.session.resolve(word)
        self._move(target, files=bool(more.strip()))

    def undo(self, argument: str) -> None:
        """Before the last prompt of the path. Where files changed since, the person says what."""
        words = argument.split()
        what, overwrite = (words[0] if words else ""), words[1:] == ["overwrite"]
        if what not in ("", *UNDO_WORDS) or (words[1:] and not overwrite):
            self._chat.say("/undo takes one of: conversation, files, both")
            return
        prompt, changed = last_prompt(self._chat.agent.session.live())
        if prompt is None:
            self._chat.say("there is no prompt to go back before")
        elif what == "files":
            self._restore(prompt, overwrite)
        elif what == "" and changed:
            self._preview(prompt)
        else:
            self._move(prompt, files=what == "both", overwrite=overwrite)

    def diff(self, argument: str) -> None:
        words = argument.split()
        if len(words) > 2:
            self._chat.say("/diff takes no more than two entries")
            return
        a, b = (*words, None, None)[:2]
        self._show_lines(lambda: self._chat.host.diff(a, b))

    def fork(self, argument: str) -> None:
        session = self._chat.agent.session
        at = session.resolve(argument) if argument else session.leaf
        self._fork(at)

    def new(self, _: str) -> None:
        agent = self._chat.host.new_session()
        self._chat.use(agent)
        self._chat.say(f"new session {agent.session.header.id}")

    def resume(self, argument: str) -> None:
        self._chat.show_screen(lambda: self._pick_session(argument))

    # ---- full-screen ----------------------------------------------------------------------------

    def _navigate(self) -> None:
        choice = navigate(
            self._chat.agent.session,
            self._chat.terminal,
            self._chat.theme,
            label=lambda target, name: self._chat.agent.label(target, name),
            copy=self._chat.copy,
            files=self._chat.host.file_difference,
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
            self._guarded(lambda: self._move(target, files=files))
            return

        def job() -> None:
            moved = agent.checkout(target, summarize=True, files=files)
            self._chat.post(lambda: self._moved(moved))

        self._chat.say("summarising what is left…")
        self._chat.start(job)

    def _pick_session(self, words: str) -> None:
        def choose() -> None:
            chat = self._chat
            row = pick_session(chat.host, chat.terminal, chat.theme, words)
            if row is not None and row.id != chat.agent.session.header.id:
                self._switch(chat.host.open_session(row.path))

        self._guarded(choose)

    def _pick_label(self, labels: Mapping[EntryId, str]) -> None:
        found = pick_label(labels, self._chat.terminal, self._chat.theme)
        if found is not None:
            self._move(found)

    # ---- inside ---------------------------------------------------------------------------------

    def _move(
        self, target: EntryId | None, *, files: bool = False, overwrite: bool = False
    ) -> None:
        """Go there; with files in a thread, since git may take its time."""
        agent = self._chat.agent
        if not files:
            self._moved(agent.checkout(target))
            return

        def job() -> None:
            moved = agent.checkout(target, files=True, overwrite=overwrite)
            self._chat.post(lambda: self._moved(moved))

        self._chat.start(job)

    def _preview(self, prompt: EntryId) -> None:
        """What taking the files back would do, and how to say which is meant."""

        def lines() -> Sequence[str]:
            return undo_preview(self._chat.agent.files.plan(prompt))

        self._show_lines(lines)

    def _restore(self, prompt: EntryId, overwrite: bool) -> None:
        agent = self._chat.agent
        self._show_lines(
            lambda: [safe_line(line) for line in agent.files.restore(prompt, overwrite=overwrite)]
        )

    def _show_lines(self, make: Callable[[], Sequence[str]]) -> None:
        """Lines that take a while to make; they are safe to show."""

        def job() -> None:
            text = "\n".join(make())
            self._chat.post(lambda: self._chat.view.text(text))

        self._chat.start(job)

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
            # what was typed during a summary stays, behind the prompt
            self._chat.put_back(moved.editor_text)
        self._chat.refresh_report()
        self._chat.refresh()

    def _guarded(self, action: Callable[[], object]) -> None:
        try:
            action()
        except AgentshError as e:
            self._chat.complain(e)

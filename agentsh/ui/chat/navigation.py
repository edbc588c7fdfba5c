"""Going somewhere else: in the tree, to another session, to a fork. `/tree /undo /retry …`.
And what makes room on the path: `/compact /context`.

Reads the whole tree on demand, shows the full-screen views, and asks the agent to move. After a
move the last messages of the new place are shown, and a prompt's text is back in the editor.
Read next: navigator.py, picker.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import assert_never

from agentsh.agent.moving import Moved, last_prompt
from agentsh.sanitize import safe_line
from agentsh.session.file.resolve import last_said
from agentsh.session.format.entries import EntryId
from agentsh.ui.asking.pickers import pick_label, pick_session
from agentsh.ui.asking.rewind import UNDO_WORDS, undo_preview
from agentsh.ui.cells import cut
from agentsh.ui.chat.chat import Chat
from agentsh.ui.chat.exploring import Exploring
from agentsh.ui.input.attachments import attached_again
from agentsh.ui.protocols import ChatAgent
from agentsh.ui.text.places import said_last, said_words, where_now
from agentsh.ui.tree.navigator import (
    EntryDeeds,
    Explored,
    Forked,
    Left,
    Picked,
    Summed,
    Went,
)
from agentsh.ui.tree.navkeys import navigate
from agentsh.views.describe import notice_line

SHOWN_AFTER_MOVE = 6
NOTHING_TO_FORK = "there is nothing to fork: nothing was said here yet; /new begins another session"


class Moves:
    """The commands that change where the next prompt goes."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self.exploring = Exploring(chat, self._switch)

    def tree(self, _: str) -> None:
        """While a turn or a side question runs it is only looked at."""
        self._chat.show_screen(self._navigate)

    def checkout(self, argument: str) -> None:
        word, _, more = argument.partition(" ")
        labels = self._chat.agent.session.tree.labels
        if not word and labels and not self._chat.busy:
            self._chat.show_screen(lambda: self._chat.guarded(lambda: self._pick_label(labels)))
            return
        if not word or more.strip() not in ("", "files"):
            self._chat.say("/checkout wants an entry: id, label, leaf, root, X~N; or use /tree")
            return
        target = self._chat.agent.session.resolve(word)
        self._move(target, files=bool(more.strip()))

    def undo(self, argument: str) -> None:
        """Before the last prompt of the path. Where files changed since, the person says what."""
        arguments = argument.split()
        what, overwrite = (arguments[0] if arguments else ""), arguments[1:] == ["overwrite"]
        if what not in ("", *UNDO_WORDS) or (arguments[1:] and not overwrite):
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
        arguments = argument.split()
        if len(arguments) > 2:
            self._chat.say("/diff takes no more than two entries")
            return
        a, b = (*arguments, None, None)[:2]

        def job() -> None:
            lines = self._chat.host.diff(a, b)
            self._chat.post(lambda: self._chat.view.page(lines))

        self._chat.look(job)

    def why(self, argument: str) -> None:
        if not argument:
            self._chat.say("name a file and its line: /why src/a.py:12 (or :12-20)")
            return
        rows = max(self._chat.terminal.size[1] - 6, 10)
        self._show_lines(lambda: self._chat.host.why(argument, rows), whole=True)

    def retry(self, argument: str) -> None:
        """A sibling of that answer; what stands before it is kept."""
        agent = self._chat.agent

        def job() -> None:
            for event in agent.retry(argument or None):
                self._chat.post(event)

        self._chat.start(job)

    def fork(self, argument: str) -> None:
        session = self._chat.agent.session
        if not argument and last_said(session.live().entries) is None:
            self._chat.say(NOTHING_TO_FORK)
            return
        self._fork(session.resolve(argument) if argument else session.leaf)

    def compact(self, argument: str) -> None:
        arguments = argument.split(maxsplit=2)
        keep = None
        if arguments[:1] == ["--keep"]:
            if len(arguments) < 2 or not arguments[1].isdecimal():
                self._chat.say("/compact --keep wants a number of tokens, such as --keep 2000")
                return
            keep, argument = int(arguments[1]), " ".join(arguments[2:])
        self._compact(argument or None, None, keep)

    def context(self, _: str) -> None:
        """Also while a turn runs: then the thread for such things is not free."""
        width = self._chat.terminal.size[0] - 1

        def lines() -> Sequence[str]:
            return [cut(line, width) for line in self._chat.host.context(width)]

        if self._chat.busy or self._chat.aside is not None:
            self._chat.view.text("\n".join(lines()))
            self._chat.refresh()
        else:
            self._show_lines(lines)

    def new(self, _: str) -> None:
        agent = self._chat.host.new_session()
        self._chat.use(agent)
        self._chat.view.beside("a new session; the one before it stays", agent.session.header.id)
        self._chat.refresh()

    def resume(self, argument: str) -> None:
        self._chat.show_screen(lambda: self._pick_session(argument))

    # ---- full-screen ----------------------------------------------------------------------------

    def _navigate(self) -> None:
        chat = self._chat
        runs = "a turn" if chat.busy else "a side question" if chat.aside is not None else None
        deeds = EntryDeeds(
            label=lambda target, name: chat.agent.label(target, name),
            copy=chat.copy,
            files=chat.host.file_difference,
            toggle=chat.host.toggle_hidden,
            fold=chat.host.toggle_folded,
        )
        choice = navigate(
            chat.agent.session,
            chat.screen,
            deeds,
            lay=chat.view.lay,
            explored=chat.host.explored(),
            only_looks=None if runs is None else f"{runs} runs: the tree is only looked at",
        )
        match choice:
            case Left():
                if runs is None:  # what was hidden there weighs no more
                    chat.refresh_report()
            case Forked(target):
                self._chat.guarded(lambda: self._fork(target))
            case Summed(target):
                self._compact(None, target)
            case Picked(target, summarize, files):
                self._pick(target, summarize=summarize, files=files)
            case Explored(name):
                self.exploring.bring(name)
            case Went(target, summarize, files):
                self._go(target, summarize=summarize, files=files)
            case _:
                assert_never(choice)

    def _pick(self, target: EntryId, *, summarize: bool, files: bool) -> None:
        """With a summary or files in a thread, since that may take its time."""

        def job() -> None:
            made, done = self._chat.host.pick(target, summary=summarize, files=files)
            self._chat.post(lambda: self._picked(target, made, done))

        if summarize:
            self._chat.say("summarising that branch…")
            self._chat.start(job)
        else:
            self._chat.look(job)

    def _picked(self, target: EntryId, made: EntryId, done: Sequence[str]) -> None:
        self._chat.view.beside(f"brought here from {target}", made)
        self._chat.view.replay(self._chat.agent.session.live(), 1)
        for line in done:
            self._chat.view.say(safe_line(line))
        self._chat.refresh_report()
        self._chat.refresh()

    def _go(self, target: EntryId, *, summarize: bool, files: bool) -> None:
        agent = self._chat.agent
        if not summarize:
            self._chat.guarded(lambda: self._move(target, files=files))
            return

        def job() -> None:
            moved = agent.checkout(target, summarize=True, files=files)
            self._chat.post(lambda: self._moved(moved))

        self._chat.say("summarising what is left…")
        self._chat.start(job)

    def _pick_session(self, typed: str) -> None:
        def choose() -> None:
            chat = self._chat
            row = pick_session(chat.host, chat.screen, typed, chat.agent.session.header.id)
            if row is not None and row.id != chat.agent.session.header.id:
                self._switch(chat.host.open_session(row.path))

        self._chat.guarded(choose)

    def _pick_label(self, labels: Mapping[EntryId, str]) -> None:
        session = self._chat.agent.session
        entry = pick_label(
            labels, lambda entry: said_words(session.entry(entry)), self._chat.screen
        )
        if entry is not None:
            self._move(entry)

    # ---- inside ---------------------------------------------------------------------------------

    def _compact(self, focus: str | None, until: EntryId | None, keep: int | None = None) -> None:
        def job() -> None:
            for event in self._chat.agent.compact(focus, keep, until):
                self._chat.post(event)

        self._chat.start(job)

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

        self._chat.look(job)

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

    def _show_lines(self, make: Callable[[], Sequence[str]], *, whole: bool = False) -> None:
        """Lines that take a while to make; they are safe to show. `whole`: to be copied."""

        def job() -> None:
            text = "\n".join(make())
            show = self._chat.view.copyable if whole else self._chat.view.text
            self._chat.post(lambda: show(text))

        self._chat.look(job)

    def _fork(self, fork_point: EntryId | None) -> None:
        chat, session = self._chat, self._chat.agent.session
        where = said_last(session.live())[0] if fork_point == session.leaf else "from there"
        path = chat.host.fork(fork_point)
        agent = chat.host.open_session(path)
        chat.use(agent)
        chat.view.beside(f"a fork, {where}; the session before it stays", agent.session.header.id)
        self._notices(agent)

    def _switch(self, agent: ChatAgent) -> None:
        self._chat.use(agent)
        session = agent.session
        self._chat.view.beside(f"session {session.tree.name or ''}".rstrip(), session.header.id)
        self._chat.view.replay(session.live())
        self._notices(agent)

    def _notices(self, agent: ChatAgent) -> None:
        for notice in agent.session.notices:
            self._chat.view.say(notice_line(notice), "warn")
        self._chat.refresh()

    def _moved(self, moved: Moved) -> None:
        view = self._chat.view
        where = where_now(moved, self._chat.agent.session.live())
        view.beside(f"now {where}; what follows is a new branch", moved.leaf or "")
        view.replay(self._chat.agent.session.live(), SHOWN_AFTER_MOVE)
        for notice in moved.notices:
            view.say(notice, "warn")
        if moved.editor_text is not None:
            # what was typed during a summary stays, behind the prompt
            self._chat.put_back(moved.editor_text)
            self._chat.editor.attachments += attached_again(moved.images)
        self._chat.refresh_report()
        self._chat.refresh()

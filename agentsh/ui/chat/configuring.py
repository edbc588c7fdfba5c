"""`/settings`, `/endpoint`, `/reload`: the user's settings from within the chat.

Questions are asked in the editor's line, which is lent for each; nothing is written before the
person has seen what differs and agreed. What was written is in force at once, and said.
Read next: actions.py, protocols.py.
"""

from __future__ import annotations

from collections.abc import Callable
from queue import Empty, SimpleQueue

from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.sanitize import safe_line
from agentsh.ui.asking.picker import PickRow, pick_row
from agentsh.ui.chat.chat import Chat
from agentsh.ui.chat.worker import Awaited
from agentsh.ui.paper.pages import PageLine
from agentsh.ui.protocols import ShownChange
from agentsh.ui.text.settingslist import settings_columns, short_source

NOT_SHOWN = "(not shown)"
_LOOK_SECONDS = 0.2
"""How often a thread that waits for an answer looks whether the chat is left."""


class Configuring:
    """What the three commands do. A job in the worker's thread asks, and waits for the answer."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    def settings(self, typed: str) -> None:
        """A list, narrowed by what was typed; the one that is picked is changed."""
        settings = self._chat.host.settings()
        columns = settings_columns([(n, value, short_source(of)) for n, value, of in settings])
        rows = [
            PickRow(text, source, name)
            for (name, _, _), (text, source) in zip(settings, columns, strict=True)
        ]

        def choose() -> None:
            name = pick_row("settings", rows, self._chat.screen, typed=typed)
            if name is not None:
                self._chat.look(lambda: self._change(name))

        self._chat.show_screen(lambda: self._chat.guarded(choose))

    def endpoint(self, _: str) -> None:
        asked = Awaited("the endpoint", Abort())

        def job() -> None:
            word, change = self._chat.host.add_endpoint(self._ask, self._say, asked.abort)
            if self._agreed(change):
                self._reload()
                notices = self._chat.host.choose(word, asked.abort)
                self._say("; ".join((f"{word} answers from now on", *notices)))

        self._chat.look(job, asked)

    def reload(self, _: str) -> None:
        self._chat.look(self._reload)

    # ---- in the worker's thread -----------------------------------------------------------------

    def _change(self, name: str) -> None:
        chat = self._chat
        explanation = "\n".join(safe_line(line) for line in chat.host.explain(name))
        chat.post(lambda: chat.view.text(explanation))
        question = f"{name} = (empty: the default; Esc: as it is) "
        typed = self._ask(question, lambda answer: chat.host.hides(name, answer))
        if typed is None:
            self._say("nothing was changed")
        elif self._agreed(chat.host.change_setting(name, typed)):
            self._reload()

    def _agreed(self, change: ShownChange) -> bool:
        """Show what differs, ask, write."""
        chat = self._chat
        if change.before == change.after:
            self._say("that is what the file says already")
            return False
        lines = [PageLine(safe_line(f"{change.file}:"))]
        lines += [
            PageLine(safe_line(text), "added" if mark == "+" else "removed")
            for mark, text in change.lines()
        ]
        chat.post(lambda: chat.view.page(lines))
        if (self._ask("write it? [y/N] ") or "").strip().lower() not in ("y", "yes"):
            self._say("nothing was written")
            return False
        change.write()
        self._say(f"written: {change.file}")
        return True

    def _reload(self) -> None:
        chat = self._chat
        agent, changes = chat.host.reload()
        ui, theme, notices = chat.host.looks(chat.terminal)
        models = chat.host.named_models()

        def use() -> None:
            chat.options = replace(
                chat.options, bell=ui.bell, notify=ui.notify, status=ui.status, models=models
            )
            chat.editor.completer.models = models
            chat.use_theme(theme)
            chat.use(agent, is_same=True)
            for line in (*changes, *notices):
                chat.view.say(line)
            chat.say("read anew" if changes else "read anew; nothing has changed")

        chat.post(use)

    def _say(self, text: str) -> None:
        self._chat.post(lambda: self._chat.say(text))

    def _ask(self, question: str, hides: Callable[[str], bool] = lambda _: False) -> str | None:
        """What the person types; None: they would rather not, or leave. `hides`: what is not seen,
        neither while it is typed nor afterwards."""
        chat, answers = self._chat, SimpleQueue[str | None]()
        mark = question.strip()
        is_long = len(mark) > chat.terminal.size[0] // 2

        def take(answer: str | None) -> None:
            if answer is not None:
                shown = NOT_SHOWN if hides(answer) else safe_line(answer)
                chat.say(f"› {shown}" if is_long else f"{mark} {shown}")
            answers.put(answer)

        def lend() -> None:
            if is_long:
                chat.say(mark)
            chat.editor.borrow("", "› " if is_long else f"{mark} ", take, hides)
            chat.redraw()

        chat.post(lend)
        return _first(answers, lambda: chat.leaving)


def _first(answers: SimpleQueue[str | None], is_over: Callable[[], bool]) -> str | None:
    while not is_over():
        try:
            return answers.get(timeout=_LOOK_SECONDS)
        except Empty:
            continue
    return None

"""The pickers of the chat: sessions (rename, archive, all folders, order), models, labels.

Rows are made once; a search narrows them, an order or another scope makes them anew.
Read next: picker.py, navigation.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from agentsh.agent.config import ModelChoice, named
from agentsh.agent.driven.host import SessionKeeper
from agentsh.errors import EntryNotFoundError
from agentsh.sanitize import first_line, safe_line
from agentsh.session.format.entries import EntryId
from agentsh.session.format.times import local_minute
from agentsh.session.store.store import SessionRow
from agentsh.ui.asking.picker import PickCommand, Picker, PickRow, pick_row
from agentsh.ui.cells import width_of
from agentsh.ui.fullscreen import Screen

ORDERS = ("last prompt", "created", "length", "name")


def session_rows(
    rows: Iterable[SessionRow], *, everywhere: bool = False, now: str | None = None
) -> list[PickRow]:
    """A row for each session, in columns.

    `now`: the session in use, which is marked.
    """
    rows = list(rows)
    digits = max((len(str(row.messages)) for row in rows), default=1)
    folders = [safe_line(row.cwd, 40) if everywhere else "" for row in rows]
    widest = max(map(width_of, folders), default=0)
    kinds = [_kind(row, now) for row in rows]
    longest = max(map(len, kinds), default=0)
    return [
        PickRow(
            session_words(row),
            "  ".join(
                part
                for part in (
                    local_minute(row.updated),
                    kind.ljust(longest),
                    f"{row.messages:>{digits}} messages",
                    folder + " " * (widest - width_of(folder)),
                )
                if part
            ),
            row.id,
        )
        for row, folder, kind in zip(rows, folders, kinds, strict=True)
    ]


def _kind(row: SessionRow, now: str | None) -> str:
    if row.id == now:
        return "in use"
    return "fork" if row.parent is not None else ""


def session_words(row: SessionRow) -> str:
    return safe_line(row.name or first_line(row.prompt or "") or "(empty)", 100)


class SessionChoice:
    """The state of a picker of sessions: which scope, which order."""

    def __init__(self, keeper: SessionKeeper, now: str | None = None) -> None:
        self._keeper = keeper
        self._now = now
        self._everywhere = False
        self._order = 0
        self.rows: tuple[SessionRow, ...] = tuple(keeper.sessions())

    @property
    def title(self) -> str:
        where = "all folders" if self._everywhere else "this folder"
        return f"sessions of {where}, by {ORDERS[self._order]}"

    def pick_rows(self) -> list[PickRow]:
        return session_rows(self._in_order(), everywhere=self._everywhere, now=self._now)

    def commands(self) -> dict[str, PickCommand]:
        return {
            "tab": PickCommand("Tab all", self._widen),
            "c-f": PickCommand("^F in texts", self._find),
            "c-s": PickCommand("^S order", self._reorder),
            "c-r": PickCommand("^R rename", self._rename),
            "c-x": PickCommand("^X archive", self._archive),
        }

    def row(self, value: str | None) -> SessionRow | None:
        return next((row for row in self.rows if row.id == value), None)

    def _in_order(self) -> list[SessionRow]:
        keys: Mapping[str, Callable[[SessionRow], tuple[object, ...]]] = {
            "created": lambda row: (row.created,),
            "length": lambda row: (row.messages, row.updated),
        }
        match ORDERS[self._order]:
            case "last prompt":
                return sorted(self.rows, key=lambda row: row.updated, reverse=True)
            case "name":
                return sorted(self.rows, key=lambda row: session_words(row).lower())
            case order:
                return sorted(self.rows, key=keys[order], reverse=True)

    def _load(self, picker: Picker, value: str | None) -> None:
        self.rows = tuple(self._keeper.sessions(everywhere=self._everywhere))
        picker.show(self.title, self.pick_rows(), value)

    def _widen(self, picker: Picker) -> None:
        self._everywhere = not self._everywhere
        self._load(picker, picker.current)

    def _find(self, picker: Picker) -> None:
        """What is typed is looked for in all that was said; with nothing typed, what comes next."""
        words, picker.typed = picker.typed.strip(), ""
        if words:
            self._show_found(picker, words)
        else:
            picker.ask("in texts (Enter finds, empty: all)› ", "", partial(self._look, picker))

    def _look(self, picker: Picker, typed: str) -> None:
        if typed.strip():
            self._show_found(picker, typed.strip())
        else:
            self._load(picker, picker.current)

    def _show_found(self, picker: Picker, words: str) -> None:
        places_by_id = self._keeper.find_text(words, everywhere=self._everywhere)
        rows = [
            PickRow(session_words(row), safe_line(places_by_id[row.id], 100), row.id)
            for row in self._in_order()
            if row.id in places_by_id
        ]
        picker.show(f"sessions with {safe_line(words, 40)} in the text", rows)

    def _reorder(self, picker: Picker) -> None:
        self._order = (self._order + 1) % len(ORDERS)
        picker.show(self.title, self.pick_rows(), picker.current)

    def _rename(self, picker: Picker) -> None:
        row = self.row(picker.current)
        if row is None:
            return

        def done(name: str) -> None:
            if name.strip():
                self._keeper.rename_session(row.path, name.strip())
                self._load(picker, row.id)

        picker.ask("name: ", row.name or "", done)

    def _archive(self, picker: Picker) -> None:
        row = self.row(picker.current)
        if row is None:
            return

        def done(answer: str) -> None:
            if answer.strip().lower() in ("y", "yes"):
                self._keeper.archive_session(row.path)
                self._load(picker, None)
                picker.message = "archived; `agentsh sessions unarchive` brings it back"

        picker.ask(f"archive {session_words(row)[:40]}? y, Enter: ", "", done)


def pick_session(
    keeper: SessionKeeper, screen: Screen, typed: str = "", now: str | None = None
) -> SessionRow | None:
    """Let the person pick a session.

    `typed` narrows the list at first, `now` is the session in use.
    """
    choice = SessionChoice(keeper, now)
    rows, commands = choice.pick_rows(), choice.commands()
    value = pick_row(choice.title, rows, screen, commands=commands, typed=typed)
    return choice.row(value)


def pick_model(choices: Iterable[ModelChoice], now: str, screen: Screen) -> str | None:
    """The word of a choice; `now`: that of the one in use."""
    rows = [
        PickRow(
            safe_line(named(choice.endpoint, choice.model), 100),
            ", ".join(filter(None, ["in use" if choice.word == now else "", choice.note])),
            choice.word,
        )
        for choice in choices
        if choice.model
    ]
    return pick_row("models", rows, screen, value=now)


def label_rows(labels: Mapping[EntryId, str], words: Callable[[EntryId], str]) -> list[PickRow]:
    """By name, each with what it names. `words`: that in a safe line; it may raise."""
    rows = []
    for entry, name in labels.items():
        try:
            named_words = words(entry)
        except EntryNotFoundError:
            named_words = "(its entry is not in the file)"
        rows.append(PickRow(safe_line(name, 100), named_words, entry))
    return sorted(rows, key=lambda row: row.text.lower())


def pick_label(
    labels: Mapping[EntryId, str], words: Callable[[EntryId], str], screen: Screen
) -> EntryId | None:
    """Go to a label: the entry that it names."""
    value = pick_row("labels", label_rows(labels, words), screen)
    return None if value is None else EntryId(value)

"""The pickers of the chat: sessions (rename, archive, all folders, order), models, labels.

Rows are made once; a search narrows them, an order or another scope makes them anew.
Read next: picker.py, moves.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from agentsh.session.entries import EntryId
from agentsh.ui.face import SessionRow
from agentsh.ui.picker import PickCommand, Picker, PickRow, pick
from agentsh.ui.sanitize import first_line, safe_line
from agentsh.ui.terminal import Terminal
from agentsh.ui.theme import Theme

ORDERS = ("last prompt", "created", "length", "name")


class SessionKeeper(Protocol):
    """Lists and keeps sessions (face.Host; cli/chat.py)."""

    def sessions(self, *, everywhere: bool = False) -> Sequence[SessionRow]: ...

    def find_text(self, words: str, *, everywhere: bool = False) -> Mapping[str, str]:
        """The sessions in which these words were said → where, in a few words."""

    def rename_session(self, path: Path, name: str) -> None: ...

    def archive_session(self, path: Path) -> None: ...


def session_rows(rows: Iterable[SessionRow], *, everywhere: bool = False) -> list[PickRow]:
    """Sessions as rows: name or first prompt, when last used, how long."""
    return [
        PickRow(
            session_words(row),
            f"{row.updated[:16].replace('T', ' ')}  {row.messages:>4} messages"
            + (f"  {safe_line(row.cwd, 40)}" if everywhere else ""),
            row.id,
        )
        for row in rows
    ]


def session_words(row: SessionRow) -> str:
    return safe_line(row.name or first_line(row.prompt or "") or "(empty)", 100)


class SessionChoice:
    """The state of a picker of sessions: which scope, which order."""

    def __init__(self, keeper: SessionKeeper) -> None:
        self._keeper = keeper
        self._everywhere = False
        self._order = 0
        self.rows: tuple[SessionRow, ...] = tuple(keeper.sessions())

    @property
    def title(self) -> str:
        where = "all folders" if self._everywhere else "this folder"
        return f"sessions of {where}, by {ORDERS[self._order]}"

    def pick_rows(self) -> list[PickRow]:
        return session_rows(self._in_order(), everywhere=self._everywhere)

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

    def _load(self, picker: Picker, at: str | None) -> None:
        self.rows = tuple(self._keeper.sessions(everywhere=self._everywhere))
        picker.show(self.title, self.pick_rows(), at)

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
        found = self._keeper.find_text(words, everywhere=self._everywhere)
        rows = [
            PickRow(session_words(row), safe_line(found[row.id], 100), row.id)
            for row in self._in_order()
            if row.id in found
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
    keeper: SessionKeeper, terminal: Terminal, theme: Theme, typed: str = ""
) -> SessionRow | None:
    """`typed`: what the list is narrowed by at first."""
    choice = SessionChoice(keeper)
    rows, commands = choice.pick_rows(), choice.commands()
    found = pick(choice.title, rows, terminal, theme, commands=commands, typed=typed)
    return choice.row(found)


def pick_model(names: Sequence[str], now: str, terminal: Terminal, theme: Theme) -> str | None:
    rows = [PickRow(safe_line(n, 100), "in use" if n == now else "", n) for n in names]
    return pick("models", rows, terminal, theme, at=now)


def pick_label(labels: Mapping[EntryId, str], terminal: Terminal, theme: Theme) -> EntryId | None:
    """Go to a label: the entry that it names."""
    rows = [PickRow(safe_line(name, 100), entry, entry) for entry, name in labels.items()]
    rows.sort(key=lambda row: row.text.lower())
    found = pick("labels", rows, terminal, theme)
    return None if found is None else EntryId(found)

"""Keys of the tree navigator → methods of it, and the navigator run on a terminal.

`navigate` gives what the person decided. Read next: navigator.py, fullscreen.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prompt_toolkit.filters import Condition
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent
from prompt_toolkit.keys import Keys

from agentsh.agent.driven.host import ReadableSession
from agentsh.ui.fullscreen import Screen, bind, bind_end, bind_typing, fullscreen
from agentsh.ui.paper.pages import Lay, plain_page_lines
from agentsh.ui.tree.navigator import (
    EntryDeeds,
    Explored,
    Forked,
    Left,
    Navigator,
    NavigatorChoice,
    Picked,
    Summed,
    Went,
)
from agentsh.ui.tree.treeview import TreeView
from agentsh.views.explored import ExploredBranch, with_explored
from agentsh.views.treeitem import tree_items

_DECIDED = Went | Forked | Summed | Picked | Explored


def navigate(
    session: ReadableSession,
    screen: Screen,
    deeds: EntryDeeds,
    *,
    lay: Lay = plain_page_lines,
    only_looks: str | None = None,
    explored: Sequence[ExploredBranch] = (),
) -> NavigatorChoice:
    """Show the tree of a session until the person decides. `only_looks`: why nobody may now.

    `explored`: branches of explorations, which stand below the entries that they began from.
    """
    path = session.tree.path(session.leaf)
    items = tree_items(session.entries(), session.tree.labels, path, session.header.cwd)
    items = with_explored(items, explored)
    view = TreeView(items, path)
    navigator = Navigator(
        view,
        deeds,
        unicode=screen.terminal.unicode,
        lay=lay,
        only_looks=only_looks,
    )
    app = fullscreen(navigator.draw, navigator_keys(navigator), screen, result_type=object)
    result = app.run()
    return result if isinstance(result, _DECIDED) else Left()


def navigator_keys(navigator: Navigator) -> KeyBindings:
    keys = KeyBindings()
    moving = Condition(lambda: navigator.mode == "move")
    bringing = Condition(lambda: navigator.mode == "bring")
    summing = Condition(lambda: navigator.mode == "sum")
    typing = Condition(lambda: navigator.mode in ("search", "label"))
    reading = Condition(lambda: navigator.mode == "page")
    bind_typing(keys, navigator.type, typing)
    bind(keys, _edits(navigator), typing)
    may = Condition(lambda: not navigator.only_looks)
    on_explored = Condition(lambda: navigator.is_on_explored)
    free = moving & may & ~on_explored
    changes, decisions = _changes(navigator), _decisions(navigator)
    bind(keys, _moves(navigator), moving)
    bind(keys, changes, free)
    bind_end(keys, decisions, free)
    bind(keys, dict.fromkeys((*changes, *decisions), navigator.refuse), moving & ~free)
    bind_end(keys, {"p": navigator.bring_explored}, moving & may & on_explored)
    bind(keys, {"p": navigator.no_explored}, moving & ~(may & on_explored))
    bind_end(keys, dict.fromkeys(("q", "escape", "c-c", "c-d"), navigator.leave), moving)
    bind_end(keys, _bringings(navigator), bringing)
    bind_end(keys, {"y": navigator.compact}, summing)
    bind(keys, dict.fromkeys(("escape", "q", "c-c"), navigator.cancel), bringing | summing)
    bind(keys, _scrolls(navigator), reading)

    @keys.add(Keys.Any, filter=reading)
    @keys.add("escape", filter=reading)
    @keys.add("enter", filter=reading)
    def _(event: KeyPressEvent) -> None:
        navigator.cancel()

    return keys


def _moves(navigator: Navigator) -> dict[str, Callable[[], None]]:
    view = navigator.view
    return {
        "up": lambda: view.move(-1),
        "k": lambda: view.move(-1),
        "down": lambda: view.move(1),
        "j": lambda: view.move(1),
        "pageup": lambda: view.move(-navigator.rows),
        "pagedown": lambda: view.move(navigator.rows),
        "home": view.home,
        "end": view.end,
        "left": view.fold,
        "right": view.unfold,
        "tab": view.next_filter,
        "/": lambda: navigator.begin("search"),
        "n": lambda: navigator.again(1),
        "N": lambda: navigator.again(-1),
        "d": navigator.show_difference,
        "t": navigator.toggle_times,
        "y": navigator.copy,
        " ": navigator.show_whole,
        "?": navigator.show_help,
    }


def _changes(navigator: Navigator) -> dict[str, Callable[[], None]]:
    return {
        "l": lambda: navigator.begin("label"),
        "x": navigator.toggle_hidden,
        "z": navigator.toggle_folded,
        "B": lambda: navigator.begin("bring"),
        "c": navigator.ask_compact,
    }


def _scrolls(navigator: Navigator) -> dict[str, Callable[[], None]]:
    scroll = navigator.scroll_page
    return {
        "up": lambda: scroll(-1),
        "k": lambda: scroll(-1),
        "down": lambda: scroll(1),
        "j": lambda: scroll(1),
        "home": lambda: scroll(-(10**9)),
        "end": lambda: scroll(10**9),
        "pageup": lambda: scroll(-navigator.rows),
        "pagedown": lambda: scroll(navigator.rows),
        " ": lambda: scroll(navigator.rows),
    }


def _decisions(navigator: Navigator) -> dict[str, Callable[[], object]]:
    return {
        "enter": navigator.choice,
        "s": lambda: navigator.choice(summarize=True),
        "w": lambda: navigator.choice(files=True),
        "b": navigator.pick,
        "f": navigator.fork,
    }


def _bringings(navigator: Navigator) -> dict[str, Callable[[], object]]:
    return {
        "s": lambda: navigator.pick(summarize=True),
        "w": lambda: navigator.pick(files=True),
    }


def _edits(navigator: Navigator) -> dict[str, Callable[[], None]]:
    return {
        "backspace": navigator.rub_out,
        "c-w": navigator.rub_out,
        "enter": navigator.accept,
        "escape": navigator.cancel,
        "c-c": navigator.cancel,
        "down": lambda: navigator.again(1),
        "c-n": lambda: navigator.again(1),
        "up": lambda: navigator.again(-1),
        "c-p": lambda: navigator.again(-1),
    }

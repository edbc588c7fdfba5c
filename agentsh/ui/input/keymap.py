"""The keys of the chat by name: what each does, its default, and `[ui.keys]` of the settings.

One table: bindings (keys.py), `/hotkeys`, `/help` and docs/chat.md are made from it (a test
compares them). A key that the settings give to one action is taken from whatever had it. What
cannot be read is a warning, never a chat without keys. Pure. Read next: keys.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from msgspec import Struct

Keys: TypeAlias = tuple[str, ...]
"""One after the other, as prompt_toolkit spells them: ("escape", "enter") is Alt-Enter."""


class KeyAction(Struct, frozen=True):
    """`name` is what the settings call it; `keys` as a person writes them, "ctrl-o"."""

    name: str
    keys: tuple[str, ...]
    shown: str
    does: str


ACTIONS: tuple[KeyAction, ...] = (
    KeyAction(
        "send", ("enter",), "Enter", "send; while the agent works: steer it, with its next request"
    ),
    KeyAction(
        "queue",
        ("alt-enter",),
        "Alt-Enter",
        "break the line; while the agent works: queue for afterwards",
    ),
    KeyAction(
        "newline", ("ctrl-j", "shift-enter"), "Ctrl-J, Shift-Enter, \\ Enter", "break the line"
    ),
    KeyAction(
        "stop",
        ("escape",),
        "Esc",
        "stop the agent; the queue returns to the editor; twice: the tree",
    ),
    KeyAction(
        "interrupt",
        ("ctrl-c",),
        "Ctrl-C",
        "clear the draft (Up brings it back), else stop; twice on an empty editor: quit",
    ),
    KeyAction("leave", ("ctrl-d",), "Ctrl-D", "quit, on an empty editor"),
    KeyAction("suspend", ("ctrl-z",), "Ctrl-Z", "suspend; fg comes back"),
    KeyAction("editor", ("ctrl-g",), "Ctrl-G", "edit the draft in $VISUAL or $EDITOR"),
    KeyAction("search", ("ctrl-r",), "Ctrl-R", "search in earlier prompts, of all sessions"),
    KeyAction("unqueue", ("alt-up",), "Alt-Up", "take what is queued back into the editor"),
    KeyAction(
        "paste", ("ctrl-v",), "Ctrl-V", "attach the image in the clipboard; Backspace drops it"
    ),
    KeyAction("expand", ("alt-e",), "Alt-E", "show a long paste in full in the draft"),
    KeyAction("unfold", ("ctrl-o",), "Ctrl-O", "tool calls unfolded, the newest first"),
    KeyAction("thoughts", ("ctrl-t",), "Ctrl-T", "what the model thought, unfolded"),
    KeyAction("level", ("shift-tab",), "Shift-Tab", "think more: the next level, then off again"),
    KeyAction("models", ("alt-m",), "Alt-M", "pick another model"),
    KeyAction("tree", (), "Esc Esc", "on an empty editor: the tree"),
    KeyAction("sessions", (), "", "pick another session"),
    KeyAction("labels", (), "", "pick a label to go to"),
)

FIXED: tuple[tuple[str, str], ...] = (
    ("Up, Down", "the row above, below; beyond the draft: earlier prompts, and back"),
    ("PgUp, PgDn", "a page of a long draft"),
    ("Tab, @", "complete commands; complete files and folders"),
    ("!command, !!command", "run a command for the model to see; for yourself only"),
    ("a pasted path", "of an image: attach it"),
)
"""What is no action of ours, or has no key of its own."""

_NAMED = {
    "enter": "enter",
    "return": "enter",
    "tab": "tab",
    "escape": "escape",
    "esc": "escape",
    "space": " ",
    "backspace": "backspace",
    "delete": "delete",
    "insert": "insert",
    "home": "home",
    "end": "end",
    "pageup": "pageup",
    "pagedown": "pagedown",
    "up": "up",
    "down": "down",
    "left": "left",
    "right": "right",
    **{f"f{n}": f"f{n}" for n in range(1, 25)},
}
_WITH_MODIFIERS = frozenset(
    ("up", "down", "left", "right", "home", "end", "insert", "delete", "pageup", "pagedown")
)


class Keymap(Struct, frozen=True):
    """Which keys do what; `warnings` are for the person."""

    bindings: Mapping[str, tuple[str, ...]]
    """Name of an action → its keys as a person writes them."""
    warnings: tuple[str, ...] = ()

    def sequences(self, name: str) -> list[Keys]:
        """The keys of an action as prompt_toolkit wants them."""
        return [parsed for text in self.bindings[name] if (parsed := parse_key(text)) is not None]

    def rows(self) -> list[tuple[str, str, str]]:
        """(name, keys in force, what it does) of each action."""
        return [
            (
                action.name,
                action.shown
                if self.bindings[action.name] == action.keys
                else ", ".join(self.bindings[action.name]),
                action.does,
            )
            for action in ACTIONS
        ]


def make_keymap(changes: Mapping[str, str] | None = None) -> Keymap:
    """The default keys, changed as the settings say.

    Several keys are separated by blanks or commas.
    """
    bindings: dict[str, tuple[str, ...]] = {action.name: action.keys for action in ACTIONS}
    warnings: list[str] = []
    taken: dict[Keys, str] = {}
    for name, text in (changes or {}).items():
        if name not in bindings:
            actions = ", ".join(bindings)
            warnings.append(f"[ui.keys] {name}: there is no such action; they are: {actions}")
            continue
        good: list[str] = []
        for key in text.replace(",", " ").split():
            parsed = parse_key(key)
            if parsed is None:
                warnings.append(
                    f'[ui.keys] {name}: {key!r} is no key; write "ctrl-o", "alt-up" or "f2"'
                )
            elif parsed in taken:
                warnings.append(f"[ui.keys] {name}: {key} is given to {taken[parsed]} already")
            else:
                taken[parsed] = name
                good.append(key)
        if good or not text.strip():
            bindings[name] = tuple(good)
    for name, keys in bindings.items():
        bindings[name] = tuple(k for k in keys if taken.get(parse_key(k) or (), name) == name)
    return Keymap(bindings, tuple(warnings))


def parse_key(text: str) -> Keys | None:
    """ "ctrl-o" → ("c-o",), "alt-enter" → ("escape", "enter"). None: no key that can be bound."""
    parts = text.strip().lower().split("-")
    if text.endswith("-"):
        parts = [*parts[:-2], "-"]
    *modifiers, last = parts
    if len(set(modifiers)) != len(modifiers) or not set(modifiers) <= {"ctrl", "alt", "shift"}:
        return None
    key = _with_modifiers(last, ctrl="ctrl" in modifiers, shift="shift" in modifiers)
    if key is None or (not modifiers and len(last) == 1):
        return None  # a letter by itself is what is typed
    return ("escape", key) if "alt" in modifiers else (key,)


def _with_modifiers(last: str, *, ctrl: bool, shift: bool) -> str | None:
    named = _NAMED.get(last)
    if not ctrl and not shift:
        return named or (last if len(last) == 1 and last.isascii() and last.isprintable() else None)
    if shift and not ctrl and last in ("tab", "enter"):
        # Shift-Enter arrives as Ctrl-J (agentsh/ui/input/keycodes.py)
        return "s-tab" if last == "tab" else "c-j"
    prefix = ("c-" if ctrl else "") + ("s-" if shift else "")
    if named in _WITH_MODIFIERS:
        return prefix + named
    if ctrl and not shift and len(last) == 1 and (last in "\\]^_@" or "a" <= last <= "z"):
        return f"c-{last}"
    return None

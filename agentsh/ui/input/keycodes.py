"""Tokens of the terminal → keys of prompt_toolkit: every spelling of a key that is in use.

The spellings: xterm's (`CSI 1;5A`, `CSI 3~`), application mode (`SS3 A`, the keypad), rxvt's
(`CSI 3$`), the console's (`CSI [A`), modifyOtherKeys (`CSI 27;2;13~`), kitty's (`CSI 13;2u`, lock
keys, releases, its private codes). A key in another spelling is that key. Anything else (focus,
mouse, answers, keys that nobody knows) is no key: it gives nothing. Pure. Read next: keymap.py.
"""

from __future__ import annotations

import re

from prompt_toolkit.input.ansi_escape_sequences import ANSI_SEQUENCES
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.key_binding.key_processor import _Flush
from prompt_toolkit.keys import Keys

from agentsh.ui.input.sequences import (
    ControlSequence,
    LoneEscape,
    Pasted,
    Piece,
    TerminalString,
    Typed,
    WithAlt,
)

SHIFT, ALT, CONTROL = 1, 2, 4
_LOCKS = 64 | 128
_KITTY_RELEASED = "3"

_BY_LETTER = {
    "A": "up", "B": "down", "C": "right", "D": "left", "H": "home", "F": "end",
    "P": "f1", "Q": "f2", "R": "f3", "S": "f4", "Z": "tab",
}  # fmt: skip
_BY_NUMBER = {
    1: "home", 2: "insert", 3: "delete", 4: "end", 5: "pageup", 6: "pagedown", 7: "home", 8: "end",
    11: "f1", 12: "f2", 13: "f3", 14: "f4", 15: "f5", 17: "f6", 18: "f7", 19: "f8", 20: "f9",
    21: "f10", 23: "f11", 24: "f12", 25: "f13", 26: "f14", 28: "f15", 29: "f16", 31: "f17",
    32: "f18", 33: "f19", 34: "f20",
}  # fmt: skip
_CONSOLE = {"A": "f1", "B": "f2", "C": "f3", "D": "f4", "E": "f5"}
_RXVT = {"a": "up", "b": "down", "c": "right", "d": "left"}
_BY_CODE = {
    27: "escape", 13: "enter", 9: "tab", 127: "backspace", 8: "backspace", 57414: "enter",
    57417: "left", 57418: "right", 57419: "up", 57420: "down", 57421: "pageup", 57422: "pagedown",
    57423: "home", 57424: "end", 57425: "insert", 57426: "delete",
    **{57376 + n: f"f{13 + n}" for n in range(12)},
}  # fmt: skip
"""kitty's numbers, where they are no character."""
_KEYPAD = dict(zip(range(57399, 57414), "0123456789./*-+", strict=True)) | {57415: "=", 57416: ","}
_APPLICATION = dict(zip("jklmnopqrstuvwxyX ", "*+,-./0123456789= ", strict=True))
"""The keypad in application mode, after SS3."""
_ARROWS = ("up", "down", "left", "right", "home", "end", "insert", "delete", "pageup", "pagedown")
_ESCAPE = (KeyPress(Keys.Escape, "\x1b"), _Flush)
_CSI = re.compile(r"\x1b\[([0-9:;]*)([@-~$^])\Z")
_SS3 = re.compile(r"\x1bO([0-9;]*)([@-~ ])\Z")


def key_presses(token: Piece) -> list[KeyPress]:
    """The keys that a token is; none where it is no key."""
    match token:
        case Typed(text):
            return _character(text)
        case WithAlt("\t"):  # Shift-Tab of the console
            return [KeyPress(Keys.BackTab, "")]
        case WithAlt(text):
            return _with_alt(_character(text))
        case LoneEscape():
            # whatever comes next is a key of its own, not the rest of one with Alt
            return list(_ESCAPE)
        case ControlSequence(text, alt):
            keys = _csi(text) if text.startswith("\x1b[") else _ss3(text)
            return _with_alt(keys) if alt else keys
        case Pasted(text):
            return [KeyPress(Keys.BracketedPaste, _as_typed(text))]
        case TerminalString():
            return []


def _as_typed(text: str) -> str:
    """Bytes that were no UTF-8, as what stands for them: nothing later can trip over a half."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def _character(text: str) -> list[KeyPress]:
    if text < " " or text == "\x7f":
        key = ANSI_SEQUENCES.get(text)
        return [KeyPress(key, text)] if isinstance(key, Keys) else []
    if "\x80" <= text <= "\x9f":
        return []
    return [KeyPress(_as_typed(text), _as_typed(text))]


def _with_alt(keys: list[KeyPress]) -> list[KeyPress]:
    return [KeyPress(Keys.Escape, ""), *keys] if keys else []


def _csi(text: str) -> list[KeyPress]:
    if text.startswith("\x1b[["):
        return _named(_CONSOLE.get(text[3:]), 0)
    match = _CSI.match(text)
    if match is None:
        return []
    fields, final = [field.split(":") for field in match[1].split(";")], match[2]
    modifiers = _modifiers(fields[1]) if len(fields) > 1 else 0
    if fields[1:] == [["9"]] and final in "ABCD":
        modifiers = ALT  # as some terminals on a Mac have it
    if modifiers is None:
        return []
    if final == "u":
        return _coded(fields, modifiers)
    numbers = [_number(field[0]) for field in fields]
    if len(fields) > 2:
        is_other = final == "~" and numbers[0] == 27 and len(fields) == 3
        return _code(numbers[2], modifiers, None) if is_other else []
    if final in "~$^@":
        rxvt = {"~": 0, "$": SHIFT, "^": CONTROL, "@": SHIFT | CONTROL}[final]
        return _named(_BY_NUMBER.get(numbers[0]), modifiers | rxvt)
    return _lettered(final, fields, modifiers)


def _lettered(final: str, fields: list[list[str]], modifiers: int) -> list[KeyPress]:
    """A CSI that ends in a letter."""
    has_numbers = fields != [[""]]
    if final in _RXVT:
        return [] if has_numbers else _named(_RXVT[final], SHIFT)
    if final == "R" and has_numbers:
        return []  # where the cursor is
    if final == "Z":
        modifiers |= SHIFT
    elif len(fields) == 1 and has_numbers:
        # a number by itself is the modifiers, as older tmux has it
        return _named(_BY_LETTER.get(final), _modifiers(fields[0]))
    return _named(_BY_LETTER.get(final), modifiers)


def _ss3(text: str) -> list[KeyPress]:
    match = _SS3.match(text)
    if match is None:
        return []
    numbers, final = match[1].split(";"), match[2]
    modifiers = _modifiers([numbers[-1]]) if numbers[-1] else 0
    if final in _APPLICATION and not match[1]:
        return _character(_APPLICATION[final])
    if final == "M":
        return _named("enter", modifiers)
    if final == "I":
        return _named("tab", modifiers)
    if final in _RXVT:
        return _named(_RXVT[final], CONTROL)
    return _named(_BY_LETTER.get(final) if final != "Z" else None, modifiers)


def _coded(fields: list[list[str]], modifiers: int) -> list[KeyPress]:
    """kitty: `code:shifted:base ; modifiers:event ; text`."""
    code = _number(fields[0][0])
    shifted = _number(fields[0][1]) if len(fields[0]) > 1 else 0
    text = _number(fields[2][0]) if len(fields) > 2 else 0
    return _code(code, modifiers, shifted if modifiers & SHIFT and shifted else text or None)


def _code(code: int, modifiers: int, shown: int | None) -> list[KeyPress]:
    """The key of this code point; `shown` is what it types, where the terminal says so."""
    if code in _BY_CODE:
        return _named(_BY_CODE[code], modifiers)
    if code in _KEYPAD:
        code = ord(_KEYPAD[code])
    if not 32 <= code < 0x110000 or 0xD800 <= code <= 0xF8FF:
        return []  # kitty's private codes that are no key of ours: a lock, a modifier by itself
    text = chr(code)
    if modifiers & CONTROL:
        return _alt(_controlled(text.lower()), modifiers)
    if shown is not None and 32 <= shown < 0x110000:
        text = chr(shown)
    elif modifiers & SHIFT:
        text = text.upper() if len(text.upper()) == 1 else text
    return _alt(_character(text), modifiers)


def _controlled(text: str) -> list[KeyPress]:
    if text.isascii() and (text.isalpha() or text in "@[\\]^_"):
        return (
            _character(chr(ord(text.upper()) & 0x1F))
            if text != "["
            else [
                KeyPress(Keys.Escape, "\x1b"),
                _Flush,
            ]
        )
    special = {" ": "\x00", "-": "\x1f", "/": "\x1f", "?": "\x7f"}
    if text in special:
        return _character(special[text])
    return [KeyPress(Keys(f"c-{text}"), "")] if text in "0123456789" else []


def _named(name: str | None, modifiers: int | None) -> list[KeyPress]:
    """A key that has a name, with modifiers; none where either is missing."""
    if name is None or modifiers is None:
        return []
    others = modifiers & ~ALT
    control, shift = bool(others & CONTROL), bool(others & SHIFT)
    match name:
        case "escape":
            return list(_ESCAPE)
        case "enter":
            # what breaks the line everywhere: Ctrl-J
            return _alt(_character("\n" if others else "\r"), modifiers)
        case "tab":
            return _alt([KeyPress(Keys.BackTab, "")] if shift else _character("\t"), modifiers)
        case "backspace":
            # with Ctrl a word, as with Alt: Ctrl-W
            return _character("\x17") if control else _alt(_character("\x7f"), modifiers)
    if name in _ARROWS:
        prefix = ("c-" if control else "") + ("s-" if shift else "")
        return _alt([KeyPress(Keys(prefix + name), "")], modifiers)
    number = int(name[1:]) + (12 if shift else 0)
    if number > 24:
        return []
    return _alt([KeyPress(Keys(f"{'c-' if control else ''}f{number}"), "")], modifiers)


def _alt(keys: list[KeyPress], modifiers: int) -> list[KeyPress]:
    return _with_alt(keys) if modifiers & ALT else keys


def _modifiers(field: list[str]) -> int | None:
    """Of a sequence's field: a number that counts from 1. None: no key is pressed, or no such."""
    if len(field) > 1 and field[1] == _KITTY_RELEASED:
        return None
    bits = max(1, _number(field[0])) - 1 & ~_LOCKS
    return bits if bits < 8 else None


def _number(text: str) -> int:
    return int(text) if text.isdigit() and len(text) < 9 else 0

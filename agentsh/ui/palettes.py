"""The looks of agentsh's own themes, as tables. Values only; it stands alone to be read by itself.

The colours of PALETTES are among the 256 that all terminals show alike (cube and greys), so
that 24 bits and 8 bits look the same. Text has a ratio of at least 4.5 (WCAG 2, 1.4.3) on each
ground of its kind, 7 in `contrast`; a test reckons it, also on the tints of lines that differ. Of
the sixteen colours never bright yellow or white is used, blue only on light and cyan only on dark.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

ATTRIBUTES: Final = ("bold", "dim", "italic", "underline", "reverse", "strike")

_SIXTEEN: Final[Mapping[str, str]] = {
    "user": "bold",
    "tool": "bold",
    "quiet": "dim",
    "ok": "green",
    "error": "red",
    "warn": "magenta",
    "code": "cyan",
    "heading": "bold",
    "added": "green",
    "removed": "red",
    "added_word": "reverse",
    "removed_word": "reverse",
    "mark": "reverse",
    "keyword": "magenta",
    "string": "green",
    "comment": "dim italic",
    "number": "cyan",
    "name": "bold",
    "thought": "dim italic",
}
ANSI: Final[Mapping[str, Mapping[str, str]]] = {
    "dark": _SIXTEEN,
    "light": {**_SIXTEEN, "code": "blue", "number": "blue"},
}

_CONTRAST: Final[Mapping[str, str]] = {
    "user": "bold",
    "tool": "bold",
    "ok": "bold",
    "error": "bold reverse",
    "warn": "bold",
    "code": "bold",
    "heading": "bold",
    "added": "bold",
    "removed": "underline",
    "added_word": "reverse",
    "removed_word": "reverse",
    "mark": "reverse",
    "keyword": "bold",
    "comment": "italic",
    "thought": "italic",
}
BY_ATTRIBUTES: Final[Mapping[str, Mapping[str, str]]] = {
    "contrast": _CONTRAST,
    "none": {**_CONTRAST, "quiet": "dim", "error": "bold", "thought": "dim italic"},
}

PALETTES: Final[Mapping[str, Mapping[str, str]]] = {
    "dark": {
        "user": "bold #87afff",
        "tool": "bold",
        "quiet": "#a8a8a8",
        "ok": "#87d787",
        "error": "#ff8787",
        "warn": "#ffaf5f",
        "code": "#5fd7d7",
        "heading": "bold #87d7ff",
        "added": "#87d787",
        "removed": "#ff8787",
        "added_word": "reverse",
        "removed_word": "reverse",
        "mark": "reverse",
        "keyword": "#d7afff",
        "string": "#afd787",
        "comment": "italic #a8a8a8",
        "number": "#ffd787",
        "name": "#87d7ff",
        "thought": "italic #a8a8a8",
    },
    "light": {
        "user": "bold #005faf",
        "tool": "bold",
        "quiet": "#585858",
        "ok": "#005f00",
        "error": "#af0000",
        "warn": "#875f00",
        "code": "#005f87",
        "heading": "bold #005faf",
        "added": "#005f00",
        "removed": "#af0000",
        "added_word": "reverse",
        "removed_word": "reverse",
        "mark": "reverse",
        "keyword": "#8700af",
        "string": "#5f5f00",
        "comment": "italic #585858",
        "number": "#af005f",
        "name": "#005faf",
        "thought": "italic #585858",
    },
    "contrast dark": {
        "user": "bold #ffff87",
        "tool": "bold",
        "quiet": "#d0d0d0",
        "ok": "bold #87ff87",
        "error": "bold #ffafaf",
        "warn": "bold #ffd75f",
        "code": "#87ffff",
        "heading": "bold underline",
        "added": "bold #87ff87",
        "removed": "underline #ffafaf",
        "added_word": "reverse",
        "removed_word": "reverse",
        "mark": "reverse",
        "keyword": "bold #ffafff",
        "string": "#d7ffaf",
        "comment": "italic #d0d0d0",
        "number": "#ffd787",
        "name": "#afffff",
        "thought": "italic #d0d0d0",
    },
    "contrast light": {
        "user": "bold #00005f",
        "tool": "bold",
        "quiet": "#303030",
        "ok": "bold #005f00",
        "error": "bold #870000",
        "warn": "bold #5f0087",
        "code": "#00005f",
        "heading": "bold underline",
        "added": "bold #005f00",
        "removed": "underline #870000",
        "added_word": "reverse",
        "removed_word": "reverse",
        "mark": "reverse",
        "keyword": "bold #5f0087",
        "string": "#005f00",
        "comment": "italic #303030",
        "number": "#870000",
        "name": "#00005f",
        "thought": "italic #303030",
    },
}

TINTS: Final[Mapping[str, Mapping[str, str]]] = {
    "dark": {
        "added_line": "on #0f2a16",
        "removed_line": "on #3a1518",
        "added_word": "bold on #143f1d",
        "removed_word": "bold on #641f24",
    },
    "light": {
        "added_line": "on #e2f6e4",
        "removed_line": "on #fdeaea",
        "added_word": "bold on #bdebc4",
        "removed_word": "bold on #ffd6d6",
    },
    "contrast dark": {},
    "contrast light": {},
}

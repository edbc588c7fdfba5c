"""Foreign text → safe text: what a model, a tool, a file or a session says is data (X01, H10).

After `safe_text` a string holds no control character but newline and tab, no escape sequence, no
bidi control, no lone surrogate. Whole escape sequences (colours of a tool's output above all) are
dropped; a control character that stands by itself is shown as its picture (␛, ␇), so that nothing
vanishes without a trace. What writing systems put between letters and nobody sees (zero-width
spaces, marks of direction, the tags of a flag) is dropped from running text, and shown where a
person agrees to something. Markup is not its matter: nobody here parses markup out of text.
Read next: ui/terminal.py.
"""

from __future__ import annotations

import re

# patterns as texts: `re` compiles each at its first use and keeps it; to compile these five takes
# longer than to list 3,000 sessions, which need none of them
_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
# what must not pass: C0 but \n and \t, DEL, C1, line separators, bidi controls, lone surrogates,
# invisible joiners that are no part of any script, tag characters
_UNSAFE = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200b\u2060\ufeff"
    + _BIDI
    + "\ud800-\udfff\U000e0000-\U000e007f]"
)
_SEQUENCE = (
    "\x1b\\[[0-?]*[ -/]*[@-~]"  # CSI
    "|\x1b\\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\\\)"  # OSC
    "|\x1b[PX^_][^\x1b]{0,4096}\x1b\\\\"  # DCS, SOS, PM, APC
    "|\x1b[ -/]+[0-~]"  # character sets
    "|\x1b[0-Zc-~=>]"  # two characters
)
# what Khmer, Thai, Hebrew or Arabic text has between its letters, and a flag behind its emoji
_UNSEEN = (
    "[\u200b\u200e\u200f\u061c\u2060\ufeff]|(?<=\U0001f3f4)[\U000e0020-\U000e007e]{1,16}\U000e007f"
)
# what may be the beginning of a sequence, of CRLF or of a flag, at the end of a chunk
_PENDING = (
    "(?:\r|\x1b(?:\\[[0-?]{0,64}[ -/]{0,8}|[ -/]{0,4})?|\U0001f3f4[\U000e0020-\U000e007e]{0,16})$"
)
_VISIBLE_TOO = "[\u200c\u200d\u00ad\u00a0\u1680\u180e\u2000-\u200a\u202f\u205f\u3000]"


def safe_text(text: str) -> str:
    """The text without anything that a terminal would obey. Pure; quick on clean text."""
    if re.search(_UNSAFE, text) is None:
        return text
    if "\x1b" in text:
        text = re.sub(_SEQUENCE, "", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    return re.sub(_UNSAFE, _shown, re.sub(_UNSEEN, "", text))


def safe_line(text: str, limit: int | None = None) -> str:
    """One line: as `safe_text`, line ends and tabs become blanks; cut to `limit` characters."""
    # what is printable is safe (a test goes through all characters), and its only blank is a space
    head = text if limit is None else text[: limit + 1]
    if head.isprintable() and "  " not in head and head == head.strip(" "):
        return head if limit is None or len(head) <= limit else head[: max(1, limit - 1)] + "…"
    if limit is not None and len(text) > 8 * limit:
        text = text[: 8 * limit]
    line = " ".join(safe_text(text).split())
    if limit is not None and len(line) > limit:
        return line[: max(1, limit - 1)] + "…"
    return line


def exact_text(text: str) -> str:
    """Everything made visible, for what a person agrees to: nothing is dropped or hidden."""
    shown = re.sub(_UNSAFE, _shown, text)
    return re.sub(_VISIBLE_TOO, _code_point, shown)


def first_line(text: str, limit: int = 200) -> str:
    """The first line that says something, safe and cut."""
    for line in text[: 16 * limit].split("\n"):
        if line.strip():
            return safe_line(line, limit)
    return ""


class SafeStream:
    """`safe_text` over chunks: what may be half a sequence waits for the next chunk."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, chunk: str) -> str:
        text = self._held + chunk
        self._held = ""
        pending = None
        if text.endswith("\r") or "\x1b" in text[-80:] or "\U0001f3f4" in text[-20:]:
            pending = re.compile(_PENDING).search(text, max(0, len(text) - 80))
        if pending is not None:
            self._held = pending.group()
            text = text[: pending.start()]
        return safe_text(text)

    def flush(self) -> str:
        """What was held back, shown."""
        held, self._held = self._held, ""
        return safe_text(held)


def _shown(match: re.Match[str]) -> str:
    char = match.group()
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0x80 <= code <= 0x9F or 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return _code_point(match)


def _code_point(match: re.Match[str]) -> str:
    return f"<U+{ord(match.group()):04X}>"

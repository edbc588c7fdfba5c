"""Make what a program printed harmless as text: no escape sequences, no control characters. Pure.

Complete terminal sequences (colours, cursor, titles, clipboard, links) are dropped; every other
control character becomes its picture (ESC as U+241B) so that nothing disappears unseen. A carriage
return ends a line, whether a line feed follows or not: progress bars become lines, nothing is lost.
"""

from __future__ import annotations

import re

# CSI; then the string sequences OSC, DCS, SOS, PM, APC up to their end; then short ones (charset …)
_SEQUENCES = re.compile(
    r"\x1b\[[0-?]{0,64}[ -/]{0,8}[@-~]"
    r"|\x1b[\]PX^_][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)"
    r"|\x1b[ -/]{1,4}[0-~]"
    r"|\x1b[=>78cDEHMNOZ]"
)
_RETURNS = re.compile(r"\r+\n|\r")
_PICTURES = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"},
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
    **dict.fromkeys(range(0xD800, 0xE000), 0xFFFD),
}


def harmless(text: str) -> str:
    """The text with nothing in it that a terminal would obey."""
    if "\x1b" in text:
        text = _SEQUENCES.sub("", text)
    return _RETURNS.sub("\n", text).translate(_PICTURES)

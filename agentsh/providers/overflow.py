"""Whether a refusal means that the prompt does not fit, and what window its words name. Pure.

By code first, then by wording, since each server words it differently (S33); a limit on tokens a
minute is none. The patterns are broad on purpose: taking a refusal for an overflow costs one
compaction, missing one ends the turn. The user may add a pattern of their own.
"""

from __future__ import annotations

import re
from typing import Final

_OVERFLOW_CODES: Final = frozenset(
    (
        "context_length_exceeded",
        "exceed_context_size_error",
        "context_window_exceeded",
        "model_context_window_exceeded",
        "string_above_max_length",
        "prompt_too_long",
    )
)
_OVERFLOW: Final = (
    r"context[ _](?:length|window|size|limit)[^.]{0,60}(?:exceed|too|over|larger|longer)"
    r"|(?:exceed|larger|longer|over|too (?:long|large|big)|beyond|greater)[^.]{0,80}"
    r"(?:context|maximum (?:prompt|input|model)|max(?:imum)?[_ ]model[_ ]len|n_ctx)"
    r"|maximum context length|max(?:imum)? context|(?:prompt|input|request|conversation)"
    r"(?: is| was)? too (?:long|large|many tokens)"
    r"|too many (?:input |prompt )?tokens|reduce the length of the (?:messages|prompt|input)"
    r"|input token count[^.]{0,60}exceeds|maximum (?:prompt|input|allowed) (?:length|tokens)"
    r"|input (?:length|tokens?)[^.]{0,60}exceed|token (?:count|limit)[^.]{0,60}exceed"
    r"|available context size|greater than the (?:context|available)|cannot fit"
    r"|exceeds? the limit of \d+"
)
_RATE_NOT_SIZE: Final = r"rate.?limit|per (?:min|day|hour|sec)|\btpm\b|\brpm\b"
_WINDOW: Final = (
    r"(?:context|model(?:'s)?)[^.\d]{0,60}?\(?(\d[\d,_]{2,})(?: tokens?)?\)?",
    r"n_ctx\D{0,8}(\d{3,})",
)


def is_overflow(words: str, codes: frozenset[str], own: re.Pattern[str] | None) -> bool:
    """`codes` in lower case; `own` is the user's pattern."""
    if codes & _OVERFLOW_CODES or (own is not None and own.search(words)):
        return True
    if re.search(_OVERFLOW, words, re.IGNORECASE) is None:
        return False
    return re.search(_RATE_NOT_SIZE, words, re.IGNORECASE) is None


def window_named(words: str) -> int | None:
    """The model's window, where the words tell it: the smallest number that can be one."""
    found: list[int] = []
    for pattern in _WINDOW:
        for match in re.finditer(pattern, words, re.IGNORECASE):
            number = int(match[1].replace(",", "").replace("_", ""))
            if 512 <= number <= 100_000_000:
                found.append(number)
    return min(found) if found else None

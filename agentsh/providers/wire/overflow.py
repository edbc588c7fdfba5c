"""What a refusal is about: the prompt's length, the answer's limit, pictures, or else. Pure.

A decision over evidence, since no list of phrases is ever whole (S33). Looked at, in this order:
the status, the user's own pattern, a code, the field that is named, the numbers in the words held
against what was sent, and only then a few words.
  Pictures were sent, and the words are about them   fewer or smaller ones (imagelimits.py)
  A limit below what was sent, in any language       the prompt does not fit: fold once, try once
  The prompt fits, but not with the answer's limit   ask for less (`Room`), never fold
  A rate, a day's quota, another field or unit       neither
Numbers that carry a unit of something else (bytes, tools, pixels) are no evidence. Read next:
failures.py, which makes the error; agent/turn/requester.py, which folds or asks for less.
"""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from agentsh.providers.wire.failures import Sent
from agentsh.providers.wire.imagelimits import picture_limits

Subject: TypeAlias = Literal["prompt", "answer", "images", "other"]

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
# words for a refusal that names no number; patterns are compiled when something was refused
_TOO_LONG: Final = (
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
_RATE: Final = (
    r"rate.?limit|\b(?:per|an?|each|this|within an?) (?:min|hour|day|week|month|sec)"
    r"|\b[tr]p[md]\b|quota|credits?\b|balance|concurren|daily|monthly"
)
# what a prompt is made of; stems of many languages, since the numbers decide and not the words
_OF_THE_PROMPT: Final = (
    r"token|jeton|prompt|input|messages?\b|context|kontext|contexte?o?\b|eingabe|entrada|entrée"
    r"|mensaje|nachricht|anfrage|conversation|sequence|токен|контекст|запрос|输入|上下文|提示|消息"
    r"|長さ|トークン|コンテキスト|토큰|컨텍스트|입력"
)
_ANSWER_FIELD: Final = r"\bmax_?(?:completion_?|output_?|new_?)?tokens\b|\bnum_predict\b"
_ANSWER_WORDS: Final = r"completion|output|response length|generat"
_PROMPT_WORDS: Final = r"prompt|input|messages|context|in total"
_PROMPT_FIELDS: Final = frozenset(("messages", "message", "input", "prompt", "contents", "body"))
_NUMBER: Final = r"(?<![\w.])(\d{1,3}(?:[,._'\u00a0\u202f ]\d{3})+|\d+)(?:\s?([kK])\b)?(?![.,]?\d)"
_OTHER_UNIT: Final = (
    r"\s*-?(?:bytes?|octets?|[kmg]i?b\b|tools?|functions?|pixels?|px\b|images?|files?|messages?\b"
    r"|seconds?|ms\b|minutes?|%)"
)
_CONTEXT_OF: Final = (
    r"(?:context|model(?:'s)?)[^.\d]{0,60}?\(?(\d[\d,_]{2,})(?: tokens?)?\)?",
    r"n_ctx\D{0,8}(\d{3,})",
)
_SMALLEST: Final = 256
"""Tokens; a smaller number is no limit that anybody has on a prompt."""
_LARGEST: Final = 100_000_000
_LITTLE_ROOM: Final = 1000
"""Tokens left for an answer below which the prompt is what is too long."""
_NEAR: Final = 0.4
"""How far a count of tokens may be from our own estimate of the same text."""


class Refusal(Struct, frozen=True):
    """What the server said when it refused: its words, codes in small letters, fields it named."""

    words: str
    codes: frozenset[str]
    fields: tuple[str, ...] = ()
    status: int | None = None


class Judgement(Struct, frozen=True):
    """`window`: the model's, where it was named. `room`: what the answer may take instead.

    `limits`: bounds on pictures to try in turn, by the names of their fields in Shape.
    """

    subject: Subject
    window: int | None = None
    room: int | None = None
    limits: tuple[tuple[str, int], ...] = ()


_OTHER: Final = Judgement("other")


def judge(refused: Refusal, sent: Sent | None, own: re.Pattern[str] | None) -> Judgement:
    """`own` is the user's pattern; `sent` None where nothing is known of the request."""
    text, evidence = refused.words, sent or Sent()
    if refused.status in (401, 402, 403, 429):
        return _OTHER
    if own is not None and own.search(text):
        return Judgement("prompt", window_named(text))
    part = _about_pictures(refused, evidence) or _about_answer(refused, evidence)
    if part is not None:
        return part
    if refused.codes & _OVERFLOW_CODES:
        return Judgement("prompt", window_named(text) or _limit_beside(text, evidence))
    is_elsewhere = bool(refused.fields) and not _PROMPT_FIELDS & set(refused.fields)
    if is_elsewhere or _says(_RATE, text):
        return _OTHER
    if (limit := _limit_beside(text, evidence)) is not None:
        return Judgement("prompt", window_named(text) or limit)
    if _says(_TOO_LONG, text):
        return Judgement("prompt", window_named(text))
    return _by_one_number(refused, evidence)


def _about_pictures(refused: Refusal, sent: Sent) -> Judgement | None:
    if not sent.pictures or refused.codes & _OVERFLOW_CODES:
        return None
    text = " ".join((*refused.fields, refused.words))
    limits = picture_limits(text, refused.status, sent.characters, sent.pictures)
    return Judgement("images", limits=limits) if limits else None


def window_named(text: str) -> int | None:
    """The model's window, where the words tell it: the smallest number that can be one."""
    windows: list[int] = []
    for pattern in _CONTEXT_OF:
        for match in re.finditer(pattern, text, re.IGNORECASE):
            number = int(match[1].replace(",", "").replace("_", ""))
            if 512 <= number <= _LARGEST:
                windows.append(number)
    return min(windows) if windows else None


def counts(text: str) -> list[int]:
    """The numbers that may count tokens, in their order; "32,768", "32.768" and "32k" are some."""
    numbers: list[int] = []
    for match in re.finditer(_NUMBER, text):
        if re.match(_OTHER_UNIT, text[match.end() :], re.IGNORECASE):
            continue
        number = int(re.sub(r"\D", "", match[1])[:12]) * (1000 if match[2] else 1)
        if _SMALLEST <= number <= _LARGEST:
            numbers.append(number)
    return numbers


def _says(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None


def _nearest(numbers: list[int], size: int) -> int | None:
    """The number that counts what was sent, if one can."""
    near = [n for n in numbers if abs(n - size) <= size * _NEAR]
    return min(near, key=lambda n: abs(n - size), default=None)


def _limit_beside(text: str, sent: Sent) -> int | None:
    """A limit beside a larger number that counts what we sent."""
    numbers = counts(text)
    for size in (sent.tokens, sent.characters):
        counted = [n for n in numbers if size and abs(n - size) <= size * _NEAR]
        if (smaller := [n for n in numbers if n < max(counted, default=0)]) and len(numbers) > 1:
            limit = max(smaller)
            return limit if size == sent.tokens else max(_SMALLEST, limit // 4)
    return None


def _by_one_number(refused: Refusal, sent: Sent) -> Judgement:
    """A single limit, below our own estimate, in words about what a prompt is made of."""
    if refused.status == 413:
        is_picture = _says(r"image|picture|pixel|\bfile\b", refused.words)
        return _OTHER if is_picture else Judgement("prompt")
    text = refused.words
    about = _says(_OF_THE_PROMPT, " ".join((text, *refused.fields)))
    if refused.status not in (400, 422, None) or not about or _says(_ANSWER_FIELD, text):
        return _OTHER
    numbers = counts(text)
    if not numbers or max(numbers) > sent.tokens * (1 + _NEAR):
        return _OTHER
    return Judgement("prompt", max(numbers))


# ---- the limit of the answer -----------------------------------------------------------------


def _about_answer(refused: Refusal, sent: Sent) -> Judgement | None:
    """None where the words are not about the limit of the answer, or the prompt is too long."""
    text = " ".join((*refused.fields, refused.words))
    is_field = _says(_ANSWER_FIELD, text)
    is_ours = sent.answer is not None and sent.answer in counts(refused.words)
    if not is_field and not is_ours and not (_says(_ANSWER_WORDS, text) and sent.tokens):
        return None
    numbers = [n for n in counts(refused.words) if n != sent.answer]
    smaller = [n for n in numbers if sent.answer is not None and n < sent.answer]
    is_elsewhere = not is_field and (not is_ours or bool(_PROMPT_FIELDS & set(refused.fields)))
    if not is_elsewhere and not _says(_PROMPT_WORDS, refused.words) and (is_field or smaller):
        return Judgement("answer", room=max(smaller)) if smaller else _OTHER
    prompt, window = _prompt_and_window(numbers, sent)
    if prompt is not None and window is not None:
        room = window - prompt
        if room < _LITTLE_ROOM and (sent.answer is None or room < sent.answer // 2):
            # whatever the answer may take, the prompt leaves no room for it
            return Judgement("prompt", window) if room >= 0 else None
        if sent.answer is None or room < sent.answer:
            # an eighth less, so that the next steps fit as well
            return Judgement("answer", room=room - room // 8)
    if is_field and not refused.codes & _OVERFLOW_CODES and not _says(_TOO_LONG, refused.words):
        return _OTHER
    return None


def _prompt_and_window(numbers: list[int], sent: Sent) -> tuple[int | None, int | None]:
    """What the server counted of the prompt, and its window; a sum of both parts is neither."""
    prompt = _nearest(numbers, sent.tokens)
    if prompt is None:
        return None, None
    both = {prompt + n for n in (*numbers, sent.answer or 0) if n}
    windows = [n for n in numbers if n > prompt and n not in both - {prompt}]
    return prompt, min(windows, default=None) or next((n for n in numbers if n < prompt), None)

"""What an endpoint said when it failed → the error tree, with its own words. Pure.

Status codes, error objects in streams and bodies of any shape all become one ProviderError. Words
are bounded, and stripped of markup, control codes and the key (N05, E09, E10). What is explained
where is explanation.py's; what a refusal is about, held against what was sent, overflow.py's.
Exceptions of the HTTP library are wire.py's; whether to repeat is retry.py's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from agentsh.errors import (
    AnswerLimitError,
    AuthenticationError,
    ContextOverflowError,
    ImageLimitError,
    ProviderError,
    ProviderTimeoutError,
    RateLimitedError,
    RequestRejectedError,
    ServerFailedError,
)
from agentsh.jsontext import JsonValue, clean
from agentsh.providers.wire.retry import LONGEST_NAMED_WAIT
from agentsh.providers.wire.waits import read_retry_after, spoken

if TYPE_CHECKING:
    from agentsh.providers.wire.explanation import Said
    from agentsh.providers.wire.overflow import Judgement

_MOST_WORDS: Final = 600
# strings, which `re` compiles when something has failed, and not at the start of each run
_CONTROL: Final = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]+"
_KEYS: Final = (
    r"\b(?:sk|pk|rk|gsk|xai|key|hf|nvapi)[-_][A-Za-z0-9_\-]{16,}|\bAIza[0-9A-Za-z_\-]{30,}"
    r"|(?i:\bbearer\s+)[A-Za-z0-9._~+/\-]{12,}=*"
)

_QUOTA_CODES: Final = frozenset(
    ("insufficient_quota", "billing_hard_limit_reached", "insufficient_balance")
)
_FINAL_5XX: Final = frozenset((501, 505))
_NAMES: Final = {
    400: "Bad Request",
    401: "Unauthorized",
    402: "Payment Required",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    408: "Request Timeout",
    413: "Content Too Large",
    422: "Unprocessable Content",
    429: "Too Many Requests",
    500: "Internal Server Error",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
    529: "Overloaded",
}


class Sent(Struct, frozen=True):
    """What the refused request held: estimated tokens and characters, and the answer's limit.

    `pictures` are the sizes of its pictures in characters of base64, not in `characters`.
    """

    tokens: int = 0
    characters: int = 0
    answer: int | None = None
    pictures: tuple[int, ...] = ()


class ErrorSource(Struct, frozen=True):
    """Whose words these are, what must never be shown of them, what overflow looks like."""

    endpoint: str
    secrets: tuple[str, ...] = ()
    """Never shown in an error."""
    overflow: re.Pattern[str] | None = None
    keys: tuple[str, ...] = ()
    """Never stored, also where an answer repeats them (masking.py)."""
    sent: Sent | None = None
    """What the request held that this is the answer to."""
    key_hint: str = ""
    """Where the key came from, or would, in words: for a refusal of it."""

    def scrub(self, text: str) -> str:
        """One bounded line of plain text, without the key."""
        for secret in self.secrets:
            if len(secret) >= 4:
                text = text.replace(secret, "[key]")
        text = re.sub(_KEYS, "[key]", clean(text))
        text = " ".join(re.sub(_CONTROL, " ", text).split())
        return text if len(text) <= _MOST_WORDS else text[: _MOST_WORDS - 1] + "…"


def error_source(
    endpoint: str,
    keys: tuple[str, ...],
    headers: Mapping[str, str],
    overflow: re.Pattern[str] | None,
    key_hint: str = "",
) -> ErrorSource:
    """Of an endpoint that is asked with these keys (those in headers too) and headers."""
    secrets = tuple(s for s in (*keys, *headers.values()) if s)
    own = _certain_keys(keys)
    return ErrorSource(endpoint, _secret(secrets), overflow, own, key_hint=key_hint)


def _secret(values: tuple[str, ...]) -> tuple[str, ...]:
    """What must not be shown: keys, and header values that are long enough to be one."""
    return tuple(v for v in values if len(v) >= 8)


def _certain_keys(values: tuple[str, ...]) -> tuple[str, ...]:
    """Those that are no word: "ollama" or "not-needed" is what many give where none is asked."""
    keys = {v for v in values if len(v) >= 16 and (len(v) >= 32 or any(map(str.isdigit, v)))}
    return tuple(sorted(keys, key=len, reverse=True))


# ---- errors ----------------------------------------------------------------------------------


def error_of_status(
    source: ErrorSource, status: int, headers: Mapping[str, str], body: bytes, *, now: float
) -> ProviderError:
    """The error for an HTTP answer that is no success."""
    from agentsh.providers.wire.explanation import Said, read_body

    said = read_body(source.scrub, body, now=now)
    name = _NAMES.get(status, "")
    head = f"{source.endpoint}: HTTP {status}{' ' + name if name else ''}"
    if 300 <= status < 400:
        where = source.scrub(headers.get("location", "another place"))
        said = Said(f"redirected to {where}; not followed, since the key would go there too")
    message = f"{head}: {said.words}" if said.words else f"{head} (no explanation)"
    in_headers = read_retry_after(headers, now=now)
    wait = said.wait if in_headers is None else in_headers
    return _error(source, said, status, message, wait)


def error_in_stream(source: ErrorSource, value: JsonValue, *, now: float = 0.0) -> ProviderError:
    """The error for an error object inside a stream, or in place of one (E07, E08)."""
    from agentsh.providers.wire.explanation import read_error

    said = read_error(source.scrub, value, now=now)
    reason = said.words or "an answer that is no chat completion"
    return _error(source, said, said.status, f"{source.endpoint}: {reason}", said.wait)


def stopped_by_fault(source: ErrorSource, reason: str) -> ProviderError:
    """The error for an answer whose finish reason is none of the ends that are known."""
    shown = source.scrub(reason)[:200]
    return ServerFailedError(
        f"{source.endpoint}: the server ended the answer with {shown!r}, which is no end of a"
        " whole answer",
        endpoint=source.endpoint,
        words=shown,
        code=shown,
    )


def refusal_by_filter(source: ErrorSource, reason: str) -> ProviderError:
    return RequestRejectedError(
        f"{source.endpoint}: the server's content filter ended the answer ({reason})",
        endpoint=source.endpoint,
        code=reason,
    )


def _error(
    source: ErrorSource, said: Said, status: int | None, message: str, wait: float | None
) -> ProviderError:
    from agentsh.providers.wire.overflow import Refusal, judge

    refused = Refusal(said.words, said.codes, said.fields, status)
    verdict = judge(refused, source.sent, source.overflow)
    kind = _kind(verdict, said, status)
    if wait is not None and wait > LONGEST_NAMED_WAIT:
        message += f" (it asks to wait: try again in {spoken(wait)})"
    error = kind(
        message,
        endpoint=source.endpoint,
        status=status,
        words=said.words,
        code=said.code or said.kind or None,
        retry_after=wait,
        retryable=False if said.codes & _QUOTA_CODES else None,
    )
    if status in _FINAL_5XX:
        error.retryable = False
    error.window = verdict.window
    if isinstance(error, AnswerLimitError):
        error.room = verdict.room
        error.hint = f"--max-tokens {verdict.room} (or max_tokens in the settings) asks for less."
    if isinstance(error, ImageLimitError):
        error.limits = verdict.limits
        error.hint = (
            "A place before the pictures (tree, checkout), or a compaction, is without them."
        )
    if status == 401:
        error.hint = source.key_hint or None
    return error


def _kind(verdict: Judgement, said: Said, status: int | None) -> type[ProviderError]:
    if status in (401, 403):
        return AuthenticationError
    if verdict.subject == "prompt":
        return ContextOverflowError
    if verdict.subject == "answer":
        return AnswerLimitError
    if verdict.subject == "images":
        return ImageLimitError
    if status is None:
        return next(_kinds_by_code(said.codes), ServerFailedError)
    if status == 429:
        return RateLimitedError
    if status in (408, 425):
        return ProviderTimeoutError
    return ServerFailedError if status >= 500 else RequestRejectedError


def _kinds_by_code(codes: frozenset[str]) -> Iterator[type[ProviderError]]:
    for code in codes:
        if "rate_limit" in code or code in _QUOTA_CODES or "quota" in code or "too_many" in code:
            yield RateLimitedError
        elif "auth" in code or "permission" in code or "api_key" in code:
            yield AuthenticationError
        elif "invalid" in code or "not_found" in code or "unsupported" in code:
            yield RequestRejectedError

"""What an endpoint said when it failed → the error tree, with its own words. Pure.

Status codes, error objects in streams and bodies of any shape (a dict, a list, a string, HTML,
plain text) all become one ProviderError. Words are bounded, and stripped of markup, control codes
and the key (N05, E09, E10). Overflow is known by code first, then by wording, since each server
words it differently (S33). Exceptions of the HTTP library are wire.py's; whether to repeat is
retry.py's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from agentsh.errors import (
    AuthenticationError,
    ContextOverflowError,
    ProviderError,
    ProviderTimeoutError,
    RateLimitedError,
    RequestRejectedError,
    ServerFailedError,
)
from agentsh.jsontext import JsonError, JsonObject, JsonValue, clean, loads
from agentsh.providers.htmltext import is_html, text_of_html
from agentsh.providers.overflow import is_overflow, window_named
from agentsh.providers.retry import read_retry_after

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


class Source(Struct, frozen=True):
    """Whose words these are, what must never be shown of them, what overflow looks like."""

    endpoint: str
    secrets: tuple[str, ...] = ()
    overflow: re.Pattern[str] | None = None

    def scrub(self, text: str) -> str:
        """One bounded line of plain text, without the key."""
        for secret in self.secrets:
            if len(secret) >= 4:
                text = text.replace(secret, "[key]")
        text = re.sub(_KEYS, "[key]", clean(text))
        text = " ".join(re.sub(_CONTROL, " ", text).split())
        return text if len(text) <= _MOST_WORDS else text[: _MOST_WORDS - 1] + "…"


class Said(Struct, frozen=True):
    """What was made out of a body."""

    words: str = ""
    code: str = ""
    kind: str = ""
    param: str = ""

    @property
    def codes(self) -> frozenset[str]:
        return frozenset((self.code.lower(), self.kind.lower()))

    @property
    def status(self) -> int | None:
        is_status = len(self.code) == 3 and self.code.isdecimal() and 400 <= int(self.code) < 600
        return int(self.code) if is_status else None


def read_body(source: Source, body: bytes) -> Said:
    """The words of a body of any shape."""
    text = body.decode("utf-8", "replace").strip()
    if not text:
        return Said()
    if is_html(text):
        return Said(source.scrub(text_of_html(text)))
    try:
        value = loads(text)
    except JsonError:
        return Said(source.scrub(text))
    return read_error(source, value)


def read_error(source: Source, value: JsonValue) -> Said:
    """The words of an error value: the first message found, codes from the same object."""
    match value:
        case str():
            return Said(source.scrub(text_of_html(value) if is_html(value) else value))
        case dict():
            for name in ("error", "errors", "detail", "errorMessage", "error_description"):
                if inner := value.get(name):
                    found = read_error(source, inner)
                    if found.words:
                        return _with_codes(found, value)
            words = next(
                (w for n in ("message", "msg", "title", "reason") if (w := _words(value.get(n)))),
                "",
            )
            return _with_codes(Said(source.scrub(words)), value)
        case list():
            kept = [f for item in value[:5] if (f := read_error(source, item)).words]
            if not kept:
                return Said()
            first = kept[0]
            return Said("; ".join(f.words for f in kept), first.code, first.kind, first.param)
        case _:
            return Said()


def _words(value: JsonValue) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):  # {"message": {"detail": …}}
        return next((v for v in value.values() if isinstance(v, str)), "")
    return ""


def _with_codes(said: Said, value: JsonObject) -> Said:
    def text(*names: str) -> str:
        for name in names:
            found = value.get(name)
            if isinstance(found, str | int) and not isinstance(found, bool) and found != "":
                return str(found)[:100]
        return ""

    return Said(
        said.words,
        said.code or text("code", "status_code"),
        said.kind or text("type", "status"),
        said.param or text("param"),
    )


# ---- errors ----------------------------------------------------------------------------------


def error_of_status(
    source: Source, status: int, headers: Mapping[str, str], body: bytes, *, now: float
) -> ProviderError:
    """The error for an HTTP answer that is no success."""
    said = read_body(source, body)
    name = _NAMES.get(status, "")
    head = f"{source.endpoint}: HTTP {status}{' ' + name if name else ''}"
    if 300 <= status < 400:
        where = source.scrub(headers.get("location", "another place"))
        said = Said(f"redirected to {where}; not followed, since the key would go there too")
    message = f"{head}: {said.words}" if said.words else f"{head} (no explanation)"
    return _error(source, said, status, message, read_retry_after(headers, now=now))


def error_in_stream(source: Source, value: JsonValue) -> ProviderError:
    """The error for an error object inside a stream, or in place of one (E07, E08)."""
    said = read_error(source, value)
    words = said.words or "an answer that is no chat completion"
    return _error(source, said, said.status, f"{source.endpoint}: {words}", None)


def refusal_by_filter(source: Source, reason: str) -> ProviderError:
    return RequestRejectedError(
        f"{source.endpoint}: the server's content filter ended the answer ({reason})",
        endpoint=source.endpoint,
        code=reason,
    )


def _error(
    source: Source, said: Said, status: int | None, message: str, wait: float | None
) -> ProviderError:
    kind = _kind(source, said, status)
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
    if isinstance(error, ContextOverflowError):
        error.window = window_named(said.words)
    if status == 401:
        error.hint = "Is the key right? OPENAI_API_KEY, or api_key_env of the settings, gives it."
    return error


def _kind(source: Source, said: Said, status: int | None) -> type[ProviderError]:
    if status in (401, 403):
        return AuthenticationError
    if status == 413 or (status != 429 and is_overflow(said.words, said.codes, source.overflow)):
        return ContextOverflowError
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

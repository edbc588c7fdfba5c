"""Token figures: every spelling that servers use → Usage. Pure.

`input` leaves cached tokens out, `reasoning` is a part of `output`, whatever the server adds up.
All zeros are no measurement (S32): None, as if nothing had been said. Prices: catalog.py.
"""

from __future__ import annotations

from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import Usage


def _count(value: JsonValue) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return max(0, int(value))


def _first(source: JsonObject, *names: str) -> int:
    """The first of these members that is a positive number."""
    for name in names:
        if number := _count(source.get(name)):
            return number
    return 0


def _inner(source: JsonObject, *names: str) -> JsonObject:
    for name in names:
        if isinstance(value := source.get(name), dict):
            return value
    return {}


def read_usage(value: JsonValue) -> Usage | None:
    """Usage of a chat completion or a response object; None when it measures nothing."""
    if not isinstance(value, dict):
        return None
    prompt = _first(value, "prompt_tokens", "input_tokens")
    output = _first(value, "completion_tokens", "output_tokens")
    total = _first(value, "total_tokens")
    if not (prompt or output or total):
        return None
    details = _inner(value, "prompt_tokens_details", "input_tokens_details")
    cached = _first(details, "cached_tokens") or _first(
        value, "prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens"
    )
    written = _first(details, "cache_write_tokens", "cache_creation_tokens")
    spent = _inner(value, "completion_tokens_details", "output_tokens_details")
    reasoning = _first(spent, "reasoning_tokens") or _first(value, "reasoning_tokens")
    if reasoning and total == prompt + output + reasoning:
        output += reasoning  # some servers leave the reasoning out of the completion's figure
    reasoning = min(reasoning, output)
    cached = min(cached, prompt)
    written = min(written, prompt - cached)
    return Usage(
        input=prompt - cached - written,
        output=output,
        cache_read=cached,
        cache_write=written,
        total_tokens=total or prompt + output,
        reasoning=reasoning,
    )

"""Token figures: every spelling that servers use → Usage. Pure.

`input` leaves cached tokens out, `reasoning` is a part of `output`, whatever the server adds up.
All zeros are no measurement (S32): None, as if nothing had been said. What the server says that it
charged is the cost (E45); prices: catalog.py.
"""

from __future__ import annotations

from typing import Final

from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import Cost, Usage

_TICKS: Final = 10_000_000_000
"""Of xAI's, in a dollar."""
_MOST: Final = 1_000_000.0
"""Dollars that one answer may cost."""


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


def _dollars(value: JsonValue) -> float:
    """Zero where it is no sum that can be charged."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST:
        return 0.0
    return float(value)


def _charged(usage: JsonObject) -> float:
    """What the server says that this answer cost: OpenRouter, Perplexity, xAI."""
    ticks = usage.get("cost_in_usd_ticks")
    if isinstance(ticks, int) and 0 < ticks <= _MOST * _TICKS:
        return ticks / _TICKS
    said = usage.get("cost")
    if isinstance(said, dict):
        return _dollars(said.get("total_cost"))
    cost = _dollars(said)
    if usage.get("is_byok") is True:  # the maker charges the key's owner beside that
        cost += _dollars(_inner(usage, "cost_details").get("upstream_inference_cost"))
    return cost


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
        cost=Cost(total=_charged(value)),
    )

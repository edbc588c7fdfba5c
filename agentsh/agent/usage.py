"""Sums of tokens and cost. Pure. Read next: providers/catalog.py for prices."""

from __future__ import annotations

from agentsh.messages import Cost, Usage


def added(a: Usage, b: Usage) -> Usage:
    return Usage(
        a.input + b.input,
        a.output + b.output,
        a.cache_read + b.cache_read,
        a.cache_write + b.cache_write,
        a.total_tokens + b.total_tokens,
        a.reasoning + b.reasoning,
        Cost(
            a.cost.input + b.cost.input,
            a.cost.output + b.cost.output,
            a.cost.cache_read + b.cost.cache_read,
            a.cost.cache_write + b.cost.cache_write,
            a.cost.total + b.cost.total,
        ),
    )

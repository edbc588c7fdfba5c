"""What of the lines of `agentsh rpc` does not fit the schema that it publishes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from agentsh.agent.structured.validator import answer_schema
from agentsh.jsontext import JsonObject, JsonValue
from agentsh.remote.schemas import published_schema


@cache
def _complaint() -> Callable[[JsonValue], str | None]:
    return answer_schema(published_schema("rpc"), "rpc").complain


def misfits(records: Iterable[JsonObject]) -> list[tuple[JsonObject, str]]:
    """Lines of agentsh that are none of those that it says it writes."""
    complaints = ((record, _complaint()(record)) for record in records)
    return [(record, words) for record, words in complaints if words is not None]

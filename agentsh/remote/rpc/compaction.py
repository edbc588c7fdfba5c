"""What a compaction did, as Pi tells it. Pure.

It stands alone, since the event and the response to `compact` say the same.
"""

from __future__ import annotations

from agentsh.agent.events import Compacted
from agentsh.jsontext import JsonObject
from agentsh.session.format.blockcodec import encode_usage
from agentsh.session.format.entries import Compaction, Entry


def compaction_json(entry: Entry, event: Compacted) -> JsonObject:
    """`entry` is the one that the compaction made."""
    body = entry.body
    assert isinstance(body, Compaction)
    return {
        "summary": body.summary,
        "firstKeptEntryId": body.first_kept,
        "tokensBefore": event.tokens_before,
        "estimatedTokensAfter": event.tokens_after,
        "usage": encode_usage(event.usage),
        "details": {} if body.details is None else body.details,
        "entryId": entry.id,
    }

"""What a compaction did, as Pi tells it. Pure.

It stands alone, since the event and the response to `compact` say the same.
"""

from __future__ import annotations

from agentsh.agent.events import Compacted
from agentsh.remote.values.rpcrecords import CompactionResult
from agentsh.session.format.blockcodec import encode_usage
from agentsh.session.format.entries import Compaction, Entry


def compaction_result(entry: Entry, event: Compacted) -> CompactionResult:
    """`entry` is the one that the compaction made."""
    body = entry.body
    assert isinstance(body, Compaction)
    return CompactionResult(
        summary=body.summary,
        first_kept_entry_id=body.first_kept,
        tokens_before=event.tokens_before,
        estimated_tokens_after=event.tokens_after,
        usage=encode_usage(event.usage),
        details={} if body.details is None else body.details,
        entry_id=entry.id,
    )

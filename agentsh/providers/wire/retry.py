"""Whether and when a failed request is sent again: a pure plan. Nobody sleeps in here.

Only what can succeed is repeated (H07), and only while nothing of the answer had been handed out,
unless the caller starts the step anew from what is stored (E22, E33). A wait that the server names
is kept in full (E32); ours grows from at most 2 seconds to a minute. A server that was silent until
the limit is asked once more and no oftener: it begins its work anew each time. Read next: waits.py.
"""

from __future__ import annotations

from typing import Final

from agentsh.errors import ProviderError

DEFAULT_RETRIES: Final = 3
FIRST_WAIT: Final = 1.0
LONGEST_WAIT: Final = 60.0
MAX_SILENCES: Final = 1
"""Repeats after a silence before the first byte: what costs a slow server most."""
LONGEST_NAMED_WAIT: Final = 600.0
"""A server that names more is not waited for: the user is told instead."""


def plan_retry(
    error: ProviderError,
    *,
    attempt: int,
    max_retries: int = DEFAULT_RETRIES,
    jitter: float = 0.5,
    from_stored_state: bool = False,
) -> float | None:
    """Seconds to wait before the next attempt, or None to give up.

    `attempt` counts those that failed, from 1; `jitter` is a random number of 0 to 1.
    """
    if not error.retryable or attempt > max_retries:
        return None
    if error.emitted and not from_stored_state:
        return None
    if error.is_silence and attempt > MAX_SILENCES:
        return None
    if error.retry_after is not None:
        if error.retry_after > LONGEST_NAMED_WAIT:
            return None
        return error.retry_after + jitter * 0.25
    wait = min(LONGEST_WAIT, FIRST_WAIT * float(2 ** min(attempt - 1, 10)))
    return wait * (0.75 + 0.5 * jitter)

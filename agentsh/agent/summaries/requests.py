"""The requests for summaries and titles: from the log and the planner's `plan` to the bytes.

A function of both, as every request is (agent/turn/requests.py): live and in replay the same (R33).
Read next: compactor.py, titler.py, context/summaries/summaries.py.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, assert_never

from msgspec.structs import replace

from agentsh.agent.turn.requests import Prepared, Target, request_to, rules
from agentsh.context.projection import Context
from agentsh.context.summaries.branching import branch_summary_messages
from agentsh.context.summaries.compaction import compaction_messages
from agentsh.context.summaries.titles import title_request
from agentsh.context.wording import IMAGE_UNSUMMARISED
from agentsh.jsontext import JsonObject
from agentsh.providers.api.bodies import encode_body

SummaryKind: TypeAlias = Literal["compaction", "branch", "title"]


def summary_request(
    context: Context, target: Target, kind: SummaryKind, plan: JsonObject
) -> Prepared:
    """The request for a summary or a title, made from the same context and the planner's `plan`."""
    said = rules(target)
    if target.builder >= 3 and said.accepts_images:
        said = replace(said, accepts_images=False, without_image=IMAGE_UNSUMMARISED)
    match kind:
        case "compaction":
            asked = compaction_messages(context, said, plan)
        case "branch":
            asked = branch_summary_messages(context, said, plan)
        case "title":
            asked = title_request(context, said, plan)
        case _:
            assert_never(kind)
    request = request_to(asked.system, asked.messages, asked.tools, target)
    return Prepared(request, encode_body(request), target, context.system.snapshot, kind, plan)

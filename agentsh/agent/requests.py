"""From the log to the bytes of a request, the same way live and in replay (R33).

One function makes every body: from the projection of a path, the frozen shape, and for summaries
the planner's `plan`. Nothing else goes in: no clock, no settings, no environment, so a recorded
request can be rebuilt from the file alone. It sends nothing. Read next: asking.py, replay.py.
"""

from __future__ import annotations

import hashlib
from typing import Literal, assert_never

from msgspec import Struct
from msgspec.structs import replace

from agentsh.context.branching import branch_summary_messages
from agentsh.context.compaction import compaction_messages
from agentsh.context.outbound import OutboundRules, prepare, render_system
from agentsh.context.projection import Context
from agentsh.context.titles import title_request
from agentsh.jsontext import JsonObject
from agentsh.messages import SentMessage, ToolSchema
from agentsh.providers.base import Provider, Request, Shape
from agentsh.providers.bodies import encode_body
from agentsh.providers.dialects import to_json
from agentsh.session.entries import EntryId
from agentsh.session.facts import RequestReason, RequestSent


class Target(Struct, frozen=True):
    """Who is asked, and how: what of a request is not in the path."""

    provider: str
    model: str
    thinking: str
    shape: Shape
    max_tokens: int | None = None

    def shaped(self, shape: Shape) -> Target:
        return replace(self, shape=shape)


class Prepared(Struct, frozen=True):
    """A request with its bytes."""

    request: Request
    body: bytes

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.body).hexdigest()


def rules(target: Target) -> OutboundRules:
    """What the outbound pass must mind for this target."""
    shape = target.shape
    return OutboundRules(
        provider=target.provider,
        model=target.model,
        api=shape.api,
        accepts_images=shape.accepts_images,
        merge_users=shape.merge_users,
        bridge_after_tool=shape.bridge_after_tool,
        reasoning_echo=shape.reasoning_echo,
        short_call_ids=shape.short_call_ids,
    )


def step_request(context: Context, target: Target) -> Prepared:
    """The next request of a turn: everything in force on the path, and its messages."""
    return _prepared(
        render_system(context.system),
        prepare(context, rules(target)),
        context.system.tools,
        target,
    )


def summary_request(context: Context, target: Target, kind: str, plan: JsonObject) -> Prepared:
    """The request for a summary or a title, made from the same context and the planner's `plan`."""
    match kind:
        case "compaction":
            asked = compaction_messages(context, rules(target), plan)
        case "branch":
            asked = branch_summary_messages(context, rules(target), plan)
        case "title":
            asked = title_request(context, rules(target), plan)
        case _:
            raise ValueError(f"no request of kind {kind!r}")
    return _prepared(asked.system, asked.messages, asked.tools, target)


def rebuild(context: Context, fact: RequestSent, shape: Shape) -> Prepared:
    """What was sent, from the projection at the fact's leaf."""
    target = Target(fact.provider, fact.model, fact.thinking, shape, fact.max_tokens)
    match fact.kind:
        case "step":
            return step_request(context, target)
        case "compaction" | "branch" | "title":
            return summary_request(context, target, fact.kind, fact.plan or {})
        case _:
            assert_never(fact.kind)


def _prepared(
    system: str,
    messages: tuple[SentMessage, ...],
    tools: tuple[ToolSchema, ...],
    target: Target,
) -> Prepared:
    request = Request(
        model=target.model,
        system=system,
        messages=messages,
        tools=tools,
        thinking=target.thinking,
        max_tokens=target.max_tokens,
        shape=target.shape,
    )
    return Prepared(request, encode_body(request))


def request_fact(
    prepared: Prepared,
    target: Target,
    provider: Provider,
    context: Context,
    *,
    leaf: EntryId | None,
    turn: int,
    attempt: int,
    reason: RequestReason,
    kind: Literal["step", "compaction", "branch", "title"] = "step",
    plan: JsonObject | None = None,
) -> RequestSent:
    """What goes on record before this is sent."""
    return RequestSent(
        turn=turn,
        attempt=attempt,
        reason=reason,
        kind=kind,
        leaf=leaf,
        messages=len(prepared.request.messages),
        body_sha256=prepared.sha256,
        body_bytes=len(prepared.body),
        endpoint=provider.endpoint,
        provider=target.provider,
        api=target.shape.api,
        model=target.model,
        thinking=target.thinking,
        shape=to_json(target.shape),
        max_tokens=target.max_tokens,
        snapshot=context.system.snapshot,
        plan=plan,
    )

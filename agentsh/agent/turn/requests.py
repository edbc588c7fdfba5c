"""From the log to the bytes of a request, the same way live and in replay (R33).

A body is made of the projection of a path, the frozen shape, and for some kinds a `plan`. Nothing
else goes in: no clock, no settings, no environment, so a recorded request can be rebuilt from the
file alone. It sends nothing; summaries and titles are agent/summaries/requests.py's, by the same
parts. Read next: requester.py, replay.py.
"""

from __future__ import annotations

import hashlib
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agentsh.agent.config import Config
from agentsh.context.outbound import OutboundRules, prepare, render_system
from agentsh.context.projection import Context, Item
from agentsh.context.wording import ASIDE_WORDS
from agentsh.jsontext import JsonObject
from agentsh.messages import SentMessage, Text, ToolSchema, UserMessage
from agentsh.providers.api.bodies import encode_body
from agentsh.providers.api.dialects import to_json
from agentsh.providers.base import NO_LIMIT, Provider, Request, Shape
from agentsh.session.format.entries import EntryId
from agentsh.session.format.facts import RequestKind, RequestReason, RequestSent

BUILDER: Final = 3
"""Of the code that makes bodies: 2 sends ids that all servers take, and asks for summaries in the
language of the person; 3 asks for summaries without pictures. What an older one sent is rebuilt as
it was."""


class Target(Struct, frozen=True):
    """Who is asked, and how: what of a request is not in the path."""

    provider: str
    model: str
    thinking: str
    shape: Shape
    max_tokens: int | None = None
    builder: int = BUILDER

    def shaped(self, shape: Shape) -> Target:
        return replace(self, shape=shape)


class Prepared(Struct, frozen=True):
    """A request with its bytes, and what it was made of."""

    request: Request
    body: bytes
    target: Target
    snapshot: EntryId | None
    """The system entry, or compaction, that was in force."""
    kind: RequestKind = "step"
    plan: JsonObject | None = None

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.body).hexdigest()


class Where(Struct, frozen=True):
    """The turn, the attempt and the entry that a request belongs to, and its reason."""

    turn: int
    attempt: int
    leaf: EntryId | None
    reason: RequestReason


def rules(target: Target) -> OutboundRules:
    """What the outbound pass must mind for this target."""
    shape = target.shape
    return OutboundRules(
        provider=target.provider,
        model=target.model,
        api=shape.api,
        accepts_images=shape.accepts_images,
        max_images=shape.max_images if shape.max_images < NO_LIMIT else None,
        max_images_size=shape.max_images_size if shape.max_images_size < NO_LIMIT else None,
        max_image_bytes=shape.max_image_bytes,
        max_image_side=shape.max_image_side,
        merge_users=shape.merge_users,
        bridge_after_tool=shape.bridge_after_tool,
        reasoning_echo=shape.reasoning_echo,
        short_call_ids=shape.short_call_ids,
        builder=target.builder,
    )


def step_request(context: Context, target: Target) -> Prepared:
    """The next request of a turn: everything in force on the path, and its messages."""
    system = context.system
    messages = prepare(context, rules(target))
    request = request_to(render_system(system), messages, system.tools, target)
    return Prepared(request, encode_body(request), target, system.snapshot)


def aside_request(context: Context, target: Target, question: str) -> Prepared:
    """A side question: the next request, with the question behind all that was said."""
    asked = Item(None, UserMessage((Text(f"{question}\n\n{ASIDE_WORDS}"),)))
    made = step_request(replace(context, items=(*context.items, asked)), target)
    return replace(made, kind="aside", plan={"question": question})


def schema_request(context: Context, target: Target, schema: JsonObject) -> Prepared:
    """A step that calls no tool any more: its answer is to fit the schema."""
    system, messages = context.system, prepare(context, rules(target))
    tools = system.tools if target.shape.tools_with_calls else ()
    request = replace(request_to(render_system(system), messages, tools, target), schema=schema)
    plan: JsonObject = {"schema": schema}
    return Prepared(request, encode_body(request), target, system.snapshot, "schema", plan)


def request_to(
    system: str,
    messages: tuple[SentMessage, ...],
    tools: tuple[ToolSchema, ...],
    target: Target,
) -> Request:
    """What is said, as a request to that target."""
    return Request(
        model=target.model,
        system=system,
        messages=messages,
        tools=tools,
        thinking=target.thinking,
        max_tokens=target.max_tokens,
        shape=target.shape,
    )


def request_fact(prepared: Prepared, endpoint: str, where: Where) -> RequestSent:
    """What goes on record before this is sent."""
    target = prepared.target
    return RequestSent(
        turn=where.turn,
        attempt=where.attempt,
        reason=where.reason,
        kind=prepared.kind,
        leaf=where.leaf,
        messages=len(prepared.request.messages),
        body_sha256=prepared.sha256,
        body_bytes=len(prepared.body),
        endpoint=endpoint,
        provider=target.provider,
        api=target.shape.api,
        model=target.model,
        thinking=target.thinking,
        shape=to_json(target.shape),
        max_tokens=target.max_tokens,
        snapshot=prepared.snapshot,
        plan=prepared.plan,
        builder=target.builder,
    )


def target_of(config: Config, provider: Provider) -> Target:
    """Who is asked, and how."""
    model = config.model
    return Target(
        provider=model.provider,
        model=model.model,
        thinking=config.thinking,
        shape=provider.shape(model.model),
        max_tokens=config.max_tokens,
    )

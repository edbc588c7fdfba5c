"""The fourth reading of a session: exactly what the next request would hold before its prompt.

It goes through the very code that makes requests (agent/turn/requests.py), in the wire form of chat
completions. Pure. Read next: views/sessionviews.py.
It stands alone: whoever asks for it loads no other value.
"""

from __future__ import annotations

from agentsh.agent.turn.requests import Target, step_request
from agentsh.context.projection import project
from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import ModelRef
from agentsh.providers.api.chat import wire_messages
from agentsh.providers.api.dialects import from_json
from agentsh.providers.base import Shape
from agentsh.session.file.session import Session
from agentsh.session.format.entries import Branch, Custom, EntryId
from agentsh.session.format.factcodec import decode_fact
from agentsh.session.format.facts import RequestSent


def model_view_json(session: Session, leaf: EntryId | None) -> JsonObject:
    """As `show --view model --json` gives it."""
    messages: list[JsonValue] = [*model_messages(session, leaf)]
    return {"session": session.header.id, "leaf": leaf, "messages": messages}


def model_messages(session: Session, leaf: EntryId | None) -> list[JsonObject]:
    """The messages of the next request from there, without its prompt."""
    branch = session.live() if leaf == session.leaf else session.live(leaf)
    context = project(branch)
    model = context.model or ModelRef("", "")
    target = Target(model.provider, model.model, context.thinking, _shape(branch))
    return wire_messages(step_request(context, target).request)


def _shape(branch: Branch) -> Shape:
    """How the last request on the path was spelled; the next one will be, too."""
    for entry in reversed(branch.entries):
        if isinstance(entry.body, Custom):
            fact = decode_fact(entry.body)
            if isinstance(fact, RequestSent) and fact.kind == "step":
                return from_json(fact.shape)
    return Shape()

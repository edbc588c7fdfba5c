"""What stands between the path and a new prompt: settings that changed since.

Pure: compares what is in force on the path with what is wanted now, and plans the entries that make
the difference: model_change, thinking_level_change, the choice of tools, a system patch. An
unchanged setting writes nothing, so the system prompt stays byte for byte the same and the prompt
cache holds. Read next: context/prompt.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from agentsh.agent.config import Config
from agentsh.context.projection import Context
from agentsh.context.prompt import make_patch
from agentsh.jsontext import JsonValue
from agentsh.messages import ModelRef, ToolSchema
from agentsh.session.format.entries import Body, MessageBody, ModelChange, ThinkingLevelChange
from agentsh.session.format.factcodec import encode_fact
from agentsh.session.format.facts import StateSet

CHOSEN = "tools.chosen"


class Wanted(Struct, frozen=True):
    """The settings of the next turn."""

    model: ModelRef
    thinking: str
    sections: Mapping[str, str]
    tools: tuple[ToolSchema, ...]
    chosen: tuple[str, ...] | None = None
    """The tools that the person chose by name; None: all that there are."""

    @staticmethod
    def of(config: Config, tools: tuple[ToolSchema, ...]) -> Wanted:
        return Wanted(config.model, config.thinking, config.sections, tools, config.tools)


def plan_opening(context: Context, wanted: Wanted) -> tuple[Body, ...]:
    """The entries that bring the path to what is wanted."""
    bodies: list[Body] = []
    fresh = context.model is None
    if context.model != wanted.model:
        bodies.append(ModelChange(wanted.model.provider, wanted.model.model))
    if fresh or context.thinking != wanted.thinking:
        bodies.append(ThinkingLevelChange(wanted.thinking))
    if chosen_tools(context.state) != wanted.chosen:
        chosen: JsonValue = "all" if wanted.chosen is None else list(wanted.chosen)
        bodies.append(encode_fact(StateSet(CHOSEN, chosen)))
    patch = make_patch(context.system, wanted.sections, wanted.tools)
    if patch is not None:
        bodies.append(MessageBody(patch))
    return tuple(bodies)


def chosen_tools(state: Mapping[str, JsonValue]) -> tuple[str, ...] | None:
    """The tools that the person chose on a path; None: no choice."""
    stored = state.get(CHOSEN)
    if not isinstance(stored, list):
        return None
    return tuple(name for name in stored if isinstance(name, str))


def differences(context: Context, wanted: Wanted) -> tuple[str, ...]:
    """What differs from the path, in words, for a person who resumes (R09)."""
    if context.model is None:
        return ()
    changes: list[str] = []
    # a provider's name is each program's own word for it: by itself it changes nothing for anybody
    if context.model.model != wanted.model.model:
        changes.append(f"model {context.model.model} → {wanted.model.model}")
    if context.thinking != wanted.thinking:
        changes.append(f"thinking {context.thinking} → {wanted.thinking}")
    patch = make_patch(context.system, wanted.sections, wanted.tools)
    if patch is not None:
        added = [tool.name for tool in patch.tools_added]
        if added:
            changes.append("tools changed: " + ", ".join(added))
        if patch.tools_removed:
            changes.append("tools gone: " + ", ".join(patch.tools_removed))
        if patch.sections:
            changes.append("system prompt: " + ", ".join(sorted(patch.sections)))
    return tuple(changes)

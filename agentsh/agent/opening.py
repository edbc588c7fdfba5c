"""What stands between the path and a new prompt: settings that changed since.

Pure: compares what is in force on the path with what is wanted now, and plans the entries that make
the difference: model_change, thinking_level_change, a system patch. An unchanged setting writes
nothing, so the system prompt stays byte for byte the same and the prompt cache holds.
Read next: context/prompt.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from agentsh.context.projection import Context
from agentsh.context.prompt import diff
from agentsh.messages import ModelRef, ToolSchema
from agentsh.session.entries import Body, MessageBody, ModelChange, ThinkingLevelChange


class Wanted(Struct, frozen=True):
    """The settings of the next turn."""

    model: ModelRef
    thinking: str
    sections: Mapping[str, str]
    tools: tuple[ToolSchema, ...]


def plan_opening(context: Context, wanted: Wanted) -> tuple[Body, ...]:
    """The entries that bring the path to what is wanted."""
    bodies: list[Body] = []
    fresh = context.model is None
    if context.model != wanted.model:
        bodies.append(ModelChange(wanted.model.provider, wanted.model.model))
    if fresh or context.thinking != wanted.thinking:
        bodies.append(ThinkingLevelChange(wanted.thinking))
    patch = diff(context.system, wanted.sections, wanted.tools)
    if patch is not None:
        bodies.append(MessageBody(patch))
    return tuple(bodies)


def differences(context: Context, wanted: Wanted) -> tuple[str, ...]:
    """What differs from the path, in words, for a person who resumes (R09)."""
    if context.model is None:
        return ()
    words: list[str] = []
    if context.model != wanted.model:
        words.append(f"model {context.model.model} → {wanted.model.model}")
    if context.thinking != wanted.thinking:
        words.append(f"thinking {context.thinking} → {wanted.thinking}")
    patch = diff(context.system, wanted.sections, wanted.tools)
    if patch is not None:
        added = [tool.name for tool in patch.tools_added]
        if added:
            words.append("tools changed: " + ", ".join(added))
        if patch.tools_removed:
            words.append("tools gone: " + ", ".join(patch.tools_removed))
        if patch.sections:
            words.append("system prompt: " + ", ".join(sorted(patch.sections)))
    return tuple(words)

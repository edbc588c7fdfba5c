"""What a prompt that begins with `/` may mean besides skills and templates: commands of ours.

They run where a prompt would, one after the other with prompts, and what they say is told as an
answer; nothing of it is stored as one. Any other word is the agent's to expand, or a prompt as it
stands. Read next: editorsession.py, agent/prompts/expansion.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from acp import schema

from agentsh.agent.events import AgentEvent, Compacted
from agentsh.agent.moving import last_prompt
from agentsh.agent.prompts.expansion import PromptCommand
from agentsh.errors import RefusedError, UsageError
from agentsh.remote.acp.program import EditorHost
from agentsh.sanitize import first_line, safe_line, safe_text
from agentsh.views.describe import compacted_words

CommandNews: TypeAlias = Iterator[AgentEvent | str]
"""What happens, and words for the person."""
_UNDONE: Final = ("conversation", "files", "both")


def command_of(text: str) -> tuple[str, str] | None:
    """(command, its words) where it is one of ours; a line's end parts them, too, as in a chat."""
    word, words = (*text.removeprefix("/").split(maxsplit=1), "", "")[:2]
    return (word, words.strip()) if text.startswith(f"/{word}") and word in _OURS else None


def obeyed(host: EditorHost, command: str, words: str) -> CommandNews:
    """Raises AgentshError."""
    return _OURS[command][0](host, words)


def available_commands(prompts: Sequence[PromptCommand]) -> schema.AvailableCommandsUpdate:
    """Ours, and the skills and templates that can be called."""
    listed = [_listed(word, about, hint) for word, (_, about, hint) in _OURS.items()]
    listed += [
        _listed(each.word, each.help, each.arguments) for each in prompts if each.word not in _OURS
    ]
    return schema.AvailableCommandsUpdate(
        session_update="available_commands_update", available_commands=listed
    )


def _listed(word: str, about: str, hint: str) -> schema.AvailableCommand:
    wish = schema.UnstructuredCommandInput(hint=safe_line(hint, 200)) if hint else None
    return schema.AvailableCommand(
        name=word,
        description=safe_line(about, 400) or word,
        input=None if wish is None else schema.AvailableCommandInput(wish),
    )


# ---- each of them --------------------------------------------------------------------------------


def _compact(host: EditorHost, words: str) -> CommandNews:
    for event in host.front.compact(words or None):
        yield event
        match event:
            case Compacted(_, before, after, None):
                yield f"{compacted_words(before, after).capitalize()}."
            case Compacted(error=str(error)):
                raise RefusedError(error)
            case _:
                continue


def _name(host: EditorHost, words: str) -> CommandNews:
    if words:
        host.front.rename(words)
    yield f"Name: {safe_line(host.front.session.tree.name or '(none)')}"


def _undo(host: EditorHost, words: str) -> CommandNews:
    agent = host.front
    prompt, changed = last_prompt(agent.session.live())
    if words and words not in _UNDONE:
        raise UsageError(f"/undo takes one of: {', '.join(_UNDONE)}")
    if prompt is None:
        raise RefusedError("there is no prompt to go back before")
    if words == "files":
        yield _list("Files:", agent.files.restore(prompt) or ("nothing to do",))
        return
    moved = agent.checkout(prompt, files=words != "conversation" and (changed or words == "both"))
    text = first_line(moved.editor_text or "", 200)
    yield _list(f"Back before: {text}", moved.notices)


def _cost(host: EditorHost, _words: str) -> CommandNews:
    spending = host.front.budget.spending()
    usage = spending.usage
    sent = usage.input + usage.cache_read + usage.cache_write
    cost = f"${usage.cost.total:.4f}; " if usage.cost.total else ""  # or no price is known
    text = f"{cost}{sent:,} tokens in, {usage.output:,} out"
    if spending.inherited:
        text += f"; ${spending.inherited:.4f} of it came along with the fork"
    yield text


def _tools(host: EditorHost, _words: str) -> CommandNews:
    lines = [f"`{safe_line(name)}`: {safe_line(about, 160)}" for name, about in host.tools()]
    yield _list("The model is offered:", lines or ("no tools",))


def _list(head: str, lines: Sequence[str]) -> str:
    return "\n".join((head, *(f"- {safe_text(line)}" for line in lines)))


_OURS: Final[Mapping[str, tuple[Callable[[EditorHost, str], CommandNews], str, str]]] = {
    "compact": (
        _compact,
        "Summarise what is old, so that there is room",
        "what matters (optional)",
    ),
    "name": (_name, "Name the session", "the name"),
    "undo": (_undo, "Go back before the last prompt, its files too", "conversation, files or both"),
    "cost": (_cost, "What the session took", ""),
    "tools": (_tools, "The tools that the model is offered", ""),
}

"""What a person or program typed → what is said to the model; the only place where that is done.

`/skill:NAME words` and `/NAME words` of a template stand for longer texts. Agent.prompt, `steer`
and `follow_up` expand; nothing that a file, a tool, a model or a hook says is ever expanded. The
message holds what was sent; what was typed is a fact before it, which the message names as its
source. How a text is expanded is handed in (cli/setup/skills/expanding.py). Read next: around.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from agentsh.errors import EntryNotFoundError
from agentsh.messages import Image, Text, UserMessage
from agentsh.session.format.entries import Custom, Entry, EntryId
from agentsh.session.format.factcodec import decode_fact
from agentsh.session.format.facts import InboxChanged, PromptTyped


class PromptCommand(Struct, frozen=True):
    """What may be typed behind a slash to be sent: a skill or a template."""

    word: str
    """Without the slash: `skill:NAME` or NAME."""
    arguments: str
    help: str
    source: str
    """project, user, settings or built-in."""
    path: str | None = None
    """The file; None for one that agentsh brings along."""


class Expander(Protocol):
    """Knows the skills and templates that can be called here."""

    def expand(self, text: str) -> str:
        """What it stands for, or the text as it is. Raises SkillNotFoundError."""

    def commands(self) -> Sequence[PromptCommand]:
        """All that can be called, by name."""


class Verbatim:
    """Satisfies Expander: there are no skills and no templates."""

    def expand(self, text: str) -> str:
        return text

    def commands(self) -> Sequence[PromptCommand]:
        return ()


class Spoken(Struct, frozen=True):
    """Words for the model, with pictures; `typed`: what they were typed as, if otherwise."""

    text: str
    images: tuple[Image, ...] = ()
    typed: str | None = None
    by: Literal["user", "after_turn"] = "user"
    note: str = ""
    """What before_prompt adds; a block of its own."""
    asked: str = ""
    """What an answer must be (structured/answers.py); the last block."""

    def message(self, timestamp: int = 0) -> UserMessage:
        texts = tuple(Text(text) for text in (self.text, self.note) if text)
        asked = (Text(self.asked),) if self.asked else ()
        return UserMessage((*texts, *self.images, *asked), timestamp)

    def fact(self) -> PromptTyped | None:
        """What stands before the message, where the message does not say it all."""
        if self.by == "user" and self.typed is None and not self.note and not self.asked:
            return None
        return PromptTyped(self.text if self.typed is None else self.typed, self.by)


def spoken_as(
    expander: Expander, text: str, images: tuple[Image, ...] = (), asked: str = ""
) -> Spoken:
    """What is said for that. Raises SkillNotFoundError."""
    said = expander.expand(text)
    return Spoken(said, images, None if said == text else text, asked=asked)


class EntryLookup(Protocol):
    """An open session, or whoever knows its entries."""

    def entry(self, entry: EntryId) -> Entry:
        """Raises EntryNotFoundError."""


def typed_text(session: EntryLookup, entry: Entry) -> str | None:
    """What a prompt was typed as, where its message says something else."""
    for source in entry.stamp.sources if entry.stamp else ():
        try:
            body = session.entry(source).body
        except EntryNotFoundError:
            continue  # another file's, or its line was lost
        match decode_fact(body) if isinstance(body, Custom) else None:
            case PromptTyped(text) | InboxChanged("queued", text=str(text)):
                return text
            case _:
                pass
    return None

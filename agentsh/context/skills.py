"""Skills as the model sees them: the list in the system prompt, and one skill called by name. Pure.

A skill is a folder with SKILL.md (agentskills.io); who finds and reads it is cli/setup/skills. The
list has Pi's form. No skill is ever dropped for want of room: all descriptions are shortened alike,
to whole sentences, and each keeps its first one. Read next: prompt.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from agentsh.jsontext import clean

USUAL_ROOM: Final = 32 * 1024
"""Bytes that the list may take where the window is not known."""
_SHARE: Final = 0.08
_BYTES_A_TOKEN: Final = 4
_LONGEST_SENTENCE: Final = 1024
_SENTENCE = re.compile(r".*?(?:[.!?…](?=\s)|[。！？](?=.)|$)", re.DOTALL)
_INTRODUCTION: Final = (
    "Skills give special instructions for some kinds of tasks. When a task matches a description, "
    "read the file at its location with the read tool first. Relative paths in it start in the "
    "folder that it lies in."
)


class SkillHead(Struct, frozen=True):
    """What the model is told of a skill: one line each. `location` is the path of SKILL.md."""

    name: str
    description: str
    location: str


def skills_section(heads: Sequence[SkillHead], window: int | None) -> str:
    """The section of the system prompt; "" where there is no skill."""
    if not heads:
        return ""
    texts = shortened([head.description for head in heads], _fits(heads, window))
    parts = [_INTRODUCTION, "", "<available_skills>"]
    for head, text in zip(heads, texts, strict=True):
        parts += ["  <skill>", *(f"    {line}" for line in _members(head, text)), "  </skill>"]
    return "\n".join([*parts, "</available_skills>"])


def count_shortened(heads: Sequence[SkillHead], window: int | None) -> int:
    """How many descriptions do not stand in the list as they are."""
    texts = shortened([head.description for head in heads], _fits(heads, window))
    return sum(text != head.description for head, text in zip(heads, texts, strict=True))


def _fits(heads: Sequence[SkillHead], window: int | None) -> Callable[[Sequence[str]], bool]:
    """Whether the list with these descriptions is small enough."""
    room = USUAL_ROOM if window is None else int(window * _SHARE * _BYTES_A_TOKEN)
    fixed = sum(len(line) + 1 for head in heads for line in _members(head, "")) + 40 * len(heads)
    return lambda texts: fixed + sum(len(_escaped(text).encode()) for text in texts) <= room


def _members(head: SkillHead, description: str) -> tuple[str, str, str]:
    return (
        f"<name>{_escaped(head.name)}</name>",
        f"<description>{_escaped(description)}</description>",
        f"<location>{_escaped(head.location)}</location>",
    )


def _escaped(text: str) -> str:
    """As Pi does it, so that a description cannot end its element."""
    text = clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace('"', "&quot;").replace("'", "&apos;")


def shortened(texts: Sequence[str], fits: Callable[[Sequence[str]], bool]) -> list[str]:
    """The texts, each cut to whole sentences within one length that is the same for all.

    The length is the largest one that fits. A first sentence stays, whether it fits or not.
    """
    whole = list(texts)
    if fits(whole):
        return whole
    ends = [_sentence_ends(text) for text in texts]
    low, high = 0, max(map(len, texts))  # `low` may not fit either: then each has one sentence
    while high - low > 1:
        middle = (low + high) // 2
        if fits([_cut(text, stops, middle) for text, stops in zip(texts, ends, strict=True)]):
            low = middle
        else:
            high = middle
    return [_cut(text, stops, low) for text, stops in zip(texts, ends, strict=True)]


def _sentence_ends(text: str) -> list[int]:
    return [match.end() for match in _SENTENCE.finditer(text) if match.end() > match.start()]


def _cut(text: str, ends: Sequence[int], length: int) -> str:
    if not ends or len(text) <= length:
        return text
    end = max((end for end in ends if end <= length), default=ends[0])
    if end > _LONGEST_SENTENCE:  # no sentence, but a text without a stop
        begun = text[:_LONGEST_SENTENCE]
        return (begun.rpartition(" ")[0] or begun) + " …"
    return text[:end]


def skill_prompt(head: SkillHead, text: str, words: str) -> str:
    """The prompt for `/skill:NAME words`, in Pi's frame. `text`: the file without its head."""
    folder = head.location.rpartition("/")[0]
    name, location = (part.replace('"', "&quot;") for part in (head.name, head.location))
    body = text.strip().replace("</skill>", "< /skill>")
    frame = (
        f'<skill name="{name}" location="{location}">\n'
        f"References are relative to {folder}.\n\n{body}\n</skill>"
    )
    return f"{frame}\n\n{words}" if words else frame

"""Who wrote which line, as lines for a person: `LINE  WHO  text`. Pure.

`agentsh why` and the chat's /why show the same. Who it was is agent/authors/why.py's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentsh.agent.authors.calls import Author
from agentsh.agent.authors.why import AuthoredLine, Origins
from agentsh.sanitize import safe_line, safe_text
from agentsh.shellwords import shell_line

_MOST_WHO = 64
_MOST_PROMPT = 32
_WORDS = {"person": "you", "before": "before", "unknown": "unknown"}


def author_lines(lines: Sequence[AuthoredLine]) -> Iterator[str]:
    """Every line safe to show, in columns."""
    names: dict[int, str] = {}
    for line in lines:
        names.setdefault(id(line.author), who_words(line.author))
    digits = len(str(lines[-1].number)) if lines else 1
    width = max(map(len, names.values()), default=0)
    for line in lines:
        text = safe_text(line.text).replace("\t", "    ")
        yield f"{line.number:>{digits}}  {names[id(line.author)]:<{width}}  {text}".rstrip()


def screenful(origins: Origins, most: int) -> list[str]:
    """The same in at most so many lines, with what limits the answer and how to go on."""
    more = len(origins.lines) - most
    more_line = [f"… {more} more lines: name some with :LINE-LINE"] if more > 0 else []
    notices = [safe_line(notice) for notice in origins.notices]
    return [
        *author_lines(origins.lines[:most]),
        *more_line,
        *notices,
        *prompt_hints(origins.lines[:most], 1),
    ]


def who_words(author: Author) -> str:
    """`3dd87de6 "sort the list" edit`; you, before, unknown."""
    if not author.calls:
        return _WORDS[author.who]
    first = author.calls[0]
    what = first.tool if len(author.calls) == 1 else "one of these calls"
    if len(author.calls) == 1 and first.command:
        what = f"$ {first.command}"
    head = f'{safe_line(first.entry, 8)} "{safe_line(first.prompt, _MOST_PROMPT)}" '
    return head + safe_line(what, max(_MOST_WHO - len(head), 8))


def prompt_hints(lines: Sequence[AuthoredLine], most: int = 3) -> Iterator[str]:
    """How to see the prompts of these lines, and what their commands were."""
    seen: dict[tuple[str, str], Author] = {}
    for line in lines:
        if line.author.calls:
            call = line.author.calls[0]
            seen.setdefault((call.session, call.entry), line.author)
    for (session, entry), author in list(seen.items())[:most]:
        names = ", ".join(dict.fromkeys(call.tool for call in author.calls))
        look = shell_line(["agentsh", "show", session, "--at", entry])
        back = shell_line(["agentsh", "resume", session])
        yield f"{look}  ({safe_line(names)}); {back}"

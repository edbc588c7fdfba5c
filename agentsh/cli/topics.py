"""`agentsh help TOPIC`: pages of docs/ that are shipped with the program.

The texts are the docs themselves (pyproject.toml puts them beside this module in a wheel; in a
checkout they lie in docs/), so there is one text and no second one to keep.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from agentsh.cli.output import print_lines
from agentsh.errors import UsageError

# topic → page and what it is about
TOPICS: Final[Mapping[str, tuple[str, str]]] = {
    "format": ("session-format.md", "the session file, line by line"),
    "recovery": ("recovery.md", "what to do after a crash, with damage, with a lost session"),
    "privacy": ("privacy.md", "what is kept, where, how long, and who sees it"),
    "security": ("security.md", "what stands between a model and your machine"),
    "keys": ("chat.md", "keys and commands of the chat and the tree"),
    "endpoints": ("endpoints.md", "settings for servers and models"),
    "finding": ("finding.md", "search, the model's own history, costs"),
    "sharing": ("sharing.md", "export, import, archive, trash, shell completion"),
}
_SHIPPED: Final = Path(__file__).parent / "manual"
_CHECKOUT: Final = Path(__file__).parent.parent.parent / "docs"


def show(topic: str | None) -> int:
    """Print a page; without one, what there is."""
    if topic is None:
        print_lines(_overview())
    elif topic in TOPICS:
        print_lines(read(topic).rstrip("\n").split("\n"))
    else:
        raise UsageError(f"there is no topic {topic[:60]!r}", hint="`agentsh help` lists them")
    return 0


def read(topic: str) -> str:
    name, _ = TOPICS[topic]
    for folder in (_SHIPPED, _CHECKOUT):
        if (folder / name).is_file():
            return (folder / name).read_text("utf-8")
    raise UsageError(f"the page {name} is not installed")


def _overview() -> Iterator[str]:
    yield "agentsh help TOPIC:"
    for topic, (_, about) in TOPICS.items():
        yield f"  {topic:<10}  {about}"
    yield f"  {'man':<10}  a man page: agentsh help man > agentsh.1"
    yield "agentsh help COMMAND: as agentsh COMMAND --help"

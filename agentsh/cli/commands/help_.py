"""`agentsh help`: pages of docs/ that are shipped; a command's own words; a man page.

The texts are the docs themselves (pyproject.toml puts them beside this module in a wheel; in a
checkout they lie in docs/), so there is one text and no second one to keep.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Final

from agentsh.cli.output import print_lines
from agentsh.cli.parsing.program import COMMANDS
from agentsh.cli.parsing.words import Argument
from agentsh.errors import UsageError
from agentsh.files import is_regular

# topic → page and what it is about
TOPICS: Final[Mapping[str, tuple[str, str]]] = {
    "format": ("session-format.md", "the session file, line by line"),
    "recovery": ("recovery.md", "what to do after a crash, with damage, with a lost session"),
    "privacy": ("privacy.md", "what is kept, where, how long, and who sees it"),
    "security": ("security.md", "what stands between a model and your machine"),
    "keys": ("chat.md", "keys and commands of the chat and the tree"),
    "endpoints": ("endpoints.md", "settings for servers and models"),
    "settings": ("settings.md", "every setting: type, default, example"),
    "skills": ("skills.md", "skills, and prompts in files"),
    "finding": ("finding.md", "search, the model's own history, costs"),
    "servers": ("mcp.md", "tools of MCP servers"),
    "ci": ("ci.md", "scripts and CI: exit codes, limits, answers as data"),
    "rpc": ("rpc.md", "driving agentsh from a program"),
    "python": ("python.md", "driving agentsh from Python"),
    "editors": ("editors.md", "agentsh in an editor: Zed, JetBrains, Neovim"),
    "sharing": ("sharing.md", "export, import, archive, trash, shell completion"),
}
_SHIPPED: Final = Path(__file__).parent.parent / "manual"
_CHECKOUT: Final = Path(__file__).parent.parent.parent.parent / "docs"


def help_(
    topic: Annotated[str | None, Argument(help="a topic, a command, or `man`")] = None,
) -> int:
    """Print a page of the manual; without a topic, list them all."""
    if topic is None:
        print_lines(_overview())
    elif topic == "man":
        from agentsh.cli.commands.manpage import print_manpage
        from agentsh.cli.typer_app import whole_program

        return print_manpage(whole_program())
    elif topic in TOPICS:
        print_lines(_page(topic).rstrip("\n").split("\n"))
    elif topic in COMMANDS:
        from agentsh.cli.typer_app import build

        build([topic])(args=[topic, "--help"], prog_name="agentsh")
    else:
        raise UsageError(f"there is no topic {topic[:60]!r}", hint="`agentsh help` lists them")
    return 0


def _page(topic: str) -> str:
    name, _ = TOPICS[topic]
    for folder in (_SHIPPED, _CHECKOUT):
        if is_regular(folder / name):
            return (folder / name).read_text("utf-8")
    raise UsageError(f"the page {name} is not installed")


def _overview() -> Iterator[str]:
    yield "agentsh help TOPIC:"
    for topic, (_, about) in TOPICS.items():
        yield f"  {topic:<10}  {about}"
    yield f"  {'man':<10}  a man page: agentsh help man > agentsh.1"
    yield "agentsh help COMMAND: as agentsh COMMAND --help"

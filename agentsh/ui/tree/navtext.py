"""What the tree navigator says: its keys, the facts of an entry, what two paths do not share. Pure.

Read next: navigator.py.
"""

from __future__ import annotations

from textwrap import wrap

from agentsh.sanitize import safe_line
from agentsh.session.format.times import local_minute
from agentsh.ui.paper.pages import PageLine
from agentsh.ui.status import short_number
from agentsh.ui.theme import Role
from agentsh.ui.tree.treetext import who
from agentsh.ui.tree.treeview import Below
from agentsh.views.treeitem import TreeItem

DIFF_SHOWN = 200

NAVIGATOR_KEYS: tuple[tuple[str, str], ...] = (
    ("Up Down PgUp PgDn Home End", "move"),
    ("Left, Right", "fold, unfold"),
    ("/ n N", "search, next hit, previous hit"),
    ("Tab", "next filter: default, no tools, prompts, labelled, all"),
    ("Enter", "go there; to a prompt: before it, its text in the editor"),
    ("s", "go there, with a summary of what is left"),
    ("w", "go there, and bring the working files to that point"),
    ("f", "fork into a new session there"),
    ("c", "compact (asks): a summary for what is before it"),
    ("b, B", "bring its text here; B: its branch's summary, files"),
    ("p", "bring an exploration's branch here, files too"),
    ("x", "hide it from the model, or show it again"),
    ("z", "put its branch away: one line, or show it again"),
    ("l", "name the entry; an empty name clears"),
    ("d", "what differs between here and there"),
    ("t", "when each was said, or no times"),
    ("y", "copy the entry's text"),
    ("Space", "the whole entry"),
    ("?", "these keys"),
    ("Esc, q", "leave without a move"),
)


FOOTERS = (
    "Enter go · s summary · f fork · l label · q leave",
    "Enter go · s summary · q leave",
    "q leave",
)
BRINGING = (
    "bring here: s a summary of its branch · w its text, and its branch's files · Esc back",
    "s a summary of its branch · w text and files · Esc back",
    "s summary · w files · Esc back",
)


def summing_ways(count: int) -> tuple[str, ...]:
    """What a compaction before the cursor stands for, and takes; how to agree. Pure."""
    what = f"the {count} entries before this one" if count > 1 else "the one entry before this one"
    return (
        f"one request to the model sums up {what}; the file keeps them · y do it · Esc back",
        f"one request sums up {what} · y do it · Esc back",
        f"one request sums up {count} entries · y · Esc",
        "y sum up · Esc back",
    )


def help_lines(width: int) -> list[str]:
    """The keys in two columns, or each before its words where there is no room for that. Pure."""
    column = max(len(key) for key, _ in NAVIGATOR_KEYS) + 2
    lines: list[str] = []
    for key, does in NAVIGATOR_KEYS:
        if width >= column + 40:
            room, head, below = width, f"{key:<{column}}", " " * column
        else:
            room, head, below = max(width, 12), f"{key}: ", "    "
        lines += wrap(does, room, initial_indent=head, subsequent_indent=below)
    return lines


def facts_line(item: TreeItem, below: Below) -> str:
    """One line with the facts of an entry and of the branch below it."""
    parts = [item.id, who(item), local_minute(item.time)]
    if item.edited is not None:
        parts.append(f"{item.edited} for the model")
    if item.tokens:
        parts.append(f"{short_number(item.tokens)} tokens" + _dollars(item.cost))
    if below.entries > 1:
        parts.append(f"from here on: {branch_words(below)}")
    return safe_line(" · ".join(parts))


def branch_words(below: Below) -> str:
    """How large and how dear a branch is."""
    count = f"{below.entries} entr{'y' if below.entries == 1 else 'ies'}"
    prompts = f", {below.prompts} prompts" if below.prompts > 1 else ""
    tokens = f", {short_number(below.tokens)} tokens" if below.tokens else ""
    return f"{count}{prompts}{tokens}{_dollars(below.cost)}"


def _dollars(cost: float) -> str:
    if not cost:
        return ""
    return f", ${cost:.2f}" if cost >= 0.01 else ", <$0.01"


def path_difference(here: list[TreeItem], there: list[TreeItem]) -> list[PageLine]:
    """What only one of two paths says, in lines. Pure."""
    shared = 0
    for one, other in zip(here, there, strict=False):
        if one.id != other.id:
            break
        shared += 1
    lines: list[PageLine] = []
    sides: tuple[tuple[str, list[TreeItem], str, Role], ...] = (
        ("only here", here[shared:], "-", "removed"),
        ("only there", there[shared:], "+", "added"),
    )
    for title, path, sign, role in sides:
        said = [item for item in path if not item.is_log]
        lines.append(PageLine(f"{title}: {len(said)} entries", "heading"))
        shown = (f"{sign} {who(item)}: {item.text}" for item in said[:DIFF_SHOWN])
        lines += [PageLine(text, role, hang=2) for text in shown]
        lines.append(PageLine(""))
    return lines

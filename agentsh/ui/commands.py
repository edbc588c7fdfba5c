"""The slash commands of the chat: one table of names, arguments and one line of help each.

The tables are what completion, `/help` and docs/chat.md are made from (a test compares them); what
a command does stands in actions.py under the same name. Loads nothing heavy.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from msgspec import Struct

from agentsh.ui.keymap import FIXED, Keymap


class Command(Struct, frozen=True):
    """`idle`: only while no turn runs."""

    name: str
    arguments: str
    help: str
    idle: bool = True

    @property
    def usage(self) -> str:
        return f"/{self.name} {self.arguments}".rstrip()


COMMANDS: tuple[Command, ...] = (
    Command("tree", "", "go anywhere in this session: the tree of everything said"),
    Command("fork", "[ENTRY]", "go on in a new session file with the path up to here"),
    Command("checkout", "ENTRY [files]", "go to an entry: id, label, leaf, root, X~N; files too"),
    Command("undo", "[WHAT]", "take the last prompt back: conversation, files or both"),
    Command("diff", "[A [B]]", "what differs: since the last prompt, or from A to B (or here)"),
    Command("resume", "[WORDS]", "pick another session; rename or archive some"),
    Command("new", "", "start a new session"),
    Command("compact", "[FOCUS]", "replace what is old by a summary, to make room"),
    Command("model", "[ID]", "pick another model, or change to this one"),
    Command("thinking", "[LEVEL]", "show or change how much the model thinks"),
    Command("label", "[NAME]", "name this place in the tree; without a name, clear it"),
    Command("name", "NAME", "name this session", idle=False),
    Command("session", "", "where this session lies, and how large it is", idle=False),
    Command("cost", "", "tokens and cost so far", idle=False),
    Command("copy", "", "copy the last answer to the clipboard", idle=False),
    Command("tools", "", "the tools that the model may call", idle=False),
    Command("approve", "[POLICY]", "show or change what needs your agreement"),
    Command("help", "", "commands and keys", idle=False),
    Command("hotkeys", "", "keys, and the names that the settings give them", idle=False),
    Command("quit", "", "leave; the session stays", idle=False),
)


def find(name: str) -> Command | None:
    return next((c for c in COMMANDS if c.name == name), None)


def split_command(line: str) -> tuple[str, str]:
    """`/name rest` → (name, rest). Pure."""
    name, _, rest = line[1:].partition(" ")
    return name.strip(), rest.strip()


def help_text(keymap: Keymap, width: int = 100) -> str:
    commands = in_columns([(c.usage, c.help) for c in COMMANDS], width)
    return f"{commands}\n\n{key_text(keymap, width)}"


def key_text(keymap: Keymap, width: int = 100) -> str:
    """The keys in force, with the names that `[ui.keys]` of the settings takes."""
    rows = [*keymap.rows(), *(("", keys, does) for keys, does in FIXED)]
    return in_columns([(name, keys or "(no key)", does) for name, keys, does in rows], width)


def in_columns(rows: Sequence[tuple[str, ...]], width: int) -> str:
    """Rows of plain text in columns; the last column goes on below itself. Pure."""
    widths = [max(map(len, column)) + 2 for column in zip(*rows, strict=True)][:-1]
    indent = " " * (2 + sum(widths))
    lines: list[str] = []
    for *cells, last in rows:
        head = "  " + "".join(f"{cell:<{w}}" for cell, w in zip(cells, widths, strict=True))
        lines += wrap(
            last, max(width, len(indent) + 20), initial_indent=head, subsequent_indent=indent
        )
    return "\n".join(lines)


FIRST_PAGE = """\
agentsh: you talk, a model reads, edits and runs in this folder; every step is kept.

  type what you want, Enter sends it; while it works, Enter steers, Esc stops
  @ completes files, ! runs a command of your own, / begins a command
  edits here are done at once and can be taken back: /undo, /diff
  commands are asked about first: y once, a always, n no
  Esc Esc or /tree goes back to any point of what was said, and on from there
  Ctrl-O shows tool calls in full, Ctrl-G opens your editor
  leave with Ctrl-D; `agentsh -c` goes on later, in the same place
  /help names all commands and keys; docs/chat.md explains them"""
"""What somebody sees who has never typed anything here: ten lines."""

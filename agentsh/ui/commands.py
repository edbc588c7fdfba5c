"""The slash commands of the chat: one table of names, arguments and one line of help each.

The table is what completion, `/help` and docs/chat.md are made from (a test compares them); what a
command does stands in actions.py under the same name. Loads nothing heavy.
"""

from __future__ import annotations

from msgspec import Struct


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
    Command("resume", "", "pick another session of this folder"),
    Command("new", "", "start a new session"),
    Command("compact", "[FOCUS]", "replace what is old by a summary, to make room"),
    Command("model", "[ID]", "show the models, or change to one"),
    Command("thinking", "[LEVEL]", "show or change how much the model thinks"),
    Command("label", "[NAME]", "name this place in the tree; without a name, clear it"),
    Command("name", "NAME", "name this session", idle=False),
    Command("session", "", "where this session lies, and how large it is", idle=False),
    Command("cost", "", "tokens and cost so far", idle=False),
    Command("copy", "", "copy the last answer to the clipboard", idle=False),
    Command("tools", "", "the tools that the model may call", idle=False),
    Command("approve", "[POLICY]", "show or change what needs your agreement"),
    Command("help", "", "commands and keys", idle=False),
    Command("quit", "", "leave; the session stays", idle=False),
)

KEYS: tuple[tuple[str, str], ...] = (
    ("Enter", "send; while the agent works: steer it, with its next request"),
    ("Alt-Enter", "break the line; while the agent works: queue for afterwards"),
    ("Ctrl-J, Shift-Enter, \\ Enter", "break the line"),
    ("Esc", "stop the agent; the queue returns to the editor"),
    ("Esc Esc", "on an empty editor: the tree"),
    ("Ctrl-C", "stop; clear the draft (Up brings it back); twice on an empty editor: quit"),
    ("Ctrl-D", "quit, on an empty editor"),
    ("Ctrl-Z", "suspend; fg comes back"),
    ("Ctrl-G", "edit the draft in $VISUAL or $EDITOR"),
    ("Up, Down, Ctrl-R", "earlier prompts; search in them"),
    ("Tab, @", "complete commands; complete files"),
    ("!command, !!command", "run a command for the model to see; for yourself only"),
)


def find(name: str) -> Command | None:
    return next((c for c in COMMANDS if c.name == name), None)


def split_command(line: str) -> tuple[str, str]:
    """`/name rest` → (name, rest). Pure."""
    name, _, rest = line[1:].partition(" ")
    return name.strip(), rest.strip()


def help_text() -> str:
    width = max(len(c.usage) for c in COMMANDS) + 2
    keys = max(len(k) for k, _ in KEYS) + 2
    lines = [f"  {c.usage:<{width}}{c.help}" for c in COMMANDS]
    lines += ["", *(f"  {key:<{keys}}{does}" for key, does in KEYS)]
    return "\n".join(lines)

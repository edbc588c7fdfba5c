"""The slash commands of the chat: one table of names, arguments and one line of help each.

The tables are what completion, `/help` and docs/chat.md are made from (a test compares them); what
a command does stands in actions.py under the same name. Loads nothing heavy.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from textwrap import wrap

from msgspec import Struct

from agentsh.agent.prompts.expansion import PromptCommand
from agentsh.sanitize import safe_line
from agentsh.ui.input.keymap import FIXED, Keymap

_COMMAND = re.compile(r"/([a-zA-Z][\w-]*)(?:\s|$)")
_MOST_OFFERED = 3


class Command(Struct, frozen=True):
    """`idle`: only while no turn runs."""

    name: str
    arguments: str
    help: str
    idle: bool = True

    @property
    def wants_argument(self) -> bool:
        """It does nothing without one."""
        return self.arguments[:1].isupper()

    @property
    def usage(self) -> str:
        return f"/{self.name} {self.arguments}".rstrip()


SLASH_COMMANDS: tuple[Command, ...] = (
    Command("tree", "", "go anywhere in this session: the tree of everything said", idle=False),
    Command("fork", "[ENTRY]", "go on in a new session file with the path up to here"),
    Command("checkout", "ENTRY [files]", "go to an entry: id, label, leaf, root, X~N; files too"),
    Command("undo", "[WHAT]", "take the last prompt back: conversation, files or both"),
    Command("retry", "[ENTRY]", "ask for an answer (the last one) once more, beside the old one"),
    Command("btw", "QUESTION", "ask aside, also while it works; nothing else changes", idle=False),
    Command(
        "diff",
        "[A [B]]",
        "what differs: since the last prompt, or from A to B (or here)",
        idle=False,
    ),
    Command(
        "why", "FILE[:LINE]", "who wrote a file's lines: which prompt, or a person", idle=False
    ),
    Command("resume", "[WORDS]", "pick another session; rename or archive some"),
    Command("new", "", "start a new session"),
    Command("clear", "", "the same as /new"),
    Command("compact", "[FOCUS]", "sum up what is old, to make room; --keep N keeps N tokens"),
    Command("context", "", "what fills the window: the next request by weight", idle=False),
    Command("model", "[ID]", "pick another model, or change to this one: ID or NAME/ID"),
    Command("thinking", "[LEVEL]", "show or change how much the model thinks"),
    Command("label", "[NAME]", "name this place in the tree; without a name, clear it"),
    Command("name", "NAME", "name this session", idle=False),
    Command("session", "", "where this session lies, and how large it is", idle=False),
    Command("cost", "", "tokens and cost so far", idle=False),
    Command("export", "FILE", "write this session, redacted, to a new .md, .html or .jsonl file"),
    Command(
        "explore",
        "[PROMPT]",
        "pick a branch of an exploration; or start one: [-n K] PROMPT",
        idle=False,
    ),
    Command("copy", "", "copy the last answer to the clipboard", idle=False),
    Command("jobs", "[show|stop N]", "what runs in the background; one's output; its end"),
    Command("mcp", "[restart NAME]", "the MCP servers and their tools; end one", idle=False),
    Command("tools", "", "the tools that the model may call", idle=False),
    Command("approve", "[POLICY]", "show or change what needs your agreement"),
    Command("settings", "[WORDS]", "every setting, its value and its source; change one"),
    Command("endpoint", "", "name another endpoint by questions, try it, go on with it"),
    Command("reload", "", "read the settings and the context files anew"),
    Command("help", "", "commands and keys", idle=False),
    Command("hotkeys", "", "keys, and the names that the settings give them", idle=False),
    Command("quit", "", "leave; the session stays", idle=False),
    Command("exit", "", "the same as /quit", idle=False),
)

_LEAVING = frozenset(("exit", "quit", ":q", ":q!", ":wq", ":wq!", ":x"))


def slash_command(name: str) -> Command | None:
    return next((c for c in SLASH_COMMANDS if c.name == name), None)


def is_command(text: str) -> bool:
    """Whether a line that was typed is for the chat, and no prompt that begins with a path (U19).

    Looks at the disk, and only for a name that is no command.
    """
    word = _COMMAND.match(text)
    return word is not None and (
        slash_command(word[1]) is not None or not os.path.lexists(f"/{word[1]}")
    )


def means_leaving(text: str) -> bool:
    """A line that is nothing but what shells and editors are left with (U25). A blank before it
    makes it a prompt."""
    return text.rstrip().lower() in _LEAVING


def calls_prompt(text: str, prompts: Iterable[PromptCommand]) -> bool:
    """Whether it calls a template: the chat's own commands go before. Pure."""
    word = text[1:].split(maxsplit=1)[:1]
    if not text.startswith("/") or not word or slash_command(word[0]) is not None:
        return False
    return any(each.word == word[0] for each in prompts)


def prompt_rows(prompts: Iterable[PromptCommand]) -> list[tuple[str, str]]:
    """(how it is called, what it is for) of skills and templates, safe to show. Pure."""
    return [
        (safe_line(f"/{each.word} {each.arguments}", 40).rstrip(), safe_line(each.help, 90))
        for each in prompts
        if slash_command(each.word) is None
    ]


def no_command(name: str, names: Collection[str]) -> str:
    """The sentence about an unknown command, with the names that are near."""
    begun = [each for each in names if each.startswith(name)]
    near = (begun or get_close_matches(name, names, _MOST_OFFERED))[:_MOST_OFFERED]
    meant = f"; is it {' or '.join(f'/{each}' for each in near)}?" if near else ";"
    advice = "/help lists them; a blank before it makes it a prompt"
    return f"there is no command /{safe_line(name, 40)} here{meant} {advice}"


def split_command(line: str) -> tuple[str, str]:
    """`/name rest` → (name, rest). Pure."""
    name, argument = (*line[1:].split(maxsplit=1), "", "")[:2]
    return name, argument.strip()


SERVERS_USAGE = "/mcp lists the MCP servers; /mcp restart NAME"


def server_words(argument: str) -> tuple[str | None] | None:
    """(None,): list them. (NAME,): restart that one. None: it is no wish. Pure."""
    action, _, name = argument.partition(" ")
    if not action:
        return (None,)
    return (name.strip(),) if action == "restart" and name.strip() else None


JOBS_USAGE = "/jobs lists them; /jobs show N, /jobs stop N"


def job_words(argument: str) -> tuple[str, int | None] | None:
    """The wish that was typed: `show 2` is ("show", 2), and nothing is ("list", None).

    None: it is no wish. Pure.
    """
    action, _, number = argument.partition(" ")
    if action in ("", "list") and not number.strip():
        return "list", None
    if action in ("show", "stop") and re.fullmatch(r"[0-9]{1,9}", number.strip()):
        return action, int(number)
    return None


EXPLORE_USAGE = "/explore [list], /explore pick BRANCH [overwrite], /explore [-n K …] PROMPT"
NO_EXPLORATION = f"there is no exploration of this folder yet; {EXPLORE_USAGE}"


class ExploreWords(Struct, frozen=True):
    """What was typed: `action` list, pick or start. `text`: the branch, or options and prompt."""

    action: str
    text: str = ""
    overwrite: bool = False


def explore_words(argument: str) -> ExploreWords:
    """Pure."""
    match argument.split():
        case [] | ["list"]:
            return ExploreWords("list")
        case ["pick", branch]:
            return ExploreWords("pick", branch)
        case ["pick", branch, "overwrite"]:
            return ExploreWords("pick", branch, overwrite=True)
        case _:
            return ExploreWords("start", argument)


def export_words(argument: str) -> tuple[str, bool]:
    """`FILE --with-private` → (FILE, True). Pure."""
    to = argument.removesuffix(" --with-private")
    return to.strip(), to != argument


def help_text(keymap: Keymap, width: int = 100, prompts: Sequence[tuple[str, str]] = ()) -> str:
    """`prompts`: the rows of skills and templates."""
    commands = in_columns([*((c.usage, c.help) for c in SLASH_COMMANDS), *prompts], width)
    return f"{commands}\n\n{key_text(keymap, width)}"


def card_text(keymap: Keymap, width: int = 200) -> str:
    """What `?` shows: at most twelve lines, with the keys in force."""
    keys = {name: shown for name, shown, _ in keymap.rows()}
    rows = (
        ("send", "sends; while the agent works it steers"),
        ("queue", "breaks the line; while the agent works: for afterwards"),
        ("stop", "stops the agent; twice on an empty line: the tree"),
        ("interrupt", "clears the draft, else stops; twice: leaves"),
        ("unfold", "tool calls in full"),
        ("thoughts", "thoughts in full"),
        ("level", "how much the model thinks"),
        ("models", "another model"),
        ("editor", "the draft in your own editor"),
    )
    lines = [(keys[name] or "(no key)", does) for name, does in rows]
    lines.append(("@ ! !! /", "a file; a command, for yourself only; of the chat"))
    lines.append(("/help", "everything else; `agentsh help TOPIC` has the manual"))
    return in_columns(lines, width)


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


def greeting(text: str, width: int) -> str:
    """Its prose wrapped below its own text; columns and commands stay as they are. Pure."""
    lines: list[str] = []
    for line in text.split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        if len(line) <= width or "  " in line.strip():
            lines.append(line)
        else:
            lines += wrap(
                line.strip(), width, initial_indent=indent, subsequent_indent=indent + "  "
            )
    return "\n".join(lines)


FIRST_PAGE = """\
agentsh: you talk, a model reads, edits and runs here; every step is kept.

  type what you want, Enter sends it; while it works, Enter steers, Esc stops
  @ completes files, ! runs a command of your own, / begins a command
  edits here are done at once and can be taken back: /undo, /diff
  commands are asked about first: y once, a always, n no
  Esc Esc or /tree goes back to any point of what was said, and on from there
  Ctrl-O shows tool calls in full, Ctrl-G opens your editor
  leave with Ctrl-D; `agentsh -c` goes on later, in the same place
  /help names all commands and keys; `agentsh help keys` explains them"""
"""What somebody sees who has never typed anything here: ten lines."""

EMBEDDED_CARD = """\
No endpoint is named, so the small model on this machine answers: it talks, and does little else.
An endpoint is a server that speaks OpenAI's API, anywhere or on this machine. To name one:
  agentsh setup                                  asks, tries it, and writes your settings
  OPENAI_BASE_URL=http://localhost:8080/v1       in the environment (and OPENAI_API_KEY)
  agentsh --base-url http://localhost:8080/v1    this once"""
"""What somebody sees who has configured nothing, while the embedded model answers."""

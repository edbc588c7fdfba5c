"""What the words of a command can do beyond the rule that names its first words. Pure.

A rule `find` says "find may run", not "whatever find can start may run". The words after those that
the rule names pass only where programs.py says that they choose what is read, shown or built: what
is not known to be harmless asks. So a new option of a known program asks too often, and never too
seldom. A program that no table has is the person's own choice; of its words those ask that look
like a command, or like an option that names a program or a file. Read next: programs.py, rules.py.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Container
from typing import Final

from msgspec import Struct

from agentsh.tools.approval.programs import (
    CURL_ASKS,
    EVALUATING,
    FILTER_LETTERS,
    FILTERS,
    FIND_DANGERS,
    GIT_ACTING,
    GIT_BEFORE,
    HARMLESS,
    MODULES,
    OFFERED_FILTERS,
    READERS,
    SCRIPT_LETTERS,
    SCRIPT_VERBS,
    SCRIPTS,
    SHELLS,
    SUBCOMMANDS,
    WHOLE,
    canonical,
)
from agentsh.tools.approval.rules import names_orders

# names of options that run or write something, whatever the program
_SUSPECT: Final = (
    *("exec", "command", "cmd", "out", "shell", "script", "eval", "plugin", "hook", "pager"),
    *(
        "editor",
        "wrapper",
        "program",
        "config",
        "rsh",
        "pre",
        "filter",
        "require",
        "import",
        "load",
    ),
    *(
        "init",
        "rcfile",
        "log-file",
        "logfile",
        "write",
        "save",
        "dump",
        "fix",
        "in-place",
        "inplace",
    ),
    *(
        "delete",
        "remove",
        "launcher",
        "runner",
        "interpreter",
        "proxy",
        "report",
        "junit",
        "target",
    ),
    *("basetemp", "rootdir", "cache-dir", "setup", "install", "parser", "rules", "resolve"),
    *("transform", "file", "dir", "path", "trace", "record", "store", "emit", "dest"),
)
_SUSPECT_LETTERS: Final = frozenset("oOcCexXif")
_SUSPECT_WORDS: Final = ("toolexec", "vettool", "exec", "ok")
_COMMANDS: Final = SHELLS | {"exec", "dlx", "eval", "env", "sudo"}
"""Words after which most programs take a command; `@FILE` holds more words."""
_PROCESS: Final = r"(?:\A|/)proc(?:/(?:self|thread-self|[0-9]+)(?:/|\Z)|\Z)"
_SHELL: Final = frozenset("|&;<>()$`\\\"'*?{}!\n\t ")
_OPENS: Final = frozenset("|<>&;=$`")
_EVALUATED: Final = frozenset("$`")
_SCRIPT_RUNNERS: Final = ("npm", "pnpm", "yarn")


class Judged(Struct, frozen=True):
    """A command's words, `named` of them by the rule; `program` is the name in the tables."""

    program: str
    words: tuple[str, ...]
    named: int

    @property
    def rest(self) -> tuple[str, ...]:
        return self.words[self.named :]


def danger_beyond(words: tuple[str, ...], named: int) -> str | None:
    """Why the words after the first `named` ones need a question; None if they do not."""
    command = _command(words, named)
    program = command.program
    if not command.rest:
        return None
    if (
        secret := next((word for word in command.rest if _tells_of_others(word)), None)
    ) is not None:
        return f"{secret} may tell the environment of other programs, keys in it"
    if program in HARMLESS:
        return None
    judge = next((judge for table, judge in _JUDGES if program in table), _beyond_unknown)
    return judge(command)


def _tells_of_others(word: str) -> bool:
    """Whether it names what the kernel knows of a process, as a word or in an option."""
    return any(re.search(_PROCESS, posixpath.normpath(part)) for part in word.split("="))


def offered_length(words: tuple[str, ...]) -> int:
    """How many first words to offer as a rule; 0: none, the command should stand as it is.

    What is offered covers the same action on something else, and no other action.
    """
    command = _command(words, len(words))
    program, skipped = command.program, len(words) - len(command.words)
    if program in HARMLESS or program in EVALUATING:
        return 1
    if program in SUBCOMMANDS:
        size = _action_size(command, SUBCOMMANDS[program].reads)
        return size and size + skipped
    if program in OFFERED_FILTERS:
        return _filter_size(command)
    return 0


def _command(words: tuple[str, ...], named: int) -> Judged:
    """`python -m pytest` is pytest; any other program is itself."""
    program = canonical(words[0])
    if program == "python" and words[1:2] == ("-m",) and named > 2 and words[2] in MODULES:
        return Judged(canonical(words[2]), words[2:], named - 2)
    return Judged(program, words, named)


def _evaluated(command: Judged) -> str | None:
    """bash evaluates names of variables and their subscripts, and other shells numbers too."""
    for word in command.words[1:]:
        if word.startswith(("-v", "-R")) or "%n" in word:
            return f"{word} makes {command.program} evaluate a name"
    for word in command.rest:
        if not _EVALUATED.isdisjoint(word):
            return f"{command.program} may evaluate {word}"
    return None


def _beyond_action(command: Judged) -> str | None:
    program = SUBCOMMANDS[command.program]
    size = _action_size(command, program.reads | program.takes)
    if not 0 < size <= command.named:
        return _must_name_all(command)
    takes = size > _action_size(command, program.reads)
    later = command.rest
    if command.program in _SCRIPT_RUNNERS and "--" in later:  # what follows is the script's
        separator = later.index("--")
        if bad := _suspect(command.program, later[separator + 1 :]):
            return bad
        later = later[:separator]
    for word in later:
        if word.startswith("-") and not program.options.passes(word):
            return _can_run(command.program, word)
        if command.program == "git" and _acts(command.words[: command.named], word):
            return _can_run(command.program, word)
        if takes and names_orders(word):
            return f"agentsh or git takes orders from {word}"
    return None


def _acts(named: tuple[str, ...], word: str) -> bool:
    """Of git: a remote helper's address, and what overwrites or removes without an option."""
    acting = (GIT_ACTING[each] for each in named if each in GIT_ACTING)
    return "::" in word or any(re.match(pattern, word) for pattern in acting)


def _action_size(command: Judged, phrases: frozenset[tuple[str, ...]]) -> int:
    """How many first words name the program and one of these subcommands; 0: they do not."""
    index = 1
    if command.program == "git":
        while index < len(command.words) and command.words[index] in GIT_BEFORE:
            index += GIT_BEFORE[command.words[index]]
    fitting = [len(each) for each in phrases if _begins(command.words[index:], each)]
    return index + max(fitting) if fitting else 0


def _begins(words: tuple[str, ...], phrase: tuple[str, ...]) -> bool:
    return len(words) >= len(phrase) and all(
        word == expected or (expected == "*" and word[:1] not in ("", "-"))
        for word, expected in zip(words, phrase, strict=False)
    )


def _beyond_filter(command: Judged) -> str | None:
    size = _filter_size(command)
    if not 0 < size <= command.named:
        return f"{command.program} does what its script says, and the rule does not name it"
    options = FILTERS[command.program]
    for word in command.rest:
        if word.startswith("-") and not options.passes(word):
            return _can_run(command.program, word)
        if word.startswith(("+", "/inet")) or not _OPENS.isdisjoint(word):
            return f"{command.program} may not take {word} for a file"
    return None


def _filter_size(command: Judged) -> int:
    """How many first words there are up to the script; 0: that is not certain."""
    letters = FILTER_LETTERS.get(command.program, "")
    ends = SCRIPT_LETTERS.get(command.program, "")
    index = 1
    for word in command.words[1:]:
        index += 1
        if not word.startswith("-"):
            return index
        if command.program == "awk" and len(word) > 2 and word.startswith("-F"):
            continue
        if len(word) < 2 or not set(word[1:-1]) <= set(letters) or word[-1] not in letters + ends:
            return 0
        if word[-1] in ends and word[-1] not in letters:
            return index + 1 if len(command.words) > index else 0
    return 0


def _beyond_script(command: Judged) -> str | None:
    for word in command.words[1 : command.named]:
        if word in SCRIPT_VERBS:
            continue
        if not word.startswith("-"):
            return _suspect(command.program, command.rest)
        if word not in SCRIPTS[command.program]:
            break
    return f"{command.program} does what its next words say, and the rule does not name them"


def _beyond_reader(command: Judged) -> str | None:
    options = READERS[command.program]
    for word in command.rest:
        is_setting = word.startswith("+") and command.program in ("less", "man")
        is_clock = command.program == "date" and word[:1].isdigit()
        is_option = word.startswith("-")
        speaks = command.program == "curl" and not is_option and not re.fullmatch(CURL_ASKS, word)
        is_list = command.program == "pytest" and word.startswith("@")
        if is_setting or is_clock or speaks or is_list or (is_option and not options.passes(word)):
            return _can_run(command.program, word)
        if command.program == "ps" and re.fullmatch("[A-Za-z]*[eE][A-Za-z]*", word):
            return f"{word} may make ps tell the environment of other programs, keys in it"
    return None


def _beyond_find(command: Judged) -> str | None:
    bad = next((word for word in command.rest if word.startswith(FIND_DANGERS)), None)
    return None if bad is None else _can_run(command.program, bad)


def _beyond_unknown(command: Judged) -> str | None:
    return _suspect(command.program, command.rest)


def _suspect(program: str, words: tuple[str, ...]) -> str | None:
    return next((_can_run(program, word) for word in words if _is_suspect(word)), None)


def _is_suspect(word: str) -> bool:
    """Whether a program that nobody knows may take the word for a command or a file to write."""
    if names_orders(word):
        return True
    if not word.startswith("-"):
        name, given, _ = word.partition("=")
        is_command = word.startswith("@") or word.rsplit("/", 1)[-1] in _COMMANDS
        return is_command or not _SHELL.isdisjoint(word) or bool(given and _sounds(name))
    bare = word.lstrip("-").split("=", 1)[0]
    if word.startswith("--"):
        return _sounds(bare) or not _SHELL.isdisjoint(word)
    return (
        bare.startswith(_SUSPECT_WORDS)
        or not _SUSPECT_LETTERS.isdisjoint(bare)
        or not _SHELL.isdisjoint(word)
    )


def _sounds(name: str) -> bool:
    return any(part in name.lower() for part in _SUSPECT)


def _must_name_all(command: Judged) -> str:
    return f"every word of this {command.program} must be named by the rule"


def _can_run(program: str, word: str) -> str:
    return f"{word} can make {program} run another program or write a file"


_JUDGES: Final[tuple[tuple[Container[str], Callable[[Judged], str | None]], ...]] = (
    (EVALUATING, _evaluated),
    (WHOLE, _must_name_all),
    (SUBCOMMANDS, _beyond_action),
    (FILTERS, _beyond_filter),
    (SCRIPTS, _beyond_script),
    (READERS, _beyond_reader),
    (("find",), _beyond_find),
)

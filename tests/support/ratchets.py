"""What the rules of the house do not hold for yet. Each table only shrinks.

tests/test_architecture.py and tests/test_names.py read them, and say what to drop. Nothing may be
added: a new module goes into a room, a new name is one that nobody else has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# rooms that are a plain list, one file a thing, and may be as long as there are things
LISTS: Final = frozenset({"agentsh/cli/commands"})

# names that several modules have on purpose
SHARED_NAMES: Final[Mapping[str, str]] = {
    "main": "an entry point is called so",
}

# words that the glossary keeps out for one meaning, and that are the word for another one
OTHER_MEANINGS: Final[Mapping[str, str]] = {
    "chat": "the living chat, its command, and an API that is called chat completions",
    "event": "what a running agent tells (agent event); stored lines are entries",
    "protocol": "Python's word for a seam (typing.Protocol)",
    "database": "the SQLite file that holds the index",
    "base": "the seam of a package, which others import under that path",
    "HEAD": "git's word, about git",
    "history": "the tool of that name, and what a person typed before",
    "tail": "the end of a file or of an output",
    "rewind": "what a person asks for: the talk, the files, or both",
    "dump": "json's verb: a value to its text",
    "tag": "a mark of a list, by the word that is typed",
    "part": "a part of the screen",
    "chunk": "bytes read at once",
    "completion": "what an editor offers while one types",
    "response": "an API's own word (responses)",
    "block": "a block of Markdown",
    "action": "what a key does",
    "output": "what a command prints",
    "result": "a tool result in the making",
    "memory": "what is kept without a file",
    "options": "words of a command line that begin with a dash",
    "count": "how many of a thing there are",
    "limit": "the most there may be of a thing",
    "filter": "what narrows a list",
    "word": "what a person typed for a place",
    "match": "where an edit's old text stands",
    "position": "how far a file was written",
    "digest": "a hash of bytes",
    "hint": "a line of help on the screen",
    "check": "a comparison of a body with its record",
    "engine": "what runs a search",
    "notification": "the desktop's word",
}

# how often a local may still be called found, at, place … (test_names.py); there were some 900
NAMED_AFTER_A_MOMENT: Final = 70

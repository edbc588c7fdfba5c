"""What the model is told of our tools, in the order in which it is told.

Descriptions only, so that a turn without a call loads no body: each tool's module takes its own
schema from here, and cli/assembly/tools.py knows which module that is. A word changed here changes
every request that is made from now on, and none that was made. Read next: toolset.py.
"""

from __future__ import annotations

from agentsh.messages import ToolSchema

READ = ToolSchema(
    name="read",
    description=(
        "Read a file. Text comes as it is, at most 2000 lines or 50 KB; a note at the end says how"
        " to go on (offset, and column inside a very long line). png, jpeg, gif and webp come as"
        " images."
    ),
    parameters={
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "File, relative to the working folder"},
            "offset": {"type": "integer", "minimum": 1, "description": "First line, from 1"},
            "limit": {"type": "integer", "minimum": 1, "description": "How many lines at most"},
            "column": {
                "type": "integer",
                "minimum": 1,
                "description": "Byte of the first line to begin at, from 1",
            },
        },
        "required": ["path"],
    },
)

WRITE = ToolSchema(
    name="write",
    description=(
        "Write a file: makes it, with its folders, or replaces its whole content. Refused if the"
        " file changed since it was last read. For a change of some lines use edit."
    ),
    parameters={
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "File, relative to the working folder"},
            "content": {"type": "string", "description": "Everything that the file shall hold"},
        },
        "required": ["path", "content"],
    },
)

EDIT = ToolSchema(
    name="edit",
    description=(
        "Replace passages of a file. Each oldText must stand in the file exactly once, as it was"
        " before the call; passages must not overlap. Give enough of the lines around to make it"
        " unique. Everything else of the file stays as it is."
    ),
    parameters={
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "File, relative to the working folder"},
            "edits": {
                "type": "array",
                "description": "The replacements",
                "items": {
                    "type": "object",
                    "properties": {
                        "oldText": {"type": "string", "description": "Text as it stands there"},
                        "newText": {"type": "string", "description": "What comes instead"},
                    },
                    "required": ["oldText", "newText"],
                },
            },
        },
        "required": ["path", "edits"],
    },
)

BASH = ToolSchema(
    name="bash",
    description=(
        "Run a command with bash in the working folder; a fresh shell each time, no terminal, empty"
        " stdin. Gives output and errors in one stream, the last 2000 lines or 50 KB of it. Ends"
        " after `timeout` seconds (default 300). For servers and long work set background: true and"
        " use the jobs tool."
    ),
    parameters={
        "type": "object",
        "properties": {
            "command": {"type": "string", "description": "What to run"},
            "timeout": {"type": "number", "minimum": 0, "description": "Seconds"},
            "background": {
                "type": "boolean",
                "description": "Return at once and let it run on as a job",
            },
        },
        "required": ["command"],
    },
)

GREP = ToolSchema(
    name="grep",
    description=(
        "Search file contents for a regular expression (ripgrep's syntax; lookaround works too),"
        " line by line. Gives path:line: text. Hidden files are searched, .git and what"
        " .gitignore names are not."
    ),
    parameters={
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "description": "Regular expression, or literal text"},
            "path": {"type": "string", "description": "Folder or file (default: working folder)"},
            "glob": {"type": "string", "description": "Only such files, e.g. *.py, !*.min.js"},
            "ignoreCase": {"type": "boolean", "description": "Ignore case (default: false)"},
            "literal": {"type": "boolean", "description": "Take pattern as plain text"},
            "context": {
                "type": "integer",
                "minimum": 0,
                "description": "Lines to show before and after each match (default: 0)",
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "description": "Matching lines at most (default: 100)",
            },
        },
        "required": ["pattern"],
    },
)

FIND = ToolSchema(
    name="find",
    description=(
        "Find files and folders by glob: *.py (name), src/**/test_*.py (path), {a,b}. One path a"
        " line. Hidden ones are found, .git and what .gitignore names are not."
    ),
    parameters={
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "description": "Glob on the name, or with / on the path"},
            "path": {"type": "string", "description": "Folder (default: working folder)"},
            "limit": {
                "type": "integer",
                "minimum": 1,
                "description": "Paths at most (default: 1000)",
            },
        },
        "required": ["pattern"],
    },
)

LS = ToolSchema(
    name="ls",
    description="List a folder: sorted names, dotfiles too, folders end in /.",
    parameters={
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Folder (default: working folder)"},
            "limit": {
                "type": "integer",
                "minimum": 1,
                "description": "Names at most (default: 500)",
            },
        },
    },
)

JOBS = ToolSchema(
    name="jobs",
    description=(
        "Look after commands that bash started with background: true. action list: all of them;"
        " read: the end of one's output; end: stop one with all that it started."
    ),
    parameters={
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": ["list", "read", "end"]},
            "id": {"type": "integer", "description": "The job's number (read, end)"},
        },
        "required": ["action"],
    },
)

HISTORY = ToolSchema(
    name="history",
    description=(
        "Look into the record of this session: what was said, done and printed earlier, also what"
        " is no longer in your context (summarised away, or on another branch). Give query to"
        " search, or entry to read one entry whole. Use it before you say that you do not know"
        " something from earlier."
    ),
    parameters={
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "description": 'Words to look for; begin* and "a phrase" work, too',
            },
            "entry": {"type": "string", "description": "Id of an entry, as a search gives it"},
            "offset": {"type": "integer", "minimum": 1, "description": "Line to begin at (entry)"},
            "limit": {
                "type": "integer",
                "minimum": 1,
                "description": "Entries at most (query; default: 8)",
            },
            "other_sessions": {
                "type": "boolean",
                "description": "Search the other sessions of this project (default: false)",
            },
        },
    },
)
"""Off by default: `--tools …,history`, or `[tools] history = true`."""

OWN = (READ, WRITE, EDIT, BASH, GREP, FIND, LS, JOBS)

"""Every setting in words: what it is for, its type, its default, an example. Pure.

`agentsh config --explain NAME`, `/settings` of the chat and docs/settings.md are made from this
table; a test holds it against settings.py, and reads each example. Types and defaults are the
code's own. Read next: showing.py, changing.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Final

from msgspec import NODEFAULT, Struct
from msgspec.structs import fields

from agentsh.cli.setup.showing import shown_value, source_of
from agentsh.errors import UsageError
from agentsh.jsontext import JsonValue, dumps_text
from agentsh.settings import SETTING_NAMES, Settings
from agentsh.settingstext import EVERY_TABLE, expected_words

_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "endpoint.base_url": ("the address of the endpoint; ends in /v1", '"http://localhost:8080/v1"'),
    "endpoint.model": ("the model that is asked", '"qwen3-coder"'),
    "endpoint.api": ("how requests are spelled", '"openai-responses"'),
    "endpoint.api_key_env": ("the variable that holds the key", '"MY_KEY"'),
    "endpoint.api_key_command": ("a command that prints the key", '"pass show openai"'),
    "endpoint.idle_timeout": ("seconds that an answer may stay silent; 0 = no limit", "600"),
    "endpoint.event_timeout": ("seconds that a stream may bring nothing of an answer", "600"),
    "endpoint.max_retries": ("how often a request that failed is repeated by itself", "4"),
    "endpoint.context_window": ("tokens that the model holds, where nobody says it", "32768"),
    "endpoint.max_tokens": ("the most that one answer may have", "4096"),
    "endpoint.overflow_pattern": ("how this server says that a prompt is too long", '"too big"'),
    "endpoint.ca_file": ("certificates to trust, for a server of your own", '"~/ca.pem"'),
    "endpoint.proxy": ("the proxy for this endpoint", '"http://proxy:3128"'),
    "endpoint.headers": ("headers to send along", '{ "X-Team" = "birds" }'),
    "endpoint.extra_body": ("members to put into every request", "{ temperature = 0.2 }"),
    "endpoint.max_requests": ("requests of an exploration under way at once", "8"),
    "endpoint.requests_per_minute": ("requests of an exploration in a minute", "500"),
    "endpoint.tokens_per_minute": ("tokens that an exploration asks in a minute", "400000"),
    "endpoint.use": ("the NAME of the [endpoints.NAME] that is in force", '"work"'),
    "approve.policy": ("what is done unasked: never, ask, edits, all", '"ask"'),
    "approve.allow": ("first words of commands that need no question", '["git status"]'),
    "tools.pass_env": ("variables that commands get although they look secret", '["CI_TOKEN"]'),
    "tools.timeout": ("seconds that a command may take, unless the model says more", "300"),
    "tools.history": ("offer the model the tool that searches what was said", "true"),
    "tools.plugins": ("tools of installed packages to load, by name", '["birds"]'),
    "tools.command": (
        "tools of your own, one table each",
        '{ t = { run = "./t", description = "d" } }',
    ),
    "hooks.before_tool": ("commands to run before each call; they may refuse it", '["./guard"]'),
    "hooks.after_tool": ("commands to run after each call", '["./note"]'),
    "hooks.before_prompt": ("commands to run before each prompt; they may refuse it", '["./add"]'),
    "hooks.after_turn": ("commands to run after each turn; they may prompt again", '["./test"]'),
    "hooks.on_question": ("commands to run when your agreement is waited for", '["./ring"]'),
    "skills.enabled": ("tell the model of skills, and take /skill:NAME", "false"),
    "skills.paths": ("folders to look for skills in, besides the usual ones", '["~/team/skills"]'),
    "templates.enabled": ("take /NAME as the template of that name", "false"),
    "undo.enabled": ("record the files' states, so that edits can be taken back", "false"),
    "sandbox.enabled": ("run commands where they can write in this folder only", "true"),
    "sandbox.network": ("let commands in the sandbox use the network", "true"),
    "thinking.level": ("how much the model thinks", '"high"'),
    "compaction.auto": ("sum up what is old when the window is nearly full", "false"),
    "compaction.reserve": ("tokens of the window that stay free for the answer", "16384"),
    "compaction.keep": ("tokens of the end that a summary leaves as they are", "20000"),
    "context.files": ("send AGENTS.md and CLAUDE.md of the folder and those above", "false"),
    "cost.warn": ("say so when a session has cost this much", "1.0"),
    "cost.stop": ("stop before a request when a session has cost this much", "5.0"),
    "session.title": ("ask the model for a title of each session", "true"),
    "resume.restore": ("go on with the model, level and tools that a session had", "false"),
    "explore.engine": ("where branches run: on this machine, or on many by Ray", '"ray"'),
    "explore.parallel": ("branches at work at once", "8"),
    "explore.with": ("ignored files and folders that each workspace gets, if there", '[".env"]'),
    "explore.share": ("those that each workspace is lent read-only, if there", '[".venv"]'),
    "explore.setup": ("a command to run in each workspace before the agent", '"make deps"'),
    "explore.workspaces": ("a folder for workspaces, on the file system of the project", '"~/w"'),
    "mcp.start_timeout": ("seconds until a server's list of tools is there", "30"),
    "mcp.timeout": ("seconds that a call of a server may take", "60"),
    "ui.theme": ("the colours", '"light"'),
    "ui.vi": ("vi keys in the editor", "true"),
    "ui.keys": ("keys of your own: action = keys", '{ unfold = "ctrl-o f2" }'),
    "ui.bell": ("ring when a long turn ends, or a question waits", "false"),
    "ui.notify": ("tell the desktop, where the terminal passes it on", "false"),
    "ui.plain": ("plain lines only, for screen readers", "true"),
    "ui.status": ("what the status line holds, in this order", '["model", "context", "folder"]'),
    "models.ID.context_window": ("tokens that this model holds", "32768"),
    "models.ID.max_tokens": ("the most that one answer of it may have", "4096"),
    "models.ID.images": ("it takes pictures", "true"),
    "models.ID.reasoning": ("it can think", "true"),
    "models.ID.reasoning_echo": ("whether its thinking is sent back to it", '"calls"'),
    "models.ID.tools": ("it can call tools", "false"),
    "models.ID.prices": ("what a million tokens cost", "{ input = 0.5, output = 1.5 }"),
    "mcp.servers.NAME.command": ("the program of a server on this machine", '"npx"'),
    "mcp.servers.NAME.args": ("its arguments", '["-y", "birds-mcp"]'),
    "mcp.servers.NAME.env": ("variables it gets besides", '{ TOKEN = "${BIRDS_TOKEN}" }'),
    "mcp.servers.NAME.cwd": ("its folder, from the session's on", '"tools"'),
    "mcp.servers.NAME.url": ("the address of a server elsewhere", '"https://birds.example/mcp"'),
    "mcp.servers.NAME.headers": (
        "headers to send along",
        '{ Authorization = "Bearer ${BIRDS}" }',
    ),
    "mcp.servers.NAME.tools": ("the tools that are offered; all where not set", '["list_*"]'),
    "mcp.servers.NAME.exclude": ("what is taken out of those", '["wipe"]'),
    "mcp.servers.NAME.timeout": ("seconds that a call may take", "60"),
    "mcp.servers.NAME.start_timeout": ("seconds until its list is there", "30"),
    "mcp.servers.NAME.trust_hints": ("believe it which of its tools only read", "true"),
    "mcp.servers.NAME.inherit_env": ("the whole environment, without keys", "true"),
    "mcp.servers.NAME.sandbox": ("in the sandbox: run it confined as well", "false"),
    "mcp.servers.NAME.enabled": ("use it", "false"),
    "mcp.servers.NAME.required": ("no turn begins without its tools", "true"),
}
_NAMED: Final = {
    "endpoints": "endpoints.NAME",
    "models": "models.ID",
    "mcp.servers": "mcp.servers.NAME",
}


class Explained(Struct, frozen=True):
    """One setting. `type` in words, `default` as TOML would have it ("not set": there is none)."""

    name: str
    what: str
    type: str
    default: str
    example: str
    """A whole entry of config.toml: the table, and the line in it."""


def every_setting() -> tuple[Explained, ...]:
    """All of them, in the order of the tables."""
    return tuple(_all())


def explain(name: str) -> Explained:
    """Raises UsageError: there is no such setting; the nearest names are told."""
    settings = {each.name: each for each in every_setting()}
    table = next((each for each in _NAMED if name.startswith(f"{each}.")), None)
    if table is not None and name not in settings:
        name = f"{_NAMED[table]}.{name.rpartition('.')[2]}"
    if name in settings:
        return settings[name]
    near = get_close_matches(name, settings, 3) or [each for each in settings if name in each][:3]
    meant = f"is it {' or '.join(near)}?" if near else "`agentsh config` lists them"
    raise UsageError(f"there is no setting {name[:80]!r}", hint=meant)


def explained_lines(explained: Explained, settings: Settings) -> list[str]:
    """All of it, with the value in force."""
    name = explained.name
    is_one = name in SETTING_NAMES
    value = dumps_text(shown_value(name, settings.value(name))) if is_one else ""
    now = [f"now      {value}  ({source_of(settings, name)})"] if is_one else []
    return [
        f"{name}: {explained.what}",
        f"type     {explained.type}",
        f"default  {explained.default}",
        *now,
        "example",
        *(f"         {line}" for line in explained.example.split("\n")),
    ]


def _all() -> Iterator[Explained]:
    for table, kind in EVERY_TABLE.items():
        section = _NAMED.get(table, table)
        for each in fields(kind):
            key = each.encode_name
            texts = _WORDS.get(f"{'endpoint' if table == 'endpoints' else section}.{key}")
            if each.name == "name" or (texts is None and table == "endpoints"):
                continue
            what, example = texts or ("", "")
            default = each.default
            if default is NODEFAULT:
                default = None if each.default_factory is NODEFAULT else each.default_factory()
            yield Explained(
                f"{section}.{key}",
                what,
                expected_words(kind, key),
                _toml(default),
                f"[{section}]\n{key} = {example}",
            )


def _toml(value: JsonValue) -> str:
    """A default, which is never a table with something in it."""
    if value is None:
        return "not set"
    return dumps_text(list(value) if isinstance(value, tuple) else value)

"""What the shell is offered at Tab: sessions, entries and labels, models. Loads nothing heavy.

The scripts and the words of commands are typer's; here are the values. Session text is foreign, and
a completion script evaluates what it is given: a value or a description holds nothing but letters,
digits and a few signs, or it is not offered. Nothing is written, and no endpoint is asked.
Annotations are kept as objects (no `from __future__`): typer reads them.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import typer

_MOST = 100
_VALUE = re.compile(r"[\w.@/+=:-]{1,200}")
_UNSAID = re.compile(r"[^\w .,@/+=-]+")

Suggestion = tuple[str, str]


def completing() -> list[str] | None:
    """The words of the line that is being completed, without the first; None otherwise."""
    if "complete" not in os.environ.get("_AGENTSH_COMPLETE", ""):
        return None
    # typer would load rich for the descriptions
    sys.modules.setdefault("rich", None)  # type: ignore[arg-type]
    words, is_whole = _words()
    # the word that is being typed may be the beginning of several
    return words if is_whole or len(words) > 1 else []


def _words() -> tuple[list[str], bool]:
    """Of the line, without the program's name; whether the last one is whole."""
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    return line.split()[1:], line[-1:].isspace()


def offer_sessions(incomplete: str) -> list[Suggestion]:
    """`last`, those of this folder with what they are about, and by prefix those of all."""
    from agentsh.cli.setup.paths import find_places
    from agentsh.errors import AgentshError
    from agentsh.session.store.catalog import Index
    from agentsh.session.store.naming import id_in_name
    from agentsh.session.store.store import Store

    try:
        places = find_places(os.environ)
        store = Store(places.sessions, places.flat, summaries=Index(places.index).summaries)
        rows = store.rows(str(Path.cwd()))
        offers = [("last", "the session of this folder that was last talked in")]
        offers += [(row.id, row.name or row.prompt or "") for row in rows]
        if incomplete and not any(value.startswith(incomplete) for value, _ in offers):
            offers += [(id_in_name(path.name) or "", "") for path in store.files()]
    except (AgentshError, OSError):
        return []
    return list(_safe(offers, incomplete))


def offer_entries(ctx: typer.Context, incomplete: str) -> list[Suggestion]:
    """`leaf`, `root`, labels, and the messages of the session that was named before."""
    from agentsh.errors import AgentshError
    from agentsh.session.file.session import open_session
    from agentsh.views.treeitem import item_of

    try:
        path = _session(ctx)
        if path is None:
            return []
        with open_session(path, write=False) as session:
            tree = session.tree
            offers = [("leaf", "where the next prompt goes on"), ("root", "before the first one")]
            offers += [(label, "a label") for label in tree.labels.values()]
            messages = [each for each in reversed(tuple(tree)) if tree.kind(each) == "message"]
            for entry in messages[:_MOST]:
                offers.append((entry, item_of(session.entry(entry), None).text))
    except (AgentshError, OSError):
        return []
    return list(_safe(offers, incomplete))


def offer_models(incomplete: str) -> list[Suggestion]:
    """Those that the settings name; asking an endpoint would take too long."""
    from agentsh.cli.setup.paths import find_places
    from agentsh.cli.setup.trust import read_text
    from agentsh.errors import AgentshError
    from agentsh.files import is_regular
    from agentsh.settinglayers import load
    from agentsh.settingstext import read_settings

    try:
        file = find_places(os.environ).settings
        layers = [read_settings(read_text(file), str(file))] if is_regular(file) else []
        settings = load(layers, os.environ, {})
    except (AgentshError, OSError, ValueError):
        return []
    named = [settings.endpoint.model] if settings.endpoint.model else []
    named += [f"{name}/{each.model}" for name, each in settings.endpoints.items() if each.model]
    return list(_safe(((name, "") for name in (*named, *settings.models)), incomplete))


def _session(ctx: typer.Context) -> Path | None:
    from agentsh.cli.lookup.finding import find_session

    for name in ("session", "fork"):
        word = ctx.params.get(name)
        if isinstance(word, str):
            return find_session(word, None)
    # an option that waits for its value kept the parser from getting to the arguments
    words, is_whole = _words()
    plain = [w for w in (words if is_whole else words[:-1])[1:] if not w.startswith("-")]
    return find_session(plain[0] if plain else None, None)


def _safe(offers: Iterable[Suggestion], incomplete: str) -> Iterator[Suggestion]:
    seen: set[str] = set()
    for value, description in offers:
        if value in seen or not value.startswith(incomplete) or not _VALUE.fullmatch(value):
            continue
        seen.add(value)
        yield value, _UNSAID.sub(" ", description).strip()[:60]
        if len(seen) == _MOST:
            return

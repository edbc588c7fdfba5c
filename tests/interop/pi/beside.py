"""Holds what agentsh reads of a file beside what Pi reads of it: the tree, and any place in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from agentsh.context.outbound import OutboundRules, prepare
from agentsh.context.pairing import problems
from agentsh.context.projection import Context, project
from agentsh.session.file.session import Session
from agentsh.session.format.entries import EntryId
from tests.interop.pi import meaning


def differing_trees(session: Session, answer: Any) -> Iterator[str]:
    """What differs in the file as a whole; nothing for nothing."""
    yield from _unequal(
        {
            "leaf": (session.leaf, answer["leaf"]),
            "name": (session.tree.name or None, answer["name"]),
            "labels": (dict(session.tree.labels), answer["labels"]),
            "entries": (list(session.tree), [e["id"] for e in answer["entries"]]),
        }
    )


def differing_places(session: Session, answer: Any) -> Iterator[str]:
    """What differs in what a model would be told at each place that Pi was asked for."""
    stored = {e["id"]: e for e in answer["entries"]}
    for seen in answer["contexts"]:
        yield from (f"at {seen['at']}: {text}" for text in _differing(session, stored, seen))


def _differing(session: Session, stored: dict[str, Any], seen: Any) -> Iterator[str]:
    at = EntryId(seen["at"]) if seen["at"] is not None else None
    whole = session.branch(at, repaired=False)
    context = project(whole)
    cut = project(session.live(at, repaired=False))
    provider, model = (context.model.provider, context.model.model) if context.model else ("", "")
    sent = prepare(context, OutboundRules(provider, model))
    pi_model = seen["model"] or {"provider": "", "modelId": ""}
    lone = [stored[e]["message"] for e in meaning.lone_results(seen["entries"], stored)]
    of_pi = meaning.ours_of_pi(seen["entries"], stored)
    yield from _unequal(
        {
            "path": ([e.id for e in whole.entries], seen["path"]),
            "model": ((provider, model), (pi_model["provider"], pi_model["modelId"])),
            "thinking": (context.thinking, seen["thinking"]),
            "projection": (meaning.projection_of_ours(context), of_pi),
            "sent": (meaning.sent_of_ours(sent), meaning.sent_of_pi(seen["sent"], lone)),
            "sound": (problems(sent), ()),
            "read from the tail": (cut.items, context.items),
        }
    )
    if _has_checkpoint(context, stored):
        ours, pis = meaning.system_of_ours(context), meaning.system_of_pi(seen["system"])
        yield from _unequal({"system": (ours, pis)})


def _has_checkpoint(context: Context, stored: dict[str, Any]) -> bool:
    """Behind a compaction without `systemMessage` Pi has no prompt until it writes one anew;
    agentsh goes on with the one in force."""
    if context.compaction is None:
        return True
    return "systemMessage" in stored[context.compaction]


def _unequal(wanted: dict[str, tuple[Any, Any]]) -> Iterator[str]:
    for what, (ours, pis) in wanted.items():
        if ours != pis:
            yield f"{what}: {_first_difference(ours, pis)}"


def _first_difference(ours: Any, pis: Any) -> str:
    if isinstance(ours, Sequence) and isinstance(pis, Sequence) and not isinstance(ours, str):
        for i, (one, other) in enumerate(zip(ours, pis, strict=False)):
            if one != other:
                return f"[{i}]{_first_difference(one, other)}"
        return f"agentsh has {len(ours)}, Pi {len(pis)}: {[*ours[len(pis) :], *pis[len(ours) :]]!r}"
    return f"agentsh has {ours!r}, Pi {pis!r}"

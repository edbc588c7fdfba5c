"""Random session files as Pi could have written them: a seed gives the same file for ever.

Valid means what Pi's own API can make: parents stand before children, edits aim at what may be
edited on their path, calls have results (or a run that was stopped). Everything else is drawn:
branches, several roots, compactions in compactions and on abandoned branches, kept ids of every
kind, summaries, labels, settings, system patches, messages of every role.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

Json = dict[str, Any]

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9"
    "awAAAABJRU5ErkJggg=="
)
WORDS = (
    "heron",
    "ärger",
    "鷺",
    "two\nlines",
    'a "quote"',
    "\u2028",
    "x" * 9,
    "\t",
    "`tick`",
    "\x00",
)
MODELS = (("scripted", "scripted-1"), ("scripted", "scripted-2"), ("other", "big"))
LEVELS = ("off", "minimal", "low", "medium", "high", "xhigh", "max")
TOOLS = ("read", "bash", "edit", "write", "grep")
SECTIONS = ("preamble", "rules", "cwd", "date")
COST = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
EDITABLE = ("user", "assistant", "toolResult")


class Grower:
    """Grows one tree, an action at a time; `lines` is the file."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.entries: list[Json] = []
        self.by_id: dict[str, Json] = {}
        self.leaf: str | None = None
        self.calls = 0
        self.header: Json = {
            "type": "session",
            "version": 3,
            "id": f"0000{seed:04x}-tree",
            "timestamp": "2026-11-01T00:00:00.000Z",
            "cwd": "/",
        }

    @property
    def lines(self) -> bytes:
        whole = [self.header, *self.entries]
        return b"".join(
            json.dumps(e, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for e in whole
        )

    def grow(self, actions: int) -> None:
        self.begin()
        for _ in range(actions):
            self.rng.choices(_ACTIONS, _WEIGHTS)[0](self)

    # ---- the tree ----------------------------------------------------------------------------

    def add(self, kind: str, /, **members: Any) -> str:
        fresh = f"{self.rng.getrandbits(32):08x}"
        if self.rng.random() < 0.03:
            fresh = f"entry-{len(self.entries)}"  # public files hold such ids
        entry: Json = {
            "type": kind,
            "id": fresh,
            "parentId": self.leaf,
            "timestamp": "2026-11-01T00:{:02d}:{:02d}.000Z".format(*divmod(len(self.entries), 60)),
        } | {k: v for k, v in members.items() if v is not None or k == "replacement"}
        self.entries.append(entry)
        self.by_id[fresh] = entry
        self.leaf = fresh
        return fresh

    def path(self) -> list[Json]:
        found = []
        at = self.leaf
        while at is not None:
            found.append(self.by_id[at])
            at = self.by_id[at]["parentId"]
        return found[::-1]

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def words(self) -> str:
        return f"{self.rng.choice(WORDS)} {len(self.entries)} {self.rng.choice(WORDS)}"

    def begin(self) -> None:
        if self.chance(0.9):
            self.model()
            self.thinking()
        if self.chance(0.7):
            self.system()

    # ---- what is said ------------------------------------------------------------------------

    def message(self, role: str, /, **members: Any) -> str:
        known = {k: v for k, v in members.items() if v is not None or k == "content"}
        stamped = {"role": role, **known, "timestamp": 1793491200000 + len(self.entries)}
        return self.add("message", message=stamped)

    def blocks(self) -> list[Json]:
        text: Json = {"type": "text", "text": self.words()}
        image: Json = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
        return self.rng.choice([[text], [text], [text], [text, image], [image], [text, text], []])

    def content(self) -> Any:
        """Old files and extensions leave strings, blanks and null."""
        if self.chance(0.1):
            return self.rng.choice(["", " \n", None, [{"type": "text", "text": ""}]])
        return self.words() if self.chance(0.2) else self.blocks()

    def user(self) -> None:
        self.message("user", content=self.content())

    def answer(self) -> None:
        stop = self.rng.choice(["stop", "stop", "stop", "length", "error", "aborted"])
        self.assistant(stop, self.rng.choice([0, 0, 0, 1]) if stop != "stop" else 0)

    def assistant(self, stop: str, calls: int) -> list[Json]:
        provider, model = self.rng.choice(MODELS)
        content: list[Json] = []
        if self.chance(0.3):
            thought: Json = {"type": "thinking", "thinking": self.words()}
            if self.chance(0.8):
                thought["thinkingSignature"] = self.rng.choice(["reasoning_content", "reasoning"])
            content.append(thought)
        if self.chance(0.85):
            text = " \n" if self.chance(0.05) else self.words()
            content.append({"type": "text", "text": text})
        asked = [self.call() for _ in range(calls)]
        self.message(
            "assistant",
            content=[*content, *asked] or (None if self.chance(0.5) else []),
            api="openai-completions" if self.chance(0.9) else "anthropic-messages",
            provider=provider,
            model=model,
            usage={
                "input": 9,
                "output": 1,
                "cacheRead": 0,
                "cacheWrite": 0,
                "totalTokens": 10,
                "cost": COST,
            },
            stopReason=stop,
            errorMessage="it broke" if stop == "error" else None,
        )
        return asked

    def call(self) -> Json:
        self.calls += 1
        # some models count their calls anew in each answer
        name = f"call_{self.calls % 3 if self.chance(0.2) else self.calls}"
        if self.chance(0.05):
            name += "|fc_" + "0123456789abcdef" * 4  # as the responses API has them
        arguments: Json = {
            "path": self.words(),
            "n": self.rng.randrange(9),
            "deep": {"a": [1, None]},
        }
        return {
            "type": "toolCall",
            "id": name,
            "name": self.rng.choice(TOOLS),
            "arguments": arguments,
        }

    def work(self) -> None:
        """An answer with calls, and results: of all, or the run was stopped before the last."""
        asked = self.assistant("toolUse", self.rng.randrange(1, 4))
        for call in asked[: None if self.chance(0.85) else -1]:
            if self.chance(0.1):
                self.rng.choice([self.custom, self.label, self.rename])()
            self.message(
                "toolResult",
                toolCallId=call["id"],
                toolName=call["name"],
                content=self.blocks(),
                isError=self.chance(0.2),
            )
        if self.chance(0.15):
            self.message("assistant", **self.stopped())

    def stopped(self) -> Json:
        """The empty answer that Pi stores behind the results of an aborted run."""
        usage = {
            "input": 0,
            "output": 0,
            "cacheRead": 0,
            "cacheWrite": 0,
            "totalTokens": 0,
            "cost": COST,
        }
        return {
            "content": [],
            "api": "openai-completions",
            "provider": "scripted",
            "model": "scripted-1",
            "usage": usage,
            "stopReason": "aborted",
        }

    def shell(self) -> None:
        self.message(
            "bashExecution",
            command=self.rng.choice(["ls", "make test", "echo a b"]),
            output=self.rng.choice(["", "one\ntwo", "one line"]),
            exitCode=self.rng.choice([0, 0, 3, None]),
            cancelled=self.chance(0.2),
            truncated=self.chance(0.3),
            fullOutputPath=self.rng.choice([None, "/tmp/all-of-it"]),
            excludeFromContext=self.rng.choice([None, None, True]),
        )

    def old_custom(self) -> None:
        self.message("custom", customType="old", content=self.content(), display=self.chance(0.5))

    def custom_message(self) -> None:
        self.add("custom_message", customType="x", content=self.content(), display=self.chance(0.5))

    # ---- settings and marks ------------------------------------------------------------------

    def model(self) -> None:
        provider, model = self.rng.choice(MODELS)
        self.add("model_change", provider=provider, modelId=model)

    def thinking(self) -> None:
        self.add("thinking_level_change", thinkingLevel=self.rng.choice(LEVELS))

    def system(self) -> None:
        self.add("message", message=self.prompt())

    def prompt(self) -> Json:
        names = self.rng.sample(SECTIONS, self.rng.randrange(1, 4))
        sections = {n: None if self.chance(0.15) else self.words() for n in names}
        value: Json = {"role": "system", "content": self.words() if self.chance(0.2) else ""}
        value |= {"sections": sections, "timestamp": 1}
        if self.chance(0.7):
            added = self.rng.sample(TOOLS, self.rng.randrange(1, 4))
            value["toolsAdded"] = [
                {"name": n, "description": self.words(), "parameters": {"type": "object"}}
                for n in added
            ]
        if self.chance(0.3):
            value["toolsRemoved"] = [{"name": self.rng.choice(TOOLS)}]
        return value

    def label(self) -> None:
        if self.entries:
            target = self.rng.choice(self.entries)["id"]
            self.add("label", targetId=target, label=self.rng.choice(["start", "tried", "", None]))

    def rename(self) -> None:
        self.add("session_info", name=self.rng.choice(["a name", "another", ""]))

    def custom(self) -> None:
        self.add("custom", customType="someone.else", data={"any": self.words()})

    def usage(self) -> None:
        usage = {
            "input": 1,
            "output": 1,
            "cacheRead": 0,
            "cacheWrite": 0,
            "totalTokens": 2,
            "cost": COST,
        }
        self.add("usage", kind="title", provider="scripted", model="scripted-1", usage=usage)

    def unknown(self) -> None:
        self.add("of_the_future", says=self.words())

    def edit(self) -> None:
        targets = [
            e["id"]
            for e in self.path()
            if e["type"] == "custom_message"
            or (e["type"] == "message" and e["message"]["role"] in EDITABLE)
        ]
        if not targets:
            return
        target = self.rng.choice(targets[-6:] if self.chance(0.7) else targets)
        entry = self.by_id[target]
        content = self.content() or self.words()
        if entry["type"] == "message" and entry["message"]["role"] == "assistant":
            content = self.edited_answer(entry["message"]["content"])
        self.add(
            "context_edit",
            targetId=target,
            replacement=None if self.chance(0.5) else {"content": content},
        )

    def hide_other(self) -> None:
        """A command or a summary: agentsh hides it, and gives it some content to show it again."""
        targets = [
            e["id"]
            for e in self.path()
            if e["type"] == "branch_summary" or e.get("message", {}).get("role") == "bashExecution"
        ]
        if targets:
            content = None if self.chance(0.6) else {"content": self.words()}
            self.add("context_edit", targetId=self.rng.choice(targets), replacement=content)

    def edited_answer(self, old: list[Json] | None) -> list[Json]:
        """What an extension may make of an answer: other words, with or without its calls."""
        kept = [b for b in old or () if b["type"] == "toolCall" and self.chance(0.6)]
        return [{"type": "text", "text": self.words()}, *kept]

    # ---- moves and summaries -----------------------------------------------------------------

    def move(self) -> None:
        ids = [e["id"] for e in self.entries]
        self.leaf = None if not ids or self.chance(0.05) else self.rng.choice(ids)

    def move_with_summary(self) -> None:
        left = self.leaf
        self.move()
        self.add(
            "branch_summary",
            fromId=self.rng.choice([left or "root", self.leaf or "root"]),
            summary=self.rng.choice(["", self.words(), self.words()]),
            details=self.rng.choice([None, {"readFiles": ["a.py"], "modifiedFiles": []}]),
            fromHook=self.rng.choice([None, False, True]),
        )

    def compact(self) -> None:
        kept = self.kept()
        name = self.add(
            "compaction",
            summary="" if self.chance(0.05) else self.words(),
            firstKeptEntryId=kept,
            tokensBefore=1234,
            details=self.rng.choice([None, {"readFiles": [], "modifiedFiles": ["b.py"]}]),
            fromHook=self.rng.choice([None, False, True]),
            systemMessage=self.prompt() if self.chance(0.6) else None,
        )
        if kept == "self":
            self.by_id[name]["firstKeptEntryId"] = name

    def kept(self) -> str | None:
        path = [e["id"] for e in self.path()]
        draw = self.rng.random()
        if draw < 0.70 and path:
            return str(self.rng.choice(path[-12:] if self.chance(0.6) else path))
        if draw < 0.82:
            return "self"
        if draw < 0.90 and self.entries:
            return str(self.rng.choice(self.entries)["id"])  # perhaps of another branch
        return "no-such-entry" if draw < 0.97 else None


CHOICES: list[tuple[Callable[[Grower], None], int]] = [
    (Grower.user, 10),
    (Grower.answer, 9),
    (Grower.work, 9),
    (Grower.shell, 2),
    (Grower.old_custom, 1),
    (Grower.custom_message, 2),
    (Grower.model, 1),
    (Grower.thinking, 1),
    (Grower.system, 2),
    (Grower.label, 2),
    (Grower.rename, 1),
    (Grower.custom, 2),
    (Grower.usage, 1),
    (Grower.unknown, 1),
    (Grower.edit, 4),
    (Grower.hide_other, 1),
    (Grower.move, 4),
    (Grower.move_with_summary, 3),
    (Grower.compact, 3),
]
_ACTIONS = [action for action, _ in CHOICES]
_WEIGHTS = [weight for _, weight in CHOICES]


# fewer moves than in the trees above, so that one path holds several compactions


def tree(seed: int) -> Grower:
    """The tree of this number: small ones and large ones in turns."""
    grower = Grower(seed)
    grower.grow(5 + seed * 7 % 60)
    return grower

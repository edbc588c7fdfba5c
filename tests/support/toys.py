"""Tools for tests of what calls them: a body of one's own, a name, an effect. Real Tools."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct, field

from agentsh.errors import InvalidArgumentsError
from agentsh.jsontext import JsonObject
from agentsh.messages import Text, ToolSchema
from agentsh.tools.base import Effect, ToolContext, ToolOutcome


def outcome(text: str) -> ToolOutcome:
    return ToolOutcome((Text(text),))


class Toy(Struct, frozen=True):
    """A tool whose body is given. Its one argument is `say`; without one it says its name."""

    name: str
    body: Callable[[JsonObject, ToolContext], ToolOutcome]
    effect: Effect = Effect.READ
    places: tuple[Path, ...] = ()

    @property
    def schema(self) -> ToolSchema:
        parameters: JsonObject = {"type": "object", "properties": {"say": {"type": "string"}}}
        return ToolSchema(self.name, f"{self.name}, for tests", parameters)

    def check(self, arguments: JsonObject) -> JsonObject:
        if not isinstance(arguments.get("say", ""), str):
            raise InvalidArgumentsError(f"{self.name}: say is no string")
        return dict(arguments)

    def touches(self, arguments: JsonObject, cwd: Path, home: Path) -> tuple[Path, ...]:
        return self.places

    def expect(self, arguments: JsonObject, context: ToolContext) -> Mapping[str, str] | None:
        return None

    def run(self, arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        return self.body(arguments, context)


def echo(name: str = "echo", effect: Effect = Effect.READ) -> Toy:
    """Says what it is told to."""
    return Toy(name, lambda arguments, _: outcome(str(arguments.get("say", name))), effect)


def crashing(name: str = "crash", effect: Effect = Effect.READ) -> Toy:
    def body(arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        raise KeyError("a bug in a tool")

    return Toy(name, body, effect)


class Meeting(Struct):
    """A tool body that returns once `count` of its calls are inside it, or gives up."""

    count: int
    inside: int = 0
    most: int = 0
    condition: threading.Condition = field(default_factory=threading.Condition)

    def __call__(self, arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        with self.condition:
            self.inside += 1
            self.most = max(self.most, self.inside)
            self.condition.notify_all()
            met = self.condition.wait_for(lambda: self.most >= self.count, timeout=0.5)
            self.inside -= 1
        return outcome("met" if met else "alone")

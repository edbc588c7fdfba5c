"""Which servers' tools count, and when: kept lists, lazy starts, changes between prompts."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from msgspec import Struct, field

from agentsh.abort import Abort
from agentsh.errors import ServerMissingError
from agentsh.jsontext import JsonObject
from agentsh.messages import ToolSchema
from agentsh.tools.base import Effect
from agentsh.tools.mcp.definition import LeftOut, Server
from agentsh.tools.mcp.host import MANY_TOOLS, McpHost
from agentsh.tools.mcp.keptlists import KeptLists
from agentsh.tools.mcp.listing import Era, ListedTool, Listing
from agentsh.tools.mcp.tool import McpTool, ServerAnswer
from agentsh.tools.toolset import Offer

SCHEMA: JsonObject = {"type": "object", "properties": {}}


def listing(*names: str, reads: bool = False) -> Listing:
    return Listing(tuple(ListedTool(n, f"does {n}", SCHEMA, reads) for n in names), "handshake")


class Answer(Struct):
    """A list that comes at once, that fails, or that never comes (both None)."""

    lists: Listing | None = None
    why: str | None = None

    def wait(self, seconds: float) -> bool:
        if self.lists is None and self.why is None:
            time.sleep(seconds)
            return False
        return True

    def failure(self) -> str | None:
        return self.why


class ScriptedClient(Struct):
    """Answers with the lists of a script; counts what it is asked."""

    heard: Callable[[Server, Listing], None]
    script: dict[str, Answer]
    asked: list[str] = field(default_factory=list)
    eras: list[Era | None] = field(default_factory=list)
    is_closed: bool = False

    def listing(self, server: Server, era: Era | None) -> Answer:
        self.asked.append(server.name)
        answer = self.script.get(server.name, Answer())
        if answer.lists is not None:
            self.heard(server, answer.lists)
        return answer

    def call(
        self,
        server: Server,
        era: Era | None,
        tool: str,
        arguments: JsonObject,
        abort: Abort,
        progress: Callable[[str], None],
    ) -> ServerAnswer:
        self.eras.append(era)
        return ServerAnswer({"content": []})

    def forgive(self) -> None:
        pass

    def stop(self, name: str) -> None:
        pass

    def is_running(self, name: str) -> bool:
        return name in self.asked and self.script[name].lists is not None

    def kill(self) -> None:
        pass

    def close(self) -> None:
        self.is_closed = True


class World(Struct):
    """A folder of kept lists, and every client that a host opened."""

    folder: Path
    script: dict[str, Answer] = field(default_factory=dict)
    clients: list[ScriptedClient] = field(default_factory=list)

    def host(self, *servers: Server, left_out: Sequence[LeftOut] = ()) -> McpHost:
        def opened(heard: Callable[[Server, Listing], None]) -> ScriptedClient:
            self.clients.append(ScriptedClient(heard, self.script))
            return self.clients[-1]

        def weigh(schemas: Sequence[ToolSchema]) -> int:
            return 100 * len(schemas)

        return McpHost(servers, left_out, KeptLists(self.folder), opened, weigh, McpTool)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "kept")


def birds(name: str = "birds", *, seconds: float = 5, **more: object) -> Server:
    base = Server(name, f"{name:0<64}", Path("/"), argv=("x",), start_timeout=seconds)
    values = {f: getattr(base, f) for f in Server.__struct_fields__} | more
    return Server(**values)


def refreshed(host: McpHost, abort: Abort | None = None) -> tuple[list[str], list[str] | None]:
    """What was told, and the names that count from now on (None: they are the same)."""
    told: list[str] = []
    refresh = host.refresh(abort or Abort())
    while True:
        try:
            told.append(next(refresh))
        except StopIteration as done:
            offers: tuple[Offer, ...] | None = done.value
            return told, None if offers is None else [offer.name for offer in offers]


def test_a_server_without_a_list_is_asked_and_the_next_session_starts_nothing(
    world: World,
) -> None:
    world.script["birds"] = Answer(listing("wipe", "count"))
    first = world.host(birds())

    assert first.offers() == ()
    assert refreshed(first) == ([], ["mcp__birds__count", "mcp__birds__wipe"])
    assert refreshed(first) == ([], None)

    second = world.host(birds())
    assert [o.name for o in second.offers()] == ["mcp__birds__count", "mcp__birds__wipe"]
    assert refreshed(second) == ([], None)
    assert len(world.clients) == 1
    [kept] = world.folder.iterdir()
    assert kept.stat().st_mode & 0o777 == 0o600


def test_a_kept_list_that_is_damaged_is_asked_for_anew(world: World) -> None:
    world.script["birds"] = Answer(listing("count"))
    refreshed(world.host(birds()))
    [kept] = world.folder.iterdir()
    for damage in (b"", b"{", b"[]", b'{"form": 1}', b'{"form": 9, "listing": {}}', b"\xff"):
        kept.write_bytes(damage)
        host = world.host(birds())
        assert host.offers() == ()
        assert refreshed(host)[1] == ["mcp__birds__count"]


def test_a_changed_list_counts_from_the_next_prompt_on_and_is_told(world: World) -> None:
    world.script["birds"] = Answer(listing("count"))
    host = world.host(birds())
    refreshed(host)

    world.clients[0].heard(birds(), listing("count", "extra"))

    assert [o.name for o in host.offers()] == ["mcp__birds__count"]
    told, names = refreshed(host)
    assert told == ["birds: its tools have changed: + extra"]
    assert names == ["mcp__birds__count", "mcp__birds__extra"]


def test_servers_that_do_not_start_cost_a_notice_each_and_their_time_together(
    world: World,
) -> None:
    world.script |= {"dead": Answer(why="dead: exit code 7"), "good": Answer(listing("count"))}
    host = world.host(
        birds("dead"), birds("mute", seconds=0.3), birds("m2", seconds=0.3), birds("good")
    )
    begun = time.monotonic()

    told, names = refreshed(host)

    assert time.monotonic() - begun < 1
    late = (
        "no list of its tools after 0.3 s (start_timeout);"
        " it joins with the next prompt if it comes"
    )
    assert told == ["dead: exit code 7", f"mute: {late}", f"m2: {late}"]
    assert names == ["mcp__good__count"]


def test_who_is_late_joins_with_the_next_prompt_and_is_not_waited_for_again(world: World) -> None:
    host = world.host(birds(seconds=0.1))
    assert refreshed(host)[1] is None
    begun = time.monotonic()
    assert refreshed(host) == ([], None)
    assert time.monotonic() - begun < 0.1

    world.clients[0].heard(birds(), listing("count"))

    assert refreshed(host) == ([], ["mcp__birds__count"])


def test_what_is_waited_for_is_said_after_a_second(world: World) -> None:
    told, _ = refreshed(world.host(birds(seconds=1.2)))

    assert told[0] == "waiting for the tools of birds (start_timeout)"


def test_an_abort_ends_the_wait(world: World) -> None:
    abort = Abort()
    threading.Timer(0.1, abort.set).start()
    begun = time.monotonic()

    assert refreshed(world.host(birds(seconds=30)), abort) == ([], None)
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize("answer", [Answer(why="exit code 7"), Answer()])
def test_a_required_server_that_is_missing_begins_no_turn(world: World, answer: Answer) -> None:
    world.script["birds"] = answer
    with pytest.raises(ServerMissingError, match="birds is required"):
        refreshed(world.host(birds(seconds=0.1, required=True)))


def test_a_kept_list_does_not_stand_for_a_required_server(world: World) -> None:
    world.script["birds"] = Answer(listing("count"))
    refreshed(world.host(birds()))
    server = birds(required=True)

    host = world.host(server)
    assert refreshed(host) == ([], None)
    assert refreshed(host) == ([], None)
    assert world.clients[-1].asked == ["birds"]  # it was asked once, and runs

    world.script["birds"] = Answer(why="exit code 7")
    with pytest.raises(ServerMissingError, match="birds is required"):
        refreshed(world.host(server))


def test_a_server_that_is_left_out_is_named_once(world: World) -> None:
    host = world.host(left_out=[LeftOut("birds", "the variable X is not set")])

    assert refreshed(host) == (["birds: left out: the variable X is not set"], None)
    assert refreshed(host) == ([], None)


def test_what_is_odd_about_a_list_is_told_once(world: World) -> None:
    many = listing(*(f"t{number:02}" for number in range(MANY_TOOLS + 2)))
    world.script["birds"] = Answer(many)
    host = world.host(birds(exclude=("t00", "nosuch")))

    told, names = refreshed(host)

    assert told == [
        "birds: the pattern 'nosuch' of its tools or exclude fits none of its tools",
        "birds offers 41 tools, about 4100 tokens of every request: `tools` and `exclude` of"
        " [mcp.servers.birds] choose among them",
    ]
    assert names is not None
    assert len(names) == 41
    assert refreshed(host) == ([], None)


@pytest.mark.parametrize(
    ("trust", "reads", "effect"),
    [
        (False, True, Effect.UNKNOWN),
        (True, True, Effect.READ),
        (True, False, Effect.UNKNOWN),
    ],
)
def test_a_servers_own_word_counts_only_where_the_user_says_so(
    world: World, trust: bool, reads: bool, effect: Effect
) -> None:
    world.script["birds"] = Answer(listing("peek", reads=reads))
    host = world.host(birds(trust_hints=trust))
    refreshed(host)
    [offer] = host.offers()

    assert offer.load().effect is effect


def test_a_choice_renames_nothing(world: World) -> None:
    world.script["birds"] = Answer(listing("a.b", "a_b"))
    all_names = refreshed(world.host(birds()))[1]
    some = [offer.name for offer in world.host(birds(exclude=("a_b",))).offers()]

    assert all_names is not None
    assert set(some) < set(all_names)


def test_what_was_not_started_is_not_ended(world: World) -> None:
    world.script["birds"] = Answer(listing("count"))
    first = world.host(birds())
    refreshed(first)
    first.close()
    second = world.host(birds())
    second.close()

    assert [client.is_closed for client in world.clients] == [True]

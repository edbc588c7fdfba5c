"""One answer's blocks → events: what ends it, with a clock that the test moves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest

from agentsh.errors import ProviderTimeoutError, StreamProtocolError
from agentsh.jsontext import JsonObject, dumps
from agentsh.providers.api.answers import AnswerReader
from agentsh.providers.api.assemble import ChatAssembler
from agentsh.providers.base import StreamEvent, TextDelta
from agentsh.providers.wire.failures import ErrorSource
from tests.support.endpoint import DONE, chunk, event, usage_chunk

SOURCE = ErrorSource("host:1")


def line(delta: dict[str, str]) -> bytes:
    return b"data: " + dumps(chunk(dict(delta))) + b"\n\n"


class Answering:
    """An endpoint whose each block comes a minute after the one before."""

    def __init__(self, *first: bytes, then: bytes) -> None:
        self.minutes = 0
        self._first = first
        self._then = then

    def blocks(self) -> Iterator[bytes]:
        for block in self._first:
            self.minutes += 1
            yield block
        while self.minutes < 1000:
            self.minutes += 1
            yield self._then

    def read(self) -> list[StreamEvent]:
        reader = AnswerReader(
            SOURCE,
            ChatAssembler(SOURCE, provider="p", model="m"),
            patience=lambda seconds: None,
            clock=lambda: self.minutes * 60.0,
            event_limit=600.0,
        )
        return list(reader.events(self.blocks()))


@pytest.mark.parametrize("then", [line({}), line({"content": ""}), b": still here\n\n"])
def test_signs_of_life_that_say_nothing_end_after_the_limit(then: bytes) -> None:
    answering = Answering(line({"content": "a"}), then=then)

    with pytest.raises(ProviderTimeoutError, match="no answer for 600 s"):
        answering.read()
    assert answering.minutes == 12


def test_a_slow_answer_that_says_something_has_no_such_limit() -> None:
    answering = Answering(then=line({"content": "a"}))

    events = answering.read()

    assert answering.minutes == 1000
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == "a" * 1000


# ---- a whole answer on a connection that does not end --------------------------------------------

REASON: Final = event(chunk({}, "stop"))
USAGE: Final = event(usage_chunk())
ALIVE: Final = b": still here\n\n"


class Open:
    """An endpoint that never ends its connection: a block every `every` seconds, or silence."""

    def __init__(self, *said: bytes, then: bytes = b"", every: float = 0.5) -> None:
        self.now = 0.0
        self._patience = float("inf")
        self._said = said
        self._then = then
        self._every = every

    def be_patient(self, seconds: float) -> None:
        self._patience = seconds

    def blocks(self) -> Iterator[bytes]:
        yield from self._said
        while self.now < 90:
            if not self._then or self._patience < self._every:
                self.now += min(self._patience, 90.0)
                raise ProviderTimeoutError("silent")
            self.now += self._every
            yield self._then
        raise ProviderTimeoutError("idle")

    def read(self) -> tuple[str, float]:
        """The text, and when it was known to be all."""
        assembler = ChatAssembler(SOURCE, provider="p", model="m")
        reader = AnswerReader(
            SOURCE,
            assembler,
            patience=self.be_patient,
            clock=lambda: self.now,
            event_limit=600.0,
        )
        list(reader.events(self.blocks()))
        return reader.finish().message.text, self.now


SAID: Final = event(chunk({"content": "a"}))


@pytest.mark.parametrize("then", [b"", ALIVE, event(chunk({})), event({"choices": []})])
@pytest.mark.parametrize(
    ("said", "longest"),
    [((SAID, REASON), 5.0), ((SAID, REASON, USAGE), 1.5), ((SAID, REASON, USAGE, DONE), 0.5)],
)
def test_a_whole_answer_is_not_waited_for_whatever_the_connection_does(
    said: tuple[bytes, ...], longest: float, then: bytes
) -> None:
    text, seconds = Open(*said, then=then).read()

    assert text == "a"
    assert seconds <= longest


def test_what_is_said_after_a_reason_is_waited_for_anew() -> None:
    text, seconds = Open(REASON, then=SAID, every=4.0).read()

    assert len(text) >= 10
    assert seconds >= 40


def test_an_answer_that_is_not_whole_is_waited_for_as_long_as_ever() -> None:
    with pytest.raises(ProviderTimeoutError):
        Open(SAID, USAGE).read()


@pytest.mark.parametrize("cut", [None, 20])
def test_a_completion_whose_connection_stays_open_is_used(cut: int | None) -> None:
    message: JsonObject = {"role": "assistant", "content": "Whole."}
    body = dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
    pieces = (body,) if cut is None else (body[:cut], body[cut:])

    for then in (b"", b"\n"):
        text, seconds = Open(*pieces, then=then).read()
        assert (text, seconds < 2) == ("Whole.", True)


def test_lines_of_json_are_no_completion_however_slowly_they_come() -> None:
    line = b'{"model":"m","message":{"content":"a"},"done":false}\n'

    with pytest.raises((StreamProtocolError, ProviderTimeoutError)):
        Open(line, then=line, every=2.0).read()

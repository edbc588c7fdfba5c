"""The stream of a turn as two things: final text, printed once, and a small tail, redrawn.

`feed` takes events, `take` gives what became final since the last call, `tail` the few lines that
still change: the unfinished block of the answer, calls that run, a wait. A tail is never printed
into the scrollback. The work for an answer is linear in its length, the tail's is bounded by the
screen (U02, U14). It writes to nothing. Read next: markdown.py, render.py, repl.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import assert_never

from msgspec import Struct

from agentsh.agent.events import (
    AgentEvent,
    ApprovalNeeded,
    CallPart,
    Compacted,
    Compacting,
    MessageDone,
    Notice,
    Restarted,
    Retry,
    Steered,
    StepEnd,
    StepStart,
    TextPart,
    ThinkingPart,
    ToolEnd,
    ToolProgress,
    ToolStart,
    TurnEnd,
    TurnStart,
)
from agentsh.messages import ToolCall, ToolResultMessage
from agentsh.ui.cards import tool_card
from agentsh.ui.cells import wrapped
from agentsh.ui.describe import allow_hint, blocks_text, call_line
from agentsh.ui.markdown import Block, BlockScanner, Kind
from agentsh.ui.render import Renderer
from agentsh.ui.sanitize import SafeStream, safe_line, safe_text
from agentsh.ui.shelf import Shelf
from agentsh.ui.theme import Role

PROGRESS_KEPT = 2000
MORE = "… (lines above this one are printed when the block is finished)"
_ROLES: Mapping[str, Role] = {"info": "quiet", "warning": "warn", "error": "error"}


class _Running(Struct):
    """A tool call at work."""

    call: ToolCall
    since: float
    printed: str = ""


class Transcript:
    """One turn after another, as a person sees it. `clock` is monotonic seconds."""

    def __init__(self, renderer: Renderer, clock: Callable[[], float]) -> None:
        self._renderer = renderer
        self._clock = clock
        self._final: list[str] = []
        self._scanner = BlockScanner()
        self._safe = SafeStream()
        self._last_kind: Kind | None = None
        self.shelf = Shelf()
        self._thoughts: list[str] = []
        self._thinking = ""
        self._thinking_since = 0.0
        self._compacting: tuple[str, float] | None = None
        self._asked: tuple[str, float] | None = None
        """The model that nothing has come from yet, and since when."""
        self._writing = ("", 0)
        self._running: dict[str, _Running] = {}
        self._waiting: tuple[str, float] | None = None

    def feed(self, event: AgentEvent) -> None:
        self._waiting = self._asked = None
        match event:
            case TextPart(text):
                self._end_thinking()
                self._blocks(self._scanner.feed(self._safe.feed(text)))
            case ThinkingPart(text):
                self._think(text)
            case CallPart(_, name, arguments):
                self._end_thinking()
                self._write_call(name, len(arguments))
            case TurnStart(message) | Steered(message):
                self._final.append(self._renderer.user(blocks_text(message.content)))
            case ToolStart() | ToolProgress() | ToolEnd() | ApprovalNeeded():
                self._tool(event)
            case Restarted() | Retry() | Compacting() | Compacted() | Notice():
                self._status(event)
            case MessageDone() | TurnEnd():
                self._rest(event)
            case StepStart(_, model):
                self._asked = (model, self._clock())
            case StepEnd():
                pass
            case _:
                assert_never(event)

    def say(self, text: str, role: Role = "quiet") -> None:
        """A line of the program's own."""
        self._final.append("\n" + self._renderer.line(text, role))

    def add(self, text: str) -> None:
        """Text that is rendered already."""
        self._final.append(text)

    def markdown(self, text: str) -> None:
        """A whole answer, as `resume` shows it."""
        self._begin_answer()
        self._blocks(self._scanner.feed(safe_text(text)))
        self._blocks(self._scanner.flush())

    def card(self, call: ToolCall, result: ToolResultMessage, seconds: float | None) -> None:
        """A call that is over, folded; the whole of it goes on the shelf."""
        self._final.append(tool_card(self._renderer, call, result, seconds))
        self.shelf.add_call(call, result, seconds)

    def thought(self, text: str, seconds: float | None) -> None:
        """Thinking that is over, folded."""
        if not text.strip():
            return
        took = "" if seconds is None else f" for {seconds:.0f} s"
        title = f"thought{took}, about {max(1, len(text.split()))} words"
        self.say(f"{title} (Ctrl-T shows them)")
        self.shelf.add_thought(title, text)

    def at_rest(self) -> None:
        """Whatever was heard of its end: nothing runs any more."""
        self._running.clear()
        self._waiting = self._compacting = self._asked = None
        self._writing = ("", 0)

    def start_call(self, call: ToolCall) -> None:
        """A call, or a command of the person's, is at work: it shows in the tail."""
        self._running[call.id] = _Running(call, self._clock())

    def call_printed(self, call_id: str, text: str) -> None:
        running = self._running.get(call_id)
        if running is not None:
            running.printed = (running.printed + text)[-PROGRESS_KEPT:]

    def end_call(self, call_id: str) -> float | None:
        """It is over: the seconds that it took."""
        running = self._running.pop(call_id, None)
        return None if running is None else self._clock() - running.since

    def take(self) -> str:
        """What became final; the caller prints it now and never again."""
        text = "".join(self._final)
        self._final.clear()
        return text

    def tail(self, rows: int) -> list[str]:
        """At most `rows` safe lines that are not final yet."""
        lines: list[str] = []
        width = self._renderer.width
        rest = self._scanner.rest(width * (rows + 1))
        if rest.strip():
            lines += _with_more(wrap_tail(rest, width, rows + 1), rows)
        if self._thinking:
            lines.append(f"thinking… {self._seconds(self._thinking_since)}")
            lines += wrap_tail(self._thinking, width - 2, 2)
        if self._writing[1]:
            name, size = self._writing
            characters = "1 character" if size == 1 else f"{size} characters"
            lines.append(safe_line(f"○ writes a call of {name}: {characters}", width))
        for running in self._running.values():
            lines += self._running_lines(running, width)
        if self._asked is not None and self._clock() - self._asked[1] >= 1:
            model, since = self._asked
            lines.append(safe_line(f"○ waiting for {model} {self._seconds(since)}", width))
        if self._compacting is not None:
            words, since = self._compacting
            lines.append(safe_line(f"○ {words} {self._seconds(since)} (Esc stops)", width))
        if self._waiting is not None:
            words, until = self._waiting
            left = max(0.0, until - self._clock())
            lines.append(safe_line(f"{words}; again in {left:.0f} s (Esc stops)", width))
        return lines[-rows:]

    # ---- one event --------------------------------------------------------------------------

    def _rest(self, event: MessageDone | TurnEnd) -> None:
        self._end_answer()
        self._writing = ("", 0)
        if isinstance(event, MessageDone):
            if event.message.stop_reason == "length":
                self.say("the answer was cut at its limit of tokens", "warn")
            return
        self.at_rest()
        if event.error is not None:
            self.say(f"error: {event.error}", "error")
        elif event.reason == "aborted":
            self.say("stopped", "warn")
        elif event.reason == "max_steps":
            self.say("stopped at the limit of steps", "warn")
        if event.hint is not None:
            self.say(event.hint)

    def _tool(self, event: ToolStart | ToolProgress | ToolEnd | ApprovalNeeded) -> None:
        call = event.call
        match event:
            case ToolStart():
                self._end_answer()
                self._writing = ("", 0)
                self.start_call(call)
            case ToolProgress(text=text):
                self.call_printed(call.id, text)
            case ToolEnd(result=result):
                seconds = self.end_call(call.id)
                self.card(call, result, seconds)
            case ApprovalNeeded(shown=shown, rule_hint=hint):
                self.say(f"not approved: {call.name}: {shown}", "warn")
                self.say(allow_hint(hint))

    def _status(self, event: Restarted | Retry | Compacting | Compacted | Notice) -> None:
        match event:
            case Restarted():
                self._end_answer()
                self.say("the answer broke off and begins anew", "warn")
            case Retry(attempt, seconds, error):
                words = f"request failed: {error}; repeat {attempt}"
                self.say(f"{words} in {seconds:.1f} s", "warn")
                self._waiting = (f"repeat {attempt} waits", self._clock() + seconds)
            case Compacting(tokens, why):
                words = f"compacting {tokens} tokens" + (f" ({why})" if why else "")
                self._compacting = (words, self._clock())
            case Compacted(_, before, after, failure):
                took = "" if self._compacting is None else self._seconds(self._compacting[1])
                self._compacting = None
                if failure is not None:
                    self.say(f"compaction failed: {failure}", "error")
                else:
                    took = f", in {took}" if took else ""
                    self.say(f"compacted: {before} → about {after} tokens{took}")
            case Notice(text, level):
                self.say(text, _ROLES[level])

    # ---- answer and reasoning ---------------------------------------------------------------

    def _begin_answer(self) -> None:
        self._last_kind = None

    def _end_answer(self) -> None:
        self._end_thinking()
        self._blocks(self._scanner.feed(self._safe.flush()))
        self._blocks(self._scanner.flush())
        self._begin_answer()

    def _blocks(self, blocks: list[Block]) -> None:
        for block in blocks:
            gap = block.gap or (block.kind != self._last_kind and block.indent == 0)
            self._final.append(("\n" if gap else "") + self._renderer.block(block))
            self._last_kind = block.kind

    def _write_call(self, name: str, characters: int) -> None:
        """The model writes a call; only its first piece may name the tool."""
        if name and self._writing[0] != name:
            self._writing = (name, 0)
        self._writing = (self._writing[0], self._writing[1] + characters)

    def _think(self, text: str) -> None:
        if not self._thinking:
            self._thinking_since = self._clock()
        self._thoughts.append(text)
        self._thinking = (self._thinking + safe_text(text))[-500:]

    def _end_thinking(self) -> None:
        if self._thoughts:
            self.thought("".join(self._thoughts), self._clock() - self._thinking_since)
        self._thinking = ""
        self._thoughts.clear()

    # ---- the tail ---------------------------------------------------------------------------

    def _running_lines(self, running: _Running, width: int) -> list[str]:
        head = f"○ {call_line(running.call, max(10, width - 20))}"
        lines = [safe_line(f"{head}  {self._seconds(running.since)}", width)]
        printed = safe_text(running.printed).rstrip("\n")
        if printed:
            lines += ["  " + line for line in wrap_tail(printed, width - 2, 3)]
        return lines

    def _seconds(self, since: float) -> str:
        return f"{max(0.0, self._clock() - since):.0f} s"


def wrap_tail(text: str, width: int, rows: int) -> list[str]:
    """The last rows of a text, wrapped as the finished block will be. Bounded work."""
    text = text[-(width * rows * 2) :]
    lines: list[str] = []
    for line in reversed(text.split("\n")):
        lines[:0] = wrapped(line, width)
        if len(lines) >= rows:
            break
    return lines[-rows:]


def _with_more(lines: list[str], rows: int) -> list[str]:
    """At most so many; where the first do not fit, that is said in their place."""
    if len(lines) <= rows:
        return lines
    return [MORE, *lines[1 - rows :]] if rows > 2 else lines[-rows:]

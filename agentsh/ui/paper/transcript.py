"""The stream of a turn as two things: final text, printed once, and a tail, redrawn.

`feed` takes events, `take` gives what became final since the last call, `tail` the rows that still
change: the answer's last line, a table that is not whole, thoughts, calls that run, a wait. A tail
is never printed into the scrollback; so it is kept low: of a line that grows over several rows
those that no later word changes are final. The work for an answer is linear in its length, the
tail's is bounded by the screen (U02, U14). It writes to nothing. Read next: markdown.py, repl.py.
"""

from __future__ import annotations

from bisect import bisect_left
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
from agentsh.sanitize import SafeStream, safe_line, safe_text
from agentsh.ui.cells import wrapped
from agentsh.ui.paper.cards import tool_card
from agentsh.ui.paper.highlight import Code
from agentsh.ui.paper.inline import spans_of, unclosed
from agentsh.ui.paper.markdown import Block, BlockKind, BlockScanner
from agentsh.ui.paper.render import Renderer
from agentsh.ui.paper.shelf import Shelf
from agentsh.ui.theme import Role
from agentsh.views.describe import allow_hint, call_line, compacted_words, seen_from, shown_prompt

PROGRESS_KEPT = 2000
THOUGHT_KEPT = 6000
LIVE_ROWS = 3
"""A line that grows beyond so many rows is given but for its last one."""
LIVE_CHARS = 1500
"""Of more that is not final, which a mark keeps open, the end is shown as it is written."""
MORE = "… (what stands above this is printed when it is finished)"
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
        self._is_saying = False
        """The last of what is final is a line of the program's own."""
        self.question_rows = 0
        """Rows of the question that the last of what is final asks; 0: it asks none."""
        self._scanner = BlockScanner()
        self._safe = SafeStream()
        self._last_kind: BlockKind | None = None
        self._code = Code("")
        self._live: list[str] | None = None
        """The unfinished part of the answer as it was last rendered, for one width."""
        self._live_width = 0
        self._tried = 0
        self.shelf = Shelf()
        self._thoughts: list[str] = []
        self._thinking = ""
        self._thinking_since = 0.0
        self._compacting: tuple[str, float] | None = None
        self._writing = ("", 0)
        self._running: dict[str, _Running] = {}
        self._failure = ""
        """Why the request was repeated last, in this turn."""

    def feed(self, event: AgentEvent) -> None:
        match event:
            case TextPart(text):
                self._end_thinking()
                self._blocks(self._scanner.feed(self._safe.feed(text)))
                self._cut_long_line()
            case ThinkingPart(text):
                self._think(text)
            case CallPart(_, name, arguments):
                self._end_thinking()
                self._write_call(name, len(arguments))
            case TurnStart(message) | Steered(message):
                self.add(self._renderer.user(shown_prompt(message.content)))
            case ToolStart() | ToolProgress() | ToolEnd() | ApprovalNeeded():
                self._tool(event)
            case Restarted() | Retry() | Compacting() | Compacted() | Notice():
                self._status(event)
            case MessageDone() | TurnEnd():
                self._rest(event)
            case StepStart() | StepEnd():
                pass
            case _:
                assert_never(event)

    def say(self, text: str, role: Role = "quiet") -> None:
        """A line of the program's own; several stand together."""
        lead = "" if self._is_saying else "\n"
        self.add(lead + self._renderer.line(text, role))
        self._is_saying = True

    def add(self, text: str) -> None:
        """Text that is rendered already."""
        self._final.append(text)
        self._is_saying = False
        self.question_rows = 0

    def ask(self, question: str) -> None:
        """What is asked about; its answer, a line of the program's own, stands at its foot."""
        self.add(question)
        self._is_saying = True
        self.question_rows = question.count("\n")

    def markdown(self, text: str) -> None:
        """A whole answer, as `resume` shows it."""
        self._begin_answer()
        self._blocks(self._scanner.feed(safe_text(text)))
        self._blocks(self._scanner.flush())

    def whole(self, text: str) -> None:
        """An answer that stands by itself: what is being written meanwhile goes on after it."""
        code, scanner = self._code, BlockScanner()
        self._begin_answer()
        self._blocks([*scanner.feed(safe_text(text)), *scanner.flush()])
        self._begin_answer()
        self._code = code

    def card(self, call: ToolCall, result: ToolResultMessage, seconds: float | None) -> None:
        """A call that is over, folded; the whole of it goes on the shelf."""
        self.add(tool_card(self._renderer, call, result, seconds))
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
        self._compacting = None
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
        """At most `rows` rows that are not final yet, in the terminal's codes where they are ours.

        What is foreign in them is safe.
        """
        lines = [*_with_more(self._unfinished(), rows)]
        width = self._renderer.width
        if self._thinking:
            lines += self._thinking_lines(max(2, rows // 2))
        if self._writing[1]:
            name, size = self._writing
            characters = "1 character" if size == 1 else f"{size} characters"
            lines.append(safe_line(f"○ writes a call of {name}: {characters}", width))
        for running in self._running.values():
            lines += self._running_lines(running, width)
        if self._compacting is not None:
            # since when, and how to stop it, is said below the prompt
            lines.append(safe_line(f"○ {self._compacting[0]}", width))
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
        self._failure = ""
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
                self.add(f"\n{self._renderer.paint([(allow_hint(hint), 'quiet')])}\n")

    def _status(self, event: Restarted | Retry | Compacting | Compacted | Notice) -> None:
        match event:
            case Restarted():
                self._end_answer()
                self.say("the answer broke off and begins anew", "warn")
            case Retry(attempt, seconds, error):
                sentence = f"repeat {attempt} in {seconds:.1f} s"
                if error != self._failure:  # why it is the same is said once
                    sentence = f"request failed: {error}; {sentence}"
                self._failure = error
                self.say(sentence, "warn")
            case Compacting(tokens, why):
                sentence = f"compacting {tokens} tokens" + (f" ({why})" if why else "")
                self._compacting = (sentence, self._clock())
            case Compacted(_, before, after, failure):
                took = "" if self._compacting is None else self._seconds(self._compacting[1])
                self._compacting = None
                if failure is not None:
                    self.say(f"compaction failed: {failure}", "error")
                else:
                    took = f", in {took}" if took else ""
                    self.say(f"{compacted_words(before, after)}{took}")
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
        self._live = None
        for block in blocks:
            self.add(self._block(block))

    def _block(self, block: Block, *, live: bool = False) -> str:
        if block.kind == "code" and not block.continues:
            self._code = Code(block.language)
        gap = block.gap or (block.kind != self._last_kind and block.indent == 0)
        if not block.continues:
            self._last_kind = block.kind
        lead = "\n" if gap and not block.continues else ""
        return lead + self._renderer.block(block, self._code, live=live)

    def _cut_long_line(self) -> None:
        """Give the rows of the growing line that no later word changes, but for the last one."""
        line, width = self._scanner.growing(), self._renderer.width
        if len(line) < self._tried:
            self._tried = 0
        if len(line) <= max(self._tried, LIVE_ROWS * width):
            return
        self._tried = len(line) + width  # where nothing can be given, not at once again
        start = max(len(line) - LIVE_ROWS * width, len(line) - len(line.lstrip(" ")) + 1)
        blanks = [i for i in range(start, len(line)) if line[i] == " "]
        rows = self._rows_of(line)
        last_fitting = bisect_left(blanks, rows, key=lambda end: self._rows_of(line[:end])) - 1
        if (
            rows > LIVE_ROWS
            and last_fitting >= 0
            and unclosed(line[: blanks[last_fitting]]) is None
        ):
            self._tried = 0
            self._blocks(self._scanner.cut(blanks[last_fitting] + 1))

    def _rows_of(self, line: str) -> int:
        """How many rows the growing line takes when it ends like that."""
        return sum(1 for _ in self._renderer.lines(spans_of(line)))

    def _write_call(self, name: str, characters: int) -> None:
        """The model writes a call; only its first piece may name the tool."""
        if name and self._writing[0] != name:
            self._writing = (name, 0)
        self._writing = (self._writing[0], self._writing[1] + characters)

    def _think(self, text: str) -> None:
        if not self._thinking:
            self._thinking_since = self._clock()
            self._blocks(self._scanner.flush())  # what was said before stands above it
        self._thoughts.append(text)
        self._thinking = (self._thinking + safe_text(text))[-THOUGHT_KEPT:]

    def _end_thinking(self) -> None:
        if self._thoughts:
            self.thought("".join(self._thoughts), self._clock() - self._thinking_since)
        self._thinking = ""
        self._thoughts.clear()

    # ---- the tail ---------------------------------------------------------------------------

    def _unfinished(self) -> list[str]:
        """The rows of what would be printed if the answer ended here."""
        width = self._renderer.width
        if self._live is None or self._live_width != width:
            kind, code, text = self._last_kind, self._code, ""
            self._code = code.copy()
            for block in self._scanner.preview():
                if block.kind == "table":
                    size = block.text.count("\n") - 1
                    text += self._renderer.line(f"… a table, {max(0, size)} rows so far", "quiet")
                elif block.kind in ("prose", "item") and len(block.text) > LIVE_CHARS:
                    text += self._renderer.line(block.text[-LIVE_CHARS:], "plain")
                else:
                    text += self._block(block, live=True)
            self._last_kind, self._code = kind, code
            self._live, self._live_width = text.split("\n")[:-1], width
        return self._live

    def _thinking_lines(self, rows: int) -> list[str]:
        """The end of what is thought, quiet."""
        paint = self._renderer.paint
        lines = [paint([(f"thinking… {self._seconds(self._thinking_since)}", "quiet")])]
        thought = wrap_tail(self._thinking, self._renderer.width - 2, rows - 1)
        return lines + [paint([(f"  {line}", "thought")]) for line in thought]

    def _running_lines(self, running: _Running, width: int) -> list[str]:
        call = seen_from(running.call, self._renderer.folder)
        head = f"○ {call_line(call, max(10, width - 20))}"
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

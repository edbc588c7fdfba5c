"""Headless text output of a turn: the answer on stdout as it streams, everything else on stderr.

stdout carries the answer's text only: verbatim where it is a pipe or a file, made safe where it is
a terminal. What the model says between tool calls is no answer: a terminal shows it as it comes, a
pipe is given a step's text when the step has ended and called no tool. stderr carries warnings and
errors always, and one line a tool call where it is a terminal. Loads neither rich nor
prompt_toolkit. A closed pipe raises BrokenPipeError, which is the cli's to end quietly.
Read next: ticking.py. For programs it is remote/values/events.py.
"""

from __future__ import annotations

from typing import TextIO, assert_never

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
from agentsh.jsontext import JsonValue, clean, dumps_text
from agentsh.messages import BashExecutionMessage, ToolResultMessage
from agentsh.sanitize import SafeStream, first_line, safe_text
from agentsh.ui.terminal import Terminal
from agentsh.views.describe import (
    allow_hint,
    call_line,
    compacted_words,
    result_line,
    result_note,
)

_DIFF_LINES = 60


class PlainOutput:
    """One turn after another, as text. `quiet` leaves out everything but errors."""

    def __init__(
        self,
        terminal: Terminal,
        *,
        quiet: bool = False,
        progress: bool | None = None,
        is_value: bool = False,
    ) -> None:
        """`is_value`: the answer is a JSON value, printed when it is known to be one."""
        self._is_value = is_value
        self._out = terminal.stdout
        self._err = terminal.stderr
        self._held: list[str] | None = None if terminal.stdout_tty else []
        self._safe = SafeStream() if terminal.stdout_tty else None
        self._same_screen = terminal.stdout_tty and terminal.stderr_tty
        self._quiet = quiet
        self._progress = terminal.stderr_tty if progress is None else progress
        self._mid_line = False
        self._wrote_in_step = False
        self._failure = ""

    def show(self, event: AgentEvent) -> None:
        match event:
            case TextPart(text):
                if not self._is_value:
                    self._text(text)
            case MessageDone(message):
                self._release(answered=not message.tool_calls)
                self._end_text()
            case Restarted():
                self._void()
            case StepStart():
                self._wrote_in_step = False
            case ToolStart() | ToolEnd() | ApprovalNeeded():
                self._tool(event)
            case Retry() | Compacting() | Compacted() | Notice():
                self._status(event)
            case TurnEnd():
                self._turn_end(event)
            case ThinkingPart() | CallPart() | ToolProgress() | TurnStart() | Steered() | StepEnd():
                pass
            case _:
                assert_never(event)

    def say(self, text: str) -> None:
        """A line for the person on stderr, never mixed into a line of the answer."""
        if self._same_screen and self._mid_line:
            _write(self._out, "\n")
            self._mid_line = False
        _write(self._err, safe_text(text) + "\n")

    def value(self, data: JsonValue) -> None:
        """The answer, where it is a JSON value."""
        text = dumps_text(data)
        _write(self._out, (text if self._safe is None else safe_text(text)) + "\n")

    def _note(self, text: str) -> None:
        if self._progress and not self._quiet:
            self.say(text)

    def _warn(self, text: str) -> None:
        if not self._quiet:
            self.say(text)

    def _release(self, *, answered: bool) -> None:
        """Give what was held back, if it is the answer."""
        if self._held is None:
            return
        text, self._held = "".join(self._held), None
        if answered:
            self._text(text)
        self._held = []

    def _text(self, text: str) -> None:
        if self._held is not None:
            self._held.append(text)
            return
        text = clean(text) if self._safe is None else self._safe.feed(text)
        if text:
            _write(self._out, text)
            self._mid_line = not text.endswith("\n")
            self._wrote_in_step = True

    def _end_text(self) -> None:
        unflushed = self._safe.flush() if self._safe is not None else ""
        if unflushed:
            self._mid_line = True
        if self._mid_line:
            _write(self._out, unflushed + "\n")
            self._mid_line = False

    def _void(self) -> None:
        if self._held is not None:
            self._held = []
        if self._wrote_in_step:
            self._end_text()
            self._warn("the answer broke off and begins anew")
        self._wrote_in_step = False

    def _tool(self, event: ToolStart | ToolEnd | ApprovalNeeded) -> None:
        match event:
            case ToolStart(call):
                self._note(call_line(call))
            case ToolEnd(call, result, is_refused=refused):
                if (note := result_note(result)) is not None:
                    self._note(f"  the model is told: {first_line(note)}")
                self._difference(result)
                if result.is_error:
                    self._note(f"  {call.name} failed: {result_line(result)}")
                if refused and not self._progress:
                    self._warn(f"refused: {call_line(call)}")
            case ApprovalNeeded(call, shown, rule_hint):
                self.say(f"stopped: not approved: {call.name}: {shown}")
                self.say(allow_hint(rule_hint))

    def _difference(self, result: ToolResultMessage) -> None:
        """What an edit changed, where progress is shown."""
        diff = result.details.get("diff") if isinstance(result.details, dict) else None
        if isinstance(diff, str) and diff.strip() and not result.is_error:
            lines = diff.rstrip("\n").split("\n")
            cut = [f"… {len(lines) - _DIFF_LINES} lines"] if len(lines) > _DIFF_LINES else []
            self._note("\n".join(f"  {line}" for line in [*lines[:_DIFF_LINES], *cut]))

    def _status(self, event: Retry | Compacting | Compacted | Notice) -> None:
        match event:
            case Retry(attempt, seconds, error):
                sentence = f"repeat {attempt} in {seconds:.1f} s"
                if attempt == 1 or error != self._failure:  # why it is the same is said once
                    sentence = f"request failed ({error}); {sentence}"
                self._failure = error
                self._warn(sentence)
            case Compacting(tokens, why):
                self._warn(f"compacting {tokens} tokens" + (f": {why}" if why else ""))
            case Compacted(error=str(error)):
                self._warn(f"compaction failed: {error}")
            case Compacted(_, before, after):
                self._warn(compacted_words(before, after))
            case Notice(text, level):
                self._warn(text if level == "info" else f"{level}: {text}")

    def _turn_end(self, event: TurnEnd) -> None:
        self._end_text()
        if event.error is not None:
            self.say(f"error: {event.error}")
        elif event.reason == "max_steps":
            self.say("stopped at the limit of steps (--max-steps); the session can go on")
        elif event.reason == "aborted":
            self.say("interrupted")
        if event.hint is not None:
            self.say(event.hint)


def _write(stream: TextIO, text: str) -> None:
    """Write and flush; what the stream's encoding has no character for becomes an escape."""
    try:
        stream.write(text)
    except UnicodeEncodeError:
        coding = stream.encoding or "ascii"
        stream.write(text.encode(coding, "backslashreplace").decode(coding))
    stream.flush()


def shell_lines(message: BashExecutionMessage) -> str:
    """What a command of the person's printed, and how it ended where that was not well."""
    parts = [message.output.rstrip("\n")]
    if message.cancelled:
        parts.append("(stopped)")
    elif message.exit_code:
        parts.append(f"(exit code {message.exit_code})")
    return "\n".join(part for part in parts if part)

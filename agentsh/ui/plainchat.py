"""The chat without an editor: TERM=dumb, screen readers, a stdin that is no terminal. Line by line.

No control codes, no redrawing, no cursor: a line is read, the answer is printed as it comes, and
questions are lines as well. Loads neither rich nor prompt_toolkit. Ctrl-C stops a turn, at the
prompt it leaves; end of input leaves. Read next: plain.py, repl.py.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from agentsh.agent.approvals import Answer, ApprovalRequest
from agentsh.errors import AgentshError
from agentsh.messages import BashExecutionMessage
from agentsh.ui.approval import (
    can_change,
    exactly,
    prefix_rule,
    question_body,
    question_title,
    refused,
)
from agentsh.ui.commands import split_command
from agentsh.ui.describe import notice_line
from agentsh.ui.face import ChatAgent, Host
from agentsh.ui.heartbeat import beating
from agentsh.ui.plain import PlainOutput
from agentsh.ui.rewind import UNDO_WORDS, last_prompt
from agentsh.ui.sanitize import safe_line, safe_text
from agentsh.ui.terminal import Terminal
from agentsh.ui.views import chat_lines

HISTORY_LINES = 200

HELP = """\
/checkout ENTRY  go to an entry     /compact [FOCUS]  make room
/label [NAME]    name this place    /model ID         change the model
/name NAME       name the session   /new              a new session
/undo WHAT       conversation, files or both, of the last prompt
/diff [A [B]]    what differs: since the last prompt, or from A to B
/help            this               /quit             leave
!command runs a command for the model to see, !!command for yourself only.
A line that ends in \\ goes on in the next one."""


class PlainChat:
    """Reads lines until the input ends."""

    def __init__(self, agent: ChatAgent, host: Host, terminal: Terminal) -> None:
        self._agent = agent
        self._host = host
        self._terminal = terminal
        self._output = PlainOutput(terminal, progress=True)

    def run(self, first_prompt: str | None = None, *, resumed: bool = False) -> None:
        self._agent.approver = self._approve
        if resumed:
            self._show_history()
        for left in self._agent.pending():
            self._output.say(f"queued before and not sent: {safe_line(left, 400)}")
        if first_prompt:
            self._say(first_prompt)
        while (text := self._read("> ")) is not None:
            if not text.strip():
                continue
            try:
                if not self._obey(text):
                    return
            except AgentshError as e:
                self._output.say(f"error: {e}")
                if e.hint:
                    self._output.say(e.hint)

    # ---- lines ----------------------------------------------------------------------------------

    def _obey(self, text: str) -> bool:
        """Carry a line out; False: leave."""
        if text.startswith("!"):
            self._shell(text)
        elif text.startswith("/") and "/" not in text.split()[0][1:]:
            return self._command(*split_command(text))
        else:
            self._say(text)
        return True

    def _command(self, name: str, argument: str) -> bool:
        match name:
            case "quit" | "exit":
                return False
            case "help":
                self._print(HELP)
            case "checkout" | "undo" if argument:
                self._move(name, argument)
            case "diff":
                a, b = (*argument.split(), None, None)[:2]
                self._print("\n".join(self._host.diff(a, b)))
            case "compact":
                for event in self._agent.compact(argument or None):
                    self._output.show(event)
            case "label" if self._agent.session.leaf is not None:
                self._agent.label(self._agent.session.leaf, argument or None)
            case "model" if argument:
                self._agent.set_model(argument)
            case "name" if argument:
                self._agent.rename(argument)
            case "new":
                self._agent = self._host.new_session()
                self._agent.approver = self._approve
                self._print(f"new session {self._agent.session.header.id}")
            case _:
                self._print(f"there is no command /{safe_line(name, 40)} here; /help lists them")
        return True

    def _move(self, name: str, argument: str) -> None:
        """/checkout ENTRY, or /undo conversation, files or both."""
        target = self._agent.session.resolve(argument) if name == "checkout" else None
        if name == "undo":
            target, _ = last_prompt(self._agent.session.live())
            if argument not in UNDO_WORDS or target is None:
                self._print("/undo takes one of: conversation, files, both; after a prompt")
                return
        if argument == "files" and name == "undo":
            self._print("\n".join(self._agent.files.restore(target)))
            return
        moved = self._agent.checkout(target, files=name == "undo" and argument == "both")
        self._print("\n".join((*moved.notices, f"now at {moved.leaf or 'the beginning'}")))
        if moved.editor_text:
            self._print(f"the prompt there was: {moved.editor_text}")

    def _say(self, text: str) -> None:
        with self._stoppable():
            for event in self._agent.prompt(text):
                self._output.show(event)

    def _shell(self, text: str) -> None:
        excluded = text.startswith("!!")
        command = text.lstrip("!").strip()
        if not command:
            return
        with self._stoppable():
            message = self._agent.shell(command, excluded=excluded, progress=lambda _text: None)
        self._print(_shell_text(message))

    def _show_history(self) -> None:
        session = self._agent.session
        lines = list(chat_lines(session.live().entries))
        if len(lines) > HISTORY_LINES:
            lines = [f"… {len(lines) - HISTORY_LINES} earlier lines", *lines[-HISTORY_LINES:]]
        self._print("\n".join(lines))
        for notice in session.notices:
            self._output.say(notice_line(notice))

    def _approve(self, request: ApprovalRequest) -> Answer:
        """A question as lines. `n` may be followed by the reason, `e` by another command."""
        self._print(question_title(request) + "\n" + question_body(request))
        if request.diff:
            self._print(request.diff)
        if request.why:
            self._print(f"asked because {request.why}")
        prefix = prefix_rule(request)
        keys = ["y once", "a always exactly this"]
        keys += [f"p always {prefix} …"] if prefix else []
        keys += ["e COMMAND instead"] if can_change(request) else []
        question = "allow it? " + ", ".join([*keys, "n no, n WHY: "])
        while (line := self._read(safe_text(question))) is not None:
            word, _, rest = line.strip().partition(" ")
            match word.lower():
                case "y" | "yes":
                    return Answer("once")
                case "a" | "always":
                    return exactly(request)
                case "p" if prefix:
                    return Answer("rule", rule=prefix)
                case "e" if can_change(request) and rest.strip():
                    return Answer("once", command=rest.strip())
                case "n" | "no":
                    return refused(rest.strip() or None)
                case _:
                    continue
        return refused("the input ended")

    @contextmanager
    def _stoppable(self) -> Iterator[None]:
        """Ctrl-C stops what runs inside; it does not unwind it, so that the turn ends well."""
        before = signal.signal(signal.SIGINT, lambda _number, _frame: self._agent.abort())
        try:
            with beating(self._output.say):
                yield
        finally:
            signal.signal(signal.SIGINT, before)

    # ---- streams --------------------------------------------------------------------------------

    def _read(self, mark: str) -> str | None:
        """A line, or several joined by a backslash at their ends; None: the input ended."""
        lines: list[str] = []
        while True:
            self._terminal.stdout.write(mark if not lines else "  ")
            self._terminal.stdout.flush()
            try:
                line = self._terminal.stdin.readline()
            except KeyboardInterrupt:
                self._terminal.stdout.write("\n")
                return None
            if not line:
                return "\n".join(lines) if lines else None
            line = line.rstrip("\r\n")
            if not line.endswith("\\"):
                return "\n".join([*lines, line])
            lines.append(line[:-1])

    def _print(self, text: str) -> None:
        self._terminal.stdout.write(safe_text(text) + "\n")
        self._terminal.stdout.flush()


def _shell_text(message: BashExecutionMessage) -> str:
    parts = [message.output.rstrip("\n")]
    if message.cancelled:
        parts.append("(stopped)")
    elif message.exit_code:
        parts.append(f"(exit code {message.exit_code})")
    return "\n".join(part for part in parts if part)

"""The chat without an editor: TERM=dumb, screen readers, a stdin that is no terminal. Line by line.

No control codes, no redrawing, no cursor: a line is read, the answer is printed as it comes, and
questions are lines as well. A command of the person's own is asked about, since nothing can show
before Enter that a line, perhaps a pasted one, would be run. Loads neither rich nor prompt_toolkit.
Ctrl-C stops a turn, at the prompt it leaves; end of input leaves. What would end the process (TERM,
HUP, QUIT), and a terminal that is gone, let the turn end in the log first. Read next: plain.py,
repl.py.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from agentsh.abort import Abort
from agentsh.agent.events import AgentEvent
from agentsh.agent.moving import last_prompt
from agentsh.agent.turn.approvals import ApprovalAnswer, ApprovalRequest
from agentsh.errors import AgentshError
from agentsh.sanitize import safe_line, safe_text
from agentsh.session.file.resolve import last_said
from agentsh.ui.asking.approval import (
    can_change,
    exactly,
    prefix_rule,
    question_body,
    question_title,
    refused,
    what_exactly,
)
from agentsh.ui.asking.rewind import UNDO_WORDS
from agentsh.ui.chat.about import session_text
from agentsh.ui.input.commands import (
    JOBS_USAGE,
    NO_EXPLORATION,
    SERVERS_USAGE,
    ExploreWords,
    calls_prompt,
    explore_words,
    export_words,
    is_command,
    job_words,
    means_leaving,
    no_command,
    prompt_rows,
    server_words,
    split_command,
)
from agentsh.ui.protocols import ChatAgent, Host
from agentsh.ui.state.activity import Activity
from agentsh.ui.state.answers import kept_words, model_words, resumed_words
from agentsh.ui.state.chatstate import ChatState, fold
from agentsh.ui.terminal import Terminal
from agentsh.ui.text.places import where_now
from agentsh.ui.text.plain import PlainOutput, shell_lines
from agentsh.ui.text.settingslist import settings_lines
from agentsh.ui.text.views import chat_lines
from agentsh.ui.text.waiting import beating
from agentsh.views.describe import notice_line

HISTORY_LINES = 200
_ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_MOST_LINES = 200
"""Of a file, whose authors are shown."""

HELP = """\
/checkout ENTRY  go to an entry     /compact [FOCUS]  make room
/label [NAME]    name this place    /model ID         change the model
/name NAME       name the session   /new              a new session
/session         where it lies      /export FILE      write it, redacted
/context         what fills the window
/settings [WORDS]  every setting, its value and where that comes from
/jobs [show|stop N]  what runs in the background; its output; its end
/mcp [restart NAME]  the MCP servers and their tools; end one
/undo WHAT       conversation, files or both, of the last prompt
/retry [ENTRY]   ask for an answer (the last one) once more
/diff [A [B]]    what differs: since the last prompt, or from A to B
/btw QUESTION    ask aside: nothing else changes
/explore [PROMPT] branches of explorations; pick BRANCH; or start one
/why FILE[:LINE] who wrote the lines: which prompt, or a person
/help            this               /quit             leave
!command runs a command for the model to see, !!command for yourself only; y agrees.
A line that ends in \\ goes on in the next one."""

PLAIN_NAMES = tuple(re.findall(r"/([a-z]+)", HELP))


class _Ended(BaseException):
    """A signal came while a line was read: nobody will write it."""


class PlainChat:
    """Reads lines until the input ends, or a signal ends the process: `ended_by` then."""

    def __init__(self, agent: ChatAgent, host: Host, terminal: Terminal) -> None:
        self.ended_by: int | None = None
        self._is_reading = False
        self._stops: Callable[[], object] | None = None
        """What ends that which runs now."""
        self._agent = agent
        self._host = host
        self._terminal = terminal
        self._output = PlainOutput(terminal, progress=True)

    def run(
        self,
        first_prompt: str | None = None,
        *,
        resumed: bool = False,
        returned: tuple[str, ...] = (),
    ) -> None:
        """`returned`: as in answers.resumed_words. Raises OSError: the terminal is gone."""
        before = {sign: signal.signal(sign, self._end) for sign in _ENDING}
        try:
            self._run(first_prompt, resumed, returned)
        except OSError:
            if self.ended_by is None:  # else it went with its terminal
                raise
        finally:
            for sign, handler in before.items():
                signal.signal(sign, handler)

    def _run(self, first_prompt: str | None, resumed: bool, returned: tuple[str, ...]) -> None:
        self._agent.approver = self._approve
        if words := resumed_words(self._state(), returned):
            self._output.say(words)
        if resumed:
            self._show_history()
        for left in (item.text for item in self._agent.pending()):
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
        if means_leaving(text):
            return False
        if text.startswith("!"):
            self._shell(text)
        elif is_command(text) and not calls_prompt(text, self._agent.expander.commands()):
            return self._command(*split_command(text))
        else:
            self._say(text)
        return True

    def _command(self, name: str, argument: str) -> bool:
        match name:
            case "quit" | "exit":
                return False
            case "checkout" | "undo" if argument:
                self._move(name, argument)
            case "help":
                rows = prompt_rows(self._agent.expander.commands())
                self._print("\n".join([HELP, *(f"{call}  {words}" for call, words in rows)]))
            case "diff" | "context" | "session" | "jobs" | "mcp" | "settings":
                self._print("\n".join(self._looked_up(name, argument)))
            case "why" | "export" if argument:
                self._print("\n".join(self._looked_up(name, argument)))
            case "retry" | "compact" | "btw" | "explore":
                self._work(name, argument)
            case "label" if (said := last_said(self._agent.session.live().entries)) is not None:
                self._agent.label(said, argument or None)
            case "model" if argument:
                abort = Abort()
                with self._stoppable(abort.set):
                    notices = self._host.choose(argument, abort)
                self._print("\n".join((model_words(self._state()), *notices)))
            case "name" if argument:
                self._agent.rename(argument)
            case "new":
                self._agent = self._host.new_session()
                self._agent.approver = self._approve
                self._print(f"new session {self._agent.session.header.id}")
            case _ if name in PLAIN_NAMES:
                self._print(f"/{name} cannot be done like that; /help says how it is written")
            case _:
                self._print(no_command(name, PLAIN_NAMES))
        return True

    def _explore(self, words: ExploreWords) -> None:
        if words.action == "list":
            lines: Sequence[str] = [each.text for each in self._host.explored()] or [NO_EXPLORATION]
        elif words.action == "start":
            lines = self._host.explore(words.text)
        else:
            self._agent, lines = self._host.bring_explored(words.text, overwrite=words.overwrite)
            self._agent.approver = self._approve
        self._print("\n".join(lines))

    def _work(self, name: str, argument: str) -> None:
        """The commands that ask the model, here or elsewhere."""
        match name:
            case "explore":
                self._explore(explore_words(argument))
            case "retry":
                self._follow(self._agent.retry(argument or None))
            case "btw" if argument:
                abort = Abort()
                self._follow(self._agent.aside(argument, abort), abort.set)
            case "btw":
                self._print("what is asked aside? /btw QUESTION")
            case _:
                self._follow(self._agent.compact(argument or None))

    def _state(self) -> ChatState:
        return fold(ChatState(), self._agent.report(), 0.0)

    def _beside(self, name: str, argument: str) -> Sequence[str]:
        """What runs beside the chat: jobs of commands, MCP servers."""
        if name == "jobs":
            asked = job_words(argument)
            return [JOBS_USAGE] if asked is None else self._host.jobs(*asked)
        server = server_words(argument)
        return [SERVERS_USAGE] if server is None else self._host.servers(*server)

    def _looked_up(self, name: str, argument: str) -> Sequence[str]:
        """What the commands say that change nothing in the session."""
        match name:
            case "session":
                session = self._agent.session
                return [session_text(session, counted=True), kept_words(self._state())]
            case "jobs" | "mcp":
                return self._beside(name, argument)
            case "export":
                to, private = export_words(argument)
                return self._host.export(to, private=private)
            case "settings":
                rows = self._host.settings()
                is_one = argument in {name for name, _, _ in rows}
                return self._host.explain(argument) if is_one else settings_lines(rows, argument)
            case "context":
                return self._host.context(self._terminal.size[0])
            case "why":
                return self._host.why(argument, _MOST_LINES)
            case _:
                a, b = (*argument.split(), None, None)[:2]
                return [line.text for line in self._host.diff(a, b)]

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
        where = where_now(moved, self._agent.session.live())
        self._print("\n".join((*moved.notices, f"now {where}")))
        if moved.editor_text:
            self._print(f"the prompt there was: {moved.editor_text}")

    def _say(self, text: str) -> None:
        self._follow(self._agent.prompt(text))

    def _follow(
        self, events: Iterable[AgentEvent], stop: Callable[[], object] | None = None
    ) -> None:
        """Show them; where they cannot be shown any more the turn is stopped, and ends well."""
        stop = stop or self._agent.abort
        lost: OSError | None = None
        with self._stoppable(stop) as activity:
            for event in events:
                activity.hear(event)
                if self.ended_by is not None:  # it may have come before the turn began
                    stop()
                if lost is not None:
                    continue
                try:
                    self._output.show(event)
                except OSError as e:
                    lost = e
                    stop()
        if lost is not None:
            raise lost

    def _shell(self, text: str) -> None:
        excluded = text.startswith("!!")
        command = text.lstrip("!").strip()
        if not command:
            return
        if self._agent.report().policy != "all":
            seen = "for yourself only" if excluded else "for the model to see"
            answer = self._read(f"run {safe_line(command)} in the shell, {seen}? [y/N] ")
            if (answer or "").strip().lower() not in ("y", "yes"):
                self._print("not run")
                return
        with self._stoppable(self._agent.abort):
            message = self._agent.shell(command, excluded=excluded, progress=lambda _text: None)
        self._print(shell_lines(message))

    def _show_history(self) -> None:
        session = self._agent.session
        lines = list(chat_lines(session.live().entries))
        if len(lines) > HISTORY_LINES:
            lines = [f"… {len(lines) - HISTORY_LINES} earlier lines", *lines[-HISTORY_LINES:]]
        self._print("\n".join(lines))
        for notice in session.notices:
            self._output.say(notice_line(notice))

    def _approve(self, request: ApprovalRequest) -> ApprovalAnswer:
        """A question as lines. `n` may be followed by the reason, `e` by another command."""
        self._print(question_title(request) + "\n" + question_body(request))
        if request.diff:
            self._print(request.diff)
        if request.why:
            self._print(f"asked because {request.why}")
        prefix = prefix_rule(request)
        always = what_exactly(exactly(request)).rpartition(" ")[0]
        keys = ["y once"] if request.is_repeat else ["y once", f"a always {always}"]
        keys += [f"p always {prefix} …"] if prefix else []
        keys += ["e COMMAND instead"] if can_change(request) else []
        question = "allow it? " + ", ".join([*keys, "n no, n WHY: "])
        while (line := self._read(safe_text(question))) is not None:
            word, _, argument = line.strip().partition(" ")
            match word.lower():
                case "y" | "yes":
                    return ApprovalAnswer("once")
                case "a" | "always" if not request.is_repeat:
                    return exactly(request)
                case "p" if prefix:
                    return ApprovalAnswer("rule", rule=prefix)
                case "e" if can_change(request) and argument.strip():
                    return ApprovalAnswer("once", command=argument.strip())
                case "n" | "no":
                    return refused(argument.strip() or None)
                case _:
                    continue
        return refused("the input ended")

    @contextmanager
    def _stoppable(self, stop: Callable[[], object]) -> Iterator[Activity]:
        """Ctrl-C stops what runs inside; it does not unwind it, so that the turn ends well."""
        before = signal.signal(signal.SIGINT, lambda _number, _frame: stop())
        self._stops = stop
        activity = Activity(self._state())
        try:
            with beating(self._output.say, activity.words):
                yield activity
        finally:
            self._stops = None
            signal.signal(signal.SIGINT, before)

    def _end(self, number: int, _frame: FrameType | None) -> None:
        self.ended_by = number
        (self._stops or self._agent.abort)()
        if self._is_reading:
            raise _Ended

    # ---- streams --------------------------------------------------------------------------------

    def _read(self, mark: str) -> str | None:
        """A line, or several joined by a backslash at their ends; None: the input ended."""
        lines: list[str] = []
        while True:
            self._terminal.stdout.write(mark if not lines else "  ")
            self._terminal.stdout.flush()
            try:
                self._is_reading = True
                line = "" if self.ended_by else self._terminal.stdin.readline()
            except _Ended:
                return None
            except KeyboardInterrupt:
                self._terminal.stdout.write("\n")
                return None
            finally:
                self._is_reading = False
            if not line:
                return "\n".join(lines) if lines else None
            line = line.rstrip("\r\n")
            if not line.endswith("\\"):
                return "\n".join([*lines, line])
            lines.append(line[:-1])

    def _print(self, text: str) -> None:
        self._terminal.stdout.write(safe_text(text) + "\n")
        self._terminal.stdout.flush()

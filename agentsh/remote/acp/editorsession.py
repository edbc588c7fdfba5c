"""One session of an editor: its prompts one after the other, their ends, and a cancel at any time.

Prompts wait for each other in the order in which they came, and run in a thread of the session; the
thread that reads is never held up. The gate orders a cancel with what begins and what ends, so that
none is lost and none is meant for what comes next. What cannot be gone on from (the editor is gone)
is given to `fell`. Read next: remote/acp/shown/updates.py, questions.py, messages.py.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from contextlib import closing, suppress

from acp import schema
from msgspec import Struct, field
from pydantic import BaseModel

from agentsh.agent.events import StepEnd, ToolEnd, ToolProgress, ToolStart, TurnEnd
from agentsh.agent.turn.approvals import ApprovalAnswer, ApprovalRequest
from agentsh.errors import AgentshError, BusyError
from agentsh.messages import Usage
from agentsh.remote.acp.commands import available_commands, command_of, obeyed
from agentsh.remote.acp.editorclient import EditorClient, EditorFailedError, OpenQuestion
from agentsh.remote.acp.editortexts import UnsavedTexts
from agentsh.remote.acp.endings import answer_ends
from agentsh.remote.acp.jsonrpc import INTERNAL_ERROR, EditorReply
from agentsh.remote.acp.options import SessionOptions
from agentsh.remote.acp.program import EditorHost, EditorProgram
from agentsh.remote.acp.prompts import Prompted
from agentsh.remote.acp.questions import outcome_of, permission_request
from agentsh.remote.acp.responders import Responder
from agentsh.remote.acp.shown.calls import (
    MOST_CHANGED,
    call_title,
    difference,
    words_content,
)
from agentsh.remote.acp.shown.progress import Progress
from agentsh.remote.acp.shown.replaying import replayed
from agentsh.remote.acp.shown.updates import TurnUpdates, Update, progress, said
from agentsh.sanitize import safe_line
from agentsh.views.fences import fenced

_NO = ApprovalAnswer("no")
_ANNOUNCED = 60.0
"""Seconds after which nobody will hear of a session that was being made."""


class _Job(Struct, eq=False):
    """A prompt on its way."""

    prompt: Prompted
    answer: Responder
    called_off: threading.Event = field(default_factory=threading.Event)

    def is_cancelled(self) -> bool:
        return self.called_off.is_set()


class EditorSession:
    """`program` puts bugs on record; `fell` is told what ends the process."""

    def __init__(
        self,
        host: EditorHost,
        editor: EditorClient,
        program: EditorProgram,
        fell: Callable[[BaseException], None],
    ) -> None:
        self.host = host
        self.id: str = host.front.session.header.id
        self._editor = editor
        self._program = program
        self._fell = fell
        self.updates = TurnUpdates(
            str(host.cwd), lambda call: host.rewritten(call, MOST_CHANGED), self._usage_update
        )
        self._progress = Progress(self._tell_output)
        self._gate = threading.RLock()
        self._waiting: deque[_Job] = deque()
        self._running: _Job | None = None
        self._questions: list[OpenQuestion] = []
        self._rested = threading.Event()
        self._rested.set()
        self._is_closed = False
        self._is_announced = threading.Event()
        self.options = SessionOptions(host)
        self._title = host.front.session.tree.name
        host.front.approver = self._ask
        files = editor.capabilities.fs
        if files is not None and files.read_text_file:
            can_write = files.write_text_file is True
            host.use_texts(UnsavedTexts(self.id, host.cwd, can_write=can_write, ask=self._asked))

    def tell(self, update: Update) -> None:
        """Raises BrokenPipeError."""
        self._editor.tell(self.id, update)

    def tell_commands(self) -> None:
        """What may be typed behind a slash."""
        self.tell(available_commands(self.host.front.expander.commands()))

    def begin_told(self) -> None:
        """The editor knows of the session from now on: it may be told of it."""
        self._is_announced.set()
        self.tell_commands()

    def tell_late_options(self) -> None:
        """What came to be known while the session was being made."""
        if self._is_announced.wait(_ANNOUNCED) and not self._is_closed:
            try:
                self.tell_options()
            except OSError as e:
                self._fell(e)

    def tell_options(self) -> None:
        """What is in force."""
        listed = self.options.listed()
        self.tell(
            schema.ConfigOptionUpdate(session_update="config_option_update", config_options=listed)
        )

    def replay(self) -> None:
        """Show all that was. Raises BusyError."""
        with self._gate:
            if self.is_busy:
                raise BusyError("a turn is running in this session; cancel it, or wait")
        for update in replayed(self.host.front.session, self.updates.ids, str(self.host.cwd)):
            self.tell(update)
        self._tell_usage()

    def _tell_usage(self) -> None:
        figures = self.host.front.report()
        usage = self._usage_of(figures.context_tokens, figures.context_window)
        if usage is not None and figures.context_tokens:
            self.tell(usage)

    # ---- prompts -------------------------------------------------------------------------------

    def prompt(self, prompt: Prompted, answer: Responder) -> None:
        """Say it when what came before is over. Returns at once."""
        with self._gate:
            if self._is_closed:
                answer.failed(INTERNAL_ERROR, "this session is being closed")
                return
            self._waiting.append(_Job(prompt, answer))
            if not self._rested.is_set():
                return
            self._rested.clear()
        threading.Thread(target=self._work, name="session", daemon=True).start()

    @property
    def is_busy(self) -> bool:
        return not self._rested.is_set()

    def cancel(self) -> None:
        """End what runs and what waits; each is answered."""
        with self._gate:
            waiting = [*self._waiting]
            self._waiting.clear()
            self._stop_running()
        for job in waiting:
            job.answer.done(schema.PromptResponse(stop_reason="cancelled"))

    def _stop_running(self) -> None:
        if self._running is None or self._running.is_cancelled():
            return
        self._running.called_off.set()
        self.host.front.abort()
        for question in self._questions:
            self._editor.call_off(question)

    def close(self, within: float | None = None) -> None:
        """End all of it, and leave the session. `within`: seconds that a turn may take to end."""
        with self._gate:
            self._is_closed = True
        with suppress(OSError):  # whoever is gone needs no answers
            self.cancel()
        if self._rested.wait(within):
            self.host.close()

    def _work(self) -> None:
        while True:
            with self._gate:
                self._running = self._waiting.popleft() if self._waiting else None
                if self._running is None:
                    self._rested.set()
                    return
                job = self._running
            try:
                self._do(job)
            except BaseException as e:  # noqa: BLE001  # carried over to the thread that reads
                self._fell(e)
            finally:
                with self._gate:
                    self._running = None
                    self.host.front.rest()

    def _do(self, job: _Job) -> None:
        """One prompt to its end, and its answer."""
        try:
            command = command_of(job.prompt.words)
            try:
                ends = self._turn(job.prompt) if command is None else self._obey(*command)
            finally:
                self._progress.stop()
            self._tell_title()
        except AgentshError as e:
            self._end_calls()
            if job.is_cancelled():
                job.answer.done(schema.PromptResponse(stop_reason="cancelled"))
            else:
                job.answer.refused(e)
        except OSError:
            raise
        except Exception as e:  # noqa: BLE001  # the door of a turn: a bug is its answer
            self._end_calls()
            job.answer.failed(INTERNAL_ERROR, self._program.report(e))
        else:
            answer_ends(job.answer, ends, is_cancelled=job.is_cancelled())

    def _turn(self, prompt: Prompted) -> list[TurnEnd]:
        """Run it and tell of it; the ends of the turns that it came to. Raises AgentshError."""
        ends: list[TurnEnd] = []
        self.updates.begin()
        with closing(self.host.front.prompt(prompt.text, prompt.images)) as turn:
            for event in turn:
                match event:
                    case ToolProgress(call, text):
                        self._progress.grow(self.updates.ids.of(call) or "", text)
                    case ToolEnd(call):
                        self._progress.end(self.updates.ids.of(call) or "")
                    case TurnEnd():
                        ends.append(event)
                    case _:
                        pass
                for update in self.updates.of(event):
                    self.tell(update)
                if isinstance(event, ToolStart):
                    self._progress.begin(self.updates.ids.of(event.call) or "")
        if ends and ends[-1].status == "blocked" and ends[-1].error:
            self.tell(said(ends[-1].error))  # an editor has no words of its own for it
        return ends

    def _obey(self, command: str, words: str) -> list[TurnEnd]:
        """A command of ours. Raises AgentshError."""
        before = self.options.listed()
        for news in obeyed(self.host, command, words):
            updates = (said(news),) if isinstance(news, str) else self.updates.of(news)
            for update in updates:
                self.tell(update)
        self._tell_usage()
        if self.options.listed() != before:  # a place in the tree has a model of its own
            self.tell_options()
        return [TurnEnd("completed", None, self.host.front.session.leaf, Usage())]

    def _tell_title(self) -> None:
        title = self.host.front.session.tree.name
        if title != self._title:
            self._title = title
            self.tell(
                schema.SessionInfoUpdate(
                    session_update="session_info_update", title=safe_line(title or "", 200)
                )
            )

    def _end_calls(self) -> None:
        for update in self.updates.broken_off():
            self.tell(update)

    def _tell_output(self, name: str, text: str) -> None:
        """From any thread."""
        content = [words_content(fenced(text))]
        try:
            self.tell(progress(name, "in_progress", content))
        except OSError as e:
            self._fell(e)

    def _usage_update(self, end: StepEnd) -> schema.UsageUpdate | None:
        return self._usage_of(end.context_tokens, end.context_window)

    def _usage_of(self, tokens: int, window: int | None) -> schema.UsageUpdate | None:
        """How full the context is; nothing is guessed where no window is known."""
        if window is None:
            return None
        spent = self.host.front.budget.spending().usage.cost.total
        return schema.UsageUpdate(
            session_update="usage_update",
            used=tokens,
            size=window,
            cost=schema.Cost(amount=spent, currency="USD") if spent else None,
        )

    # ---- questions -----------------------------------------------------------------------------

    def _ask(self, request: ApprovalRequest) -> ApprovalAnswer | None:
        """The approver of the session's agent; called in the turn's thread."""
        for update in self.updates.announced(request.call):
            self.tell(update)
        name = self.updates.ids.of(request.call)
        assert name is not None
        title = call_title(request.call, str(self.host.cwd))
        rewritten = self.host.rewritten(request.call, MOST_CHANGED)
        change = [] if rewritten is None else [difference(rewritten)]
        params = permission_request(self.id, name, title, request, [*change])
        job = self._running
        if job is None or job.is_cancelled():
            return _NO
        try:
            reply = self._asked("session_request_permission", params)
        except EditorFailedError as e:
            return ApprovalAnswer("no", f"the editor did not ask: {e}")
        if reply is None:
            return _NO if job.is_cancelled() else None  # or else the editor is gone
        outcome = outcome_of(reply.result, request)
        if outcome != "called off":
            return outcome
        self.cancel()
        return _NO

    def _asked(
        self, method: str, params: BaseModel, within: float | None = None
    ) -> EditorReply | None:
        """Ask the editor, and wait; None: no answer came in time. Raises EditorFailedError."""
        job = self._running
        question = self._editor.ask(method, params)
        with self._gate:
            self._questions.append(question)
            if job is not None and job.is_cancelled():  # meanwhile
                self._editor.call_off(question)
        try:
            return self._editor.wait(question, within)
        finally:
            with self._gate:
                self._questions.remove(question)

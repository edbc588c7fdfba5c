"""A session as a script drives it: prompts, events, questions, the tree. In the calling thread.

It has no loop, no thread and no signal handler of its own: a prompt walks the events of
`Agent.prompt`. `abort`, `steer` and `follow_up` may come from other threads. What it needs of the
program around it is `ScriptHost`. Read next: values.py, cli/assembly/scripting/session.py.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias

from agentsh.agent.driven.host import SessionAgent
from agentsh.agent.events import AgentEvent, Compacted
from agentsh.agent.turn.approvals import ApprovalAnswer, ApprovalRequest
from agentsh.errors import AgentshError, NoPromptError, RefusedError
from agentsh.jsontext import JsonObject
from agentsh.messages import Image
from agentsh.remote.python.breakage import Breakage
from agentsh.remote.python.values import (
    Answer,
    AnswerWatch,
    CallDeniedError,
    CallQuestion,
    CheckedOut,
    TurnError,
    TurnNews,
)
from agentsh.remote.values.lines import event_line

if TYPE_CHECKING:
    from agentsh.agent.structured.answers import AnswerSchema

GivenPicture: TypeAlias = Image | str | PathLike[str]
GivenSchema: TypeAlias = Mapping[str, Any] | str | PathLike[str]
ApproveCallback: TypeAlias = Callable[[CallQuestion], Any]
"""Answers True, "always", or anything else: no. `raise Denied("why")`: no, and why."""


class ScriptAgent(SessionAgent, Protocol):
    """agent/agent.py, as far as a script needs it."""

    running: bool

    def prompt(
        self, text: str, images: tuple[Image, ...] = (), schema: AnswerSchema | None = None
    ) -> Generator[AgentEvent, None, None]: ...


class ScriptHost(Protocol):
    """The program around one session of a script (cli/assembly/scripting/hosting.py)."""

    breakage: Breakage

    @property
    def notices(self) -> tuple[str, ...]: ...

    @property
    def front(self) -> ScriptAgent: ...

    def forked(self, at: str | None) -> ScriptHost: ...

    def pictures(self, images: Sequence[GivenPicture]) -> tuple[Image, ...]:
        """Raises UsageError: one of them is none."""

    def answer_schema(self, schema: GivenSchema) -> AnswerSchema:
        """Raises UsageError: it is no JSON Schema."""

    def tree(self) -> JsonObject: ...

    def view(self, name: str, at: str | None) -> JsonObject: ...

    def differences(self, a: str, b: str) -> JsonObject: ...

    def cost(self) -> JsonObject: ...

    def named_entry(self, word: str) -> str: ...

    def close(self) -> None: ...


class DrivenSession:
    """One session. Made by cli/assembly/scripting/session.py."""

    def __init__(self, host: ScriptHost, approve: ApproveCallback | None) -> None:
        self._host = host
        self._session = host.front.session
        self._approve = approve
        self._is_closed = False
        self._is_busy = False
        self._turn: Callable[[], Generator[TurnNews, None, None] | None] = lambda: None
        """The turn that runs, or has been left; a script that drops it ends it."""
        if approve is not None:
            host.front.approver = self._asked

    # ---- turns -----------------------------------------------------------------------------------

    def prompt(
        self,
        text: str,
        images: Sequence[GivenPicture] = (),
        schema: GivenSchema | None = None,
        check: bool = True,
    ) -> Answer:
        """Run a turn to its end. Raises TurnError where it did not complete, unless `check=False`.

        `schema`: a JSON Schema, or a file that holds one; the answer's value is `Answer.data`.
        """
        answer: Answer | None = None
        for event in self.stream(text, images, schema):
            answer = event.answer or answer
        assert answer is not None, "the last event of a turn has the answer"
        if check and not answer.ok:
            raise TurnError(answer)
        return answer

    def stream(
        self, text: str, images: Sequence[GivenPicture] = (), schema: GivenSchema | None = None
    ) -> Iterator[TurnNews]:
        """The events of a turn as they come; the last one is `done`. Leaving the loop aborts."""
        agent = self._agent
        value = None if schema is None else self._host.answer_schema(schema)
        pictures = self._host.pictures(images) if images else ()
        if not text.strip() and not pictures:
            raise NoPromptError("there is no prompt")
        self._must_rest()
        turn = self._events(agent, agent.prompt(text, pictures, value))
        self._turn = weakref.ref(turn)
        return turn

    def _events(
        self, agent: ScriptAgent, events: Generator[AgentEvent, None, None]
    ) -> Generator[TurnNews, None, None]:
        watch = AnswerWatch()
        with self._busy(), closing(events):
            self._host.breakage.forget()
            for event in events:
                watch.see(event)
                line = event_line(event)
                if line is not None:
                    yield TurnNews(line)
        self._host.breakage.raise_again()
        yield watch.done(agent.session.leaf)

    def steer(self, text: str) -> None:
        """Say this with the next request of the turn that runs. From any thread."""
        self._agent.steer(text)

    def follow_up(self, text: str) -> None:
        """Say this as the next turn, when the one that runs has ended. From any thread."""
        self._agent.follow_up(text)

    def abort(self) -> None:
        """Stop what runs; where nothing does, nothing happens. From any thread."""
        agent = self._agent
        if self._is_busy:
            agent.abort()

    def _asked(self, request: ApprovalRequest) -> ApprovalAnswer:
        """What the callback says. What it raises ends the turn, and is raised from the prompt."""
        assert self._approve is not None
        try:
            decision = self._approve(CallQuestion.of(request))
        except CallDeniedError as e:
            return ApprovalAnswer("no", str(e) or None)
        except BaseException as e:  # noqa: BLE001  a stranger's code; it is raised again
            self._host.breakage.take(e)
            self._host.front.abort()
            return ApprovalAnswer("no", f"the script could not answer: {type(e).__name__}")
        if decision == "always" and isinstance(decision, str) and not request.is_repeat:
            rule = request.rule_hint
            return ApprovalAnswer("session") if rule is None else ApprovalAnswer("rule", rule=rule)
        is_yes = decision is True or decision == "always"
        return ApprovalAnswer("once" if is_yes else "no")

    # ---- the tree --------------------------------------------------------------------------------

    @property
    def id(self) -> str:
        return self._session.header.id

    @property
    def path(self) -> Path | None:
        """Its file; None: it is in memory only."""
        return self._session.path

    @property
    def leaf(self) -> str | None:
        """The entry that the next one follows."""
        return self._session.leaf

    @property
    def notices(self) -> tuple[str, ...]:
        """What the command line would have said on stderr when the session was opened."""
        return self._host.notices

    def tree(self) -> dict[str, Any]:
        """Every entry, as `tree --json`."""
        self._open()
        return self._host.tree()

    def view(self, view: str = "chat", at: str | None = None) -> dict[str, Any]:
        """`chat`, `trace`, `model` or `raw`, as `show --json`."""
        self._open()
        return self._host.view(view, at)

    def diff(self, a: str, b: str) -> dict[str, Any]:
        """What differs between two places, as `diff --json`."""
        self._open()
        return self._host.differences(a, b)

    def cost(self) -> dict[str, Any]:
        """What the session took, as `cost --json`."""
        self._open()
        return self._host.cost()

    def checkout(self, entry: str, summarize: bool = False, files: bool = False) -> CheckedOut:
        """Move the leaf there; to a prompt means before it, and `text` is what it said.

        `summarize`: with a summary of the branch that is left. `files`: bring the working files
        back, too.
        """
        agent = self._agent
        with self._busy():
            target = agent.session.resolve(entry)
            return CheckedOut.of(agent.checkout(target, summarize=summarize, files=files))

    def undo(self, entry: str, overwrite: bool = False) -> tuple[str, ...]:
        """Bring the working files back to that place, and say what was done; the leaf stays.

        A file that somebody else changed since is left, unless `overwrite`.
        """
        agent = self._agent
        with self._busy():
            target = agent.session.resolve(entry)
            return tuple(agent.files.restore(target, overwrite=overwrite))

    def fork(self, at: str | None = None) -> Self:
        """A session of its own with the path up to there (by default: the leaf)."""
        self._open()
        host = self._host.forked(at)
        try:
            return type(self)(host, self._approve)
        except BaseException:
            host.close()
            raise

    def label(self, entry: str, name: str | None) -> None:
        """Give an entry a name, or take it away (None)."""
        agent = self._agent
        target = agent.session.resolve(self._host.named_entry(entry))
        assert target is not None
        agent.label(target, name)

    def rename(self, name: str) -> None:
        """Give the session a name."""
        self._agent.rename(name)

    def compact(self, focus: str | None = None) -> TurnNews:
        """Fold what is old into a summary. Raises RefusedError: there is nothing to fold."""
        agent = self._agent
        last: Compacted | None = None
        with self._busy():
            for event in agent.compact(focus):
                last = event if isinstance(event, Compacted) else last
        assert last is not None
        if last.error is not None:
            raise AgentshError(last.error)
        line = event_line(last)
        assert line is not None
        return TurnNews(line)

    # ---- its end ---------------------------------------------------------------------------------

    def close(self) -> None:
        """End it: a turn that was left in its middle is aborted, and the file is let go of."""
        if self._is_closed:
            return
        turn = self._turn()
        if turn is not None:
            try:
                turn.close()
            except ValueError as e:  # it is being walked now
                raise RefusedError("a turn is running in this session; abort it first") from e
        self._is_closed = True
        self._host.close()

    def __enter__(self) -> Self:
        self._open()
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Session {self.id}{', closed' if self._is_closed else ''}>"

    @property
    def _agent(self) -> ScriptAgent:
        self._open()
        return self._host.front

    def _open(self) -> None:
        if self._is_closed:
            raise RefusedError("this session is closed", hint="Session.open goes on with it")

    @contextmanager
    def _busy(self) -> Iterator[None]:
        """`abort` is meant for what runs in here."""
        self._must_rest()
        self._is_busy = True
        try:
            yield
        finally:
            self._is_busy = False

    def _must_rest(self) -> None:
        if self._is_busy:
            raise RefusedError("a turn is running in this session; end or abort it first")

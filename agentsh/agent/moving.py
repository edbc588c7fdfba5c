"""Moves in the tree: checkout, on request with a summary of the branch that is left.

A user (or custom) message means before it, with its text for the editor; anything else, on to it
(R74). With a summary: the old path is summarised first, and only then does the leaf move, so a
summary that fails leaves everything as it was (R78). For an answer that is asked for again, the
place is the leaf that its request was made from; what stands before it does not run again.
Read next: agent/summaries/compactor.py, context/summaries/branching.py.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from agentsh.agent.events import AgentEvent
from agentsh.agent.prompts.expansion import typed_text
from agentsh.agent.turn.recorder import Recorder
from agentsh.errors import EntryNotFoundError, RefusedError
from agentsh.messages import (
    AssistantMessage,
    CustomRoleMessage,
    Image,
    Text,
    UserBlock,
    UserMessage,
)
from agentsh.session.file.session import Session
from agentsh.session.format.entries import (
    Branch,
    Custom,
    CustomMessage,
    Entry,
    EntryId,
    MessageBody,
)
from agentsh.session.format.factcodec import decode_fact, name_of
from agentsh.session.format.facts import Checkpoint, RequestSent

if TYPE_CHECKING:  # it comes only with who asks for a summary of what is left
    from agentsh.agent.summaries.compactor import Compactor, Job

Result = TypeVar("Result")
_CHECKPOINT = name_of(Checkpoint)
_OF_ANSWERS = frozenset({"step", "schema"})
"""The kinds of requests that a turn makes from its leaf."""


class Moved(Struct, frozen=True):
    """Where the leaf is now. `editor_text`: the prompt that it stands before, with its `images`.

    `summary`: the entry that sums up the branch that was left.
    """

    leaf: EntryId | None
    editor_text: str | None = None
    notices: tuple[str, ...] = ()
    summary: EntryId | None = None
    images: tuple[Image, ...] = ()


class Mover:
    """Moves the leaf of one session."""

    def __init__(self, recorder: Recorder, compactor: Compactor) -> None:
        self._recorder = recorder
        self._compactor = compactor

    def move(self, target: EntryId | None, summary_job: Job | None) -> Moved:
        """Go there. Raises ProviderError where the summary fails; nothing has moved then."""
        with self._recorder.watching():
            return returned(self._moved(target, summary_job))

    def _moved(
        self, target: EntryId | None, summary_job: Job | None
    ) -> Generator[AgentEvent, None, Moved]:
        session = self._recorder.session
        entry = None if target is None else session.entry(target)
        leaf, text = (None, None) if entry is None else draft_of(session, entry)
        pictures = () if entry is None or text is None else _pictures(entry)
        notices: tuple[str, ...] = ()
        made: EntryId | None = None
        if summary_job is None:
            session.move(leaf, "tree")
        else:
            summary = yield from self._compactor.summarize_branch(leaf, summary_job)
            session.move(leaf, "tree")
            if summary is None:
                notices = ("there was nothing to summarise",)
            else:
                made = self._recorder.derived(*summary).id
        self._recorder.settle()
        return Moved(session.leaf, text, notices, made, pictures)


def returned(steps: Generator[AgentEvent, None, Result]) -> Result:
    """Walk to the end; what the generator returned. Its events are dropped."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            result: Result = done.value
            return result


def draft_of(session: Session, entry: Entry) -> tuple[EntryId | None, str | None]:
    """As `destination`, with the text as it was typed, where that was another one."""
    leaf, text = destination(entry)
    return leaf, text if text is None else typed_text(session, entry) or text


def destination(entry: Entry) -> tuple[EntryId | None, str | None]:
    """Where a move to this entry ends, and the text that goes back into the editor."""
    match entry.body:
        case MessageBody(UserMessage(content)) | MessageBody(CustomRoleMessage(_, content)):
            return entry.parent, _text(content)
        case CustomMessage(_, content):
            return entry.parent, _text(content)
        case _:
            return entry.id, None


def _pictures(entry: Entry) -> tuple[Image, ...]:
    match entry.body:
        case MessageBody(UserMessage(content)):
            return tuple(block for block in content if isinstance(block, Image))
        case _:
            return ()


def _text(content: tuple[UserBlock, ...]) -> str:
    return "\n".join(block.text for block in content if isinstance(block, Text))


def answer_of(session: Session, word: str | None) -> Entry:
    """The answer that a word names; None: the last one of the path.

    Raises EntryNotFoundError, and RefusedError for an entry that is no answer.
    """
    if word is None or word == "leaf":
        for entry in reversed(session.branch().entries):
            if is_answer(entry):
                return entry
        raise EntryNotFoundError("there is no answer on this path yet")
    target = session.resolve(word)
    answer = None if target is None else session.entry(target)
    if answer is None or not is_answer(answer):
        raise RefusedError(
            f"{word} is no answer of a model", hint="name the answer that is to be asked for again"
        )
    return answer


class Sibling(Struct, frozen=True):
    """What is to be asked once more: an answer, or the last prompt, which got none."""

    entry: Entry
    asked: RequestSent | None
    """The request; None: not on record."""

    @staticmethod
    def of(session: Session, word: str | None) -> Sibling:
        """As `answer_of`; without a word a last prompt comes before an answer to an earlier one."""
        if word is None or word == "leaf":
            unanswered = _unanswered(session)
            if unanswered is not None:
                return unanswered
        answer = answer_of(session, word)
        return Sibling(answer, _request_of(session, answer))

    @property
    def place(self) -> EntryId | None:
        """The leaf that the request was made from."""
        if self.asked is not None:
            return self.asked.leaf
        return self.entry.parent if is_answer(self.entry) else self.entry.id

    @property
    def words(self) -> str:
        beside = f", beside {self.entry.id}" if is_answer(self.entry) else ""
        match self.entry.body:
            case MessageBody(AssistantMessage() as said):
                text = said.text
            case MessageBody(UserMessage(content)):
                text = _text(content)
            case _:
                text = ""
        first = text.strip().partition("\n")[0]
        return f"asked again{beside}" + (f": {first[:80]}" if first else "")


def _unanswered(session: Session) -> Sibling | None:
    """The last prompt of the path, where nothing came after it: it was stopped, or failed."""
    asked: RequestSent | None = None
    for entry in reversed(session.branch().entries):
        match entry.body:
            case MessageBody(AssistantMessage()):
                return None
            case MessageBody(UserMessage()):
                return Sibling(entry, asked)
            case Custom() as body if asked is None:
                fact = decode_fact(body)
                asked = fact if isinstance(fact, RequestSent) and _is_steps(fact) else None
            case _:
                continue
    return None


def _is_steps(request: RequestSent) -> bool:
    return request.kind in _OF_ANSWERS


def _request_of(session: Session, answer: Entry) -> RequestSent | None:
    if answer.stamp is None or answer.stamp.request is None:
        return None
    try:
        body = session.entry(answer.stamp.request).body
    except EntryNotFoundError:
        return None  # the request's line was lost, or is another file's
    fact = decode_fact(body) if isinstance(body, Custom) else None
    return fact if isinstance(fact, RequestSent) and _is_steps(fact) else None


def is_answer(entry: Entry) -> bool:
    return isinstance(entry.body, MessageBody) and isinstance(entry.body.message, AssistantMessage)


def last_prompt(branch: Branch) -> tuple[EntryId | None, bool]:
    """The newest prompt of the path, and whether the files' state was recorded after it."""
    changed = False
    for entry in reversed(branch.entries):
        body = entry.body
        if isinstance(body, MessageBody) and isinstance(body.message, UserMessage):
            return entry.id, changed
        changed = changed or (isinstance(body, Custom) and body.custom_type == _CHECKPOINT)
    return None, changed

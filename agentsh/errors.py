"""Every error of agentsh, in one tree. Pure.

AgentshError                     a message for the user, never a traceback; optional hint
├─ SettingsError                 file, line: what is wrong in it (exit 2)
├─ UsageError                    wrong use, or nothing configured (exit 2)
│  ├─ NoPromptError              there is nothing to say to the model
│  ├─ NotConfiguredError         neither an endpoint nor an embedded model is there
│  └─ ModelNotFoundError         no endpoint that is configured lists it
├─ LineNotFoundError             no such file, or it has no such line (exit 3)
├─ SkillNotFoundError            no skill has that name (exit 3)
├─ OutputError                   stdout takes no more: a full disk, closed by the caller (exit 1)
├─ ServerMissingError            a required MCP server is not there, so no turn begins (exit 1)
├─ SessionError                  path: reading or writing a session failed (exit 1)
│  ├─ SessionNotFoundError       no such session, or not a session file (exit 3)
│  ├─ AmbiguousSessionError      several match (exit 3)
│  ├─ EntryNotFoundError         no such entry, or several (exit 3)
│  ├─ SessionLockedError         holder: another process writes it (exit 4)
│  ├─ UnsupportedVersionError    written by a newer version; a refusal, not damage (exit 4)
│  ├─ SessionChangedError        a foreign writer was seen (exit 4)
│  ├─ RefusedError               what was asked makes no sense at this point of the tree (exit 4)
│  │  └─ BusyError               something runs in this session, which must end first (exit 4)
│  └─ SessionNotSavedError       the disk refused; nothing was kept of the batch (exit 1)
├─ ProviderError                 endpoint, status, the server's own words, retryable (exit 1)
│  ├─ ConnectionFailedError      nobody listens, name unknown, TLS               retryable
│  ├─ ProviderTimeoutError       silent for longer than the idle limit            retryable
│  ├─ RateLimitedError           429, retry_after                                 retryable
│  ├─ ServerFailedError          5xx, or an error object in a stream that says so retryable
│  ├─ RequestRejectedError       4xx: repeating it unchanged cannot help
│  │  ├─ AuthenticationError     401, 403
│  │  ├─ ContextOverflowError    the prompt does not fit
│  │  ├─ AnswerLimitError        the prompt fits, but not with the limit asked for the answer; room
│  │  └─ ImageLimitError         more or larger pictures than the endpoint takes; limits
│  ├─ EmptyAnswerError           an answer without words or calls
│  ├─ UnfinishedAnswerError      cut, or with a call, where only a whole answer will do
│  ├─ RequestDeniedError         a limit of the exploration forbids it, or it waited too long
│  └─ StreamProtocolError        not an API answer, or a stream that was cut; carries the partial
├─ ExplorationError              explorations as sessions: locked, refused (exit 4)
│  └─ ExplorationNotFoundError   no such exploration or branch, or several (exit 3)
├─ MachineLostError              a machine of an exploration never came, or is gone
├─ BadLineError                  a runner or its coordinator is another program (exit 1)
└─ ToolError                     becomes a tool result; must not leave the step
   ├─ InvalidArgumentsError
   ├─ ToolDeniedError
   ├─ ToolTimeoutError
   ├─ ToolAbortedError           the user stopped it
   └─ ToolFailedError

remote/python/values.py has one more, TurnError: a script's turn did not complete.

Rules: errors carry facts as attributes and make their sentence in `__str__`; `exit_code` is what a
command ends with. Abort is no error. Programming mistakes are assert/TypeError/ValueError
and do crash. Each boundary translates once and says `raise … from`.
"""

from __future__ import annotations


class AgentshError(Exception):
    """Base of all: `message` is one or more sentences for the user; `hint` says what to do next."""

    exit_code: int = 1
    """The contract's, of a command that ends with it."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message


class SettingsError(AgentshError):
    """A settings file is wrong: `file` and, where known, `line` (from 1)."""

    exit_code = 2

    def __init__(
        self, message: str, *, file: str, line: int | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.file = file
        self.line = line

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{where}: {self.message}"


class UsageError(AgentshError):
    """Wrong use of a command, or nothing is configured."""

    exit_code = 2


class NoPromptError(UsageError):
    """Neither words nor standard input are a prompt."""


class NotConfiguredError(UsageError):
    """Nobody could answer; the hint has the ways to get going."""


class LineNotFoundError(AgentshError):
    """There is no such file, it is no text, or it has no such line."""

    exit_code = 3


class SkillNotFoundError(AgentshError):
    """There is no skill of that name, or it cannot be read; nothing was sent."""

    exit_code = 3


class OutputError(AgentshError):
    """What a command has to say cannot be written to stdout."""


class ServerMissingError(AgentshError):
    """An MCP server without which no turn shall begin (`required = true`) is not there."""


class SessionError(AgentshError):
    """Reading or writing a session failed; `path` names the file where there is one."""

    def __init__(self, message: str, *, path: str | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.path = path


class SessionNotFoundError(SessionError):
    """No session matches, or the file is no session."""

    exit_code = 3


class AmbiguousSessionError(SessionError):
    """Several sessions match; `matches` are their ids."""

    exit_code = 3

    def __init__(self, message: str, *, matches: tuple[str, ...]) -> None:
        super().__init__(message)
        self.matches = matches


class EntryNotFoundError(SessionError):
    """No entry, or several entries, of the session match."""

    exit_code = 3


class SessionLockedError(SessionError):
    """Another process writes this session; `holder` says which (pid, host)."""

    exit_code = 4

    def __init__(self, message: str, *, path: str, holder: str, hint: str | None = None) -> None:
        super().__init__(message, path=path, hint=hint)
        self.holder = holder


class UnsupportedVersionError(SessionError):
    """Written by a newer version: it can be shown, exported and forked, but not appended to."""

    exit_code = 4


class SessionChangedError(SessionError):
    """Somebody else wrote to the file while this process held it."""

    exit_code = 4


class RefusedError(SessionError):
    """What was asked makes no sense at this point of the tree (inside a turn, a cycle)."""

    exit_code = 4


class ModelNotFoundError(UsageError):
    """A model that no configured endpoint lists."""


class BusyError(RefusedError):
    """Something runs in this session that must end, or be stopped, first."""


class SessionNotSavedError(SessionError):
    """The disk refused a write (full, read-only, fault). Nothing of the batch is in the file."""

    def __init__(self, message: str, *, path: str | None = None) -> None:
        elsewhere = "make room there, or keep sessions elsewhere: --session-dir, AGENTSH_HOME"
        super().__init__(message, path=path, hint=elsewhere)


class ProviderError(AgentshError):
    """An endpoint failed. `endpoint` is host:port, `words` the server's own, already cleaned.

    A stream that fails in its middle sets `partial`, the AssistantMessage that had come until then
    (an object here: messages.py lies above this module), and `emitted`, whether any of it had been
    handed out as events. `window` is the model's size where the server's words named it.
    `is_silence`: not a byte of an answer came before the idle limit.
    """

    retryable = False
    partial: object | None = None
    emitted: bool = False
    window: int | None = None
    is_silence: bool = False

    def __init__(
        self,
        message: str,
        *,
        endpoint: str = "",
        status: int | None = None,
        words: str = "",
        code: str | None = None,
        retry_after: float | None = None,
        retryable: bool | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.endpoint = endpoint
        self.status = status
        self.words = words
        self.code = code
        self.retry_after = retry_after
        if retryable is not None:
            self.retryable = retryable


class ConnectionFailedError(ProviderError):
    """Nobody listens, the name is unknown, TLS failed, the connection was lost before an answer."""

    retryable = True


class ProviderTimeoutError(ProviderError):
    """The endpoint stayed silent for longer than the idle limit."""

    retryable = True


class RateLimitedError(ProviderError):
    """429; `retry_after` in seconds where the server named a wait."""

    retryable = True


class ServerFailedError(ProviderError):
    """5xx, or an error inside a stream that says it is the server's."""

    retryable = True


class RequestRejectedError(ProviderError):
    """4xx: repeating the request unchanged cannot help."""


class AuthenticationError(RequestRejectedError):
    """401 or 403."""


class ContextOverflowError(RequestRejectedError):
    """The prompt, or prompt plus answer, does not fit the model's window."""


class AnswerLimitError(RequestRejectedError):
    """The prompt fits, but not together with the limit that was asked for the answer.

    `room` is what the server's words leave for the answer, in tokens.
    """

    room: int | None = None


class ImageLimitError(RequestRejectedError):
    """The request held more, or larger, pictures than the endpoint takes.

    `limits` are bounds to try, the likeliest first, by the names of their fields in Shape.
    """

    limits: tuple[tuple[str, int], ...] = ()


class EmptyAnswerError(ProviderError):
    """The endpoint answered with nothing: no word and no call."""

    retryable = True


class UnfinishedAnswerError(ProviderError):
    """The answer was cut at the output limit, or calls a tool, where only a whole one will do."""


class StreamProtocolError(ProviderError):
    """Not an API answer (final), or a stream that was cut (retryable; see `emitted`)."""


class RequestDeniedError(ProviderError):
    """No permit: a limit of the exploration, or it waited too long for one."""


class ExplorationError(AgentshError):
    """Something is not possible with an exploration now: it runs, or a pick is refused."""

    exit_code = 4


class ExplorationNotFoundError(ExplorationError):
    """No such exploration or branch, or several."""

    exit_code = 3


class MachineLostError(AgentshError):
    """A machine that branches run on cannot be had, or cannot be reached any more."""


class BadLineError(AgentshError):
    """A runner or its coordinator is another program, or another version of this one."""


class ToolError(AgentshError):
    """A tool could not do it. Becomes an error result; must not leave the step."""


class InvalidArgumentsError(ToolError):
    """The arguments do not fit the tool's schema, or the call names no tool."""


class ToolDeniedError(ToolError):
    """The policy, the sandbox or the person said no."""


class ToolTimeoutError(ToolError):
    """The tool's time was up."""


class ToolAbortedError(ToolError):
    """The user stopped the turn while the tool ran."""


class ToolFailedError(ToolError):
    """The tool ran and failed: no such file, no match, a non-zero exit."""


class GitRefusedError(ToolFailedError):
    """git ran on a store of states, and ended by itself with an error."""

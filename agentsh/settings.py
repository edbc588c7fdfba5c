"""Settings: what the user's files, environment and options ask for, and where each value came from.

Pure: layers (settings files that settingstext.py has read), a mapping of environment variables and
the command's options come in, one frozen `Settings` comes out. No file is read and no environment
looked at in here (the cli does both: cli/places.py, cli/trust.py), and no secret is kept: only the
name of the variable, or the command, that gives the key. Later layers win over earlier ones, the
environment over layers, options over all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

Value: TypeAlias = str | int | float | bool | tuple[str, ...] | Mapping[str, object] | None

DEFAULT_PROVIDER: Final = "openai-compatible"
POLICIES: Final = ("never", "ask", "edits", "all")


class EndpointSettings(Struct, frozen=True):
    """One endpoint. `name` is stored with each answer as its provider."""

    name: str = DEFAULT_PROVIDER
    base_url: str | None = None
    model: str | None = None
    api: str = "openai-completions"
    api_key_env: str | None = None
    api_key_command: str | None = None
    idle_timeout: float = 90.0
    """Seconds that an answer may stay silent; 0 = no limit."""
    event_timeout: float = 600.0
    """Seconds that a stream may bring bytes but nothing of an answer; 0 = no limit."""
    max_retries: int = 4
    context_window: int | None = None
    max_tokens: int | None = None
    overflow_pattern: str | None = None
    """How this server says that a prompt is too long, where agentsh does not know: a pattern."""
    ca_file: str | None = None
    proxy: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    extra_body: Mapping[str, object] = field(default_factory=dict)


class ModelSettings(Struct, frozen=True):
    """What the user says of one model; None where nothing is said. Prices per million tokens."""

    context_window: int | None = None
    max_tokens: int | None = None
    images: bool | None = None
    reasoning: bool | None = None
    reasoning_echo: str | None = None
    tools: bool | None = None
    prices: Mapping[str, float] = field(default_factory=dict)


class Settings(Struct, frozen=True):
    """Everything, resolved. `endpoint` is the one in force."""

    endpoint: EndpointSettings = EndpointSettings()
    endpoints: Mapping[str, EndpointSettings] = field(default_factory=dict)
    models: Mapping[str, ModelSettings] = field(default_factory=dict)
    policy: str | None = None
    """None: `edits`, or `all` in the sandbox."""
    allow: tuple[str, ...] = ()
    pass_env: tuple[str, ...] = ()
    tool_timeout: float = 300.0
    sandbox: bool = False
    sandbox_network: bool = False
    plugins: tuple[str, ...] = ()
    """Entry points of the group agentsh.tools that are loaded (tools/plugin_loader.py)."""
    tool_commands: Mapping[str, object] = field(default_factory=dict)
    """NAME → table of [tools.command.NAME] (tools/commandtool.py)."""
    before_tool: tuple[str, ...] = ()
    after_tool: tuple[str, ...] = ()
    """Commands that are run round every tool call (tools/commandhook.py)."""
    undo: bool = True
    thinking: str | None = None
    auto_compact: bool = True
    compaction_reserve: int | None = None
    compaction_keep: int | None = None
    context_files: bool = True
    cost_warn: float | None = None
    cost_stop: float | None = None
    history: bool = False
    """Offer the model the tool that looks into what is no longer sent."""
    title: bool = False
    """Ask the model for a title of each session that the person gave no name."""
    theme: str = "auto"
    vi: bool = False
    keys: Mapping[str, str] = field(default_factory=dict)
    bell: bool = True
    notify: bool = True
    """Tell the terminal's desktop (OSC 9) that a long turn is over, or that a question waits."""
    plain: bool = False
    """A chat of plain lines, for screen readers."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Dotted name → where its value came from; what is not in here is the default."""
    warnings: tuple[str, ...] = ()

    def value(self, name: str) -> Value:
        """The value of a dotted name such as "endpoint.base_url". Raises KeyError."""
        section, _, key = name.rpartition(".")
        holder = self.endpoint if section == "endpoint" else self
        value: Value = getattr(holder, key if section == "endpoint" else ATTRIBUTES[name])
        return value


ENDPOINT_KEYS: Final = (
    "base_url",
    "model",
    "api",
    "api_key_env",
    "api_key_command",
    "idle_timeout",
    "event_timeout",
    "max_retries",
    "context_window",
    "max_tokens",
    "overflow_pattern",
    "ca_file",
    "proxy",
    "headers",
    "extra_body",
)

ATTRIBUTES: Final[Mapping[str, str]] = {
    "approve.policy": "policy",
    "approve.allow": "allow",
    "tools.pass_env": "pass_env",
    "tools.timeout": "tool_timeout",
    "tools.history": "history",
    "tools.plugins": "plugins",
    "tools.command": "tool_commands",
    "hooks.before_tool": "before_tool",
    "hooks.after_tool": "after_tool",
    "undo.enabled": "undo",
    "sandbox.enabled": "sandbox",
    "sandbox.network": "sandbox_network",
    "thinking.level": "thinking",
    "compaction.auto": "auto_compact",
    "compaction.reserve": "compaction_reserve",
    "compaction.keep": "compaction_keep",
    "context.files": "context_files",
    "cost.warn": "cost_warn",
    "cost.stop": "cost_stop",
    "session.title": "title",
    "ui.theme": "theme",
    "ui.vi": "vi",
    "ui.keys": "keys",
    "ui.bell": "bell",
    "ui.notify": "notify",
    "ui.plain": "plain",
}
"""The dotted names outside of endpoints and models → the attribute of Settings."""

NAMES: Final = (*(f"endpoint.{key}" for key in ENDPOINT_KEYS), *ATTRIBUTES)
"""Every dotted name that `Settings.value` knows, in the order in which they are shown."""

_ENVIRONMENT: Final[Mapping[str, str]] = {"OPENAI_BASE_URL": "base_url", "AGENTSH_MODEL": "model"}
_JOINED: Final = frozenset(
    ("tools.plugins", "tools.command", "hooks.before_tool", "hooks.after_tool")
)
_CREDENTIALS: Final = ("api_key_env", "api_key_command", "headers")


class Layer(Struct, frozen=True):
    """What one settings file says, checked. Names are dotted; `sources` has a place for each."""

    values: Mapping[str, Value] = field(default_factory=dict)
    endpoint: Mapping[str, Value] = field(default_factory=dict)
    endpoints: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    models: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    use: str | None = None
    """Which of `endpoints` is in force (`[endpoint] use = "NAME"`)."""
    sources: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def load(
    layers: Sequence[Layer],
    environ: Mapping[str, str],
    options: Mapping[str, Value] | None = None,
) -> Settings:
    """Settings from layers (the last one wins), the environment, and the command's options.

    `options` maps dotted names ("endpoint.model") to values; None stands for "not given".
    """
    below = _merged(layers)
    given = {name: value for name, value in (options or {}).items() if value is not None}
    sources = dict(below.sources)
    warnings = list(below.warnings)
    endpoint = _choose(below, environ, given, sources, warnings)
    plain = {ATTRIBUTES[name]: value for name, value in below.values.items()}
    for name, value in given.items():
        if name in ATTRIBUTES:
            plain[ATTRIBUTES[name]] = value
            sources[name] = "option"
    return replace(
        Settings(),
        endpoint=endpoint,
        endpoints={name: _endpoint(name, values) for name, values in below.endpoints.items()},
        models={name: _model(values) for name, values in below.models.items()},
        sources=sources,
        warnings=tuple(warnings),
        **plain,  # settingstext has checked each of them
    )


def _merged(layers: Sequence[Layer]) -> Layer:
    """All layers as one; a later one wins, key by key."""
    endpoints: dict[str, Mapping[str, Value]] = {}
    models: dict[str, Mapping[str, Value]] = {}
    for layer in layers:
        for name, values in layer.endpoints.items():
            endpoints[name] = {**endpoints.get(name, {}), **values}
        for name, values in layer.models.items():
            models[name] = {**models.get(name, {}), **values}
    plain: dict[str, Value] = {}
    for layer in layers:
        for name, value in layer.values.items():
            plain[name] = _joined(plain.get(name), value) if name in _JOINED else value
    return Layer(
        values=plain,
        endpoint={name: value for layer in layers for name, value in layer.endpoint.items()},
        endpoints=endpoints,
        models=models,
        use=next((layer.use for layer in reversed(layers) if layer.use is not None), None),
        sources={name: place for layer in layers for name, place in layer.sources.items()},
        warnings=tuple(text for layer in layers for text in layer.warnings),
    )


def _joined(below: Value, above: Value) -> Value:
    """A project adds hooks and tools to the user's; a guard of the user's stays one."""
    if isinstance(below, tuple) and isinstance(above, tuple):
        return (*below, *above)
    if isinstance(below, Mapping) and isinstance(above, Mapping):
        return {**below, **above}
    return above


def _choose(
    below: Layer,
    environ: Mapping[str, str],
    given: Mapping[str, Value],
    sources: dict[str, str],
    warnings: list[str],
) -> EndpointSettings:
    """The endpoint in force: NAME of a model word `NAME/model`, else `use`, else [endpoint]."""
    word = str(given.get("endpoint.model") or environ.get("AGENTSH_MODEL") or "")
    name, _, model = word.partition("/")
    by_word = bool(model) and name in below.endpoints
    if not by_word:
        name = below.use or ""
        if name and name not in below.endpoints:
            warnings.append(f"[endpoint] use: there is no [endpoints.{name}]")
            name = ""
    values = dict(below.endpoints[name] if name else below.endpoint)
    if name:
        for key in ENDPOINT_KEYS:
            sources.pop(f"endpoint.{key}", None)
        sources.update({f"endpoint.{key}": sources[f"endpoints.{name}.{key}"] for key in values})
    own_url = values.get("base_url")
    for key, value, source in _overrides(environ, given):
        if by_word and key == "base_url" and source in _ENVIRONMENT:
            continue  # the word means the URL of the endpoint that it names
        values[key] = model if by_word and key == "model" else value
        sources[f"endpoint.{key}"] = source
    if own_url is not None and own_url != values["base_url"]:
        # credentials of the settings go only to the URL that they stand beside
        for key in _CREDENTIALS:
            values.pop(key, None)
            sources.pop(f"endpoint.{key}", None)
        name = ""
    return _endpoint(name or DEFAULT_PROVIDER, values)


def _overrides(
    environ: Mapping[str, str], given: Mapping[str, Value]
) -> tuple[tuple[str, Value, str], ...]:
    """(key of the endpoint, value, source), the strongest last."""
    return (
        *((key, environ[var], var) for var, key in _ENVIRONMENT.items() if environ.get(var)),
        *(
            (name.removeprefix("endpoint."), value, "option")
            for name, value in given.items()
            if name.startswith("endpoint.")
        ),
    )


def _endpoint(name: str, values: Mapping[str, Value]) -> EndpointSettings:
    return replace(EndpointSettings(), name=name, **values)  # checked


def _model(values: Mapping[str, Value]) -> ModelSettings:
    return replace(ModelSettings(), **values)  # checked by settingstext

"""Settings: what the user's files, environment and options ask for, and where each value came from.

Pure. How layers, environment and options become one frozen `Settings` is settinglayers.py's. No
file is read and no environment looked at in here (the cli does both: cli/setup/paths.py,
cli/setup/trust.py), and no secret is kept: only the name of the variable, or the command, that
gives the key.

Each table of a settings file is one Struct; its fields are the names that may stand in the table,
with type, default, and (Meta) the words for a value of another type.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal, TypeAlias, get_args

from msgspec import Meta, Struct, field

Value: TypeAlias = str | int | float | bool | tuple[str, ...] | Mapping[str, object] | None
TablePath: TypeAlias = tuple[str, ...]
"""Where a table stands: ("ui",), ("endpoints", NAME), ("mcp", "servers", NAME)."""
SERVERS: Final = ("mcp", "servers")
"""Above the tables of the MCP servers."""

DEFAULT_PROVIDER: Final = "openai-compatible"
Policy: TypeAlias = Literal["never", "ask", "edits", "all"]
POLICIES: Final[tuple[Policy, ...]] = get_args(Policy)

StatusPart: TypeAlias = Literal[
    "model", "thinking", "context", "tokens", "cost", "policy", "folder"
]
STATUS_PARTS: Final[tuple[StatusPart, ...]] = get_args(StatusPart)

AnyText: TypeAlias = Annotated[str, Meta(description="a text")]
ThemeName: TypeAlias = Annotated[
    str,
    Meta(
        min_length=1,
        description="a theme: auto, dark, light, contrast, none, or a NAME or path of one",
    ),
]
Texts: TypeAlias = Annotated[tuple[str, ...], Meta(description="a list of texts")]
YesNo: TypeAlias = Annotated[bool, Meta(description="true or false")]
Count: TypeAlias = Annotated[int, Meta(ge=0, description="a whole number, 0 or more")]
Tokens: TypeAlias = Annotated[int, Meta(gt=0, description="a whole number above 0")]
Seconds: TypeAlias = Annotated[
    float, Meta(ge=0, lt=1e9, description="a number of seconds, 0 or more")
]
Wait: TypeAlias = Annotated[float, Meta(gt=0, lt=1e9, description="a number of seconds above 0")]
Amount: TypeAlias = Annotated[float, Meta(ge=0, lt=1e12, description="an amount, 0 or more")]
Regex: TypeAlias = Annotated[str, Meta(description="a regular expression")]
Headers: TypeAlias = Annotated[
    Mapping[str, str], Meta(description="a table of texts that HTTP can carry as headers")
]
JsonTable: TypeAlias = Annotated[
    Mapping[str, object],
    Meta(description="a table of texts, finite numbers, true, false, lists and tables"),
]
Prices: TypeAlias = Annotated[
    Mapping[Literal["input", "output", "cache_read", "cache_write"], float],
    Meta(description="a table of prices: input, output, cache_read, cache_write"),
]
ToolTables: TypeAlias = Annotated[
    Mapping[str, Mapping[str, object]],
    Meta(description="a table of tables, one a tool: [tools.command.NAME]"),
]
StatusParts: TypeAlias = Annotated[
    tuple[StatusPart, ...], Meta(description=f"a list of {', '.join(STATUS_PARTS)}")
]
TextByName: TypeAlias = Annotated[Mapping[str, str], Meta(description="a table of texts")]


class EndpointSettings(Struct, frozen=True):
    """[endpoint] or [endpoints.NAME]. `name` is stored with each answer as its provider."""

    name: str = DEFAULT_PROVIDER
    base_url: AnyText | None = None
    model: AnyText | None = None
    api: Literal["openai-completions", "openai-responses", "chat", "responses"] = (
        "openai-completions"
    )
    """The last two are other words for the first two."""
    api_key_env: AnyText | None = None
    api_key_command: AnyText | None = None
    idle_timeout: Seconds | None = None
    """Seconds that an answer may stay silent; 0 = no limit; None: by how near the host is."""
    event_timeout: Seconds = 600.0
    """Seconds that a stream may bring bytes but nothing of an answer; 0 = no limit."""
    max_retries: Count = 4
    context_window: Tokens | None = None
    max_tokens: Tokens | None = None
    overflow_pattern: Regex | None = None
    """How this server says that a prompt is too long, where agentsh does not know: a pattern."""
    ca_file: AnyText | None = None
    proxy: AnyText | None = None
    headers: Headers = field(default_factory=dict)
    extra_body: JsonTable = field(default_factory=dict)
    max_requests: Tokens | None = None
    """Of an exploration's branches, at once; None: no such bound. So the two below."""
    requests_per_minute: Tokens | None = None
    tokens_per_minute: Tokens | None = None


class ModelSettings(Struct, frozen=True):
    """[models.ID]: what the user says of one model; None where nothing is said."""

    context_window: Tokens | None = None
    max_tokens: Tokens | None = None
    images: YesNo | None = None
    reasoning: YesNo | None = None
    reasoning_echo: Literal["never", "calls", "always", "auto"] | None = None
    tools: YesNo | None = None
    prices: Prices = field(default_factory=dict)
    """Per million tokens."""


class ApproveSettings(Struct, frozen=True):
    """[approve]"""

    policy: Policy | None = None
    """None: `edits`, or `all` in the sandbox."""
    allow: Texts = ()


class ToolSettings(Struct, frozen=True):
    """[tools]"""

    pass_env: Texts = ()
    timeout: Seconds = 300.0
    history: YesNo = False
    """Offer the model the tool that looks into what is no longer sent."""
    plugins: Texts = ()
    """Entry points of the group agentsh.tools that are loaded (tools/plugin_loader.py)."""
    command: ToolTables = field(default_factory=dict)
    """NAME → table of [tools.command.NAME] (tools/extend/commandtool.py)."""


class HookSettings(Struct, frozen=True):
    """[hooks]: commands that are run round every tool call (tools/extend/commandhook.py), round a
    turn and beside a question (tools/extend/commandturn.py)."""

    before_tool: Texts = ()
    after_tool: Texts = ()
    before_prompt: Texts = ()
    after_turn: Texts = ()
    on_question: Texts = ()


TurnTime: TypeAlias = Literal["before_prompt", "after_turn", "on_question"]
TURN_TIMES: Final[tuple[TurnTime, ...]] = get_args(TurnTime)
HOOK_TIMES: Final = HookSettings.__struct_fields__


class SkillSettings(Struct, frozen=True):
    """[skills]"""

    enabled: YesNo = True
    paths: Texts = ()
    """Folders to look for skills in, besides the usual ones."""


class TemplateSettings(Struct, frozen=True):
    """[templates]"""

    enabled: YesNo = True


class UndoSettings(Struct, frozen=True):
    """[undo]"""

    enabled: YesNo = True


class SandboxSettings(Struct, frozen=True):
    """[sandbox]"""

    enabled: YesNo = False
    network: YesNo = False


class ThinkingSettings(Struct, frozen=True):
    """[thinking]"""

    level: Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"] | None = None


class CompactionSettings(Struct, frozen=True):
    """[compaction]"""

    auto: YesNo = True
    reserve: Tokens | None = None
    keep: Tokens | None = None


class ContextSettings(Struct, frozen=True):
    """[context]"""

    files: YesNo = True


class CostSettings(Struct, frozen=True):
    """[cost]"""

    warn: Amount | None = None
    stop: Amount | None = None


class SessionSettings(Struct, frozen=True):
    """[session]"""

    title: YesNo = False
    """Ask the model for a title of each session that the person gave no name."""


class ResumeSettings(Struct, frozen=True):
    """[resume]"""

    restore: YesNo = True
    """Go on with a session with the model, the thinking level and the tools that it had."""


class ExploreSettings(Struct, frozen=True):
    """[explore]: what `agentsh explore` does where no option says more."""

    engine: Literal["local", "ray"] = "local"
    parallel: Tokens = 4
    brought: Texts = field(default=(), name="with")
    """Ignored files and folders that are copied into each workspace, where they are there."""
    share: Texts = ()
    setup: AnyText | None = None
    workspaces: AnyText | None = None
    """A folder for workspaces, on the project's own file system; None: beside the results."""


class McpSettings(Struct, frozen=True):
    """[mcp]: what holds for every server that says nothing else."""

    start_timeout: Wait = 30.0
    """Seconds until a server's list of tools is there."""
    timeout: Wait = 60.0
    """Seconds that a call may take; progress begins it anew, ten times at most."""


class ServerSettings(Struct, frozen=True):
    """[mcp.servers.NAME]: a server whose tools are offered.

    `command` or `url`, and no other key of it, says which kind it is (settinglayers.py).
    """

    name: str = ""
    command: AnyText | None = None
    args: Texts = ()
    env: TextByName = field(default_factory=dict)
    cwd: AnyText | None = None
    url: AnyText | None = None
    headers: Headers = field(default_factory=dict)
    tools: Texts | None = None
    exclude: Texts = ()
    timeout: Wait | None = None
    start_timeout: Wait | None = None
    trust_hints: YesNo = False
    inherit_env: YesNo = False
    sandbox: YesNo = True
    enabled: YesNo = True
    required: YesNo = False


class UiSettings(Struct, frozen=True):
    """[ui]"""

    theme: ThemeName = "auto"
    vi: YesNo = False
    keys: TextByName = field(default_factory=dict)
    bell: YesNo = True
    notify: YesNo = True
    """Tell the terminal's desktop (OSC 9) that a long turn is over, or that a question waits."""
    plain: YesNo = False
    """A chat of plain lines, for screen readers."""
    status: StatusParts = STATUS_PARTS
    """What the status line holds, in this order."""


class Settings(Struct, frozen=True):
    """Everything, resolved, by table. `endpoint` is the one in force."""

    endpoint: EndpointSettings = EndpointSettings()
    approve: ApproveSettings = ApproveSettings()
    tools: ToolSettings = ToolSettings()
    hooks: HookSettings = HookSettings()
    skills: SkillSettings = SkillSettings()
    templates: TemplateSettings = TemplateSettings()
    undo: UndoSettings = UndoSettings()
    sandbox: SandboxSettings = SandboxSettings()
    thinking: ThinkingSettings = ThinkingSettings()
    compaction: CompactionSettings = CompactionSettings()
    context: ContextSettings = ContextSettings()
    cost: CostSettings = CostSettings()
    session: SessionSettings = SessionSettings()
    resume: ResumeSettings = ResumeSettings()
    explore: ExploreSettings = ExploreSettings()
    mcp: McpSettings = McpSettings()
    ui: UiSettings = UiSettings()
    endpoints: Mapping[str, EndpointSettings] = field(default_factory=dict)
    models: Mapping[str, ModelSettings] = field(default_factory=dict)
    servers: Mapping[str, ServerSettings] = field(default_factory=dict)
    """By NAME, the tables of [mcp.servers.NAME]."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Dotted name → where its value came from; what is not in here is the default."""
    warnings: tuple[str, ...] = ()

    def value(self, name: str) -> Value:
        """The value of one of SETTING_NAMES, such as "endpoint.base_url"."""
        section, _, key = name.partition(".")
        return value_of(getattr(self, section), key)


def settable(table: type[Struct]) -> tuple[str, ...]:
    """The names that may stand in a table: an endpoint's `name` is its table's."""
    return tuple(key for key in table.__struct_encode_fields__ if key != "name")


def attribute_of(table: type[Struct], key: str) -> str:
    """What a setting's name is called in the code; `with` is a word of the language."""
    return dict(zip(table.__struct_encode_fields__, table.__struct_fields__, strict=True))[key]


def value_of(table: Struct, key: str) -> Value:
    """What a table says under one of its `settable` names."""
    value: Value = getattr(table, attribute_of(type(table), key))
    return value


DEFAULTS: Final = Settings()
TABLES: Final[Mapping[str, type[Struct]]] = {
    section: type(table)
    for section in Settings.__struct_fields__
    if isinstance(table := getattr(DEFAULTS, section), Struct)
}
"""The tables that stand once in a file, by their names."""

SETTING_NAMES: Final = tuple(
    f"{section}.{key}" for section, table in TABLES.items() for key in settable(table)
)
"""Every dotted name that `Settings.value` knows, in the order in which they are shown."""

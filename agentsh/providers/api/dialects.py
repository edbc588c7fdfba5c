"""Which shape a body takes for an endpoint and a model: a table, and what a refusal teaches. Pure.

Conservative by default: a field that is not in the table is not sent (E24). A 400 that names a
field changes the shape once (`learn`); the caller remembers it (learned.py) and sends the request
anew. `learn` never gives a shape that was just refused, so that no refused request goes out
unchanged. Table and learning know hosts and words; spelling is chat.py's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from agentsh.errors import (
    AnswerLimitError,
    ContextOverflowError,
    ImageLimitError,
    ProviderError,
    RequestRejectedError,
    ServerFailedError,
)
from agentsh.jsontext import JsonObject, JsonValue
from agentsh.providers.base import RESPONSES, Shape

ShapeField: TypeAlias = str | bool | int | Mapping[str, JsonValue]


class Dialect(Struct, frozen=True):
    """A row: what is known of a host, or of a family of models there. The first that fits."""

    name: str
    hosts: tuple[str, ...]
    """Domains; empty: any host."""
    models: tuple[str, ...] = ()
    """How the model's name begins, its maker left out; empty: any model."""
    change: Mapping[str, ShapeField] = field(default_factory=dict)

    def fits(self, host: str, model: str) -> bool:
        """Both in lower case. Plain comparisons: patterns would cost each run their compiling."""
        if self.hosts and not any(host == h or host.endswith(f".{h}") for h in self.hosts):
            return False
        return not self.models or model.rpartition("/")[2].startswith(self.models)


_AZURE: Final = ("openai.azure.com", "cognitiveservices.azure.com", "services.ai.azure.com")
_GOOGLE: Final = ("generativelanguage.googleapis.com",)
_REASONERS: Final = ("o1", "o3", "o4", "gpt-5", "gpt-oss", "codex")
_NEVER: Final[Mapping[str, ShapeField]] = {"reasoning_echo": "never"}
_EFFORT: Final[Mapping[str, ShapeField]] = {"reasoning_effort": True}
_NEW_LIMIT: Final[Mapping[str, ShapeField]] = {"token_field": "max_completion_tokens"}
_ENABLED: Final[Mapping[str, ShapeField]] = {**_EFFORT, "thinking_style": "enabled"}
_STRICT: Final[Mapping[str, ShapeField]] = {"merge_users": True, "bridge_after_tool": True}

DIALECTS: Final = (
    Dialect("openai", ("api.openai.com",), _REASONERS, {**_NEW_LIMIT, **_EFFORT, **_NEVER}),
    Dialect("openai", ("api.openai.com",), (), {**_NEW_LIMIT, **_NEVER}),
    Dialect("azure", _AZURE, _REASONERS, {**_NEW_LIMIT, **_EFFORT, **_NEVER}),
    Dialect("azure", _AZURE, (), _NEVER),
    Dialect(
        "openrouter",
        ("openrouter.ai",),
        (),
        {**_EFFORT, "thinking_style": "openrouter", "reasoning_echo": "always"},
    ),
    Dialect(
        "deepseek",
        ("api.deepseek.com",),
        (),
        {**_ENABLED, "reasoning_echo": "calls", "accepts_images": False},
    ),
    Dialect(
        "mistral",
        ("mistral.ai",),
        (),
        {**_NEVER, **_STRICT, "stream_usage": False, "short_call_ids": True},
    ),
    Dialect("groq", ("groq.com",), _REASONERS, {**_NEW_LIMIT, **_EFFORT, **_NEVER}),
    Dialect("groq", ("groq.com",), (), {**_NEW_LIMIT, **_NEVER}),
    Dialect("gemini", _GOOGLE, ("gemini-2.5", "gemini-3"), {**_EFFORT, **_NEVER}),
    Dialect("gemini", _GOOGLE, (), _NEVER),
    Dialect("xai", ("api.x.ai",), ("grok-3-mini",), _EFFORT),
    Dialect("zai", ("z.ai", "bigmodel.cn"), ("glm-4.5", "glm-4.6", "glm-4.7", "glm-5"), _ENABLED),
    Dialect(
        "dashscope",
        ("dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com"),
        ("qwen3", "qwq"),
        {**_EFFORT, "thinking_style": "qwen"},
    ),
    # vLLM, llama.cpp, Ollama and LM Studio serve any model on any host: nothing in the name of the
    # host tells them. The default fits them; gpt-oss takes an effort on all four.
    Dialect("gpt-oss", (), ("gpt-oss",), _EFFORT),
)

DEFAULT: Final = Shape()


def table_shape(host: str, model: str, api: str = DEFAULT.api) -> Shape:
    """What the table says for this host and model.

    What it says of stored reasoning is about chat completions: the Responses API has items for it,
    and whoever gave one takes it back.
    """
    row = _row(host, model)
    shape = changed(DEFAULT, row.change) if row is not None else DEFAULT
    if api == RESPONSES:
        shape = replace(shape, api=api, reasoning_echo=DEFAULT.reasoning_echo)
    return shape


def _row(host: str, model: str) -> Dialect | None:
    host, model = host.lower(), model.lower()
    return next((row for row in DIALECTS if row.fits(host, model)), None)


# ---- a shape as JSON -------------------------------------------------------------------------

_KINDS: Final[Mapping[str, type]] = {
    name: type(getattr(DEFAULT, name)) for name in Shape.__struct_fields__
}


def to_json(shape: Shape) -> JsonObject:
    """What differs from the default, in the order of the fields; for the log and for memory."""
    return {
        name: value for name in _KINDS if (value := getattr(shape, name)) != getattr(DEFAULT, name)
    }


def shape_changes(old: Shape, new: Shape) -> JsonObject:
    """The fields in which `new` differs; `changed(old, …)` makes it again."""
    return {n: v for n in _KINDS if (v := getattr(new, n)) != getattr(old, n)}


def from_json(value: Mapping[str, JsonValue]) -> Shape:
    """The shape that `to_json` wrote. Unknown names and wrong types are passed over."""
    return changed(DEFAULT, value)


def changed(shape: Shape, change: Mapping[str, JsonValue] | Mapping[str, ShapeField]) -> Shape:
    """The shape with these fields set; unknown names and wrong types are passed over."""
    good = {k: v for k, v in change.items() if k in _KINDS and isinstance(v, _KINDS[k])}
    return replace(shape, **good)  # checked against _KINDS one line above


_BOUNDS: Final = ("max_images", "max_images_size", "max_image_bytes", "max_image_side")

# ---- learning --------------------------------------------------------------------------------

# compiled when something was refused, and not at the start of each run
_REFUSED = (
    r"unsupported|unrecogni[sz]ed|unknown|unexpected|not (?:supported|allowed|permitted|accepted"
    r"|recogni[sz]ed|a valid|one of|valid)|extra (?:fields|inputs|parameters)|invalid|forbidden"
    r"|does not (?:support|accept|allow)|doesn't support|cannot|can't|can not|must not|no longer"
    r"|deprecated|only supports?|no additional|refused|not available"
)
_WANTED = r"missing|must be (?:passed|provided|included|sent)|is required|required|need"
_ORDER = r"after role|roles? must alternate|alternat|order of (?:the )?messages|message_order"
_AFTER_TOOL = r"user.{0,20}after.{0,12}tool|after role ['\"]?tool|message_order"
_ANSWER_FORMAT = r"response_?format|response_?schema|\bjson_schema\b|\btext\.format"
_BAD_SCHEMA = r"invalid.{0,6}schema|schema.{0,20}(?:is|was) (?:invalid|too)|additionalproperties"
"""Of this very schema: another one may be good."""
_ITEMS = (
    r"encrypted.?content|\brs_\w|begins with .?rs\b|type .?reasoning\b|reasoning.{0,20}\bitems?\b"
    r"|item\['content'\]|\binput\b.*\breasoning\b|\breasoning\b.*\binput\b"
)
_TOOLS_NAMED = r"without .?tools=|toolconfig field must be defined|blocks must define .?tools"
_IMAGES = (
    r"image_url|image input|images? (?:are|is) not|no(?:t)? (?:support|accept).{0,30}image"
    r"|does(?:n't| not) (?:support|accept).{0,40}(?:image|vision|multimodal)|text[- ]only|mmproj"
    r"|only.{0,20}text.{0,20}content|not a multimodal"
)


def _says(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None


def learn(shape: Shape, error: Exception) -> Shape | None:
    """The shape to try after this refusal; None when it teaches nothing. Changes one thing."""
    if not isinstance(error, RequestRejectedError | ServerFailedError):
        return None
    if isinstance(error, ImageLimitError):
        return _stricter(shape, error.limits)
    if isinstance(error, ContextOverflowError | AnswerLimitError):
        return None
    text = error.words.lower()
    if not _is_refusal(error, text):
        return None
    for change in _CHANGES:
        new = change(shape, text)
        if new is not None and new != shape:
            return new
    return None


def _is_refusal(error: ProviderError, text: str) -> bool:
    """Whether it speaks of the request. llama.cpp says so with status 500, too."""
    if isinstance(error, ServerFailedError):
        return error.status in (500, 501) and (_says(_REFUSED, text) or _says(_ORDER, text))
    return error.status in (400, 404, 415, 422, 500, 501, None)


def _stricter(shape: Shape, limits: tuple[tuple[str, int], ...]) -> Shape | None:
    """With the first of these bounds on pictures that leaves out more than the shape does."""
    for name, limit in limits:
        if name in _BOUNDS and limit < getattr(shape, name):
            return changed(shape, {name: limit})
    return None


def _token_field(shape: Shape, text: str) -> Shape | None:
    if "max_completion_tokens" not in text and "max_tokens" not in text:
        return None
    if not _says(_REFUSED, text) and "instead" not in text:
        return None
    other = (
        "max_tokens" if shape.token_field == "max_completion_tokens" else "max_completion_tokens"
    )
    # both names appear where the server says which one to use instead: the first is the refused one
    refused = re.search(r"max_(?:completion_)?tokens", text)
    if refused is None or refused[0] != shape.token_field:
        return None
    return replace(shape, token_field=other)


def _tools_named(shape: Shape, text: str) -> Shape | None:
    """LiteLLM, Bedrock: calls among the messages, and no tool is offered any more."""
    return replace(shape, tools_with_calls=True) if _says(_TOOLS_NAMED, text) else None


def _optional_field(shape: Shape, text: str) -> Shape | None:
    """Fields that can be left out: those of the shape, and those that the settings added."""
    if shape.stream_usage and ("stream_options" in text or "include_usage" in text):
        return replace(shape, stream_usage=False)
    named = (
        *("reasoning_effort", "reasoning.effort", "enable_thinking", "chat_template_kwargs"),
        *("encrypted content", "encrypted_content"),  # asked for where an effort is told
    )
    if shape.reasoning_effort and (
        any(name in text for name in named) or re.search(r"\b(thinking|reasoning)\b", text)
    ):
        if "reasoning_content" in text or "thought_signature" in text:
            return None
        return replace(shape, reasoning_effort=False)
    if shape.response_format and _says(_ANSWER_FORMAT, text) and not _says(_BAD_SCHEMA, text):
        return replace(shape, response_format=False)
    for name in shape.extra_body:
        if name.lower() in text and _says(_REFUSED, text):
            remaining = {k: v for k, v in shape.extra_body.items() if k != name}
            return replace(shape, extra_body=remaining)
    return None


def _system_role(shape: Shape, text: str) -> Shape | None:
    if "role" not in text or not _says(_REFUSED, text):
        return None
    if shape.system_role != "system" and shape.system_role in text:
        return replace(shape, system_role="system")
    if shape.system_role == "system" and "system" in text and "developer" in text:
        return replace(shape, system_role="developer")
    if shape.system_role == "system" and re.search(
        r"(?<!\[)['\"`]system['\"`] role|role ['\"`]?system", text
    ):
        return replace(shape, system_role="user")
    return None


def _reasoning_items(shape: Shape, text: str) -> Shape | None:
    """Responses: an item of reasoning that this server cannot read, find or place (E42)."""
    if shape.api == RESPONSES and _says(_ITEMS, text):
        return replace(shape, reasoning_echo="never")
    return None


def _reasoning(shape: Shape, text: str) -> Shape | None:
    """Flip once between sending stored reasoning and not (E28)."""
    if not re.search(
        r"reasoning_content|reasoning_details|reasoning_text|\breasoning\b.{0,30}field"
        r"|\b(?:thinking|thought|reasoning)_(?:blocks?|signature|[a-z]*opaque)\b",
        text,
    ):
        return None
    if _says(_WANTED, text) and not re.search(r"not allowed|not permitted|unsupported|extra", text):
        return replace(
            shape, reasoning_echo="always" if shape.reasoning_echo in ("auto", "calls") else "calls"
        )
    if _says(_REFUSED, text):
        return replace(shape, reasoning_echo="never")
    return None


def _order(shape: Shape, text: str) -> Shape | None:
    if not _says(_ORDER, text):
        return None
    if not shape.bridge_after_tool and _says(_AFTER_TOOL, text):
        return replace(shape, bridge_after_tool=True)
    if not shape.merge_users:
        return replace(shape, merge_users=True)
    return replace(shape, bridge_after_tool=True)


def _images(shape: Shape, text: str) -> Shape | None:
    if shape.accepts_images and _says(_IMAGES, text):
        return replace(shape, accepts_images=False)
    return None


def _call_ids(shape: Shape, text: str) -> Shape | None:
    """Mistral: "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9"."""
    if re.search(r"tool.?call.?id\b.*\blength of 9\b", text, re.DOTALL):
        return replace(shape, short_call_ids=True)
    return None


_CHANGES: Final = (
    _reasoning_items,  # its words name reasoning, too, and are not about the effort
    _token_field,
    _tools_named,
    _optional_field,
    _call_ids,
    _system_role,
    _reasoning,
    _order,
    _images,
)

"""Windows and prices: a small built-in table, what `/models` says in many spellings, costs. Pure.

The table is a fallback with a date, for models whose makers do not tell; settings and the
endpoint's own words win (`merge_models`). Prices are US dollars per million tokens as published by
the makers and may have changed since. An unknown price is no price: cost 0, never a guess.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import fields, replace

from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import Cost, Usage
from agentsh.providers.base import ModelInfo

TABLE_DATE: Final = "2025-11"

_LONG: Final = 19
"""Digits of a number that is none of a model's; int() refuses thousands of them."""

_MOST_MODELS: Final = 10_000
"""Of a list; the largest that is known has some hundreds."""

_WINDOWS: Final = (
    "context_length",
    "context_window",
    "max_model_len",
    "max_context_length",
    "max_context_window",
    "context_size",
    "max_input_tokens",
    "inputTokenLimit",
    "n_ctx",
)
_OUTPUTS: Final = ("max_completion_tokens", "max_output_tokens", "outputTokenLimit", "max_output")


class _Row(Struct, frozen=True):
    family: str
    """How the names begin; a letter or digit right behind it makes it another family."""
    window: int
    output: int
    images: bool
    reasons: bool
    prices: tuple[float, float, float] | None = None
    """Input, output, cached input."""


_TABLE: Final = (
    _Row("gpt-5-nano", 400_000, 128_000, True, True, (0.05, 0.40, 0.005)),
    _Row("gpt-5-mini", 400_000, 128_000, True, True, (0.25, 2.00, 0.025)),
    _Row("gpt-5", 400_000, 128_000, True, True, (1.25, 10.00, 0.125)),
    _Row("gpt-4.1-nano", 1_047_576, 32_768, True, False, (0.10, 0.40, 0.025)),
    _Row("gpt-4.1-mini", 1_047_576, 32_768, True, False, (0.40, 1.60, 0.10)),
    _Row("gpt-4.1", 1_047_576, 32_768, True, False, (2.00, 8.00, 0.50)),
    _Row("gpt-4o-mini", 128_000, 16_384, True, False, (0.15, 0.60, 0.075)),
    _Row("gpt-4o", 128_000, 16_384, True, False, (2.50, 10.00, 1.25)),
    _Row("o4-mini", 200_000, 100_000, True, True, (1.10, 4.40, 0.275)),
    _Row("o3-mini", 200_000, 100_000, False, True, (1.10, 4.40, 0.55)),
    _Row("o3", 200_000, 100_000, True, True, (2.00, 8.00, 0.50)),
    _Row("gpt-oss", 131_072, 131_072, False, True),
    _Row("deepseek-reasoner", 128_000, 64_000, False, True, (0.28, 0.42, 0.028)),
    _Row("deepseek-chat", 128_000, 8_192, False, False, (0.28, 0.42, 0.028)),
    _Row("gemini-2.5-pro", 1_048_576, 65_536, True, True, (1.25, 10.00, 0.125)),
    _Row("gemini-2.5-flash-lite", 1_048_576, 65_536, True, True, (0.10, 0.40, 0.01)),
    _Row("gemini-2.5-flash", 1_048_576, 65_536, True, True, (0.30, 2.50, 0.03)),
    _Row("devstral", 131_072, 131_072, False, False),
    _Row("codestral", 262_144, 262_144, False, False, (0.30, 0.90, 0.30)),
    _Row("mistral-large", 131_072, 131_072, True, False, (2.00, 6.00, 2.00)),
    _Row("glm-4.6", 200_000, 128_000, False, True, (0.60, 2.20, 0.11)),
    _Row("kimi-k2", 262_144, 32_768, False, False, (0.60, 2.50, 0.15)),
    _Row("qwen3-coder", 262_144, 65_536, False, False),
    _Row("qwen2.5-coder", 32_768, 8_192, False, False),
    _Row("smollm2", 8_192, 8_192, False, False),
)


def built_in(model: str) -> ModelInfo | None:
    """What the table says; the name may have a maker before it and a date or a size behind it."""
    name = model.lower().rpartition("/")[2]
    for row in _TABLE:
        if name.startswith(row.family) and not name[len(row.family) :][:1].isalnum():
            prices = None
            if row.prices is not None:
                paid, given, cached = row.prices
                prices = {"input": paid, "output": given, "cache_read": cached, "cache_write": paid}
            return ModelInfo(
                id=model,
                context_window=row.window,
                max_output=row.output,
                accepts_images=row.images,
                reasons=row.reasons,
                prices=prices,
                source=f"built-in {TABLE_DATE}",
            )
    return None


# ---- what /models says -----------------------------------------------------------------------


def read_models(value: JsonValue) -> tuple[ModelInfo, ...]:
    """The models of a list, in its order; whatever has no name is passed over."""
    if isinstance(value, dict):
        value = value.get("data") or value.get("models") or []
    if not isinstance(value, list):
        return ()
    models: dict[str, ModelInfo] = {}
    for item in value[:_MOST_MODELS]:
        if isinstance(item, str):
            item = {"id": item}
        if not isinstance(item, dict):
            continue
        name = next((n for k in ("id", "name", "model") if isinstance(n := item.get(k), str)), "")
        if name:
            models.setdefault(name, _read_model(name, item))
    return tuple(models.values())


def _read_model(name: str, item: JsonObject) -> ModelInfo:
    inner = [
        item,
        *(v for k in ("meta", "top_provider", "limits") if isinstance(v := item.get(k), dict)),
    ]
    window = _number(inner, _WINDOWS) or _number(inner, ("n_ctx_train",))
    modalities = item.get("architecture")
    modalities = modalities.get("input_modalities") if isinstance(modalities, dict) else None
    parameters = item.get("supported_parameters")
    abilities = item.get("capabilities")
    return ModelInfo(
        id=name,
        context_window=window,
        max_output=_number(inner, _OUTPUTS),
        accepts_images=_either(
            _says(abilities, "vision", "multimodal"), _lists(modalities, "image")
        ),
        reasons=_either(_says(abilities, "reasoning"), _lists(parameters, "reasoning")),
        calls_tools=_either(
            _says(abilities, "function_calling", "tools", "tool_use"), _lists(parameters, "tools")
        ),
        prices=_prices(item.get("pricing")),
    )


def _number(sources: Iterable[JsonObject], names: Iterable[str]) -> int | None:
    for source in sources:
        for name in names:
            value = source.get(name)
            if isinstance(value, str) and value.isdecimal() and len(value) < _LONG:
                value = int(value)
            if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
                return int(value)
    return None


def _says(value: JsonValue, *names: str) -> bool | None:
    """Abilities as {"vision": true} (Mistral) or as ["vision"] (llama.cpp)."""
    if isinstance(value, dict):
        return next((v for n in names if isinstance(v := value.get(n), bool)), None)
    if isinstance(value, list):
        return True if any(n in value for n in names) else None
    return None


def _either(first: bool | None, second: bool | None) -> bool | None:
    return second if first is None else first


def _lists(value: JsonValue, name: str) -> bool | None:
    return name in value if isinstance(value, list) else None


def _prices(value: JsonValue) -> Mapping[str, float] | None:
    """OpenRouter's spelling: dollars a token, as strings."""
    if not isinstance(value, dict):
        return None
    names = {
        "prompt": "input",
        "completion": "output",
        "input_cache_read": "cache_read",
        "input_cache_write": "cache_write",
    }
    prices: dict[str, float] = {}
    for theirs, ours in names.items():
        try:
            price = float(str(value.get(theirs)))
        except ValueError:
            continue
        if 0 <= price < 1:
            prices[ours] = round(price * 1_000_000, 6)
    return prices or None


# ---- choosing, paying ------------------------------------------------------------------------


def merge_models(model: str, *known: ModelInfo | None) -> ModelInfo:
    """Field by field, the first that says something; `source` is who told the window."""
    infos = [k for k in known if k is not None]
    chosen = ModelInfo(id=model, source=infos[0].source if infos else "unknown")
    for info in infos:
        if chosen.context_window is None and info.context_window is not None:
            chosen = replace(chosen, source=info.source)
        stated = {
            f.name: getattr(info, f.name)
            for f in fields(chosen)
            if f.name not in ("id", "source", "has_own_prices") and getattr(chosen, f.name) is None
        }
        chosen = replace(chosen, **stated)
    return chosen


def known_model(
    model: str,
    stated: ModelInfo | None,
    listed: ModelInfo | None,
    window: int | None,
    *,
    near: bool = False,
) -> ModelInfo:
    """What is known of a model without asking its endpoint. `window` is remembered of it.

    `near`: the endpoint is a server of one's own, which may hold less than the model can.
    """
    learned = ModelInfo(model, context_window=window, source="learned") if window else None
    table = built_in(model)
    if learned is not None and table is not None and (table.context_window or 0) > (window or 0):
        table = replace(table, context_window=None)  # it holds less than it could
    info = merge_models(model, stated, listed, table, learned)
    is_certain = info.source in ("endpoint", "settings")
    own = stated is not None and stated.prices is not None
    return replace(info, may_hold_less=near and not is_certain, has_own_prices=own)


def priced(usage: Usage, info: ModelInfo) -> Usage:
    """The usage with its cost: by the prices of the settings, else what the server says that it
    charged (E45), else by the other prices; without any, as it is."""
    prices, charged = info.prices, usage.cost.total
    if not prices:
        return usage
    paid = prices.get("input", 0.0)
    costs = {
        "input": usage.input * paid / 1e6,
        "output": usage.output * prices.get("output", 0.0) / 1e6,
        "cache_read": usage.cache_read * prices.get("cache_read", paid) / 1e6,
        "cache_write": usage.cache_write * prices.get("cache_write", paid) / 1e6,
    }
    total = sum(costs.values())
    if charged and not info.has_own_prices:
        share = charged / total if total else 0.0
        costs, total = {name: cost * share for name, cost in costs.items()}, charged
    return replace(usage, cost=Cost(**costs, total=total))

from __future__ import annotations

import pytest

from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import Cost, Usage
from agentsh.providers.base import ModelInfo
from agentsh.providers.catalog import built_in, known_model, merge_models, priced, read_models
from agentsh.providers.usage import read_usage


@pytest.mark.parametrize(
    "item",
    [
        {"context_length": 4096},
        {"context_window": 4096},
        {"max_model_len": 4096},
        {"max_context_length": "4096"},
        {"meta": {"n_ctx": 4096, "n_ctx_train": 32768}},
        {"meta": {"n_ctx_train": 4096}},
        {"top_provider": {"context_length": 4096}},
        {"n_ctx": 4096.0},
    ],
)
def test_a_window_is_read_in_every_spelling(item: JsonObject) -> None:
    assert read_models({"data": [{"id": "m", **item}]}) == (ModelInfo("m", context_window=4096),)


def test_abilities_and_prices_are_read_where_they_are_told() -> None:
    item: JsonObject = {
        "id": "m",
        "architecture": {"input_modalities": ["text", "image"]},
        "supported_parameters": ["tools"],
        "pricing": {"prompt": "0.000001", "completion": "0.00001", "request": "0"},
        "top_provider": {"max_completion_tokens": 100},
    }

    assert read_models([item]) == (
        ModelInfo(
            "m",
            max_output=100,
            accepts_images=True,
            reasons=False,
            calls_tools=True,
            prices={"input": 1.0, "output": 10.0},
        ),
    )


def test_mistrals_abilities_are_read() -> None:
    abilities = {"function_calling": True, "vision": False}
    info = read_models([{"id": "m", "capabilities": abilities}])[0]

    assert (info.calls_tools, info.accepts_images) == (True, False)


@pytest.mark.parametrize("value", [None, 7, "x", {}, {"data": None}, {"data": [None, 7, {}]}, []])
def test_a_list_that_is_none_has_no_models(value: JsonValue) -> None:
    assert read_models(value) == ()


def test_models_keep_their_order_and_come_once() -> None:
    listed: JsonValue = {"models": [{"name": "b"}, "a", {"model": "b"}]}

    assert [m.id for m in read_models(listed)] == ["b", "a"]


@pytest.mark.parametrize(
    ("name", "window"),
    [
        ("gpt-4o", 128_000),
        ("openai/gpt-4o-2024-11-20", 128_000),
        ("gpt-4o-mini", 128_000),
        ("GPT-5", 400_000),
        ("qwen2.5-coder:7b", 32_768),
        ("o3", 200_000),
    ],
)
def test_the_table_knows_a_family_by_its_name(name: str, window: int) -> None:
    info = built_in(name)

    assert info is not None
    assert (info.id, info.context_window) == (name, window)


@pytest.mark.parametrize("name", ["check-model", "gpt-4", "gpt-50", "o30", "my-gpt-4o", ""])
def test_the_table_guesses_at_no_other_name(name: str) -> None:
    assert built_in(name) is None


def test_the_first_that_says_something_wins_field_by_field() -> None:
    settings = ModelInfo("m", max_output=7, source="settings")
    endpoint = ModelInfo("m", context_window=4096, max_output=9, source="endpoint")

    assert merge_models("m", settings, None, endpoint) == ModelInfo(
        "m", context_window=4096, max_output=7, source="endpoint"
    )
    assert merge_models("m") == ModelInfo("m", source="unknown")


def test_cost_is_usage_times_price() -> None:
    usage = Usage(input=1_000_000, output=100_000, cache_read=500_000, total_tokens=1_600_000)
    prices = {"input": 2.0, "output": 10.0, "cache_read": 0.2}

    info = ModelInfo("m", prices=prices)

    assert priced(usage, info).cost == Cost(input=2.0, output=1.0, cache_read=0.1, total=3.1)
    assert priced(usage, ModelInfo("m")) == usage


def test_e45_what_the_server_charged_is_the_cost_unless_the_settings_name_a_price() -> None:
    usage = Usage(input=1_000_000, output=200_000, total_tokens=1_200_000, cost=Cost(total=2.0))
    prices = {"input": 2.0, "output": 10.0}
    listed = ModelInfo("m", prices=prices)
    own = known_model("m", ModelInfo("m", prices=prices, source="settings"), None, None)

    assert priced(usage, ModelInfo("m")).cost == Cost(total=2.0)
    assert priced(usage, listed).cost == Cost(input=1.0, output=1.0, total=2.0)
    assert priced(usage, ModelInfo("m", prices={"input": 0.0})).cost == Cost(total=2.0)
    assert priced(usage, own).cost == Cost(input=2.0, output=2.0, total=4.0)


@pytest.mark.parametrize(
    ("members", "charged"),
    [
        ({"cost": 0.0123, "cost_details": {"upstream_inference_cost": None}}, 0.0123),
        (
            {"cost": 0.01, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.2}},
            0.21,
        ),
        (
            {"cost": 0.3, "is_byok": False, "cost_details": {"upstream_inference_cost": 0.2}},
            0.3,
        ),
        ({"cost": {"total_cost": 0.006, "request_cost": 0.005}}, 0.006),
        ({"cost_in_usd_ticks": 232856000}, 0.0232856),
        ({"cost_in_usd_ticks": 10**400}, 0.0),
        ({"cost": 0}, 0.0),
        ({"cost": -1}, 0.0),
        ({"cost": True}, 0.0),
        ({"cost": "0.1"}, 0.0),
        ({"cost": 10**400}, 0.0),
        ({}, 0.0),
    ],
)
def test_e45_what_a_server_charged_is_read_in_dollars(
    members: dict[str, JsonValue], charged: float
) -> None:
    usage = read_usage({"prompt_tokens": 10, "completion_tokens": 2, **members})

    assert usage is not None
    assert usage.cost.total == pytest.approx(charged)


@pytest.mark.parametrize(
    ("given", "usage"),
    [
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 10,
                "total_tokens": 110,
                "prompt_tokens_details": {"cached_tokens": 80},
                "completion_tokens_details": {"reasoning_tokens": 4},
            },
            Usage(input=20, output=10, cache_read=80, total_tokens=110, reasoning=4),
        ),
        (
            {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7},
            Usage(input=5, output=2, total_tokens=7),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 1, "prompt_cache_hit_tokens": 8},
            Usage(input=1, output=1, cache_read=8, total_tokens=10),
        ),
        # reasoning outside of the completion's figure
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "total_tokens": 35,
                "completion_tokens_details": {"reasoning_tokens": 20},
            },
            Usage(input=10, output=25, total_tokens=35, reasoning=20),
        ),
        # figures that cannot be
        (
            {
                "prompt_tokens": 3,
                "completion_tokens": -1,
                "prompt_tokens_details": {"cached_tokens": 9},
            },
            Usage(cache_read=3, total_tokens=3),
        ),
        ({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, None),
        ({}, None),
        (None, None),
        ([], None),
        ({"prompt_tokens": "many", "total_tokens": True}, None),
    ],
)
def test_usage_is_read_in_every_spelling(given: JsonValue, usage: Usage | None) -> None:
    assert read_usage(given) == usage


def test_a_list_of_models_has_an_end() -> None:
    listed = read_models([f"m{n}" for n in range(20_000)])

    assert len(listed) == 10_000
    assert listed[-1].id == "m9999"

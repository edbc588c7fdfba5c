from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.errors import InvalidArgumentsError
from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import ToolSchema
from agentsh.tools.arguments import check_arguments, passed_over

SCHEMA = ToolSchema(
    "demo",
    "A tool.",
    {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1},
            "timeout": {"type": "number"},
            "literal": {"type": "boolean"},
            "mode": {"type": "string", "enum": ["a", "b"]},
            "edits": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"oldText": {"type": "string"}},
                    "required": ["oldText"],
                },
            },
        },
        "required": ["path"],
    },
)


def check(**arguments: JsonValue) -> JsonObject:
    return check_arguments(SCHEMA, {"path": "f", **arguments})


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ({"limit": "5"}, {"limit": 5}),
        ({"limit": 5.0}, {"limit": 5}),
        ({"limit": " 7 "}, {"limit": 7}),
        ({"timeout": "1.5"}, {"timeout": 1.5}),
        ({"literal": "True"}, {"literal": True}),
        ({"literal": "false"}, {"literal": False}),
        ({"limit": None}, {}),
        ({"why": "unknown"}, {}),
        ({"edits": [{"oldText": "x", "more": 1}]}, {"edits": [{"oldText": "x"}]}),
        ({"edits": '[{"oldText": "x"}]'}, {"edits": [{"oldText": "x"}]}),
        ({"edits": ['{"oldText": "a\n\tb"}']}, {"edits": [{"oldText": "a\n\tb"}]}),
    ],
)
def test_what_models_slip_on_is_taken(given: JsonObject, taken: JsonObject) -> None:
    assert check(**given) == {"path": "f", **taken}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"limit": "many"}, "limit must be an integer"),
        ({"limit": 1.5}, "limit must be an integer"),
        ({"limit": True}, "limit must be an integer"),
        ({"limit": float("nan")}, "limit must be an integer, got nan"),
        ({"limit": float("inf")}, "limit must be an integer, got inf"),
        ({"limit": 0}, "limit must be at least 1"),
        ({"timeout": "inf"}, "timeout must be a number"),
        ({"literal": "maybe"}, "literal must be a boolean"),
        ({"literal": 1}, "literal must be a boolean"),
        ({"path": 7}, "path must be a string"),
        ({"mode": "c"}, 'mode must be one of "a", "b"'),
        ({"edits": "x"}, "edits must be an array"),
        ({"edits": [1]}, r"edits\[0\] must be an object"),
        ({"edits": [{}]}, r"edits\[0\]\.oldText is missing"),
    ],
)
def test_what_does_not_fit_says_what_was_expected(given: JsonObject, words: str) -> None:
    with pytest.raises(InvalidArgumentsError, match=words):
        check(**given)


@pytest.mark.parametrize(
    "given",
    [{"file_path": "x"}, {"workdir": "sub"}, {"start_line": 3}, {"-i": True}, {"env": {"A": "b"}}],
)
def test_t21_a_name_of_another_tool_that_changes_what_is_asked_is_told_of(
    given: JsonObject,
) -> None:
    (name,) = given
    assert check(**given) == {"path": "f"}
    told = passed_over(SCHEMA, given, {"path": "f"})
    assert told is not None
    assert told.startswith(f"(demo has no argument {name}: ignored. It takes path: string")
    assert passed_over(SCHEMA, given, given) is None  # a tool that takes whatever comes


@pytest.mark.parametrize("nothing", [None, False, "", ".", [], {}])
def test_t21_one_that_asks_for_nothing_is_dropped(nothing: JsonValue) -> None:
    assert check(workdir=nothing, description="why") == {"path": "f"}
    assert passed_over(SCHEMA, {"workdir": nothing, "why": "x", "limit": 3}, {}) is None


def test_a_missing_argument_names_all_that_the_tool_takes() -> None:
    with pytest.raises(InvalidArgumentsError, match=r"demo: .*path is missing.*limit\?: integer"):
        check_arguments(SCHEMA, {})


VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["path", "limit", "edits", "mode", "x"]), VALUES))
def test_any_value_is_taken_in_its_type_or_refused_in_words(arguments: JsonObject) -> None:
    try:
        taken = check_arguments(SCHEMA, arguments)
    except InvalidArgumentsError:
        return

    assert isinstance(taken["path"], str)
    assert isinstance(taken.get("limit", 1), int)
    assert check_arguments(SCHEMA, taken) == taken

"""Text ↔ JSON values: what orjson would alter or refuse comes out right all the same."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.jsontext import (
    DEEPEST,
    DEEPEST_FOREIGN,
    JsonError,
    JsonValue,
    clean,
    dumps,
    is_deeper,
    loads,
    loads_foreign,
    loads_written,
)

VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(VALUES)
def test_what_is_written_is_read_back(value: JsonValue) -> None:
    assert loads(dumps(value)) == value


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: [1, x], lambda x: {"a": {"b": [None, x]}}])
def test_no_number_becomes_null(odd: float, wrap: object) -> None:
    assert callable(wrap)
    with pytest.raises(JsonError):
        dumps(wrap(odd))


def test_integers_of_any_size_keep_their_digits() -> None:
    assert loads(b'{"n":123456789012345678901234567890}') == {"n": 123456789012345678901234567890}
    assert dumps([1 << 70]) == b"[1180591620717411303424]"


def test_a_lone_surrogate_is_written_as_a_replacement_and_read_from_an_escape() -> None:
    assert loads(dumps("a\ud83db")) == "a\ufffdb"
    assert clean(cast("str", loads(b'"a\\ud83db"'))) == "a\ufffdb"


@pytest.mark.parametrize("value", [datetime(2026, 1, 1, tzinfo=UTC), {1: 2}, object(), {"a": {3}}])
def test_what_is_no_json_value_is_refused(value: object) -> None:
    with pytest.raises(JsonError):
        dumps(cast("JsonValue", value))


@pytest.mark.parametrize("text", [b"NaN", b"[Infinity]", b"{", b"\xff", b""])
def test_what_is_no_json_is_an_error(text: bytes) -> None:
    with pytest.raises(JsonError):
        loads(text)


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'{"a":NaN,"b":[-Infinity,1e999],"c":1}', {"a": None, "b": [None, None], "c": 1}),
        (b'"caf\xc3 au lait"', "caf\ufffd au lait"),
        (b"[1,2.5]", [1, 2.5]),
    ],
)
def test_of_what_a_server_sends_only_the_odd_part_is_lost(data: bytes, value: JsonValue) -> None:
    found = loads_foreign(data)
    assert found == value
    assert loads(dumps(found)) == found


@pytest.mark.parametrize("text", [b"{", b"", b"\xff", b"nonsense"])
def test_what_is_no_json_of_a_server_either_is_an_error(text: bytes) -> None:
    with pytest.raises(JsonError):
        loads_foreign(text)


@pytest.mark.parametrize("text", ["1e400", "[-1e309]", '{"a":1' + "0" * 400 + ".0}"])
def test_what_is_read_can_be_written_again(text: str) -> None:
    with pytest.raises(JsonError, match=r"infinity|too large"):
        loads(text)


def _nested(depth: int, open_: str = "[", close: str = "]") -> bytes:
    return (open_ * depth + "0" + close * depth).encode()


@pytest.mark.parametrize("marks", [("[", "]"), ('{"a":', "}"), ('["]}",{"[":', "}]")])
def test_the_deepest_value_that_is_read_can_be_written_and_one_more_level_is_refused(
    marks: tuple[str, str],
) -> None:
    levels = sum(c in "[{" for c in marks[0].replace('"]}"', "").replace('"["', ""))
    deepest = _nested(DEEPEST // levels, *marks)

    assert loads(dumps(loads(deepest))) == loads(deepest)
    with pytest.raises(JsonError, match="200 levels"):
        loads(_nested(DEEPEST // levels + 1, *marks))


@given(st.text())
def test_what_a_model_left_unescaped_stands_for_itself(text: str) -> None:
    body = "".join(f"\\{char}" if char in '"\\' else char for char in text)

    assert loads_written(f'{{"a":["{body}"]}}') == {"a": [text]}


@pytest.mark.parametrize("text", ['{"a":"b', "{'a':1}", '{"a":NaN}', '{"a":1,}', "\n", "[" * 101])
def test_what_a_model_wrote_is_guessed_at_no_further(text: str) -> None:
    with pytest.raises(JsonError):
        loads_written(text)


@pytest.mark.parametrize("depth", [DEEPEST_FOREIGN + 1, 1_100, 100_000])
def test_what_a_server_nests_too_deep_is_refused(depth: int) -> None:
    assert loads_foreign(_nested(DEEPEST_FOREIGN)) is not None
    with pytest.raises(JsonError, match="100 levels"):
        loads_foreign(_nested(depth))


def test_brackets_in_text_are_no_levels() -> None:
    words = "[{" * 500 + '\\"[['
    assert not is_deeper(dumps([words, {words: words}]))
    assert loads(dumps([words])) == [words]

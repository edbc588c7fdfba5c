"""The quick way of reading a line gives what the lenient way gives, or nothing."""

from __future__ import annotations

import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentsh import jsontext
from agentsh.session.format import entries as e
from agentsh.session.format.codec import decode_object, encode_entry
from agentsh.session.format.fastpath import decode_usual_line
from tests.session import strategies as s

LARGE = 123456789012345678901234567890

said = st.builds(
    e.Entry,
    s.ids,
    st.none() | s.ids,
    s.times,
    st.builds(e.MessageBody, s.messages),
    st.none() | s.stamps,
    st.just({}),
)
odd: st.SearchStrategy[object] = st.sampled_from(
    [None, True, 1, 1.0, 1.5, -1, 2**63, LARGE, 1e300, "", "x", [], {}, [{}]]
)


def _leniently(line: bytes) -> object:
    value = jsontext.loads_object(line)
    return decode_object(value)


def _is_same(line: bytes) -> bool:
    """Also 1 is not 1.0 here, and the order of members counts; False: not read quickly."""
    quick = decode_usual_line(line)
    if quick is not None:
        assert repr(quick) == repr(_leniently(line))
    return quick is not None


def _without_extras(value: object) -> object:
    """What nobody knows is left out, or hardly a line would have the usual shape."""
    if isinstance(value, dict):
        return {k: _without_extras(v) for k, v in value.items() if not k.startswith("x-")}
    return [_without_extras(item) for item in value] if isinstance(value, list) else value


@given(said | s.entries)
def test_both_ways_read_the_same_entry(entry: e.Entry) -> None:
    line = encode_entry(entry)

    _is_same(line)
    _is_same(json.dumps(_without_extras(json.loads(line))).encode())


def _places(value: object) -> list[tuple[dict[str, object], str]]:
    if isinstance(value, list):
        return [place for item in value for place in _places(item)]
    if not isinstance(value, dict):
        return []
    return [(value, key) for key in value] + _places(list(value.values()))


@given(said, st.data())
def test_both_ways_read_the_same_where_one_member_is_odd(
    entry: e.Entry, data: st.DataObject
) -> None:
    line = _without_extras(json.loads(encode_entry(entry)))
    place, key = data.draw(st.sampled_from(_places(line)))
    match data.draw(st.sampled_from(["another", "gone", "more"])):
        case "another":
            place[key] = data.draw(odd)
        case "gone":
            del place[key]
        case _:
            place[data.draw(st.sampled_from(["textSignature", "cacheWrite1h", "x"]))] = data.draw(
                odd
            )
    text = json.dumps(line).encode()
    assume(b"Infinity" not in text)
    _is_same(text)


USUAL = (
    '{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"toolResult",'
    '"toolCallId":"c","toolName":"bash","isError":false,"content":[{"type":"text","text":"ok"}],'
    '"details":DETAILS,"timestamp":1}}'
)


@pytest.mark.parametrize("details", ["1", "1.0", "-0.0", str(LARGE), "1e-400", '{"b":1,"a":{}}'])
def test_what_has_the_usual_shape_is_read_quickly_to_the_digit(details: str) -> None:
    assert _is_same(USUAL.replace("DETAILS", details).encode())


@pytest.mark.parametrize(
    "details",
    ['"\\ud800"', "NaN", "1e400", "[" * 5000 + "]" * 5000, '"\x01"', '"\udcff"', "1} x", "01"],
)
def test_what_is_not_plain_json_is_left_to_the_lenient_way(details: str) -> None:
    line = USUAL.replace("DETAILS", details).encode("utf-8", "surrogateescape")

    assert decode_usual_line(line) is None


CALLED = (
    '{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"assistant",'
    '"content":[{"type":"toolCall","id":"c","name":"n","arguments":{"a":DETAILS}}],"api":"p",'
    '"provider":"p","model":"m","usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"cost":'
    '{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"toolUse",'
    '"timestamp":1}}'
)
NOTED = '{"type":"custom","id":"a","parentId":null,"timestamp":"t","customType":"c","data":DETAILS}'


@pytest.mark.parametrize(("line", "above"), [(USUAL, 2), (CALLED, 5), (NOTED, 1)])
@pytest.mark.parametrize("marks", [("[", "]"), ('{"b":', "}")])
def test_a_line_is_as_deep_for_the_quick_way_as_for_the_lenient_one(
    line: str, above: int, marks: tuple[str, str]
) -> None:
    def nested(levels: int) -> bytes:
        return line.replace("DETAILS", marks[0] * levels + "1" + marks[1] * levels).encode()

    deepest, deeper = nested(jsontext.DEEPEST - above), nested(jsontext.DEEPEST - above + 1)

    assert _is_same(deepest)
    assert decode_usual_line(deeper) is None
    with pytest.raises(jsontext.JsonError, match="200 levels"):
        _leniently(deeper)


def test_the_lines_of_pi_and_of_agentsh_have_the_usual_shape() -> None:
    call = '{"type":"toolCall","id":"c","name":"bash","arguments":{"command":"ls"}}'
    usage = '"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,"cost":{"input":0,'
    usage += '"output":0,"cacheRead":0,"cacheWrite":0,"total":0}'
    answer = (
        '{"type":"message","id":"b","parentId":"a","timestamp":"t","message":{"role":"assistant",'
        f'"content":[{{"type":"text","text":"so"}},{call}],"api":"x","provider":"p","model":"m",'
        f'"usage":{{{usage}}},"stopReason":"toolUse","timestamp":1}}}}'
    )
    ash = ',"ash":{"s":"5e551011","n":7,"src":["a"],"h":"0123456789abcdef"}}'

    assert _is_same(answer.encode())
    # of older and of later versions of Pi
    assert _is_same(answer.replace('"totalTokens":2,', "").encode())
    assert _is_same(answer.replace('"cost"', '"cacheWrite1h":1,"cost"').encode())
    assert _is_same(answer.replace('"total":0', '"total":0,"totalFromProvider":1').encode())
    assert _is_same(answer.encode()[:-1] + ash.encode())
    assert _is_same(USUAL.replace("DETAILS", "null").encode())

"""What is said in answer to a command."""

from __future__ import annotations

from agentsh.jsontext import loads_object
from agentsh.remote.rpc.records import (
    NO_DATA,
    NULL,
    encode_failure,
    encode_record,
    encode_success,
)
from agentsh.remote.values.rpcrecords import NoticeRecord


def test_a_record_is_one_line_and_holds_what_looks_like_an_end_of_one() -> None:
    record = encode_record(NoticeRecord("info", "a\u2028b\nc"))

    assert record.count(b"\n") == 1
    assert record.endswith(b"\n")
    assert loads_object(record) == {"type": "notice", "level": "info", "text": "a\u2028b\nc"}


def test_a_response_gives_the_id_back_as_it_was() -> None:
    done = loads_object(encode_success(7, "get_state", {"x": 1}))

    assert done == {
        "id": 7,
        "type": "response",
        "command": "get_state",
        "success": True,
        "data": {"x": 1},
    }
    assert "id" not in loads_object(encode_failure(None, "parse", "no", "usage"))


def test_a_response_without_data_has_none_and_null_is_data() -> None:
    assert "data" not in loads_object(encode_success("a", "abort", NO_DATA))
    assert loads_object(encode_success("a", "cycle_model", NULL))["data"] is None

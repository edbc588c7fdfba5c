"""A session in Pi's words, where it is odd: summaries, damaged lines, times that are none."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest
from msgspec.structs import replace

from agentsh.agent.driven.remotehost import DrivenModel
from agentsh.jsontext import JsonObject
from agentsh.messages import Usage
from agentsh.providers.base import ModelInfo
from agentsh.remote.rpc.sessionvalues import (
    described_model,
    entries_since,
    last_answer_text,
    messages_of,
    stats_of,
    tree_of,
)
from agentsh.remote.values.rpcdata import PricesData
from agentsh.session.format.entries import (
    Body,
    BranchSummary,
    Compaction,
    Entry,
    EntryId,
)
from tests.ui.fakes import FakeSession, answer_entry, fake_report, user_entry

TIME = "2026-01-01T00:00:02.000Z"
A, B, C, D = (EntryId(name) for name in ("a", "b", "c", "d"))


def entry(name: EntryId, parent: EntryId, body: Body, time: str = TIME) -> Entry:
    return Entry(name, parent, time, body)


def session_of(*entries: Entry) -> FakeSession:
    return FakeSession([user_entry("a", None, "first"), answer_entry("b", "a", "one"), *entries])


def roles(messages: Iterable[JsonObject]) -> list[object]:
    return [message["role"] for message in messages]


def test_a_compaction_is_pis_summary_message_with_its_tokens_and_time() -> None:
    session = session_of(
        entry(C, B, Compaction("herons were counted", B, 1234)), user_entry("d", "c", "second")
    )

    first, *others = messages_of(session)

    assert first["role"] == "compactionSummary"
    assert first["tokensBefore"] == 1234
    assert first["timestamp"] == 1767225602000
    assert "herons were counted" in str(first["summary"])
    assert roles(others) == ["assistant", "user"]


def test_a_branch_that_was_summed_up_is_pis_summary_message_with_where_it_was_left() -> None:
    session = session_of(entry(C, B, BranchSummary("storks were counted", A)))

    last = messages_of(session)[-1]

    assert (last["role"], last["fromId"]) == ("branchSummary", "a")
    assert "storks were counted" in str(last["summary"])


def test_a_time_that_is_none_is_the_beginning_of_all_times() -> None:
    session = session_of(entry(C, B, BranchSummary("x", A), time="yesterday"))

    assert messages_of(session)[-1]["timestamp"] == 0


def test_the_last_text_is_that_of_an_answer_whatever_stands_behind_it() -> None:
    session = session_of(user_entry("c", "b", "second"), answer_entry("d", "c", " "))

    assert last_answer_text(session) == "one"
    assert last_answer_text(FakeSession()) is None


class DamagedSession(FakeSession):
    """The line of one entry is no JSON."""

    def raw(self, entry: EntryId) -> bytes:
        return b'{"id": "b", "cut' if entry == "b" else super().raw(entry)


def damaged() -> DamagedSession:
    return DamagedSession(
        [
            user_entry("a", None, "first"),
            answer_entry("b", "a", "one"),
            user_entry("c", "b", "second"),
            user_entry("d", "b", "third"),
        ]
    )


def test_a_line_that_is_damaged_costs_only_itself() -> None:
    value = json.loads(entries_since(damaged(), None).text)

    assert [each["id"] for each in value["entries"]] == ["a", "c", "d"]
    assert value["leafId"] == "d"


def test_in_the_tree_a_damaged_line_keeps_its_place_and_its_children() -> None:
    [root] = json.loads(tree_of(damaged()).text)["tree"]

    [node] = root["children"]
    assert node["entry"] == {"type": "damaged", "id": "b"}
    assert [child["entry"]["id"] for child in node["children"]] == ["c", "d"]


def test_an_empty_session_is_an_empty_tree() -> None:
    assert json.loads(tree_of(FakeSession()).text) == {"tree": [], "leafId": None}


def test_a_talk_of_ten_thousand_entries_is_a_tree_of_that_depth() -> None:
    entries = [user_entry("e0", None, "x")]
    entries += [user_entry(f"e{n}", f"e{n - 1}", "x") for n in range(1, 10_000)]
    by_id = {each.id: each for each in entries}

    class LongSession(FakeSession):
        def entry(self, entry: EntryId) -> Entry:
            return by_id[entry]

    text = tree_of(LongSession(entries)).text

    assert text.count(b'"children":[') == 10_000
    assert text.endswith(b"]}" * 10_000 + b'],"leafId":"e9999"}')


@pytest.mark.parametrize(
    ("usage", "total"),
    [
        (Usage(input=10, output=5, cache_read=3, cache_write=2), 20),
        (Usage(input=10, output=5, total_tokens=99), 99),
    ],
)
def test_all_tokens_are_those_that_were_told_or_their_sum(usage: Usage, total: int) -> None:
    assert stats_of(session_of(), replace(fake_report(), usage=usage)).tokens.total == total


def test_what_nobody_says_of_a_model_is_a_usual_value_or_null() -> None:
    model = described_model(DrivenModel("near", "http://127.0.0.1:1/v1", "api", ModelInfo("m")))

    assert (model.input, model.reasoning) == (("text", "image"), False)
    assert (model.context_window, model.max_tokens) == (None, None)


def test_what_is_known_of_a_model_is_told() -> None:
    info = ModelInfo(
        "m",
        context_window=9,
        max_output=3,
        accepts_images=False,
        reasons=True,
        prices={"input": 1.0, "cache_read": 0.5},
    )

    model = described_model(DrivenModel("near", "http://127.0.0.1:1/v1", "api", info))

    assert (model.input, model.reasoning) == (("text",), True)
    assert (model.context_window, model.max_tokens) == (9, 3)
    assert model.cost == PricesData(input=1.0, output=0.0, cache_read=0.5, cache_write=0.0)

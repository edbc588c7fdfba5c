"""Where the cut is, what the summariser is asked, what entry comes of it."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from agentsh.context.outbound import OutboundRules, prepare, prepare_items
from agentsh.context.pairing import problems
from agentsh.context.projection import Context, project
from agentsh.context.summaries.compaction import (
    SMALLEST_BUDGET,
    Cut,
    NothingToCompact,
    SummaryOrigin,
    compaction_messages,
    finish,
    plan_cut,
    plan_cut_before,
    plan_summary,
    replaced_entries,
    shrinks,
    smaller_plan,
)
from agentsh.context.summaries.summaries import SYSTEM, source_range
from agentsh.context.tokens import estimate_messages, estimate_text
from agentsh.context.wording import NO_RESULT
from agentsh.jsontext import JsonObject, dumps, loads_object
from agentsh.messages import Message, SystemMessage, Text, ToolSchema, Usage
from agentsh.session.format.entries import Body, Branch, Compaction, Custom, Entry, EntryId
from tests.context.builders import (
    API,
    MODEL,
    PROVIDER,
    bodies,
    call,
    context,
    kept,
    path,
    result,
    said,
    talks,
    text_of,
    texts,
    user,
)

RULES = OutboundRules(PROVIDER, MODEL, API)
LONG = "x" * 400  # a hundred tokens
TALK = (user(LONG), said(LONG), user(LONG), said(LONG), user(LONG), said(LONG))


def cut(found: Context, keep: int) -> Cut:
    planned = plan_cut(found, keep)
    assert isinstance(planned, Cut), planned
    return planned


def reason(found: Context, keep: int) -> str:
    planned = plan_cut(found, keep)
    assert isinstance(planned, NothingToCompact), planned
    return planned.reason


def asked(found: Context, plan: JsonObject) -> str:
    request = compaction_messages(found, RULES, plan)
    return "\n".join(text_of(m.content) for m in request.messages)


def test_about_the_budget_is_kept_from_the_end() -> None:
    found = context(*TALK)
    assert cut(found, 200) == Cut(EntryId("e4"), 0, 4, is_split=False)
    assert cut(found, 201) == Cut(EntryId("e3"), 0, 3, is_split=True)
    assert cut(found, 1) == Cut(EntryId("e5"), 0, 5, is_split=True)


def test_a_cut_never_stands_before_a_result() -> None:
    talk = (
        user(LONG),
        said(call("a"), call("b")),
        result("a", LONG),
        result("b", LONG),
        said("end"),
    )
    assert cut(context(*talk), 50).index == 4
    assert cut(context(*talk[:-1], said(LONG)), 150).index == 4


def test_a_message_between_call_and_result_is_no_place_to_cut_either() -> None:
    talk = (user(LONG), said(call("a")), user("steer"), result("a", LONG), said("end"))
    assert cut(context(*talk), 101).index == 4


def test_results_at_the_end_are_kept_with_their_calls_or_not_at_all() -> None:
    talk = (user(LONG), said(LONG), user("go"), said(call("a")), result("a", LONG))
    assert cut(context(*talk), 80) == Cut(EntryId("e3"), 0, 3, is_split=True)
    assert cut(context(*talk), 10) == Cut(None, 0, 5, is_split=True)
    nothing_before = Compaction("S", None, 1, retained_tail=(said(call("a")), result("a", LONG)))
    assert cut(context(nothing_before), 10) == Cut(None, 1, 3, is_split=True)


def before(entry: str, *said_so: Message) -> Cut | NothingToCompact:
    """The cut before an entry."""
    entries = path(*said_so)
    ids = [each.id for each in entries]
    return plan_cut_before(project(Branch(entries)), ids, EntryId(entry))


def test_a_cut_before_an_entry_keeps_it_and_all_after_it() -> None:
    assert before("e2", *TALK) == Cut(EntryId("e2"), 0, 2, is_split=False)
    assert before("e5", *TALK) == Cut(EntryId("e5"), 0, 5, is_split=True)


def test_a_cut_before_a_result_keeps_the_answer_that_called_it() -> None:
    talk = (user("q"), said(call("a"), call("b")), result("a", "x"), result("b", "y"), said("z"))

    for entry in ("e1", "e2", "e3"):
        assert before(entry, *talk) == Cut(EntryId("e1"), 0, 1, is_split=True)


def test_a_cut_before_what_says_nothing_is_before_what_comes_after_it() -> None:
    talk = (user("q"), said("x"), SystemMessage(sections={"cwd": "y"}), user("on"))

    assert before("e2", *talk) == Cut(EntryId("e3"), 0, 3 - 1, is_split=False)
    assert before("e2", *talk[:3]) == Cut(None, 0, 2, is_split=False)


def test_before_the_first_message_and_before_what_is_not_there_nothing_is_cut() -> None:
    for entry, why in (("e0", "nothing that stands before e0"), ("zz", "zz is not on the current")):
        planned = before(entry, *TALK)
        assert isinstance(planned, NothingToCompact)
        assert why in planned.reason


@given(talks(), st.data())
def test_wherever_the_cut_is_before_no_call_is_parted_from_its_result(
    talk: list[Message], data: st.DataObject
) -> None:
    entries = path(*talk)
    wanted = data.draw(st.integers(0, len(entries) - 1))
    planned = before(f"e{wanted}", *talk)
    assume(isinstance(planned, Cut))
    assert isinstance(planned, Cut)
    found = project(Branch(entries))
    body = finish(found, planned, "SUMMARY")
    after = project(Branch((*entries, Entry(EntryId("c"), entries[-1].id, "", body))))
    assert planned.index <= wanted
    assert after.items[1:] == found.items[planned.index :]
    assert problems(prepare(after, RULES)) == ()


def test_a_context_within_the_budget_has_nothing_to_compact() -> None:
    assert "nothing to compact" in reason(context(*TALK), 601)
    assert "nothing to compact" in reason(context(user(LONG)), 1)
    assert "nothing has been said" in reason(context(), 1)


def test_what_has_just_been_compacted_is_not_compacted_again() -> None:
    once = (*TALK, kept("e4"), Custom("agentsh.compaction", {"ev": "end"}))
    assert "Already compacted" in reason(context(*once), 200)
    assert cut(context(*once), 1) == Cut(EntryId("e5"), 1, 2, is_split=True)


def test_the_range_begins_with_what_the_last_compaction_kept() -> None:
    found = context(*TALK, kept("e4"), user(LONG), said(LONG))
    planned = cut(found, 200)
    assert planned == Cut(EntryId("e7"), 1, 3, is_split=False)
    assert texts(found.items[planned.start : planned.index]) == [LONG, LONG]


def test_what_a_compaction_holds_itself_cannot_be_the_first_kept() -> None:
    tail = (user(LONG), user(LONG))
    found = context(Compaction("S", None, 1, retained_tail=tail), user(LONG), said(LONG))
    assert cut(found, 250) == Cut(EntryId("e1"), 1, 3, is_split=False)


def test_the_request_repeats_the_conversation_and_asks_last() -> None:
    read = ToolSchema("read", "", {})
    opening = SystemMessage(sections={"a": "PROMPT"}, tools_added=(read,))
    found = context(opening, *TALK)
    planned = cut(found, 200)
    plan = plan_summary(found, planned, window=100_000, focus="herons")
    request = compaction_messages(found, RULES, plan)

    assert plan["form"] == "prefix"
    assert (request.system, request.tools) == ("PROMPT", (read,))
    assert request.messages[:-1] == prepare(found, RULES)[: planned.index]
    assert "summary" in text_of(request.messages[-1].content)
    assert "herons" in text_of(request.messages[-1].content)


def test_a_request_that_would_not_fit_becomes_a_bounded_transcript() -> None:
    huge = context(user("look"), said(call("a")), result("a", "y" * 1_000_000), said("ok"), *TALK)
    plan = plan_summary(huge, cut(huge, 200), window=64_000)
    request = compaction_messages(huge, RULES, plan)

    assert plan["form"] == "transcript"
    assert (request.system, request.tools) == (SYSTEM, ())
    assert len(dumps(asked(huge, plan))) // 4 < 20_000
    assert "look" in asked(huge, plan)


def test_a_transcript_brings_the_previous_summary_up_to_date() -> None:
    old = "OLD\n\n<read-files>\nf\n</read-files>"
    found = context(*TALK, kept("e4", old), user(LONG), said(LONG))
    plan = plan_summary(found, cut(found, 200), window=100)

    assert "<previous-summary>\nOLD\n</previous-summary>" in asked(found, plan)
    assert "up to date" in asked(found, plan)


def test_the_beginning_of_a_split_turn_is_asked_for_in_either_form() -> None:
    found = context(*TALK)
    for window in (None, 100):
        split = plan_summary(found, cut(found, 100), window=window)
        whole = plan_summary(found, cut(found, 200), window=window)
        assert "Turn under way" in asked(found, split)
        assert "Turn under way" not in asked(found, whole)


def test_a_refused_request_becomes_smaller_until_there_is_no_smaller_one() -> None:
    found = context(*(m for _ in range(60) for m in TALK))
    plan: JsonObject | None = plan_summary(found, cut(found, 200), window=200_000)
    forms, sizes = [], []
    while plan is not None:
        forms.append(plan["form"])
        sizes.append(estimate_text(asked(found, plan)))
        plan = smaller_plan(plan)

    assert forms[:2] == ["prefix", "transcript"]
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) < 20
    assert sizes[-1] < SMALLEST_BUDGET + 1000


def test_a_plan_of_another_context_is_refused() -> None:
    found = context(*TALK)
    with pytest.raises(ValueError, match="not in this context"):
        compaction_messages(found, RULES, {"form": "prefix", "firstKept": "nowhere"})
    with pytest.raises(ValueError, match="budget"):
        compaction_messages(found, RULES, {"form": "transcript", "firstKept": None})


def test_the_entry_states_everything_in_force_and_the_files() -> None:
    found = context(
        SystemMessage(sections={"a": "PROMPT"}),
        Custom("agentsh.state", {"key": "k", "value": 1}),
        user(LONG),
        said(call("r", path="read.py"), call("w", "write", path="new.py")),
        result("r"),
        result("w"),
        said(LONG, usage=Usage(input=300, total_tokens=310)),
    )
    planned = cut(found, 50)
    origin = SummaryOrigin(source={"count": 4}, timestamp=7)
    body = finish(found, planned, " <summary>\nGOAL</summary> ", origin)

    assert body == Compaction(
        summary="GOAL\n\n<read-files>\nread.py\n</read-files>"
        "\n\n<modified-files>\nnew.py\n</modified-files>",
        first_kept=EntryId("e6"),
        tokens_before=310,
        details={
            "readFiles": ["read.py"],
            "modifiedFiles": ["new.py"],
            "ash": {
                "provider": PROVIDER,
                "model": MODEL,
                "thinking": "off",
                "state": {"k": 1},
                "src": {"count": 4},
            },
        },
        system=SystemMessage(sections={"a": "PROMPT"}, timestamp=7),
    )


def test_files_of_the_previous_summary_stay_in_the_lists() -> None:
    details: JsonObject = {"readFiles": ["old.py", "w.py"], "modifiedFiles": ["gone.py"]}
    old = Compaction("OLD", EntryId("e4"), 9, details)
    wrote = (said(call("w", "edit", path="w.py")), result("w"))
    found = context(*TALK, old, *wrote, user(LONG), said(LONG))
    body = finish(found, cut(found, 200), "NEW")

    assert isinstance(body.details, dict)
    assert body.details["readFiles"] == ["old.py"]
    assert body.details["modifiedFiles"] == ["gone.py", "w.py"]


def test_an_empty_summary_is_no_summary() -> None:
    with pytest.raises(ValueError, match="empty"):
        finish(context(*TALK), cut(context(*TALK), 200), " \n")


def test_a_summary_that_does_not_shrink_is_noticed() -> None:
    found = context(*TALK)
    planned = cut(found, 200)
    assert shrinks(found, planned, "s" * 1500)
    assert not shrinks(found, planned, "s" * 1600)


def test_provenance_covers_every_entry_that_is_replaced() -> None:
    mark = Custom("agentsh.turn", {"ev": "start"})
    entries = path(mark, *TALK[:4], mark, *TALK[4:])
    branch = Branch(entries)
    found = project(branch)
    ids = replaced_entries(branch, found, cut(found, 200))

    assert ids == tuple(EntryId(f"e{i}") for i in range(1, 6))
    assert replaced_entries(branch, found, replace(cut(found, 200), first_kept=None))[-1] == "e7"
    source = source_range(ids, (i.encode() + b"\n" for i in ids))
    assert source is not None
    assert (source["from"], source["to"], source["count"]) == ("e1", "e5", 5)
    assert source_range((), ()) is None


def test_what_a_compaction_held_itself_has_no_entries_to_name() -> None:
    entries = path(Compaction("S", None, 1, retained_tail=(user(LONG),)), user(LONG))
    found = project(Branch(entries))
    planned = cut(found, 100)
    assert planned == Cut(EntryId("e1"), 1, 2, is_split=False)
    assert replaced_entries(Branch(entries), found, planned) == ()


@given(bodies(least=4), st.integers(1, 20), st.sampled_from([None, 50, 4500, 10_000]))
def test_whatever_the_path_and_the_budget_the_next_context_is_sound(
    made: list[Body], keep: int, window: int | None
) -> None:
    entries = path(*made)
    found = project(Branch(entries))
    planned = plan_cut(found, keep)
    assume(isinstance(planned, Cut))
    assert isinstance(planned, Cut)
    plan = plan_summary(found, planned, window=window)
    stored = loads_object(dumps(plan))

    assert problems(compaction_messages(found, RULES, plan).messages) == ()
    assert compaction_messages(found, RULES, stored) == compaction_messages(found, RULES, plan)
    body = finish(found, planned, "SUMMARY")
    after = project(Branch((*entries, Entry(EntryId("new"), None, "", body))))
    assert problems(prepare(after, RULES)) == ()
    assert prepare(after, RULES)[1:] == prepare_items(found.items[planned.index :], RULES)
    assert (after.system.sections, after.model) == (found.system.sections, found.model)


@given(talks(), st.integers(1, 400))
def test_a_cut_never_parts_a_call_from_its_result(talk: list[Message], keep: int) -> None:
    found = context(*talk)
    planned = plan_cut(found, keep)
    assume(isinstance(planned, Cut))
    assert isinstance(planned, Cut)
    whole = prepare(found, RULES)
    parts = [found.items[: planned.index], found.items[planned.index :]]
    sent = [m for part in parts for m in prepare_items(part, RULES)]

    def closed(messages: object) -> int:
        return repr(messages).count(NO_RESULT)

    assert sent == list(whole)
    assert closed(sent) == closed(whole)
    assert planned.index == len(found.items) or planned.first_kept is not None
    kept_size = estimate_messages(i.message for i in found.items[planned.index :])
    last = max(estimate_messages([i.message]) for i in found.items)
    assert kept_size <= 2 * keep + last
    assert any(isinstance(b, Text) for m in sent for b in m.content)

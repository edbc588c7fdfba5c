"""What is hidden from the model: which edits, of what, and that calls and results stay together."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.context.hiding import HIDDEN_NOTE, edited_on, hiding, showing
from agentsh.context.outbound import OutboundRules, prepare
from agentsh.context.pairing import problems
from agentsh.context.projection import project
from agentsh.errors import RefusedError
from agentsh.messages import AssistantMessage, BashExecutionMessage, Message, Text
from agentsh.session.format.entries import (
    Body,
    Branch,
    BranchSummary,
    Compaction,
    ContextEdit,
    EntryId,
    Label,
    MessageBody,
)
from tests.context.builders import (
    API,
    MODEL,
    PROVIDER,
    bodies,
    call,
    kept,
    path,
    result,
    said,
    talks,
    texts,
    user,
)

RULES = OutboundRules(PROVIDER, MODEL, API)
TALK = (
    user("look at both"),
    said("I look.", call("a"), call("b"), stop="toolUse"),
    result("a", "text of a"),
    result("b", "text of b"),
    said("both are fine"),
    user("and now"),
)


Said = Body | Message


def edited_by(talk: Sequence[Said], *edits: Said) -> list[Said]:
    return [*talk, *edits]


def ids(*numbers: int) -> list[EntryId]:
    return [EntryId(f"e{n}") for n in numbers]


def hidden(said_so: Sequence[Said], *targets: int, text: str | None = None) -> list[str]:
    """What the model is told after they were hidden."""
    branch = Branch(path(*said_so))
    return told([*said_so, *hiding(branch, ids(*targets), text)])


def told(said_so: Sequence[Said]) -> list[str]:
    context = project(Branch(path(*said_so)))
    assert problems(prepare(context, RULES)) == ()
    return texts(context.items)


@pytest.mark.parametrize(
    ("targets", "left"),
    [
        ((0,), ["I look.", "text of a", "text of b", "both are fine", "and now"]),
        ((3,), ["look at both", "I look.", "text of a", HIDDEN_NOTE, "both are fine", "and now"]),
        ((1,), ["look at both", "both are fine", "and now"]),
        ((1, 2), ["look at both", "both are fine", "and now"]),
        ((4, 5), ["look at both", "I look.", "text of a", "text of b"]),
    ],
)
def test_with_an_answer_go_its_results_and_a_result_leaves_a_note(
    targets: tuple[int, ...], left: list[str]
) -> None:
    assert hidden(TALK, *targets) == left


def test_each_result_of_a_hidden_answer_has_an_edit_of_its_own() -> None:
    edits = hiding(Branch(path(*TALK)), ids(1), None)

    assert edits == tuple(ContextEdit(target, None) for target in ids(1, 2, 3))


def test_a_text_stands_in_the_place_of_what_is_hidden() -> None:
    assert hidden(TALK, 0, text="look") == ["look", *told(TALK)[1:]]
    assert hidden(TALK, 2, text="short")[2] == "short"
    # its calls are gone with the answer's own words, so their results are as well
    assert hidden(TALK, 1, text="I looked.") == [
        "look at both",
        "I looked.",
        "both are fine",
        "and now",
    ]


@pytest.mark.parametrize("targets", [(0,), (1,), (2,), (4,), (0, 1, 5), (2, 3)])
@pytest.mark.parametrize("text", [None, "other words"])
def test_what_is_shown_again_is_as_it_was(targets: tuple[int, ...], text: str | None) -> None:
    edited = edited_by(TALK, *hiding(Branch(path(*TALK)), ids(*targets), text))
    again = edited_by(edited, *showing(Branch(path(*edited)), ids(*targets)))

    assert told(edited) != told(TALK)
    assert project(Branch(path(*again))).items == project(Branch(path(*TALK))).items
    assert edited_on(path(*again)) == {}


def test_a_command_and_a_summary_come_back_as_well() -> None:
    talk = (user("a"), BashExecutionMessage("ls", "out"), BranchSummary("went there", "root"))
    edited = edited_by(talk, *hiding(Branch(path(*talk)), ids(1, 2), None))
    again = edited_by(edited, *showing(Branch(path(*edited)), ids(1, 2)))

    assert told(edited) == ["a"]
    assert told(again) == ["a", "ls", "went there"]
    assert edited_on(path(*again)) == {}
    with pytest.raises(RefusedError, match="no text can stand in its place"):
        hiding(Branch(path(*talk)), ids(1), "other")


def test_a_result_comes_back_with_its_call_only() -> None:
    edited = edited_by(TALK, *hiding(Branch(path(*TALK)), ids(1), None))

    with pytest.raises(RefusedError, match="e2 answers a call that is hidden with e1") as refused:
        showing(Branch(path(*edited)), ids(2))
    assert refused.value.hint == "unhide e1, and both are back"
    both = edited_by(edited, *showing(Branch(path(*edited)), ids(1, 2)))
    assert told(both) == told(TALK)


def test_what_is_hidden_and_what_is_replaced_is_told_apart() -> None:
    edits = (
        *hiding(Branch(path(*TALK)), ids(0, 3), None),
        *hiding(Branch(path(*TALK)), ids(4), "fine"),
    )

    assert edited_on(path(*TALK, *edits)) == {"e0": "hidden", "e3": "hidden", "e4": "replaced"}
    assert edited_on(path(*TALK)) == {}


def test_an_edit_is_of_its_own_path() -> None:
    edits = hiding(Branch(path(*TALK)), ids(0), None)

    assert set(edited_on(path(*TALK, *edits))) == {"e0"}
    assert edited_on(path(*TALK)) == {}  # another branch, or the place before the edit


@pytest.mark.parametrize(
    ("bodies_", "target", "why"),
    [
        (TALK, "gone", "not on the current path"),
        ((user("a"), Label(EntryId("e0"), "x")), "e1", "says nothing to the model"),
        ((user("a"), said("x", stop="aborted")), "e1", "says nothing to the model"),
        ((user("a"), BashExecutionMessage("ls", "", excluded=True)), "e1", "says nothing"),
        ((user("a"), user("b"), kept("e1")), "e0", "says nothing to the model"),
        ((user("a"), user("b"), kept("e1")), "e2", "is the summary"),
        ((said(call("a"), stop="error"), result("a", "x")), "e1", "says nothing to the model"),
    ],
)
def test_what_the_model_is_not_told_from_the_path_can_be_neither_hidden_nor_shown(
    bodies_: tuple[Said, ...], target: str, why: str
) -> None:
    branch = Branch(path(*bodies_))
    with pytest.raises(RefusedError, match=why):
        hiding(branch, [EntryId(target)], None)
    with pytest.raises(RefusedError, match=why):
        showing(branch, [EntryId(target)])


def test_what_is_so_already_needs_no_edit() -> None:
    edited = edited_by(TALK, *hiding(Branch(path(*TALK)), ids(0), None))
    branch = Branch(path(*edited))

    assert hiding(branch, ids(0, 4), None) == (ContextEdit(EntryId("e4"), None),)
    with pytest.raises(RefusedError, match="hidden already; nothing was written"):
        hiding(branch, ids(0), None)
    with pytest.raises(RefusedError, match="not hidden; nothing was written"):
        showing(branch, ids(4))


@given(talks(), st.data())
def test_whatever_is_hidden_pairs_hold_and_showing_it_brings_all_of_it_back(
    talk: list[Message], data: st.DataObject
) -> None:
    """Of a well-formed talk, in any number of steps; `told` looks at the pairs."""
    grown: list[Said] = list(talk)
    everything = range(len(talk))
    for _ in range(data.draw(st.integers(1, 4))):
        targets = data.draw(st.lists(st.sampled_from(everything), min_size=1, max_size=3))
        text = data.draw(st.sampled_from([None, "other words"]))
        try:
            grown += hiding(Branch(path(*grown)), ids(*targets), text)
        except RefusedError:
            continue
        left = told(grown)
        found = edited_on(path(*grown))
        assert all(f"e{target}" in found for target in targets)
        assert len(left) <= len(talk)
    if found_last := list(edited_on(path(*grown))):
        grown += showing(Branch(path(*grown)), found_last)
    assert project(Branch(path(*grown))).items == project(Branch(path(*talk))).items


@given(bodies(least=1), st.integers(0, 11))
def test_of_any_path_what_is_hidden_is_said_no_more(made: list[Body], number: int) -> None:
    """Also of such paths as no program would write."""
    entries = path(*made)
    target = EntryId(f"e{number}")
    try:
        edits = hiding(Branch(entries), [target], None)
    except RefusedError:
        return
    grown = path(*made, *edits)
    said_now = {item.entry: item.message for item in project(Branch(grown)).items}
    left = said_now.get(target)

    assert left is None or texts_of(left) == HIDDEN_NOTE
    assert edited_on(grown)[target] == "hidden"
    again = path(*made, *edits, *showing(Branch(grown), [target]))
    own = entries[number].body
    shown = {item.entry: item.message for item in project(Branch(again)).items}
    assert target in shown or isinstance(own, Compaction)
    if isinstance(own, MessageBody) and not isinstance(own.message, AssistantMessage):
        assert shown[target] == own.message


def texts_of(message: object) -> str:
    return "".join(b.text for b in getattr(message, "content", ()) if isinstance(b, Text))

"""Two calls that share a state, and who did what: the contents between them are worked out."""

from __future__ import annotations

from agentsh.agent.authors.between import Between, stretches
from agentsh.agent.authors.blame import Authors, advance, begin
from agentsh.agent.authors.calls import Author, Gap, Nothing, RecordedCall, Replaced, Whole, Write
from agentsh.agent.authors.content import Content
from agentsh.session.format.entries import EntryId
from agentsh.tools.files.diff import diff_texts


def call(name: str, tool: str = "bash", prompt: str = "p") -> RecordedCall:
    return RecordedCall("s", EntryId(prompt), prompt, name, tool, "", "t")


def text(*lines: str) -> Content:
    return Content("".join(f"{line}\n" for line in lines).encode())


def edited(name: str, old: Content, new: Content) -> Write:
    """An edit with all that is on record of one."""
    assert old.data is not None
    assert new.data is not None
    before, after = old.data.decode(), new.data.decode()
    change = Replaced(((before, after),), diff_texts(before, after, "f").patch)
    return Write(call(name, "edit"), "f", change, old.digest, new.digest)


def who(first: Content, between: Between, last: Content) -> list[str]:
    """Each line's author in a word: calls, person, before, unknown."""
    authors: Authors = begin(stretches(None, Between((Gap(),)), first)[0])
    content = first
    for stretch in stretches(first, between, last):
        authors = advance(content, authors, stretch)
        content = stretch.content
    assert content is last
    return [word(author) for author in authors]


def word(author: Author) -> str:
    return "|".join(each.id for each in author.calls) or author.who


A = text("one", "two", "three")


def test_one_call_between_two_states_did_what_differs() -> None:
    between = Between((Gap((call("b"),)),))

    assert who(A, between, text("one", "2", "three")) == ["before", "b", "before"]


def test_of_two_commands_it_is_one() -> None:
    between = Between((Gap((call("b1"), call("b2"))),))

    assert who(A, between, text("one", "2", "three")) == ["before", "b1|b2", "before"]


def test_of_two_prompts_or_a_person_it_is_nobody() -> None:
    for gap in (Gap((call("b"), call("c", prompt="q"))), Gap((call("b"),), person=True)):
        assert who(A, Between((gap,)), text("one", "2")) == ["before", "unknown"]


def test_where_nobody_could_nobody_did() -> None:
    assert who(A, Between((Gap(),)), text("one", "2")) == ["before", "unknown"]
    assert who(A, Between((Gap((), person=True),)), text("one", "2")) == ["before", "person"]


def test_edits_that_share_a_state_are_told_apart_by_their_arguments() -> None:
    b, c = text("ONE", "two", "three"), text("ONE", "two", "three", "more")
    between = Between((Gap(), Gap(), Gap()), (edited("e1", A, b), edited("e2", b, c)))

    assert who(A, between, c) == ["e1", "before", "before", "e2"]


def test_a_command_before_an_edit_and_one_behind_it() -> None:
    b = text("one", "two", "three", "by b1")
    c = text("one", "TWO", "three", "by b1")
    d = text("one", "TWO", "three", "by b1", "by b2")
    commands = Gap((call("b1"),)), Gap((call("b2"),))

    one = who(A, Between((commands[0], Gap()), (edited("e", b, c),)), c)
    other = who(A, Between((Gap(), commands[1]), (edited("e", A, text("x")),)), text("x", "y"))
    both = who(A, Between(commands, (edited("e", b, c),)), d)

    assert one == ["before", "e", "before", "b1"]
    assert other == ["e", "b2"]
    assert both == ["before", "e", "before", "b1|b2", "b1|b2"]


def test_a_file_that_was_read_between_two_commands_tells_them_apart() -> None:
    b, c = text("one", "two", "three", "b1"), text("one", "two", "three", "b1", "b2")
    gaps = (Gap((call("b1"),)), Gap((call("b2"),)))
    whole = Write(call("r", "read"), "f", Nothing(b.data), b.digest, b.digest)
    same = Write(call("r", "read"), "f", Nothing(), A.digest, A.digest)

    assert who(A, Between(gaps, (whole,)), c) == ["before"] * 3 + ["b1", "b2"]
    assert who(A, Between(gaps, (same,)), c) == ["before"] * 3 + ["b2", "b2"]


def test_what_a_call_wrote_whole_may_have_stood_there_before() -> None:
    new = text("one", "by whom", "three")
    write = Write(call("w", "write"), "f", Whole(new.data or b""), "0" * 64, new.digest)

    assert who(A, Between((Gap((call("b"),)), Gap()), (write,)), new)[1] == "b|w"


def test_what_came_back_by_a_command_is_that_commands_though_the_states_are_equal() -> None:
    without = text("one", "three")
    between = Between((Gap(), Gap((call("b"),))), (edited("e", A, without),))

    assert who(A, between, text("one", "two", "three")) == ["before", "b", "before"]


def test_what_was_formatted_behind_an_edit_is_nobodys() -> None:
    made = text("one", "2", "three")
    between = Between((Gap(), Gap()), (edited("e", A, made),))

    assert who(A, between, text("one", "2", "three", "hook")) == [
        "before",
        "e",
        "before",
        "unknown",
    ]

"""Where one is, in a person's words: no id stands in their place."""

from __future__ import annotations

from agentsh.agent.moving import Moved
from agentsh.session.format.entries import Branch, EntryId
from agentsh.ui.text.places import BEGINNING, after_entry, said_words, where_now
from tests.ui.fakes import answer_entry, call, user_entry

PROMPT = user_entry("u1", None, "count the \x1b[2Jherons\nplease")
ANSWER = answer_entry("a1", "u1", "There are four.")


def test_q14_an_entry_is_named_by_what_it_says_and_when() -> None:
    words = said_words(PROMPT), said_words(ANSWER)

    assert words[0].startswith("your prompt “count the herons” of 20")
    assert words[1].startswith("the answer “There are four.” of 20")
    only_calls = answer_entry("a2", "u1", "", call("edit", path="/far/a.py"))
    assert said_words(only_calls).startswith("a call of edit of 20")


def test_q14_a_move_leads_before_a_prompt_or_after_what_was_said() -> None:
    branch = Branch((PROMPT, ANSWER))

    assert where_now(Moved(EntryId("u1"), "count the herons"), branch) == (
        "before your prompt “count the herons”"
    )
    assert where_now(Moved(EntryId("a1")), branch) == f"after {said_words(ANSWER)}"
    assert where_now(Moved(None), Branch(())) == after_entry(None) == BEGINNING

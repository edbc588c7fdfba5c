"""What must not be cut or broken when an answer is printed: tables, addresses, tabs."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from agentsh.agent.events import ToolEnd, TurnStart
from agentsh.messages import BashExecutionMessage, Text, ToolResultMessage, UserMessage
from agentsh.ui.paper.cards import question_text, shell_card
from tests.ui.fakes import call, entry_id
from tests.ui.paper.test_render import bare, said, shown, transcript


@pytest.mark.parametrize("columns", [40, 60])
def test_nothing_of_a_table_is_cut(columns: int) -> None:
    long = "x" * 90
    narrow = shown(said(f"| a | b |\n|---|---|\n| {long} | y |\n"), columns=columns)
    assert narrow.count("x") == 90

    heads = [f"head{n}" for n in range(12)]
    cells = [f"value{n}" for n in range(12)]
    rows = ["|".join(heads), "|".join("---" for _ in heads), "|".join(cells), "|".join(cells)]
    many = shown(said("\n".join(f"|{row}|" for row in rows)), columns=columns)
    assert [many.count(f"{head}: {cell}\n") for head, cell in zip(heads, cells, strict=True)] == (
        [2] * 12
    )


def test_an_address_longer_than_a_row_is_printed_as_one() -> None:
    address = "https://a.example/" + "path/" * 10 + "end?x=1"
    lines = shown(said(f"See {address} and more.\n\n- {address}\n\n- [doc]({address}), so"))
    assert [line for line in lines.split("\n") if "a.example" in line] == [
        address,
        f"• {address}",
        f"  ({address}),",
    ]
    assert "See\n" in lines
    assert "\nand more." in lines


ADDRESS = "https://a.example/" + "path/" * 6 + "end?x=1"


def test_an_address_in_what_was_said_run_or_failed_is_printed_as_one() -> None:
    fetch = call("bash", command=f"curl {ADDRESS} -o x")
    log = ToolResultMessage(
        fetch.id, "bash", (Text(f"GET {ADDRESS} 200 OK and more of it"),), False
    )
    target = transcript()
    target.feed(TurnStart(UserMessage((Text(f"see {ADDRESS} now"),)), entry_id("a")))
    target.feed(ToolEnd(fetch, log, entry_id("b")))
    target.feed(ToolEnd(fetch, replace(log, is_error=True), entry_id("c")))
    target.say(f"error: find your key at {ADDRESS}.", "error")
    target.add(shell_card(target._renderer, BashExecutionMessage(f"echo {ADDRESS}", ADDRESS)))

    said, run, logged, *_, last, echoed, printed = [
        line.strip() for line in bare(target.take()).split("\n") if "a.example" in line
    ]
    assert said == f"┃ {ADDRESS}"
    assert (run, logged) == (ADDRESS, ADDRESS + "…")
    assert (last, echoed, printed) == (f"{ADDRESS}.", ADDRESS, ADDRESS)


def test_a_question_breaks_an_address_behind_its_own_indent() -> None:
    target = transcript()
    question = question_text(target._renderer, "bash asks to:", f"  curl {ADDRESS}", None)
    rows = bare(question).strip("\n").split("\n")
    assert max(map(len, rows)) < 40
    assert all(row.startswith("    ") for row in rows[2:])


def test_tabs_stand_for_columns_in_prose_and_lists() -> None:
    text = "- item\n\t- nested\n\n1.\tone\n\na\tb\n\n```make\nall:\n\techo\n```"
    assert shown(said(text)).strip("\n").split("\n") == [
        "• item",
        "    • nested",
        "",
        "1. one",
        "",
        "a   b",
        "",
        "  all:",
        "      echo",
    ]

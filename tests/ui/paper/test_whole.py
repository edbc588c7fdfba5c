"""What must not be cut or broken when an answer is printed: tables, addresses, tabs."""

from __future__ import annotations

import pytest

from tests.ui.paper.test_render import said, shown


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

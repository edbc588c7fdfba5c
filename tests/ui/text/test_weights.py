"""What fills the window, as text: bars that read at 60 columns, and nothing that draws."""

from __future__ import annotations

from agentsh.context.tokens import room_of
from agentsh.context.weights import Section, Weights
from agentsh.messages import Message
from agentsh.session.format.entries import Body
from agentsh.ui.state.chatstate import ChatState
from agentsh.ui.state.footer import context_words
from agentsh.ui.text.weights import bar, context_lines
from tests.context.builders import path, user
from tests.context.test_weights import TALK, weight


def lines(*talk: Body | Message, width: int | None = 60, window: int | None = 50_000) -> list[str]:
    return list(context_lines(weight(*talk, room=room_of(window)), path(*talk), width))


def test_it_reads_at_sixty_columns() -> None:
    shown = lines(*TALK, user("and a prompt that is longer than any row of sixty columns is"))

    assert max(map(len, shown)) < 60
    assert shown[0] == "9,046 of 50,000 tokens (18%)"
    assert shown[1] == "estimated, by the last measured prompt: 9,000 tokens"
    assert "    8,046   89%  #########.  results: read" in shown
    assert "the heaviest entries:" in shown
    assert any(line.startswith("    8,045  e3  result  heron heron") for line in shown)


def test_the_tools_that_weigh_little_share_a_row() -> None:
    schemas = (("bash", 40), ("ls", 2), ("grep", 1), ("find", 1))
    sections = (*(Section(f"tool schema: {name}", n) for name, n in schemas), Section("x", 56))
    found = Weights(100, None, room_of(None), sections, ())

    rows = [line.rpartition("  ")[2] for line in context_lines(found, (), 60)][4:]
    assert rows == ["tool schema: bash", "tool schemas: 3 more", "x"]


def test_of_a_long_path_its_end_is_shown() -> None:
    name = f"context file: /home/{'deep/' * 20}AGENTS.md"
    found = Weights(10, None, room_of(None), (Section(name, 10),), ())

    row = list(context_lines(found, (), 60))[-1]
    assert len(row) < 60
    assert row.startswith("       10  100%  ##########  context file: …")
    assert row.endswith("deep/AGENTS.md")
    assert list(context_lines(found, (), None))[-1].endswith(name)


def test_a_window_that_is_not_known_is_said() -> None:
    assert lines(user("x"), window=None)[:2] == [
        "1 tokens; how many the model holds is not known",
        "estimated; no prompt of this path was measured",
    ]


def test_the_part_of_the_window_is_the_status_lines() -> None:
    state = ChatState(tokens=9005, window=8192)
    found = Weights(9005, None, room_of(8192), (), ())

    assert context_words(state).startswith("109% ")
    assert next(iter(context_lines(found, (), 60))).endswith("(109%)")


def test_names_and_texts_that_draw_are_neutral() -> None:
    found = Weights(1, None, room_of(None), (Section("results: \x1b]0;x\x07[/red]", 1),), ())

    assert all(line.isprintable() for line in context_lines(found, (), 60))
    assert all(line.isprintable() for line in lines(user("\x1b[2Jx")))


def test_a_bar_is_as_long_as_its_share() -> None:
    assert [bar(share) for share in (0.0, 0.04, 0.5, 1.0, 1.7)] == [
        "..........",
        "..........",
        "#####.....",
        "##########",
        "##########",
    ]

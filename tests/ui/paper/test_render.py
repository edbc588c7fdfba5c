"""Markdown, cards and the live tail as text."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from agentsh.agent.events import (
    AgentEvent,
    MessageDone,
    Notice,
    TextPart,
    ThinkingPart,
    ToolEnd,
    ToolProgress,
    ToolStart,
    TurnEnd,
    TurnStart,
)
from agentsh.jsontext import JsonObject
from agentsh.messages import BashExecutionMessage, Text, ToolCall, ToolResultMessage, UserMessage
from agentsh.session.format.entries import EntryId
from agentsh.ui.paper.cards import question_text, shell_card, shown_lines
from agentsh.ui.paper.render import Renderer
from agentsh.ui.paper.transcript import Transcript, wrap_tail
from agentsh.ui.terminal import Colours
from agentsh.ui.theme import choose_theme
from tests.ui.fakes import NO_USAGE, answer, call
from tests.ui.screens import terminal

EVIL = "\x1b]52;c;ZXZpbA==\x07\x1b[5n\x1b]8;;http://evil.example/\x07"


def transcript(
    colours: Colours = Colours.NONE, *, columns: int = 40, unicode: bool = True
) -> Transcript:
    target = terminal(colours=colours, columns=columns, unicode=unicode)
    return Transcript(Renderer(target, choose_theme("auto", "dark", colours)), lambda: 0.0)


def bare(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def shown(
    events: Iterable[AgentEvent],
    colours: Colours = Colours.NONE,
    *,
    columns: int = 40,
    unicode: bool = True,
) -> str:
    target = transcript(colours, columns=columns, unicode=unicode)
    for event in events:
        target.feed(event)
    return bare(target.take())


def _ended(
    made: ToolCall, details: JsonObject, text: str = "done", *, is_error: bool = False
) -> ToolEnd:
    result = ToolResultMessage(made.id, made.name, (Text(text), Text(text)), is_error, details)
    return ToolEnd(made, result, EntryId("r"))


def said(text: str) -> tuple[AgentEvent, ...]:
    return TextPart(text), MessageDone(answer(text), EntryId("a"))


ANSWER = """\
# Title
Words with **bold** and `code`
second line

- one
- two
  - nested

1. first
2. second

```python
x = 1

y = 2
```

| a | b |
|---|---|
| 1 | 2 |

> quoted

The [end](http://x.y).
"""

RECORDED = """

Title
Words with bold and code
second line

• one
• two
  • nested

1. first
2. second

  x = 1

  y = 2

 a  b
 ────
 1  2

▌ quoted

The end (http://x.y).
"""


def test_an_answer_as_it_is_printed() -> None:
    assert shown(said(ANSWER)) == RECORDED[1:]


def test_it_is_printed_the_same_however_it_comes() -> None:
    parts = [TextPart(ANSWER[n : n + 3]) for n in range(0, len(ANSWER), 3)]

    assert shown([*parts, MessageDone(answer(ANSWER), EntryId("a"))]) == RECORDED[1:]


@pytest.mark.parametrize(
    "text",
    [
        "a[/b] and [bold]not bold[/bold] and [/]",
        "<b>html</b> &amp; &#27;[2J",
        "[name]: http://x.y",
        "a < b > c",
    ],
)
def test_nothing_of_a_text_is_taken_for_markup_or_lost(text: str) -> None:
    assert text in shown(said(text)).replace("\n", " ")


def test_control_sequences_in_any_text_do_not_arrive() -> None:
    target = transcript(Colours.ANSI)
    bash = call("bash", command=f"echo {EVIL}")
    result = ToolResultMessage(bash.id, "bash", (Text(f"out {EVIL}"),), is_error=True)
    for event in (
        TurnStart(UserMessage((Text(f"go {EVIL}"),)), EntryId("u")),
        ThinkingPart(f"hm {EVIL}"),
        *said(f"text {EVIL}\n\n```{EVIL}\n{EVIL}\n```\n"),
        ToolStart(bash),
        ToolProgress(bash, EVIL),
        ToolEnd(bash, result, EntryId("r")),
        Notice(EVIL),
        TurnEnd("error", None, None, NO_USAGE, error=EVIL, hint=EVIL),
    ):
        target.feed(event)
        assert "\x1b" not in bare("".join(target.tail(20)))
    text = target.take()

    assert re.sub(r"\x1b\[[0-9;]*m", "", text).count("\x1b") == 0
    assert "evil.example/\x07" not in text


def test_body_text_has_no_colour_of_its_own() -> None:
    target = transcript(Colours.ANSI)
    for event in said("plain bodytoken words"):
        target.feed(event)

    assert target.take() == "\nplain bodytoken words\n"


def test_no_colour_still_means_bold() -> None:
    target = transcript(Colours.NONE)
    for event in said("**bold** `code`"):
        target.feed(event)
    codes = re.findall(r"\x1b\[([0-9;]*)m", target.take())

    assert "1" in codes
    assert not [c for code in codes for c in code.split(";") if c.isdigit() and int(c) >= 30]


def test_lines_stay_one_short_of_the_edge() -> None:
    text = shown(said("word " * 100 + "\n\n" + "漢字" * 100 + "\n\n"))

    assert max(len(line.encode("gb18030")) for line in text.split("\n")) <= 39
    assert text.count("漢") == 100


def test_a_terminal_without_unicode_gets_none_of_ours() -> None:
    text = shown([*said("- one\n\n| a | b |\n|---|---|\n| 1 | 2 |")], unicode=False)

    assert text.isascii()


def test_a_card_shows_the_head_and_the_tail_of_an_output() -> None:
    bash = call("bash", command="seq 20")
    output = "\n".join(str(n) for n in range(1, 21))
    result = ToolResultMessage(bash.id, "bash", (Text(output),), is_error=False)

    assert shown([ToolStart(bash), ToolEnd(bash, result, EntryId("r"))]) == (
        "\n● bash  seq 20\n  1\n  2\n  3\n  … 13 lines\n  17\n  18\n  19\n  20\n"
    )


def test_a_card_shows_the_beginning_and_the_end_of_a_new_file() -> None:
    write = call("write", path="a.txt", content="".join(f"line {n}\n" for n in range(20)))
    result = ToolResultMessage(write.id, "write", (Text("Created a.txt"),), False)

    assert shown([ToolEnd(write, result, EntryId("r"))]) == (
        "\n● write  a.txt\n  Created a.txt\n  line 0\n  line 1\n  line 2\n  … 13 lines\n"
        "  line 16\n  line 17\n  line 18\n  line 19\n"
    )


def test_a_card_shows_what_an_edit_changed() -> None:
    edit = call("edit", path="a.txt")
    diff = " 1 one\n-2 two\n+2 TWO"
    result = ToolResultMessage(edit.id, "edit", (Text("done"),), False, {"diff": diff})

    assert shown([ToolEnd(edit, result, EntryId("r"))]) == (
        "\n● edit  a.txt  +1 -1\n   1 one\n  -2 two\n  +2 TWO\n"
    )


@pytest.mark.parametrize(
    ("blocks", "details", "told"),
    [
        (("a\nb\n",), {}, "  · 2 lines"),
        (("a\nb\n\n[Lines 1-2 of 9 shown.]",), {"ash": {"lines": 2}}, "  · 2 lines"),
        (("(empty file)",), {"ash": {"lines": 0}}, "  · 0 lines"),
        (
            ("[The same call.]", "a\nb"),
            {"ash": {"note": True}},
            "\n  the model is told: [The same call.]\n  2 lines",
        ),
        (
            ("[The same call.]", "a\nb\n\n[Lines 1-2 of 9 shown.]"),
            {"ash": {"lines": 2, "note": True}},
            "\n  the model is told: [The same call.]\n  2 lines",
        ),
        (("[no note]", "a"), {"ash": "odd"}, "  · 2 lines"),
    ],
)
def test_a_card_counts_the_lines_of_the_file_and_shows_our_note_apart(
    blocks: tuple[str, ...], details: JsonObject, told: str
) -> None:
    read = call("read", path="f")
    result = ToolResultMessage(read.id, "read", tuple(map(Text, blocks)), False, details)

    assert shown([ToolEnd(read, result, EntryId("r"))]) == f"\n● read  f{told}\n"


LONG = "words that go on and on to the very end of it all"


@pytest.mark.parametrize(
    "events",
    [
        [_ended(call("edit", path="a"), {"diff": f" 1 {LONG}\n-2 {LONG}\n+2 {LONG}"})],
        [_ended(call("bash", command=LONG), {}, LONG, is_error=True)],
        [_ended(call("bash", command=LONG), {"ash": {"note": True}}, LONG)],
        said(f"- {LONG}\n  1. {LONG}\n"),
        [Notice(f"a list:\n  {LONG}")],
    ],
)
def test_q12_what_does_not_fit_goes_on_below_its_own_text_and_breaks_at_words(
    events: list[AgentEvent],
) -> None:
    target = transcript(columns=30)
    for event in events:
        target.feed(event)
    rows = bare(target.take()).split("\n")
    inner = [row for row in rows if row and row[0] not in "●✗┃•a"]

    assert inner
    assert [row for row in inner if not row.startswith("  ")] == []
    assert {word for row in rows for word in row.split()} >= set(LONG.split())


def test_a_prompt_stands_in_a_frame_with_all_its_rows() -> None:
    text = shown([TurnStart(UserMessage((Text(f"{LONG}\n  {LONG} [x]"),)), EntryId("u"))])

    assert [row[:2] for row in text.split("\n") if row] == ["┃ "] * 4
    assert max(map(len, text.split("\n"))) <= 39


def test_call_and_result_are_on_one_row_where_they_fit() -> None:
    short = _ended(call("bash", command="make"), {}, "done")
    short = ToolEnd(
        short.call, ToolResultMessage(short.call.id, "bash", (Text("done\n"),), False), short.entry
    )
    assert shown([short]) == "\n● bash  make  · done\n"
    long = ToolResultMessage(short.call.id, "bash", (Text(LONG[:30]),), False)
    assert shown([ToolEnd(short.call, long, short.entry)]) == f"\n● bash  make\n  {LONG[:30]}\n"


def test_q12_a_question_goes_on_below_its_own_text() -> None:
    target = terminal(columns=30)
    renderer = Renderer(target, choose_theme("none", "dark", Colours.NONE))
    text = bare(question_text(renderer, "bash asks to:", f"  {LONG}", f"+1 {LONG}"))

    assert text == (
        "\nbash asks to:\n  words that go on and on to\n    the very end of it all\n"
        "  +1 words that go on and on\n     to the very end of it\n     all\n"
    )


def test_a_failed_call_is_marked() -> None:
    read = call("read", path="nope")
    result = ToolResultMessage(read.id, "read", (Text("no such file"),), is_error=True)

    assert shown([ToolEnd(read, result, EntryId("r"))]) == "\n✗ read  nope  · no such file\n"


def test_a_progress_bar_shows_its_last_state() -> None:
    assert shown_lines("10%\r50%\r100%\ndone\r\n") == ["100%", "done"]


def test_a_command_of_the_persons_own() -> None:
    target = terminal(columns=60)
    renderer = Renderer(target, choose_theme("none", "dark", Colours.NONE))
    message = BashExecutionMessage("false", "oh\n", exit_code=1, excluded=True)

    assert bare(shell_card(renderer, message)) == (
        "\n!! false\n  oh\n  exit code 1\n  (kept from the model)\n"
    )


def test_the_tail_shows_what_is_not_final_and_is_bounded() -> None:
    target = transcript()
    target.feed(TextPart("first block\n\n" + "word " * 200))

    assert target.take() == "\nfirst block\n\n" + f"{'word ' * 7}word\n" * 24
    assert target.tail(5) == ["word " * 7 + "word"]
    bash = call("bash", command="make")
    target.feed(MessageDone(answer("x"), EntryId("a")))
    target.feed(ToolStart(bash))
    target.feed(ToolProgress(bash, "one\ntwo\n"))
    assert target.tail(5) == ["○ bash: make 0 s", "  one", "  two"]


def test_reasoning_is_folded_into_a_line() -> None:
    text = shown([ThinkingPart("let me think"), TextPart("so"), *said("")])

    assert "let me think" not in text
    assert "thought for 0 s" in text


def test_the_tail_of_a_text_as_a_terminal_would_wrap_it() -> None:
    assert wrap_tail("one\nabcdefgh\n漢字漢字", 4, 3) == ["efgh", "漢字", "漢字"]


def test_streaming_costs_no_more_than_a_bounded_number_of_prints() -> None:
    """Counted: what is printed is the answer once, whatever the size of the parts."""
    text = "word **bold** words\n\n- item\n- item\n\n" * 200
    target = transcript()
    printed = 0
    for at in range(0, len(text), 4):
        target.feed(TextPart(text[at : at + 4]))
        printed += len(target.take())
        assert len("".join(target.tail(6))) <= 6 * 40
    target.feed(MessageDone(answer(text), EntryId("a")))
    printed += len(target.take())
    whole = transcript()
    for event in said(text):
        whole.feed(event)

    assert printed == len(whole.take())


@pytest.mark.parametrize("columns", [40, 200])
def test_a_line_of_code_is_one_line_and_its_tabs_are_blanks(columns: int) -> None:
    long = "kubectl get pods --namespace production --selector app=gateway,tier=front --output wide"
    code = f'func main() {{\n\tfmt.Println("number", i)\n\t\tx\ty\n}}\n{long}'
    target = transcript(columns=columns)
    for event in said(f"```go\n{code}\n```\n"):
        target.feed(event)

    assert [line for line in bare(target.take()).split("\n") if line] == [
        "  func main() {",
        '      fmt.Println("number", i)',
        "          x   y",
        "  }",
        f"  {long}",
    ]

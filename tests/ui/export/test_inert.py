"""Whatever somebody wrote, nothing of it acts in a reader of CommonMark, nor in what follows it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.ui.export.inert import inert
from tests.support.markdown_reader import live_in

IMAGE = "<img src=http://evil.example/x>"
RUNS = "javascript:alert(1)"


@pytest.mark.parametrize(
    ("given_", "made"),
    [
        ("a <b> c", "a &lt;b> c"),
        ("`<b>` and ``a`<b>``", "`<b>` and ``a`<b>``"),
        ("\\`<b>\\`", "\\`&lt;b>\\`"),
        ("![x](https://evil.example/p.png)", "!&#91;x](https://evil.example/p.png)"),
        ("[x](javascript:alert(1))", "[x&#93;(javascript:alert(1))"),
        ("[x](&#106;avascript:alert(1))", "[x&#93;(&#106;avascript:alert(1))"),
        (
            "[x](https://example.com/a:b) [y](docs/a.md)",
            "[x](https://example.com/a:b) [y](docs/a.md)",
        ),
        ("[x]: javascript:alert(1)", "&#91;x]: javascript:alert(1)"),
        ("```html\n<b>\n```\n<i>", "```html\n<b>\n```\n&lt;i>"),
        ("```\nleft open", "```\nleft open\n```"),
        ("~~~\n```\n<b>\n~~~\n<i>", "~~~\n```\n<b>\n~~~\n&lt;i>"),
    ],
)
def test_markdown_stays_and_what_could_act_does_not(given_: str, made: str) -> None:
    assert inert(given_) == made


@pytest.mark.parametrize(
    "text",
    [
        f"`\n- {IMAGE}\n`",
        f"`\n# {IMAGE}\n`",
        f"`\n***\n{IMAGE}\n***\n`",
        f"`a\n \n{IMAGE}\n`",
        f"`a\n> {IMAGE}`",
        f"- a\n  ```\n{IMAGE}\n",
        f"1. a\n   ```\n{IMAGE}\n",
        f"- a\n\n  ~~~\n{IMAGE}\n  ~~~",
        f"\\\\`a` {IMAGE} `b`",
        f"\\``x` {IMAGE} `b`",
        f"a | b\n--|--\n` | {IMAGE} `\n",
        f"> [x](\n> {RUNS})",
        f"> [r]: {RUNS}\n\n[click][r]",
        f"- [r]: {RUNS}",
        f"[a\\]b]: {RUNS}\n\n[click][a\\]b]",
        f"[x\\]({RUNS})",
        f"[x](\n{RUNS})",
        f"<{RUNS}>",
        "> " * 200 + f"`\n{IMAGE}`",
        "[" * 90 + IMAGE,
        "\n" * 50_000 + IMAGE,
        "![" * 90 + "x](y)" * 90,
    ],
)
def test_what_is_code_is_no_guess(text: str) -> None:
    assert live_in(inert(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000 + "<b>",
        "![" * 3000 + "x](y)" * 3000,
        "> " * 3000 + "`<b>`",
        "`<b>`" * 100_000,
    ],
)
def test_what_is_too_deep_or_too_long_to_be_read_is_no_code(text: str) -> None:
    made = inert(text)

    assert "<" not in made
    assert "![" not in made


def test_code_in_a_list_and_between_marks_stays_as_it_was_written() -> None:
    text = "- a\n\n  ```html\n  <b>\n  ```\n\n`List<int>` and\n\n> ```\n> x\n> ```\n"

    assert inert(text) == text


PIECES = st.sampled_from(
    (
        *(
            "`",
            "``",
            "```\n",
            "~~~\n",
            "\n",
            "\n\n",
            "- ",
            "  ",
            "    ",
            "> ",
            "# ",
            "1. ",
            "|",
            "\\",
        ),
        *("[x]", "[r]: ", f"({RUNS})", f"<{RUNS}>", "![x](y)", IMAGE, "--|--\n", "a", " ", "***\n"),
        *("<!--", "-->", "<pre>", "\t", "](", "[", "]", "(", ")", ":", "&lt;", f"[x]({RUNS})"),
    )
)


@given(st.lists(PIECES, max_size=14).map("".join))
def test_nothing_acts_in_any_text_nor_in_what_comes_after_it(text: str) -> None:
    made = f"# title\n\n{inert(text)}\n\n```\n{IMAGE}\n```\n"

    assert live_in(made) == []

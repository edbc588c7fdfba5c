"""Markdown as agents write it: nothing of code in prose is lost, emphasis works in CJK text."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from agentsh.ui.commonmark import AgentMarkdown
from agentsh.ui.export.answers import answer_html
from agentsh.ui.paper.inline import spans_of
from agentsh.ui.paper.rows import text_of


@pytest.mark.parametrize(
    "text",
    [
        "Edit __init__.py and __main__.py; then call __enter__.",
        "from __future__ import x; __FILE__:__LINE__ (__VA_ARGS__)",
        "src/**/*.ts and tests/**/*.ts, **/*.py and **/node_modules/**",
        "*.py and test*.py and *.js",
        "2*3*4 = 24, 2**3**4, a*b*c",
        "f(*args, **kwargs); int *a, char **b; x*y",
        "handlers[name](args) and rows[n](x)",
        "snake_case_name and _private and __dunder",
    ],
)
def test_code_in_the_middle_of_prose_is_shown_as_it_is_written(text: str) -> None:
    assert spans_of(text) == [(text, "")]
    assert answer_html(text).count("<") == 4, "a paragraph and nothing else"


@pytest.mark.parametrize(
    ("text", "bold"),
    [
        ("これは**「重要」**な点です。", ["「重要」"]),
        ("**「A」**なので**「B」**", ["「A」", "「B」"]),
        ("**注意：**正文", ["注意："]),
        ('这是**"取出并重置"模式**。', ['"取出并重置"模式']),
        ("**日本語の文章（括弧付き）。**この文が続きます。", ["日本語の文章（括弧付き）。"]),
        ("한국어**(굵게)**입니다", ["(굵게)"]),
        ("these are **bold**, **Note:** this, **two words**s", ["bold", "Note:", "two words"]),
        ("**Input**/**Output** of **/help** and __Note__", ["Input", "Output", "/help", "Note"]),
        ("**`src/**/*.ts`** is code", []),
    ],
)
def test_emphasis_is_seen_where_it_is_meant(text: str, bold: list[str]) -> None:
    assert [said for said, look in spans_of(text) if look == "bold"] == bold
    assert "**" not in text_of([span for span in spans_of(text) if span[1] != "bold code"])
    assert all(
        f"<strong>{said.replace(chr(34), '&quot;')}</strong>" in answer_html(text) for said in bold
    )


@pytest.mark.parametrize(
    "text", ["*it* and **b *both* b**", "a [name](https://a.example/x) b", "~~gone~~ _it_ ***x***"]
)
def test_all_else_is_read_as_commonmark_has_it(text: str) -> None:
    ours = AgentMarkdown({"html": False}).enable("strikethrough")
    assert ours.render(text) == MarkdownIt("commonmark").enable("strikethrough").render(text)


def test_a_link_of_the_web_directly_behind_a_word_is_one() -> None:
    assert ("https://a.example", "quiet") in spans_of("word[1](https://a.example)")

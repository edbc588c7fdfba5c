"""Answers in the page: Markdown is elements, and nothing of it acts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.ui.export.answers import answer_html
from tests.support.markdown_reader import Live


def bare(text: str) -> str:
    shown = answer_html(text).removeprefix('<div class="prose">').removesuffix("</div>")
    return shown.replace("\n", "")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# Herons\n\nare **big** and _shy_, ~~not~~ `a<b`", None),
        ("- one\n- two", "<ul><li>one</li><li>two</li></ul>"),
        ("3. three", '<ol start="3"><li>three</li></ol>'),
        ("```py\nx < 1\n```", "<pre><code>x &lt; 1</code></pre>"),
        ("> said", "<blockquote><p>said</p></blockquote>"),
        ("one\ntwo", "<p>one<br>two</p>"),
        (
            "|a|b|\n|-|-|\n|1|2|",
            "<table><thead><tr><th>a</th><th>b</th></tr></thead>"
            "<tbody><tr><td>1</td><td>2</td></tr></tbody></table>",
        ),
        (
            "[x](https://a.b/?c&d)",
            '<p><a href="https://a.b/?c&amp;d" rel="noreferrer noopener">x</a></p>',
        ),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>"),
        ("[x](/etc/passwd)", "<p>[x](/etc/passwd)</p>"),
        ("a <b>bold</b> one", "<p>a &lt;b&gt;bold&lt;/b&gt; one</p>"),
        ("![heron](http://x/y.png)", "<p>![heron](http://x/y.png)</p>"),
    ],
)
def test_markdown_becomes_elements(text: str, shown: str | None) -> None:
    if shown is None:
        assert bare(text) == (
            "<h4>Herons</h4><p>are <strong>big</strong> and <em>shy</em>, <s>not</s> "
            "<code>a&lt;b</code></p>"
        )
    else:
        assert bare(text) == shown


MARKUP = st.sampled_from(
    [*'<>[]()!`*_~|#->"&: \n', "javascript:", "&colon;", "<script>", "![", "](", "http://a"]
)


@given(st.lists(MARKUP | st.text(max_size=5), max_size=40).map("".join))
def test_nothing_acts_whatever_is_written(text: str) -> None:
    page = Live()
    page.feed(answer_html(text))
    page.close()

    ours = ("div", "a rel")
    assert [each for each in page.found if each not in ours] == []


@pytest.mark.parametrize("text", ["> " * 5000 + "x", "[" * 100_000, "x" * 300_000, "*" * 20_000])
def test_what_is_made_to_take_long_stays_text(text: str) -> None:
    assert len(answer_html(text)) < 20 * len(text) + 1000

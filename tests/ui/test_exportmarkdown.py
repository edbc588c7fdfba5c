"""Markdown exports: complete, and inert in whatever renders them."""

from __future__ import annotations

import html.parser
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.ui.document import Document, make_document
from agentsh.ui.exportmarkdown import fenced, inert, render_markdown

Json = dict[str, Any]


def message(name: str, parent: str | None, **told: Any) -> Json:
    base = {"type": "message", "id": name, "parentId": parent, "timestamp": "2026-01-01T00:00:00Z"}
    return {**base, "message": told}


def document(*lines: Json) -> Document:
    return make_document(iter(lines), session="s-1", cwd="/home/user/p", created="2026-01-01")


def talk() -> Document:
    return document(
        message("u1", None, role="user", content="look **here**"),
        message(
            "a1",
            "u1",
            role="assistant",
            content=[
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "I look."},
                {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "ls"}},
            ],
        ),
        message(
            "r1", "a1", role="toolResult", toolCallId="c1", toolName="bash", content="```\nx\n```"
        ),
        message("x1", "a1", role="user", content="another branch"),
        {"type": "label", "id": "l1", "parentId": "r1", "targetId": "u1", "label": "start"},
        {"type": "session_info", "id": "n1", "parentId": "l1", "name": "a name"},
    )


def test_a_path_is_told_in_order_with_each_result_at_its_call() -> None:
    text = "".join(render_markdown(talk()))

    assert text == (
        "# a name\n\n"
        "- Session: `s-1`\n- Folder: `/home/user/p`\n- Begun: 2026-01-01\n"
        "- On other branches, and not shown here: 1 messages\n"
        "\n**[start]**\n"
        "\n## Prompt\n\nlook **here**\n"
        "\n## Answer\n\n*Thinking*\n\n```\nhm\n```\n\nI look.\n\n"
        "**bash**\n\n```sh\nls\n```\n\n````\n```\nx\n```\n````\n"
    )


@pytest.mark.parametrize(
    ("given_", "made"),
    [
        ("a <b> c", "a &lt;b> c"),
        ("`<b>` and ``a`<b>``", "`<b>` and ``a`<b>``"),
        ("\\`<b>\\`", "\\`&lt;b>\\`"),
        ("![x](https://evil.example/p.png)", "!\\[x](https://evil.example/p.png)"),
        ("[x](javascript:alert(1))", "[x\\](javascript:alert(1))"),
        ("[x](&#106;avascript:alert(1))", "[x\\](&#106;avascript:alert(1))"),
        (
            "[x](https://example.com/a:b) [y](docs/a.md)",
            "[x](https://example.com/a:b) [y](docs/a.md)",
        ),
        ("[x]: javascript:alert(1)", "\\[x]: javascript:alert(1)"),
        ("```html\n<b>\n```\n<i>", "```html\n<b>\n```\n&lt;i>"),
        ("```\nleft open", "```\nleft open\n```"),
        ("~~~\n```\n<b>\n~~~\n<i>", "~~~\n```\n<b>\n~~~\n&lt;i>"),
    ],
)
def test_markdown_stays_and_what_could_act_does_not(given_: str, made: str) -> None:
    assert inert(given_) == made


@given(st.text(st.sampled_from("`~ \nab<"), max_size=60))
def test_nothing_ends_a_fence_from_inside(text: str) -> None:
    first, *inside, last = fenced(text).split("\n")

    assert first == last
    assert not [line for line in inside if line.lstrip(" ").startswith(first)]


class _Tags(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)


@given(st.text(st.sampled_from("<>/scriptb`!-=\"' \n"), max_size=80))
def test_outside_of_code_there_is_no_tag(text: str) -> None:
    made = inert(text.replace("`", ""))
    tags = _Tags()
    tags.feed(re.sub(r"(?ms)^~~~.*?^~~~", "", made))

    assert tags.found == []

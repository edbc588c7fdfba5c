"""A page: every text is on it, nothing of it is markup, each entry of the tree can be jumped to."""

from __future__ import annotations

import base64
import hashlib
import html.parser
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from agentsh.ui.export.document import Document, make_document
from agentsh.ui.export.html import render_html
from agentsh.ui.export.style import STYLE
from tests.interop.pi.trees import Grower
from tests.session.exchange.test_subset import parsed
from tests.ui.export.test_markdown import document, message, talk

EVIL = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "</style></title><svg/onload=alert(3)>",
    '"><a href="javascript:alert(4)">',
    "```html\n<script>alert(5)</script>\n```",
    "`</code><script>alert(6)</script>`",
    "<!--><script>alert(7)</script-->",
    "[x](javascript:alert(8)) [y](JaVaScRiPt&colon;alert(9)) [z](data:text/html,x) [w](/etc)",
    "[a]: javascript:alert(10)\n\n[a] ![p](http://x/y.png) <javascript:alert(11)> <http://x/>",
    "> - 1. **b** _i_ ~~s~~\n\n|a|b|\n|-|-|\n|<b>|`<i>`|\n\n# h\n***\n",
)


class Page(html.parser.HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def page(shown: Document) -> Page:
    return Page("".join(render_html(shown)))


ALLOWED = {
    *("html", "head", "meta", "title", "style", "body", "a", "nav", "h1", "h2", "h3", "fieldset"),
    *("legend", "label", "input", "ol", "li", "span", "main", "header", "p", "article", "div"),
    *("code", "pre", "details", "summary", "section", "img"),
    *("strong", "em", "s", "ul", "h4", "h5", "h6", "blockquote", "table", "thead", "tbody", "tr"),
    *("th", "td", "hr", "br"),
}


@given(st.lists(st.text(max_size=30) | st.sampled_from(EVIL), min_size=1, max_size=5))
@settings(max_examples=60)
def test_whatever_is_said_stays_text(texts: list[str]) -> None:
    said = "\n".join(texts)
    call = {"type": "toolCall", "id": said, "name": said, "arguments": {said: said}}
    shown = page(
        document(
            message("u1", None, role="user", content=said),
            message("a1", "u1", role="assistant", content=[{"type": "text", "text": said}, call]),
            message("r1", "a1", role="toolResult", toolCallId=said, toolName=said, content=said),
            message(said or "x", "r1", role="bashExecution", command=said, output=said),
            {"type": "label", "id": "l", "parentId": said or "x", "targetId": "u1", "label": said},
            {"type": "session_info", "id": "n", "parentId": "l", "name": said},
        )
    )

    assert {tag for tag, _ in shown.tags} <= ALLOWED
    for _, attributes in shown.tags:
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        assert (attributes.get("href") or "#").startswith(("#", "http://", "https://", "mailto:"))
        assert "src" not in attributes


def test_the_policy_forbids_everything_but_this_style_and_images_in_the_page() -> None:
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    [policy] = [a["content"] for t, a in page(talk()).tags if t == "meta" and "http-equiv" in a]

    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; "
        "form-action 'none'; base-uri 'none'"
    )


@given(st.integers(0, 2**16))
@settings(max_examples=30)
def test_every_line_of_the_tree_leads_somewhere_and_no_two_places_share_a_name(seed: int) -> None:
    grower = Grower(seed)
    grower.grow(30)
    header, *lines = parsed(grower.lines)
    shown = page(make_document(iter(lines), session=header["id"], cwd="/", created="t"))

    names = [a["id"] for _, a in shown.tags if a.get("id")]
    jumps = [str(a["href"])[1:] for t, a in shown.tags if t == "a"]
    assert len(names) == len(set(names))
    assert set(jumps) <= set(names)


def test_side_branches_follow_with_a_link_to_where_they_leave() -> None:
    shown = "".join(render_html(talk()))

    section = shown.partition('<section class="branch">')[2]
    assert re.search(r'A branch that leaves <a href="#e1">here</a>', section)
    assert "another branch" in section


def test_what_is_hidden_from_the_model_is_struck_in_the_tree_and_said_of_its_text() -> None:
    hidden = message("00000001", None, role="user", content="hide me")
    kept = message("00000002", "00000001", role="user", content="keep me")
    line = {"type": "context_edit", "id": "00000003", "parentId": "00000002", "timestamp": "t"}
    edit = {"targetId": "00000001", "replacement": None}
    shown = "".join(render_html(document(hidden, kept, {**line, **edit})))

    assert "(hidden) <s>you: hide me</s>" in shown
    assert shown.count("<s>") == 1
    assert shown.count("hidden for the model") == 1


def test_only_images_that_are_images_are_shown() -> None:
    blocks = [
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {"type": "image", "data": "aGk=", "mimeType": "image/svg+xml"},
        {"type": "image", "data": '"><script>', "mimeType": "image/png"},
        {"type": "image", "data": "https://evil.example/x.png", "mimeType": "image/png"},
    ]
    shown = page(document(message("u1", None, role="user", content=blocks)))

    sources = [a["src"] for t, a in shown.tags if t == "img"]
    assert sources == ["data:image/png;base64,aGk="]

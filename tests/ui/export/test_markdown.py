"""Markdown exports: complete, and inert in whatever renders them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.ui.export.document import Document, make_document
from agentsh.ui.export.markdown import render_markdown
from agentsh.views.fences import fenced
from tests.support.markdown_reader import live_in

Json = dict[str, Any]


def live(document: Document) -> list[str]:
    return live_in("".join(render_markdown(document)))


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


@given(st.text(st.sampled_from("`~ \nab<"), max_size=60))
def test_nothing_ends_a_fence_from_inside(text: str) -> None:
    first, *inside, last = fenced(text).split("\n")

    assert first == last
    assert not [line for line in inside if line.lstrip(" ").startswith(first)]


@pytest.mark.parametrize("before", ["", "``` ", "~~~", "`", "> ``` ", "- ", "[", "\\", "<!--"])
def test_no_word_of_a_session_acts_wherever_it_stands(before: str) -> None:
    mark = f"{before}<img src=//e.example>"
    told = [
        message(
            "u1", None, role="user", content=[{"type": "image", "mimeType": mark, "data": "AA=="}]
        ),
        message(
            "a1",
            "u1",
            role="assistant",
            content=[{"type": "toolCall", "id": "c1", "name": mark, "arguments": {"x": mark}}],
            stopReason=mark,
            errorMessage=mark,
        ),
        message("r1", "a1", role="toolResult", toolCallId="c9", toolName=mark, content=mark),
        {"type": "model_change", "id": "m1", "parentId": "r1", "provider": mark, "modelId": mark},
        {
            "type": "custom_message",
            "id": "k1",
            "parentId": "m1",
            "customType": mark,
            "content": mark,
            "display": True,
        },
        {"type": "label", "id": "l1", "parentId": "k1", "targetId": "u1", "label": mark},
        {"type": "session_info", "id": "n1", "parentId": "l1", "name": mark},
    ]
    made = make_document(iter(told), session=f"`{mark}", cwd=f"`{mark}", created=mark)

    assert live(made) == []


def test_what_an_answer_leaves_open_does_not_open_what_comes_after_it() -> None:
    made = document(
        message(
            "a1",
            None,
            role="assistant",
            content=[
                {"type": "text", "text": "- a list"},
                {"type": "text", "text": "  ```\n<img src=x>\n  ```"},
                {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "<b>"}},
            ],
        ),
        message(
            "r1", "a1", role="toolResult", toolCallId="c1", toolName="bash", content="<img src=x>"
        ),
    )

    assert live(made) == []


@pytest.mark.parametrize("name", ["```", "~~~", "``` x"])
def test_a_name_opens_no_block_for_what_comes_after_it(name: str) -> None:
    made = document(
        message("u1", None, role="user", content=f"{name[:3]}\n<img src=x>\n{name[:3]}"),
        {"type": "session_info", "id": "n1", "parentId": "u1", "name": name},
    )

    assert live(made) == []


def test_summaries_are_sections_of_their_own() -> None:
    text = "".join(
        render_markdown(
            document(
                message("u1", None, role="user", content="one"),
                {"type": "branch_summary", "id": "b1", "parentId": "u1", "summary": "it was left"},
                {
                    "type": "compaction",
                    "id": "c1",
                    "parentId": "b1",
                    "summary": "so far <b>this</b>",
                    "firstKeptEntryId": "u1",
                    "tokensBefore": 1,
                },
            )
        )
    )

    assert "## Summary of a branch that was left\n\nit was left" in text
    assert "## Summary of what came before\n\nso far " in text
    assert "<b>" not in text

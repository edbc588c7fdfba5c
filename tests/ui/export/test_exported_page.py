"""An exported page in a real browser: inert, complete in itself, usable by keyboard."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.program import agentsh, make_talk
from tests.support.browser import Browser, find_browser

ROOT = Path(__file__).resolve().parent.parent.parent.parent
EVIL = (
    "<script>alert(1)</script> <img src=x onerror=alert(2)> [x](javascript:alert(3)) "
    "![p](http://127.0.0.1:9/pixel.png) </style></title></textarea><svg onload=alert(4)> "
    "<iframe src=//127.0.0.1:9></iframe> \n```html\n<script>alert(5)</script>\n```\n"
)

pytestmark = [
    pytest.mark.interop,
    pytest.mark.skipif(find_browser() is None, reason="no Chromium on this machine"),
]


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    program = find_browser()
    assert program is not None
    with Browser(program, tmp_path / "profile") as found:
        yield found


def exported(session: Path, to: Path) -> Path:
    done = agentsh("export", str(session), "--raw", "--to", str(to))
    assert done.code == 0, done.err
    return to


def test_scripts_of_a_session_stay_text_and_nothing_is_fetched(
    browser: Browser, tmp_path: Path
) -> None:
    talk = make_talk(tmp_path, f"prompt {EVIL}")
    agentsh("rename", str(talk.path), EVIL)
    page = exported(talk.path, tmp_path / "page.html")

    browser.open(page)

    assert browser.complaints == []
    assert browser.requests == [page.as_uri()]
    assert browser.evaluate("document.scripts.length") == 0
    assert browser.evaluate("document.querySelectorAll('img, iframe, svg').length") == 0
    shown = browser.evaluate("document.body.innerText")
    assert "<img src=x onerror=alert(2)>" in shown
    assert "alert(5)" in shown


def test_the_policy_of_the_page_would_stop_a_script_that_came_in(
    browser: Browser, tmp_path: Path
) -> None:
    """As if the escaping had a hole."""
    talk = make_talk(tmp_path, "hello")
    page = exported(talk.path, tmp_path / "page.html")
    holed = page.read_text("utf-8").replace(
        "</main>",
        "<script>document.title='ran'</script><img src=x onerror=\"document.title='ran'\"></main>",
    )
    page.write_text(holed, "utf-8")

    browser.open(page)

    assert "ran" not in browser.evaluate("document.title")
    assert browser.complaints != []


def test_the_tree_is_used_by_keyboard(browser: Browser, tmp_path: Path) -> None:
    page = exported(ROOT / "sessions.example/branched.jsonl", tmp_path / "page.html")
    browser.open(page)

    seen: list[str] = []
    for _ in range(40):
        browser.press("Tab")
        seen.append(browser.evaluate("document.activeElement.innerText"))
        if seen[-1].endswith("agent: bittern"):
            break
    browser.press("Enter")

    assert seen[0] == "Skip to the conversation"
    assert "rarest" in seen[-1]  # the entry's label
    target = browser.evaluate("document.querySelector(location.hash).innerText")
    assert "bittern" in target


def test_a_folded_call_is_opened_by_keyboard_and_by_a_jump_into_it(
    browser: Browser, tmp_path: Path
) -> None:
    page = exported(ROOT / "sessions.example/branched.jsonl", tmp_path / "page.html")
    browser.open(page)
    is_open = "document.querySelector('main article details[id]').open"
    assert browser.evaluate(is_open) is False

    browser.evaluate("document.querySelector('main article details[id] summary').focus()")
    browser.press("Enter")

    assert browser.evaluate(is_open) is True
    number = browser.evaluate("document.querySelector('main article details[id]').id")
    assert browser.evaluate(f"!!document.querySelector('nav a[href=\"#{number}\"]')") is True


@pytest.mark.parametrize(
    ("filter_", "hidden", "shown"),
    [
        ("show-prompts", "nav li.tool", "nav li.prompt"),
        ("show-talk", "main .tool", "nav li.prompt"),
    ],
)
def test_filters_need_no_script(
    browser: Browser, tmp_path: Path, filter_: str, hidden: str, shown: str
) -> None:
    page = exported(ROOT / "sessions.example/branched.jsonl", tmp_path / "page.html")
    browser.open(page)
    display = "getComputedStyle(document.querySelector({})).display"
    assert browser.evaluate(display.format(json.dumps(hidden))) != "none"

    browser.evaluate(f"document.getElementById('{filter_}').focus()")
    browser.press(" ")

    assert browser.evaluate(display.format(json.dumps(hidden))) == "none"
    assert browser.evaluate(display.format(json.dumps(shown))) != "none"


def test_light_and_dark_follow_the_reader(browser: Browser, tmp_path: Path) -> None:
    page = exported(ROOT / "sessions.example/branched.jsonl", tmp_path / "page.html")
    backs = []
    for scheme in ("light", "dark"):
        media = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.call("Emulation.setEmulatedMedia", features=media)
        browser.open(page)
        backs.append(browser.evaluate("getComputedStyle(document.body).backgroundColor"))

    assert backs == ["rgb(253, 253, 251)", "rgb(21, 23, 26)"]


def test_an_answer_is_shown_as_it_is_meant(browser: Browser, tmp_path: Path) -> None:
    said = "# Herons\n\n| a | b |\n|---|---|\n| 1 | **2** |\n\n- one\n- [two](https://a.b/)\n"
    talk = make_talk(tmp_path, said)  # the answer says it again
    page = exported(talk.path, tmp_path / "page.html")

    browser.open(page)

    inside = "document.querySelector('main article:not(.you) .prose {}')"
    assert browser.evaluate(inside.format("td strong") + ".innerText") == "2"
    assert browser.evaluate(inside.format("li a") + ".href") == "https://a.b/"
    # a table has lines, and the prompt stands as it was typed
    border = f"getComputedStyle({inside.format('td')}).borderTopWidth"
    assert browser.evaluate(border) == "1px"
    assert "| 1 | **2** |" in browser.evaluate("document.querySelector('article.you').innerText")

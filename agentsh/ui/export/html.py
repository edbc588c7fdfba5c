"""A session as one page of HTML that needs nothing else and does nothing by itself. Pure.

No script is in the page, and its policy forbids any: the tree is a list of anchors, folding is
`details`, filters are radio buttons, search is the browser's own, which opens what is folded. Every
piece of text is escaped; elements and attributes are spelled here and, of an answer's Markdown, in
answers.py (X04); a prompt stands as it was typed. The
active path comes first, each side branch follows with a link to where it leaves.
Read next: document.py, style.py.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from agentsh.context.hiding import Edited
from agentsh.jsontext import dumps_text
from agentsh.messages import (
    AssistantMessage,
    BashExecutionMessage,
    Image,
    Message,
    SystemMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserBlock,
    UserMessage,
)
from agentsh.sanitize import safe_line, safe_text
from agentsh.session.format.entries import (
    BranchSummary,
    Compaction,
    CustomMessage,
    Entry,
    EntryId,
    MessageBody,
    ModelChange,
)
from agentsh.session.format.times import utc_minute
from agentsh.ui.export.answers import answer_html
from agentsh.ui.export.document import Document, Pairs, pair_results
from agentsh.ui.export.style import STYLE
from agentsh.ui.tree.outline import Outline, build_outline
from agentsh.ui.tree.treetext import who
from agentsh.views.describe import blocks_text, call_line, message_text
from agentsh.views.treeitem import TreeItem, tree_items

_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_FENCED = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n(.*?)(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.M | re.S)
_CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_DEEPEST = 6


def render_html(document: Document) -> Iterator[str]:
    """Pieces of the file."""
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; "
        "form-action 'none'; base-uri 'none'"
    )
    title = _text(safe_line(document.title, 200))
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        '<a class="skip" href="#main">Skip to the conversation</a>\n'
    )
    items = tree_items(document.entries, document.labels, document.path, document.cwd)
    outline = build_outline(items, document.path)
    page = _Page(document, {item.id: item.edited for item in items if item.edited is not None})
    yield from page.tree(outline)
    yield f'<main id="main">\n<header>\n<h1>{title}</h1>\n'
    yield f"<p>{_text(safe_line(document.cwd))} · {_text(safe_line(document.created))}</p>\n"
    yield "<p>Find with the browser’s own search: it looks into folded parts, too.</p>\n</header>\n"
    yield from page.section(document.on_path())
    yield from page.branches(outline)
    yield "</main>\n</body>\n</html>\n"


class _Page:
    def __init__(self, document: Document, edited: Mapping[EntryId, Edited]) -> None:
        self._document = document
        self._edited = edited
        self._numbers = {entry.id: n for n, entry in enumerate(document.entries)}
        self._entries = {entry.id: entry for entry in document.entries}
        self._done: set[EntryId] = set()

    # ---- the tree ------------------------------------------------------------------------------

    def tree(self, outline: Outline) -> Iterator[str]:
        yield '<nav aria-label="Tree">\n<h2>Tree</h2>\n<fieldset>\n<legend>Show</legend>\n'
        for word, name in (("all", "all"), ("talk", "no tools"), ("prompts", "prompts")):
            checked = " checked" if word == "all" else ""
            button = f'<input type="radio" name="show" id="show-{word}"{checked}>'
            yield f"<label>{button} {name}</label>\n"
        yield "</fieldset>\n<ol>\n"
        for line, item in enumerate(outline.items):
            yield self._tree_line(outline, line, item)
        yield "</ol>\n</nav>\n"

    def _tree_line(self, outline: Outline, line: int, item: TreeItem) -> str:
        classes = [f"d{min(outline.depths[line], _DEEPEST)}"]
        if item.id in outline.path:
            classes.append("path")
        if item.id == outline.leaf:
            classes.append("leaf")
        if item.role == "user":
            classes.append("prompt")
        if item.role == "toolResult" or item.only_calls:
            classes.append("tool")
        label = "" if item.label is None else f'<span class="label">{_text(item.label)}</span> '
        branch = "↳ " if outline.opens[line] else ""
        current = ' aria-current="true"' if item.id == outline.leaf else ""
        said = f"{_text(who(item))}: {_text(item.text)}"
        if item.edited is not None:
            said = f"({item.edited}) <s>{said}</s>"
        return (
            f'<li class="{" ".join(classes)}">'
            f'<a href="#e{self._numbers[item.id]}"{current}>{branch}{label}{said}</a></li>\n'
        )

    # ---- the conversation ----------------------------------------------------------------------

    def branches(self, outline: Outline) -> Iterator[str]:
        """What is not on the active path, one section a branch."""
        run: list[Entry] = []
        for line, item in enumerate(outline.items):
            if item.id in outline.path or outline.opens[line]:
                yield from self._branch(run)
                run = []
            if item.id not in outline.path:
                run.append(self._entries[item.id])
        yield from self._branch(run)

    def _branch(self, run: Sequence[Entry]) -> Iterator[str]:
        if not run:
            return
        above = run[0].parent
        while above is not None and above in self._entries and above not in self._done:
            above = self._entries[above].parent
        origin = "the beginning"
        if above in self._numbers and above is not None:
            origin = f'<a href="#e{self._numbers[above]}">here</a>'
        yield f'<section class="branch">\n<h2>A branch that leaves {origin}</h2>\n'
        yield from self.section(run)
        yield "</section>\n"

    def section(self, entries: Sequence[Entry]) -> Iterator[str]:
        pairs = pair_results(entries)
        for entry in entries:
            self._done.add(entry.id)
            match entry.body:
                case MessageBody(AssistantMessage() as message):
                    yield self._answer(entry, message, pairs)
                case MessageBody(ToolResultMessage() as message):
                    if entry.id not in pairs.placed:
                        yield self._article(entry, "result", self._result(message), "tool")
                case MessageBody(message):
                    yield self._message(entry, message)
                case _:
                    yield self._other(entry)

    def _message(self, entry: Entry, message: Message) -> str:
        match message:
            case UserMessage(content):
                return self._article(entry, "prompt", _blocks(content), "you")
            case BashExecutionMessage(command, output):
                shown = f"<pre>$ {_text(command)}\n{_text(output)}</pre>"
                return self._article(entry, "shell", shown, "tool")
            case SystemMessage():
                shown = _folded("system prompt", f"<pre>{_text(message_text(message))}</pre>")
                return self._article(entry, "", shown, "tool")
            case _:
                return self._article(entry, "message", _told(message_text(message)))

    def _other(self, entry: Entry) -> str:
        match entry.body:
            case Compaction(summary=summary):
                return self._article(entry, "summary of what came before", answer_html(summary))
            case BranchSummary(summary=summary):
                shown = answer_html(summary)
                return self._article(entry, "summary of a branch that was left", shown)
            case CustomMessage(kind, content, True):
                return self._article(entry, _text(safe_line(kind, 60)), _blocks(content))
            case ModelChange(provider, model):
                name = _text(safe_line(f"{provider}/{model}", 120))
                return f'<p class="note" id="e{self._numbers[entry.id]}">model: {name}</p>\n'
            case _:
                return f'<span id="e{self._numbers[entry.id]}"></span>\n'

    def _article(self, entry: Entry, who_says: str, content: str, kind: str = "") -> str:
        number = self._numbers[entry.id]
        label = self._document.labels.get(entry.id)
        marked = (
            "" if label is None else f' <span class="label">{_text(safe_line(label, 60))}</span>'
        )
        marked += self._said_of_edit(entry)
        time = _text(safe_line(utc_minute(entry.time), 20))
        head = f'<h3><a href="#e{number}">{who_says} {time}</a>{marked}</h3>'
        return f'<article id="e{number}" class="{kind}">{head}\n{content}</article>\n'

    def _said_of_edit(self, entry: Entry) -> str:
        """That the model is not sent it, or other words, where the path ends."""
        edited = self._edited.get(entry.id)
        return "" if edited is None else f' <span class="note">{edited} for the model</span>'

    def _answer(self, entry: Entry, message: AssistantMessage, pairs: Pairs) -> str:
        parts: list[str] = []
        for number, block in enumerate(message.content):
            match block:
                case Text(text) if text.strip():
                    parts.append(answer_html(text))
                case Thinking(thinking) if thinking.strip():
                    parts.append(_folded("thinking", f"<pre>{_text(thinking)}</pre>"))
                case ToolCall():
                    parts.append(self._call(block, pairs.results.get((entry.id, number))))
                case _:
                    continue
        if message.error_message:
            reason = _text(f"{message.stop_reason}: {message.error_message}")
            parts.append(f'<p class="bad">{reason}</p>')
        return self._article(entry, "answer", "\n".join(parts) + "\n")

    def _call(self, call: ToolCall, result: Entry | None) -> str:
        asked = f"<pre>{_text(call.raw_arguments or dumps_text(call.arguments))}</pre>"
        came, anchor, failed = '<p class="note">no result</p>', "", ""
        if result is not None:
            assert isinstance(result.body, MessageBody)
            assert isinstance(result.body.message, ToolResultMessage)
            came = self._result(result.body.message)
            anchor = f' id="e{self._numbers[result.id]}"'
            failed = ' <span class="bad">failed</span>' if result.body.message.is_error else ""
            failed += self._said_of_edit(result)
        return _folded(_text(call_line(call)) + failed, asked + came, anchor)

    def _result(self, message: ToolResultMessage) -> str:
        pictures = "".join(_picture(b) for b in message.content if isinstance(b, Image))
        texts = tuple(b for b in message.content if isinstance(b, Text))
        return f"<pre>{_text(blocks_text(texts))}</pre>{pictures}"


def _folded(title: str, inside: str, anchor: str = "") -> str:
    return f'<details class="tool"{anchor}><summary>{title}</summary>{inside}</details>'


def _blocks(content: tuple[UserBlock, ...]) -> str:
    return "".join(_picture(b) if isinstance(b, Image) else _told(b.text) for b in content)


def _picture(image: Image) -> str:
    try:
        data = base64.b64decode(image.data, validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if image.mime_type not in _PICTURES or not data:
        return f'<p class="note">({_text(safe_line(image.mime_type, 40))} image)</p>'
    whole = base64.b64encode(data).decode()
    return f'<p><img alt="an image of the session" src="data:{image.mime_type};base64,{whole}"></p>'


def _told(text: str) -> str:
    """Text as it was written; fences become blocks, code in a line is set as such."""
    text = safe_text(text)
    parts: list[str] = []
    end_before = 0
    for block in _FENCED.finditer(text):
        parts += [_running(text[end_before : block.start()]), f"<pre>{escape(block[2])}</pre>"]
        end_before = block.end()
    parts.append(_running(text[end_before:]))
    return "".join(parts)


def _running(text: str) -> str:
    if not text.strip():
        return ""
    marked = _CODE.sub(r"<code>\1</code>", escape(text.strip("\n")))
    return f'<div class="told">{marked}</div>'


def _text(text: str) -> str:
    """The one way that foreign text takes into the page."""
    return escape(safe_text(text))

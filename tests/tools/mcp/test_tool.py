"""What a result of a server becomes: text within its limits, pictures, bytes in files, notes."""

from __future__ import annotations

import base64
import stat
from pathlib import Path

from msgspec import Struct

from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import Image, Text, ToolSchema
from agentsh.tools.base import Effect, ServedTool, ToolContext, ToolOutcome
from agentsh.tools.mcp.tool import McpTool, ServerAnswer
from tests.support.pictures import png
from tests.support.tooling import Bench

PICTURE = base64.b64encode(png(3, 2)).decode()


class Answering(Struct):
    """Satisfies Caller: one answer, and what was asked."""

    answer: ServerAnswer
    asked: list[tuple[str, str, JsonObject]]

    def call(
        self, server: str, tool: str, arguments: JsonObject, context: ToolContext
    ) -> ServerAnswer:
        self.asked.append((server, tool, arguments))
        return self.answer


def result_of(
    folder: Path, *content: JsonValue, note: str = "", **members: JsonValue
) -> ToolOutcome:
    answer = ServerAnswer({"content": [*content], **members}, note)
    caller = Answering(answer, [])
    schema = ToolSchema("mcp__birds__count", "Count birds", {"type": "object"})
    tool = McpTool(schema, Effect.EXEC, ServedTool("birds", "count", "digest"), caller)
    outcome = tool.run({"bird": "heron"}, context_in(folder))
    assert caller.asked == [("birds", "count", {"bird": "heron"})]
    return outcome


def context_in(folder: Path) -> ToolContext:
    return Bench(folder, folder, folder / "outputs").context()


def text_of(outcome: ToolOutcome) -> str:
    first = outcome.content[0]
    assert isinstance(first, Text)
    return first.text


def said(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def test_texts_keep_their_order_and_what_the_server_calls_an_error_is_one(tmp_path: Path) -> None:
    outcome = result_of(tmp_path, said("three"), said("herons"), isError=True)

    assert (text_of(outcome), outcome.is_error) == ("three\n\nherons", True)


def test_a_result_without_content_says_so(tmp_path: Path) -> None:
    assert text_of(result_of(tmp_path)) == "(no content)"


def test_what_is_odd_about_an_answer_stands_behind_it(tmp_path: Path) -> None:
    outcome = result_of(tmp_path, said("three"), note="it breaks its own schema")

    assert text_of(outcome) == "three\n\n[it breaks its own schema]"


def test_a_picture_is_given_and_named(tmp_path: Path) -> None:
    picture: JsonObject = {"type": "image", "data": PICTURE, "mimeType": "image/png"}

    outcome = result_of(tmp_path, said("look"), picture)

    assert text_of(outcome).startswith("look")
    assert outcome.content[1:] == (Image(PICTURE, "image/png"),)


def test_more_pictures_than_a_result_holds_are_counted(tmp_path: Path) -> None:
    picture: JsonObject = {"type": "image", "data": PICTURE, "mimeType": "image/png"}

    outcome = result_of(tmp_path, *([picture] * 23))

    assert len(outcome.content) == 1 + 20
    assert "[of 23 pictures the first 20 are given]" in text_of(outcome)


def test_bytes_that_no_model_takes_are_kept_privately_and_named(tmp_path: Path) -> None:
    data = base64.b64encode(b"RIFF heron").decode()
    sound: JsonObject = {"type": "audio", "data": data, "mimeType": "audio/wav"}

    outcome = result_of(tmp_path, sound)

    [kept] = (tmp_path / "outputs").iterdir()
    assert kept.read_bytes() == b"RIFF heron"
    assert kept.suffix == ".wav"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert f"saved: {kept}" in text_of(outcome)


def test_bytes_that_cannot_be_kept_are_named_with_why(tmp_path: Path) -> None:
    (tmp_path / "outputs").write_text("in the way")
    data = base64.b64encode(b"RIFF heron").decode()
    sound: JsonObject = {"type": "audio", "data": data, "mimeType": "audio/wav"}

    assert "not saved: " in text_of(result_of(tmp_path, sound))


def test_a_long_text_is_cut_and_the_whole_is_in_a_file(tmp_path: Path) -> None:
    text = "\n".join(f"heron {n}" for n in range(5000))

    outcome = result_of(tmp_path, said(text))

    [kept] = (tmp_path / "outputs").iterdir()
    assert kept.read_text() == text
    shown = text_of(outcome)
    assert shown.startswith("heron 0\nheron 1\n")
    assert "[Lines 1-2000 of 5000 shown" in shown
    assert f"Whole result saved: {kept}]" in shown
    assert outcome.details == {"truncation": {"truncated": True, "totalLines": 5000}}


def test_a_long_line_is_cut_in_its_middle_and_that_is_said(tmp_path: Path) -> None:
    outcome = result_of(tmp_path, said("x" * 200_000))

    shown = text_of(outcome)
    assert len(shown) < 60_000
    assert "of the last of them the first" in shown
    [kept] = (tmp_path / "outputs").iterdir()
    assert len(kept.read_text()) == 200_000

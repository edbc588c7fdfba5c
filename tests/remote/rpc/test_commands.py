"""What a client may say, and what is said of a line that is none of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from agentsh.remote.rpc.commands import (
    RPC_COMMANDS,
    BadLine,
    DialogAnswer,
    GetCost,
    Prompt,
    Received,
    read_command,
)
from agentsh.remote.values.rpcdata import RPC_DATA
from agentsh.remote.values.rpcrecords import RpcRecord

PAGE = Path(__file__).parents[3] / "docs/rpc.md"


@pytest.mark.parametrize("line", [b"{half", b"[1]", b'"x"', b"{}", b'{"type":5}', b"\xff\xfe"])
def test_what_is_no_object_with_a_type_fails_as_parse_without_an_id(line: bytes) -> None:
    bad = read_command(line)

    assert isinstance(bad, BadLine)
    assert (bad.kind, bad.id) == ("parse", None)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b'{"id":"a","type":"frobnicate"}', "frobnicate"),
        (b'{"id":"a","type":"prompt"}', "prompt"),
        (b'{"id":"a","type":"prompt","message":7}', "prompt"),
        (b'{"id":"a","type":"set_steering_mode","mode":"some"}', "set_steering_mode"),
    ],
)
def test_a_wrong_command_fails_under_its_own_name_and_id(line: bytes, kind: str) -> None:
    bad = read_command(line)

    assert isinstance(bad, BadLine)
    assert (bad.kind, bad.id) == (kind, "a")


def test_members_that_nobody_knows_are_passed_over_and_null_is_not_given() -> None:
    line = b'{"id":1.5,"type":"prompt","message":"x","images":null,"later":[1]}'

    assert read_command(line) == Received("prompt", Prompt(message="x"), 1.5)


def test_an_id_is_a_string_or_a_number() -> None:
    for text, given in (("true", None), ("[1]", None), ("0", 0), ('""', "")):
        read = read_command(f'{{"id":{text},"type":"abort"}}'.encode())
        assert (read.id, read.kind) == (given, "abort")


def test_a_member_has_the_name_that_the_command_line_gives_it() -> None:
    assert read_command(b'{"type":"get_cost","all":true}') == Received(
        "get_cost", GetCost(everywhere=True)
    )


def test_an_answer_to_a_question_is_no_command() -> None:
    read = read_command(b'{"type":"extension_ui_response","id":"q","confirmed":true}')

    assert isinstance(read, Received)
    assert read.said == DialogAnswer(id="q", confirmed=True)
    assert "extension_ui_response" not in RPC_COMMANDS


Row = tuple[str, str, str]


def listed() -> dict[str, tuple[str, str]]:
    """Command → its arguments and its data, as the page has them."""
    rows: list[Row] = re.findall(
        r"(?m)^\| `(\w+)`(?: ★)? \|([^|]*)\|(.*)\|$", PAGE.read_text("utf-8")
    )
    return {name: (said, told) for name, said, told in rows if name in RPC_COMMANDS}


def members(form: type[msgspec.Struct]) -> list[str]:
    return [f.encode_name + ("" if f.required else "?") for f in msgspec.structs.fields(form)]


def test_the_page_has_each_command_with_its_arguments() -> None:
    wanted = {name: members(form) for name, form in RPC_COMMANDS.items()}
    said = {name: re.findall(r"`([\w?]+)`", text) for name, (text, _) in listed().items()}

    assert said == wanted


def test_each_data_is_of_a_command_and_the_page_has_its_members() -> None:
    assert set(RPC_DATA) <= set(RPC_COMMANDS)
    forms = {name: kind for name, kind in RPC_DATA.items() if isinstance(kind, type)}
    forms.pop("set_model")  # "the model"
    forms.pop("get_session_stats")  # "counts of the path, …"
    lacking = {
        name: [each for each in members(form) if each.rstrip("?") not in listed()[name][1]]
        for name, form in forms.items()
    }

    assert {name: names for name, names in lacking.items() if names} == {}


def test_the_page_has_each_event() -> None:
    tags = {str(each.__struct_config__.tag) for each in get_args(RpcRecord)}

    assert {tag for tag in tags if tag not in PAGE.read_text("utf-8")} == set()


def test_s39_half_characters_are_none_wherever_they_stand() -> None:
    for kind in RPC_COMMANDS:
        names = {name for form in RPC_COMMANDS.values() for name in form.__struct_encode_fields__}
        members = ",".join(f'"{name}":"\\uD800"' for name in sorted(names))
        read = read_command(f'{{"id":"\\udfff","type":"{kind}",{members}}}'.encode())

        assert (read.kind, read.id) == (kind, "\ufffd")
    whole = read_command(b'{"type":"prompt","message":"\\ud83d\\ude00"}')
    assert whole == Received("prompt", Prompt(message="\U0001f600"))

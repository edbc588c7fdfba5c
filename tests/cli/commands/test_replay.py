"""`replay` lists the requests of a session, and makes the bytes of each again from the file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import agentsh
from tests.support.endpoint import Endpoint, serve, text


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Endpoint]:
    with serve(text("hi"), text("hi again")) as endpoint:
        for words in (["first"], ["-c", "second"]):
            run = agentsh("run", "--base-url", endpoint.base_url, "-m", "m", *words, cwd=tmp_path)
            assert run.code == 0, run.err
        yield endpoint


def listed(cwd: Path) -> list[dict[str, Any]]:
    found = agentsh("replay", "last", "--json", cwd=cwd).json()
    assert isinstance(found, dict)
    requests = found["requests"]
    assert isinstance(requests, list)
    return requests


def test_each_request_is_listed_with_its_digest_and_its_answer(
    asked: Endpoint, tmp_path: Path
) -> None:
    digests = [hashlib.sha256(request.raw).hexdigest() for request in asked.requests]
    shown = agentsh("replay", "last", cwd=tmp_path).out.splitlines()

    assert [row["sha256"] for row in listed(tmp_path)] == digests
    assert [row["bytes"] for row in listed(tmp_path)] == [len(r.raw) for r in asked.requests]
    assert len(shown) == len(digests)
    for line, row in zip(shown, listed(tmp_path), strict=True):
        assert line.startswith(row["entry"])
        assert line.endswith(row["reply"])
        assert row["sha256"][:16] in line


def test_a_request_and_its_answer_name_the_bytes_that_were_sent(
    asked: Endpoint, tmp_path: Path
) -> None:
    for row, request in zip(listed(tmp_path), asked.requests, strict=True):
        for word in (row["entry"], row["reply"]):
            assert agentsh("replay", "last", word, cwd=tmp_path).out.encode() == request.raw


@pytest.mark.usefixtures("asked")
def test_before_the_first_message_nothing_was_sent(tmp_path: Path) -> None:
    ended = agentsh("replay", "last", "root", cwd=tmp_path)

    assert (ended.code, ended.out) == (3, "")
    assert "no request was sent before the first message" in ended.err


@pytest.mark.usefixtures("asked")
def test_a_body_that_is_not_the_recorded_one_is_damage(tmp_path: Path) -> None:
    rows = agentsh("sessions", "--json", cwd=tmp_path).json()
    assert isinstance(rows, list)
    path = Path(str(rows[0]["path"]))
    path.write_bytes(path.read_bytes().replace(b'"text":"first"', b'"text":"fired"'))

    checked = agentsh("replay", "last", "--check", cwd=tmp_path)
    as_json = agentsh("replay", "last", "--check", "--json", cwd=tmp_path)
    found = as_json.json()

    assert (checked.code, as_json.code) == (5, 5)
    assert isinstance(found, dict)
    assert (found["ok"], found["checked"]) == (False, 2)
    assert [row["entry"] for row in found["mismatches"]] == [r["entry"] for r in listed(tmp_path)]

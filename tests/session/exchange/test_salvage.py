"""A sound file from a bad one: what can be read goes over, and the bad one stays as it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsh.context.projection import project
from agentsh.errors import RefusedError, SessionNotFoundError
from agentsh.messages import AssistantMessage, UserMessage
from agentsh.session.exchange.salvage import salvage
from agentsh.session.file.session import open_session
from agentsh.session.format.entries import Branch
from agentsh.session.health.verify import verify_file
from tests.session.sealed import lines_of, write_lines, write_session


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    return lines_of(write_session(tmp_path_factory.mktemp("sealed") / "s.jsonl", name="it"))


def texts(branch: Branch) -> list[str]:
    found = []
    for item in project(branch).items:
        match item.message:
            case UserMessage() | AssistantMessage():
                found += [b.text for b in item.message.content if hasattr(b, "text")]
            case _:
                pass
    return [t for t in found if t]


def test_a_bad_line_and_a_torn_end_are_left_out_and_the_rest_goes_over(
    tmp_path: Path, sealed: list[bytes]
) -> None:
    bad = write_lines(tmp_path / "bad.jsonl", [*sealed[:5], b"not json at all", *sealed[5:]])
    bad.write_bytes(bad.read_bytes()[:-30])
    before = bad.read_bytes()

    made = salvage(bad, tmp_path / "good" / "sound.jsonl")

    assert bad.read_bytes() == before
    assert made.lost >= 1
    assert {p.kind for p in made.problems} >= {"json", "seal"}
    report = verify_file(made.path)
    assert (report.problems, report.warnings) == ((), ())
    with open_session(made.path, write=False) as sound:
        assert texts(sound.branch()) == ["alpha", "answer to alpha", "beta", "answer to beta"]
        assert sound.header.parent_session == str(bad)
        assert sound.header.id == made.id


def test_children_of_an_entry_that_is_lost_hang_on_its_parent(
    tmp_path: Path, sealed: list[bytes]
) -> None:
    lines = list(sealed)
    at = next(i for i, line in enumerate(lines) if b"answer to alpha" in line)
    lines[at] = lines[at].replace(b"answer to alpha", b"answer \\q alpha")
    bad = write_lines(tmp_path / "bad.jsonl", lines)

    made = salvage(bad, tmp_path / "sound.jsonl")

    assert verify_file(made.path).ok
    with open_session(made.path, write=False) as sound:
        assert texts(sound.branch()) == ["alpha", "beta", "answer to beta"]
        assert len(sound.tree.roots) == 1


def test_an_existing_target_is_refused(tmp_path: Path, sealed: list[bytes]) -> None:
    bad = write_lines(tmp_path / "bad.jsonl", sealed)
    target = tmp_path / "precious.jsonl"
    target.write_text("precious")

    for place in (target, bad):
        with pytest.raises(RefusedError):
            salvage(bad, place)

    assert target.read_text() == "precious"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.jsonl", "precious.jsonl"]


def test_what_is_no_session_cannot_be_repaired(tmp_path: Path) -> None:
    diary = tmp_path / "diary.jsonl"
    diary.write_text("dear diary\n")

    with pytest.raises(SessionNotFoundError):
        salvage(diary, tmp_path / "sound.jsonl")

    assert not (tmp_path / "sound.jsonl").exists()


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_whatever_happened_to_the_lines_the_new_file_is_sound(
    sealed: list[bytes], tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    lines = list(sealed)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(1, len(lines) - 1))
        match data.draw(st.sampled_from(["drop", "double", "swap", "halve", "junk", "blank"])):
            case "drop":
                del lines[at]
            case "double":
                lines.insert(at, lines[at])
            case "swap":
                lines[at - 1 or 1], lines[at] = lines[at], lines[at - 1 or 1]
            case "halve":
                lines[at] = lines[at][: len(lines[at]) // 2]
            case "junk":
                lines.insert(at, data.draw(st.sampled_from([b"\0\0", b"[1]", b'"x"', b"{}", b"}"])))
            case _:
                lines[at] = b""
        if len(lines) < 3:
            break
    folder = tmp_path_factory.mktemp("any")
    bad = write_lines(folder / "bad.jsonl", lines)

    made = salvage(bad, folder / "sound.jsonl")

    assert verify_file(made.path).problems == ()
    # nothing that could be read is missing
    with open_session(bad, write=False) as old, open_session(made.path, write=False) as new:
        good = {e.id for e in old.entries() if type(e.body).__name__ != "Damaged"}
        assert good <= set(new.tree)
        assert texts(new.branch()) == texts(old.branch(repaired=False))
    for line in lines_of(made.path):
        assert isinstance(json.loads(line), dict)

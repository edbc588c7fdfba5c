"""Every change of a line before the last seal is found; what others did properly is no damage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsh.errors import SessionNotFoundError
from agentsh.session.file.session import open_session
from agentsh.session.health.verify import Report, verify_file
from tests.session.sealed import SESSION, lines_of, write_lines, write_session


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    return lines_of(write_session(tmp_path_factory.mktemp("sealed") / "s.jsonl", name="it"))


def check(tmp_path: Path, lines: list[bytes]) -> Report:
    return verify_file(write_lines(tmp_path / "s.jsonl", lines))


def found(report: Report) -> set[tuple[int, str]]:
    return {(p.line, p.kind) for p in report.problems}


def test_an_untouched_file_passes_without_a_word(tmp_path: Path, sealed: list[bytes]) -> None:
    report = check(tmp_path, sealed)

    assert (report.problems, report.warnings) == ((), ())
    assert report.lines == len(sealed)


def test_every_single_line_mutation_is_found(tmp_path: Path, sealed: list[bytes]) -> None:
    missed = []
    for i, line in enumerate(sealed):
        rest = sealed[i + 1 :]
        mutations = {
            "doubled": [*sealed[: i + 1], *sealed[i:]],
            "halved": [*sealed[:i], line[: len(line) // 2], *rest],
            "inserted": [*sealed[:i], b'{"type":"custom","id":"x","parentId":null}', *sealed[i:]],
        }
        if rest:  # without its last line a file is simply shorter
            mutations["blanked"] = [*sealed[:i], b"", *rest]
            mutations["deleted"] = [*sealed[:i], *rest]
            mutations["swapped"] = [*sealed[:i], rest[0], line, *rest[1:]]
        for name, lines in mutations.items():
            try:
                ok = check(tmp_path, lines).ok
            except SessionNotFoundError:
                ok = i > 0  # without a header it is no session at all
            if ok:
                missed.append((name, i + 1))

    assert missed == []


@given(st.data())
@settings(max_examples=150)
def test_every_changed_byte_is_found(
    sealed: list[bytes], tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    whole = bytearray(b"".join(line + b"\n" for line in sealed))
    # behind the last seal stand only `"}}` and the LF, which nothing could seal
    at = data.draw(st.integers(0, len(whole) - 5))
    new = data.draw(st.integers(0, 255).filter(lambda byte: byte != whole[at]))
    whole[at] = new
    path = tmp_path_factory.mktemp("byte") / "s.jsonl"
    path.write_bytes(whole)

    try:
        assert not verify_file(path).ok
    except SessionNotFoundError:
        assert at < len(sealed[0])


def test_a_lost_line_is_named_where_the_next_one_tells(tmp_path: Path, sealed: list[bytes]) -> None:
    report = check(tmp_path, [*sealed[:4], *sealed[5:]])

    assert (5, "number") in found(report)
    assert all(p.line >= 5 for p in report.problems)


def test_a_second_bad_place_is_found_by_its_own_seal(tmp_path: Path, sealed: list[bytes]) -> None:
    lines = [line.replace(b"alpha", b"alphx") for line in sealed]
    lines = [line.replace(b"answer to beta", b"answer to bets") for line in lines]

    seals = [p.line for p in check(tmp_path, lines).problems if p.kind == "seal"]

    assert len(seals) >= 2


def test_a_changed_id_in_the_header_is_found(tmp_path: Path, sealed: list[bytes]) -> None:
    header = sealed[0].replace(b'"id":"5e55', b'"id":"5e56')

    assert (1, "header") in found(check(tmp_path, [header, *sealed[1:]]))


def test_a_header_that_is_gone_is_damage(tmp_path: Path, sealed: list[bytes]) -> None:
    report = check(tmp_path, sealed[1:])

    assert (1, "header") in found(report)
    assert report.session is None


def test_lines_of_another_program_after_the_last_seal_are_a_warning(
    tmp_path: Path, sealed: list[bytes]
) -> None:
    last = json.loads(sealed[-1])["id"]
    foreign = json.dumps({"type": "label", "id": "f0", "parentId": last, "targetId": last})

    report = check(tmp_path, [*sealed, foreign.encode()])

    assert report.ok
    assert [(w.line, w.kind) for w in report.warnings] == [(len(sealed) + 1, "foreign")]


def test_a_second_writing_of_all_lines_is_a_warning(tmp_path: Path, sealed: list[bytes]) -> None:
    report = check(tmp_path, [*sealed, *sealed])

    assert report.ok
    assert "repeated" in {w.kind for w in report.warnings}


def test_a_torn_line_that_was_repaired_is_a_warning(tmp_path: Path, sealed: list[bytes]) -> None:
    path = write_lines(tmp_path / "s.jsonl", sealed)
    with path.open("ab") as file:
        file.write(b'{"type":"message","id":"')
    assert [p.kind for p in verify_file(path).problems] == ["json"]

    with open_session(path, write=True) as session:
        session.rename("goes on")
    report = verify_file(path)

    assert report.ok
    assert [(w.line, w.kind) for w in report.warnings] == [(len(sealed) + 1, "torn")]


def test_a_second_writing_that_was_continued_stays_a_warning(
    tmp_path: Path, sealed: list[bytes]
) -> None:
    path = write_lines(tmp_path / "s.jsonl", [*sealed, *sealed])

    with open_session(path, write=True) as session:
        session.rename("goes on")
    report = verify_file(path)

    assert report.ok
    assert "repeated" in {w.kind for w in report.warnings}
    # and what is sealed now cannot change unseen, neither in the first writing nor in the second
    data = path.read_bytes()
    at = data.index(b"mark alpha"), data.rindex(b"mark alpha")
    for place in at:
        path.write_bytes(data[:place] + b"mark alphx" + data[place + 10 :])
        assert not verify_file(path).ok


def test_a_copy_by_another_program_is_continued_and_sealed(
    tmp_path: Path, sealed: list[bytes]
) -> None:
    header = (
        b'{"type":"session","version":3,"id":"pi-1","timestamp":"t","cwd":"/","parentSession":"/x"}'
    )
    path = write_lines(tmp_path / "s.jsonl", [header, *sealed[1:]])
    assert verify_file(path).ok

    with open_session(path, write=True) as session:
        session.rename("goes on")

    assert verify_file(path).ok
    path.write_bytes(path.read_bytes().replace(b"alpha", b"alphx", 1))
    assert not verify_file(path).ok


EXPORTED = b'{"type":"session","version":3,"id":"%s","timestamp":"%s","cwd":"/"}'


def test_one_branch_under_a_later_header_of_the_same_id_is_continued_and_sealed(
    tmp_path: Path, sealed: list[bytes]
) -> None:
    branch = [*sealed[1:7], *sealed[9:]]
    later = EXPORTED % (SESSION.encode(), b"2026-06-01T00:00:00.000Z")
    path = write_lines(tmp_path / "s.jsonl", [later, *branch])

    assert "seal" not in {p.kind for p in verify_file(path).problems}
    assert "number" not in {p.kind for p in verify_file(path).problems}

    with open_session(path, write=True) as session:
        session.rename("goes on")
    assert {p.kind for p in verify_file(path).problems} <= {"parent", "source"}
    path.write_bytes(path.read_bytes().replace(b"goes on", b"goes in", 1))
    assert "seal" in {p.kind for p in verify_file(path).problems}


def test_the_same_lines_under_a_header_that_is_not_later_have_lost_some(
    tmp_path: Path, sealed: list[bytes]
) -> None:
    branch = [*sealed[1:7], *sealed[9:]]
    for time in (b"2026-01-01T00:00:00.000Z", b"2025-06-01T00:00:00.000Z", b"t"):
        header = EXPORTED % (SESSION.encode(), time)
        path = write_lines(tmp_path / "s.jsonl", [header, *branch])

        assert {"seal", "number"} <= {p.kind for p in verify_file(path).problems}


def test_a_newer_version_is_no_damage(tmp_path: Path) -> None:
    header = b'{"type":"session","version":4,"id":"s","timestamp":"t","cwd":"/"}'

    report = check(tmp_path, [header])

    assert report.ok
    assert report.is_refused
    assert report.version == 4


@pytest.mark.parametrize("data", [b"", b"dear diary\n", b'{"type":"message","id":"u1"}\n'])
def test_a_file_that_is_no_session_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(data)

    with pytest.raises(SessionNotFoundError):
        verify_file(path)


def test_a_source_that_does_not_exist_is_named(tmp_path: Path, sealed: list[bytes]) -> None:
    i = next(i for i, line in enumerate(sealed) if b'"src":["' in line)
    lines = list(sealed)
    lines[i] = lines[i].replace(b'"src":["', b'"src":["ffff')

    assert (i + 1, "source") in found(check(tmp_path, lines))


def test_an_open_turn_is_a_warning(tmp_path: Path, sealed: list[bytes]) -> None:
    report = check(tmp_path, sealed[:6])

    assert report.ok
    assert [w.kind for w in report.warnings] == ["balance"]

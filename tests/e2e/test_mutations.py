"""Any one line of a session that is deleted, doubled, swapped, … is found (R24)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import agentsh
from tests.reliability import documented, share
from tests.session.sealed import lines_of, write_lines
from tests.support.endpoint import serve, text
from tests.support.longer_sessions import NAMES, write
from tests.support.mutations import KINDS, Verdict, judge, mutations


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_r24_every_single_line_mutation_before_the_last_seal_is_found_and_named(
    name: str, tmp_path: Path
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    with serve(text("unused")) as endpoint:
        lines = lines_of(write(name, folder, endpoint))
    clean = write_lines(tmp_path / "clean.jsonl", lines)
    assert agentsh("verify", str(clean)).code == 0
    judged: dict[str, list[Verdict]] = {kind: [] for kind in KINDS}
    missed = []
    for mutation in mutations(lines):
        verdict = judge(mutation, tmp_path)
        judged[mutation.kind].append(verdict)
        if not (verdict.found and verdict.named):
            missed.append((mutation.kind, mutation.line, verdict))

    assert missed == []
    assert [name, *(share(judged[kind]) for kind in KINDS)] == documented(name)


def test_damage_refusal_and_a_foreign_append_are_told_apart(tmp_path: Path) -> None:
    with serve(text("unused")) as endpoint:
        lines = lines_of(write("straight", tmp_path, endpoint))
    damaged = write_lines(tmp_path / "a.jsonl", lines[:3] + lines[4:])
    foreign = (
        b'{"type":"message","id":"f0","parentId":null,"timestamp":"","message":{"role":"user"}}'
    )
    appended = write_lines(tmp_path / "b.jsonl", [*lines, foreign])
    newer = write_lines(
        tmp_path / "c.jsonl", [b'{"type":"session","version":4,"id":"x","timestamp":"","cwd":"/"}']
    )
    required = (
        b'{"type":"custom","id":"f1","parentId":null,"timestamp":"",'
        b'"customType":"agentsh.vault","data":{"v":1,"required":true}}'
    )
    later = required.replace(b"agentsh.vault", b"agentsh.turn").replace(b'"v":1', b'"v":2')

    assert agentsh("verify", str(damaged)).code == 5
    ended = agentsh("verify", str(appended))
    assert ended.code == 0
    assert "warning: lines" in ended.out
    assert "another program" in ended.out
    assert agentsh("verify", str(newer)).code == 4
    for fact in (required, later):
        path = write_lines(tmp_path / "d.jsonl", [*lines, fact])
        assert agentsh("verify", str(path)).code == 4
        # damage outweighs it
        write_lines(path, [*lines[:3], *lines[4:], fact])
        assert agentsh("verify", str(path)).code == 5

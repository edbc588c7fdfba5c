from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest

from agentsh.jsontext import JsonObject
from agentsh.tools import groups, reconcile
from agentsh.tools.reconcile import Evidence


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    ("now", "before", "word"),
    [
        ("new", "old", "applied"),
        ("old", "old", "not applied"),
        ("else", "old", "other"),
        (None, "old", "missing"),
        ("new", None, "applied"),
        (None, None, "not applied"),
        ("else", None, "other"),
    ],
)
def test_the_file_tells_what_became_of_a_write(
    tmp_path: Path, now: str | None, before: str | None, word: str
) -> None:
    path = tmp_path / "f"
    if now is not None:
        path.write_text(now)
    pre: JsonObject = {
        "path": str(path),
        "sha256": None if before is None else _digest(before),
        "size": 3,
    }
    found = reconcile.gather(
        pre_images=[pre], expected=[{"path": str(path), "sha256": _digest("new")}]
    )
    assert found.word == word
    assert found.as_json() == {"state": word, "files": {str(path): word}}


def test_a_group_tells_whether_a_command_still_runs(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    spool.write_bytes(b"x\n" * 100 + b"\x1b[31mlast line\n")
    with subprocess.Popen(["sleep", "300"], start_new_session=True) as child:
        process = groups.started(child.pid)
        record: JsonObject = {
            "pgid": child.pid,
            "start": process.start,
            "boot": process.boot,
            "spool": str(spool),
        }
        found = reconcile.gather(process=record)
        assert (found.word, found.pgid) == ("still running", child.pid)
        assert found.output.endswith("x\nlast line\n")
        assert found.output.count("\n") == reconcile.SPOOL_LINES
        assert reconcile.gather(process={**record, "boot": "other"}).word == "gone"
        child.kill()
    assert reconcile.gather(process=record).word == "gone"


def test_without_a_record_nothing_is_known(tmp_path: Path) -> None:
    assert reconcile.gather() == Evidence({})
    assert reconcile.gather().word == "unknown"
    found = reconcile.gather(process={"spool": str(tmp_path / "none")})
    assert (found.word, found.output) == ("unknown", "")

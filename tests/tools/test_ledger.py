from __future__ import annotations

import hashlib
import os
from pathlib import Path

from agentsh.jsontext import JsonValue
from agentsh.tools.ledger import FileLedger, fact_of


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_a_file_never_seen_is_unknown(tmp_path: Path) -> None:
    assert FileLedger().change(str(tmp_path / "f")) == "unknown"


def test_another_content_of_the_same_size_in_the_same_tick_is_a_change(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"one")
    ledger = FileLedger()
    stat = path.stat()
    ledger.remember(str(path), _digest(b"one"), stat)
    path.write_bytes(b"two")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert ledger.change(str(path)) == "changed"


def test_touching_a_file_is_no_change(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"one")
    ledger = FileLedger()
    ledger.remember(str(path), _digest(b"one"), path.stat())
    os.utime(path, ns=(1, 1))
    assert ledger.change(str(path)) == "same"


def test_a_removed_file_is_gone_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"one")
    ledger = FileLedger()
    ledger.remember(str(path), _digest(b"one"))
    path.unlink()
    assert ledger.change(str(path)) == "gone"


def test_what_an_earlier_process_saw_is_learnt_from_stored_details(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"later")
    ledger = FileLedger()
    ledger.learn({"ash": fact_of(str(path), _digest(b"before"), 6)})
    assert ledger.change(str(path)) == "changed"
    assert ledger.paths() == (str(path),)


def test_details_of_other_shapes_are_passed_over() -> None:
    ledger = FileLedger()
    odd: tuple[JsonValue, ...] = (None, [], "x", {"ash": 1}, {"ash": {"file": {"path": 1}}})
    for details in odd:
        ledger.learn(details)
    assert ledger.paths() == ()

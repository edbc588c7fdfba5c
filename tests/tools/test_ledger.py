from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from agentsh.errors import ToolFailedError
from agentsh.jsontext import JsonValue
from agentsh.tools.base import PreImage
from agentsh.tools.files.edit import EditTool
from agentsh.tools.files.paths import pre_image
from agentsh.tools.ledger import FileLedger, fact_of
from tests.support.tooling import Bench


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


def test_a_file_of_hundreds_of_gigabytes_is_an_answer_at_once(bench: Bench) -> None:
    place = bench.file("huge", "x")
    bench.ledger.remember(str(place), "0" * 64)
    os.truncate(place, 200 * 2**30)

    assert bench.ledger.change(str(place)) == "changed"
    assert pre_image(place) == PreImage(str(place), None, 200 * 2**30)
    with pytest.raises(ToolFailedError, match="too large"):
        bench.outcome(EditTool(), path="huge", oldText="x", newText="y")


def test_what_nobody_can_tell_counts_as_changed_and_nothing_waits_for_it(tmp_path: Path) -> None:
    path = tmp_path / "f"
    ledger = FileLedger()
    ledger.remember(str(path), _digest(b"one"))

    os.mkfifo(path)
    assert ledger.change(str(path)) == "changed"
    path.unlink()
    path.symlink_to("f")
    assert ledger.change(str(path)) == "changed"

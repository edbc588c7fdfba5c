"""What is seen of an interrupted turn: files, output, processes, the half answer; no errors."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from agentsh.session.format.facts import ToolProcess
from agentsh.session.health.evidence import digest, gather, read_stream, spool_folder, stream_spool
from tests.session import builders

BOOT = Path("/proc/sys/kernel/random/boot_id")


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return tmp_path / "2026_s.jsonl"


def waiting(*, path: Path | None = None, spool: Path | None = None) -> builders.Path:
    """A path that ends in a started call."""
    chain = builders.Path()
    chain.start()
    chain.add(builders.said("", ("c1", "write")))
    expected = ({"path": str(path), "sha256": sha256("new")},) if path else ()
    process = {"spool": str(spool)} if spool else None
    chain.add(builders.started("c1", "write", expected=expected, process=process))
    return chain


def test_files_are_told_by_their_digest(tmp_path: Path, session: Path) -> None:
    file = tmp_path / "f.txt"
    chain = waiting(path=file)

    assert gather(chain.branch, session).files == {str(file): None}

    file.write_text("new")

    assert gather(chain.branch, session).files == {str(file): sha256("new")}


def test_answered_calls_are_not_looked_at(tmp_path: Path, session: Path) -> None:
    chain = waiting(path=tmp_path / "f.txt")
    chain.add(builders.result("c1"))

    assert gather(chain.branch, session).files == {}


@pytest.mark.parametrize("kind", ["folder", "fifo", "NUL", "under a file"])
def test_what_is_no_regular_file_is_not_told_and_does_not_block(tmp_path: Path, kind: str) -> None:
    path = str(tmp_path / "odd")
    match kind:
        case "folder":
            (tmp_path / "odd").mkdir()
        case "fifo":
            os.mkfifo(path)
        case "NUL":
            path += "\0"
        case _:
            (tmp_path / "odd").write_text("x")
            path += "/below"

    assert digest(path) == (None if kind == "under a file" else "")


def test_the_end_of_the_output_is_told(session: Path) -> None:
    spool = spool_folder(session) / "tool-1.spool"
    spool.parent.mkdir()
    spool.write_bytes(b"x" * 10_000 + b"\xff the last line\n")

    output = gather(waiting(spool=spool).branch, session).outputs["c1"]

    assert output.endswith("\ufffd the last line")
    assert len(output) <= 4096


def test_a_spool_elsewhere_is_never_read(tmp_path: Path, session: Path) -> None:
    secret = tmp_path / "id_rsa"
    secret.write_text("secret")
    spool_folder(session).mkdir()
    (spool_folder(session) / "link").symlink_to(secret)

    assert gather(waiting(spool=secret).branch, session).outputs == {}
    assert gather(waiting(spool=Path("link")).branch, session).outputs == {}
    assert gather(waiting(spool=Path("../id_rsa")).branch, session).outputs == {}


def test_a_process_that_still_runs_is_told_and_one_that_ended_is_not(session: Path) -> None:
    with subprocess.Popen(["sleep", "30"], start_new_session=True) as child:
        fields = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()
        boot = BOOT.read_text().strip()
        for start, alive in ((int(fields[19]), True), (int(fields[19]) + 1, False)):
            chain = waiting()
            chain.add(ToolProcess("c1", child.pid, start, boot))
            assert gather(chain.branch, session).running == ({"c1": child.pid} if alive else {})
        chain = waiting()
        chain.add(ToolProcess("c1", child.pid, int(fields[19]), "another boot"))
        assert gather(chain.branch, session).running == {}
        child.kill()


def test_the_half_answer_of_the_last_request_is_read(session: Path) -> None:
    chain = builders.Path()
    chain.start()
    request = chain.add(builders.requested())
    spool = stream_spool(session, request)
    spool.parent.mkdir()
    spool.write_bytes(b'{"text":"The ","thinking":"hm"}\n{"text":"heron"}\n{"text":"torn')

    evidence = gather(chain.branch, session)

    assert (evidence.text, evidence.thinking) == ("The heron", "hm")
    assert read_stream(session) == ("", "")

"""A sandboxed command reaches no keyring of the session that it was started in."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agentsh.tools.shell.sandbox import open_sandbox
from tests.tools.shell.test_sandbox import needs_bwrap

PATH = os.environ.get("PATH", "")
KEY = b"agentsh-test"
ADD, REQUEST, KEYCTL = 248, 249, 250
SESSION_KEYRING, JOIN, REVOKE = -3, 1, 3
TRYING = f"""
import ctypes, errno
call = ctypes.CDLL(None, use_errno=True).syscall
for number in ({ADD}, {REQUEST}, {KEYCTL}, 0x40000000 | {KEYCTL}):
    print(call(number, b"user", {KEY!r}, None, {SESSION_KEYRING}), ctypes.get_errno(), flush=True)
"""

pytestmark = [
    needs_bwrap,
    pytest.mark.skipif(
        sys.platform != "linux" or platform.machine() != "x86_64", reason="numbers of x86_64"
    ),
]


def test_keys_of_the_session_cannot_be_reached(tmp_path: Path) -> None:
    call = ctypes.CDLL(None, use_errno=True).syscall
    key = call(ADD, b"user", KEY, b"ticket", 6, SESSION_KEYRING)
    if key < 0:
        pytest.skip("this kernel has no keyrings, or forbids them")
    try:
        wrapped = open_sandbox({"PATH": PATH}, tmp_path, ())
        argv = [shutil.which("python3") or sys.executable, "-c", TRYING]
        outside = subprocess.run(argv, capture_output=True, check=False, text=True)
        inside = subprocess.run(wrapped(argv), capture_output=True, check=False, text=True)
    finally:
        call(KEYCTL, REVOKE, key)

    assert outside.stdout.split("\n")[1].startswith(f"{key} ")
    rows = inside.stdout.split("\n")
    assert rows[:3] == [f"-1 {errno.ENOSYS}"] * 3, inside.stderr
    assert rows[3].startswith("-1 ")


def test_what_a_command_reads_and_returns_passes_the_filter(tmp_path: Path) -> None:
    wrapped = open_sandbox({"PATH": PATH}, tmp_path, ())
    done = subprocess.run(
        wrapped(["bash", "-c", 'cat; echo "$1"; ls /proc/self/fd; exit 7', "x", "a  b'c"]),
        input="said\n",
        capture_output=True,
        check=False,
        text=True,
    )

    assert done.returncode == 7
    assert done.stdout == "said\na  b'c\n0\n1\n2\n3\n"

"""`explore --engine ray` on clusters of this machine: run in a network that has loopback alone.

Ray takes the machine's own address; so the cases (ray_cases.py) are run in a namespace of their
own, and skipped where there is no Ray (the extra [ray] is not in [dev]: it is large) or no such
namespace.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

APART = ("unshare", "--net", "--pid", "--fork", "--mount-proc", "--kill-child")
CASES = Path(__file__).with_name("ray_cases.py")


def _can_be_apart() -> bool:
    try:
        done = subprocess.run([*APART, "ip", "link", "set", "lo", "up"], capture_output=True)
    except FileNotFoundError:
        return False
    return done.returncode == 0


@pytest.mark.slow
@pytest.mark.interop
@pytest.mark.timeout(580)
@pytest.mark.skipif(find_spec("ray") is None, reason="the extra [ray] is not installed")
def test_the_cases_of_ray_hold(tmp_path: Path) -> None:
    if not _can_be_apart():
        pytest.skip("no network namespace can be made here")
    inside = 'ip link set lo up && exec "$0" "$@"'
    words = [sys.executable, "-m", "pytest", "-q", "-x", "-m", "", "--tb=short", str(CASES)]
    short = tmp_path.parent / "r"  # paths of sockets are at most 107 bytes
    done = subprocess.run(
        [*APART, "sh", "-c", inside, *words, f"--basetemp={short}"],
        cwd=CASES.parents[3],
        capture_output=True,
        text=True,
        timeout=570,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert " passed" in done.stdout

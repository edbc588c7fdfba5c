"""Be somebody whom the modes of files bind, for as long as a test needs it.

Root reads every file, whatever its mode. So where the tests run as root, the effective user is
nobody's meanwhile, for children too; elsewhere nothing is done. Where the tests themselves lie in a
folder of root alone, nothing can be tried as somebody else, and the test says so.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_NOBODY = 65534


@contextmanager
def plain_user(place: Path) -> Iterator[None]:
    """What lies below `place` is that user's, and can be reached by them."""
    if os.geteuid():
        yield
        return
    for folder in place.parents:
        if folder.stat().st_mode & 0o001 == 0:
            folder.chmod(folder.stat().st_mode | 0o011)
    for file in (place, *place.rglob("*")):
        os.lchown(file, _NOBODY, _NOBODY)
    os.seteuid(_NOBODY)
    try:
        if not os.access(Path.cwd(), os.X_OK, effective_ids=True):
            pytest.skip("only root can reach the folder that the tests run in")
        yield
    finally:
        os.seteuid(0)

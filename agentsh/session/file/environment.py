"""What a session takes from the machine, as one value: disk, clock, the look at leftovers."""

from __future__ import annotations

import os
from collections.abc import Callable
from time import time
from typing import Final

from msgspec import Struct, field

from agentsh.session.file.disk import Disk
from agentsh.session.health.evidence import gather
from agentsh.session.health.repair import Evidence


class Surroundings(Struct, frozen=True):
    """Tests hand in their own."""

    disk: Disk = field(default_factory=Disk)
    clock: Callable[[], float] = time
    gather: Callable[..., Evidence] = gather
    """evidence.gather: looks at what an interrupted turn left behind."""
    chance: Callable[[int], bytes] = os.urandom
    """So many random bytes."""


HERE: Final = Surroundings()

"""How a branch's processes see a machine that is not the one that asked: paths as they are there.

The folder, agentsh's data and its sessions stand at the paths that they have on the machine of
whoever explores, so that nothing in a job or a session need be spelled anew. Where such a path does
not exist, what is above it is covered by an empty folder with all that was in it: nothing is made
on the machine's own disk. It stands alone since a view can be tried without a machine.
Read next: machine.py, explore/workspace/view.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from agentsh.files import real


class MachineView(Struct, frozen=True):
    """`mounts`: (here, there, whether it may be written), in the order in which they cover."""

    program: str
    mounts: tuple[tuple[Path, Path, bool], ...]

    def __call__(self, argv: Sequence[str], cwd: Path) -> list[str]:
        """The command that runs `argv` in the view."""
        # a link on the way leads to the same place inside
        mounts = [(here, real(there), is_written) for here, there, is_written in self.mounts]
        command = [self.program, *mount_places(there for _, there, _ in mounts)]
        for here, there, is_written in mounts:
            command += ["--bind" if is_written else "--ro-bind", str(here), str(there)]
        return [*command, "--chdir", str(cwd), "--", *argv]


def mount_places(paths: Iterable[Path]) -> list[str]:
    """bubblewrap's words for the whole machine, with a place to mount each of those paths."""
    tops = sorted({_existing(path) for path in paths if not os.path.lexists(path)})
    words = [] if Path("/") in tops else ["--dev-bind", "/", "/"]
    for top in tops:
        if top != Path("/"):
            words += ["--tmpfs", str(top)]
        for name in sorted(os.listdir(top)):  # noqa: PTH208 - order is what is tested
            path = str(top / name)
            if os.path.islink(path):  # noqa: PTH114
                words += ["--symlink", os.readlink(path), path]  # noqa: PTH115
            else:
                words += ["--dev-bind", path, path]
    return words


def _existing(path: Path) -> Path:
    """The nearest folder above that there is."""
    return next(above for above in path.parents if os.path.lexists(above))

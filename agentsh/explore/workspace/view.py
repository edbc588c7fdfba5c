"""The view: a branch's processes see its workspace at the folder's own path.

Mounts only, by bubblewrap: the workspace over the folder, the person's git objects read-only where
the private `.git` expects them, shared paths read-only. So absolute paths of the conversation,
virtual environments and caches lead into the copy. It is tried once at the start. Checks and setups
get a process namespace besides, which ends with all that they started. Read next: runner.py.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from agentsh.programs import find_program, plain_environment

_PROBE_SECONDS = 20.0


class WorkspaceView(Struct, frozen=True):
    """`lent`: what is seen read-only in the folder, as (outside, inside)."""

    program: str
    work: Path
    root: Path
    lent: tuple[tuple[Path, Path], ...] = ()
    own: tuple[Path, ...] = ()
    """agentsh's own folders, where they lie in the folder: bound back."""

    def __call__(self, argv: Sequence[str], cwd: Path) -> list[str]:
        """The command that runs `argv` in the view."""
        command = [self.program, "--dev-bind", "/", "/"]
        hidden = [(outside, inside) for outside, inside in self.lent]
        # what is lent may lie below the folder that the workspace is about to cover
        command += ["--bind", str(self.work), str(self.root)]
        for outside, inside in hidden:
            command += ["--ro-bind", str(outside), str(inside)]
        for path in self.own:
            command += ["--bind", str(path), str(path)]
        return [*command, "--chdir", str(cwd), "--", *argv]


class OwnProcesses(Struct, frozen=True):
    """A process namespace round a command: its end is the end of all that it started."""

    program: str

    def __call__(self, argv: list[str]) -> list[str]:
        return [
            self.program, "--dev-bind", "/", "/", "--unshare-pid", "--proc", "/proc",
            "--die-with-parent", "--", *argv,
        ]  # fmt: skip


def find_view(environ: Mapping[str, str], project: Path) -> str | None:
    """The bubblewrap that can make views here; None: there is none that works."""
    program = find_program("bwrap", environ, project)
    if program is None:
        return None
    try:
        done = subprocess.run(
            OwnProcesses(program)(["/bin/sh", "-c", ":"]),
            env=plain_environment(environ, project),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return program if done.returncode == 0 else None

"""Commands under bubblewrap: the project folder and a private /tmp writable, the rest read-only.

What a wrapped command sees: the whole file system read-only, without AGENTSH_HOME (an empty,
read-only folder stands there, also inside the project), a /tmp, /run and /dev of its own, its own
processes only (so nobody's /proc/PID/environ with keys), no network unless allowed. As root it
keeps no capability but those over file owners. Two ways out are closed by hand: /proc/sys, which
bubblewrap leaves writable for root (core_pattern runs a program outside; seen with 0.8.0), and
sockets in /run (docker, D-Bus), which a read-only mount does not stop; /run is empty but for what
name resolution and some systems' programs need.
It confines commands; that write and edit stay inside is policy.py's. docs/adr/0020.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from agentsh.errors import UsageError

_ROOT_KEEPS: Final = ("CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_CHOWN")
_PROC_COVERED: Final = (
    "/proc/sys",
    "/proc/sysrq-trigger",
    "/proc/irq",
    "/proc/bus",
    "/proc/fs",
    "/proc/acpi",
    "/proc/scsi",
)
_RUN_KEEPS: Final = (
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/NetworkManager/resolv.conf",
    "/run/current-system",
    "/run/wrappers",
    "/run/opengl-driver",
)
_WAYS_OUT: Final = (
    "SSH_AUTH_SOCK",
    "DBUS_SESSION_BUS_ADDRESS",
    "GPG_AGENT_INFO",
    "XDG_RUNTIME_DIR",
)
_PROBE_SECONDS: Final = 20.0


class Sandbox(Struct, frozen=True):
    """Wraps an argv (the seam `ToolContext.sandbox`). All paths are real ones."""

    program: str
    project: Path
    hidden: tuple[Path, ...]
    """Never seen inside: AGENTSH_HOME, and whatever else the caller names."""
    network: bool = False
    is_root: bool = False

    def __call__(self, argv: list[str]) -> list[str]:
        project = str(self.project)
        command = [self.program, "--unshare-all"]
        if self.network:
            command.append("--share-net")
        if self.is_root:
            command += ["--cap-drop", "ALL"]
            for name in _ROOT_KEEPS:
                command += ["--cap-add", name]
        command += ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
        for kept in _PROC_COVERED:
            command += ["--ro-bind-try", kept, kept]
        command += ["--tmpfs", "/run"]
        for kept in _RUN_KEEPS:
            command += ["--ro-bind-try", kept, kept]
        command += ["--tmpfs", "/tmp"]
        outer = [path for path in self.hidden if self.project.is_relative_to(path)]
        inner = [path for path in self.hidden if path not in outer and path.is_dir()]
        for path in outer:
            command += ["--tmpfs", str(path)]
        command += ["--bind", project, project]
        for path in inner:
            command += ["--tmpfs", str(path)]
        for path in (*outer, *inner):  # last: the project's mount point must be made before
            command += ["--remount-ro", str(path)]
        command += ["--chdir", project, "--setenv", "TMPDIR", "/tmp"]
        for name in _WAYS_OUT:
            command += ["--unsetenv", name]
        return [*command, "--", *argv]


def open_sandbox(
    environ: Mapping[str, str],
    project: Path,
    hidden: tuple[Path, ...],
    *,
    network: bool = False,
) -> Sandbox:
    """A sandbox that works here and now. Raises UsageError where bubblewrap is missing or fails.

    Called before anything is asked or run: never silently without.
    """
    program = _find(environ, project)
    if program is None:
        raise UsageError(
            "--sandbox needs bubblewrap (bwrap), which is not on PATH",
            hint="install the package bubblewrap, or run without --sandbox",
        )
    sandbox = Sandbox(
        program,
        project.resolve(),
        tuple(path.resolve() for path in hidden),
        network=network,
        is_root=os.geteuid() == 0,
    )
    _probe(sandbox, environ)
    return sandbox


def _find(environ: Mapping[str, str], project: Path) -> str | None:
    """bwrap on PATH; not one that lies in the project, or in a folder named relatively."""
    inside = project.resolve()
    for part in environ.get("PATH", "").split(os.pathsep):
        candidate = Path(part, "bwrap")
        if (
            candidate.is_absolute()
            and os.access(candidate, os.X_OK)
            and candidate.is_file()
            and not candidate.resolve().is_relative_to(inside)
        ):
            return str(candidate)
    return None


def _probe(sandbox: Sandbox, environ: Mapping[str, str]) -> None:
    """Run `true` inside. Raises UsageError with bubblewrap's own words."""
    try:
        done = subprocess.run(
            sandbox(["/bin/sh", "-c", ":"]),
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as e:
        raise UsageError(f"--sandbox: bubblewrap cannot run here: {e}") from e
    if done.returncode:
        words = done.stderr.decode("utf-8", "replace").strip()[:500] or f"exit {done.returncode}"
        raise UsageError(
            f"--sandbox: bubblewrap cannot run here: {words}",
            hint="user namespaces may be switched off, or forbidden in this container",
        )

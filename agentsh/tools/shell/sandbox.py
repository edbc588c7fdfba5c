"""Commands under bubblewrap: the project folder and a private /tmp writable, the rest read-only.

What a wrapped command sees: the whole file system read-only, without AGENTSH_HOME (an empty,
read-only folder stands there, also inside the project), a /tmp, /run and /dev of its own, its own
processes only (so nobody's /proc/PID/environ with keys), no network unless allowed. As root it
keeps no capability but those over file owners. Three ways out are closed by hand: /proc/sys, which
bubblewrap leaves writable for root (core_pattern runs a program outside; seen with 0.8.0); UNIX
sockets (docker, D-Bus), which a read-only mount does not stop: unixsockets.py finds them, and each
is covered; the kernel's keyrings (keyrings.py). /run is empty but for what name resolution and some
systems' programs need. Files of the project from which agentsh takes orders are read-only, and the
folders that lead to them keep their names; that a new one is not obeyed is cli/setup/trust.py's. It
confines commands; that write and edit stay inside is policy.py's. docs/adr/0020.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from agentsh.errors import UsageError
from agentsh.files import is_folder, is_link, real
from agentsh.programs import find_program, plain_environment
from agentsh.tools.shell.keyrings import CallFilter
from agentsh.tools.shell.unixsockets import outside_sockets

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
_OWN: Final = tuple(map(Path, ("/tmp", "/run", "/dev", "/proc")))
"""Of each the sandbox has one of its own."""
_PROBE_SECONDS: Final = 20.0


class Sandbox(Struct, frozen=True):
    """Wraps an argv (the seam `ToolContext.sandbox`). All paths are real ones."""

    program: str
    project: Path
    hidden: tuple[Path, ...]
    """Never seen inside: AGENTSH_HOME, and whatever else the caller names."""
    shown: tuple[Path, ...] = ()
    """Folders in hidden ones that can be read all the same: the user's skills."""
    network: bool = False
    is_root: bool = False
    kept: tuple[Path, ...] = ()
    """In the project and read-only all the same: what agentsh takes orders from."""
    sockets: Callable[[], tuple[Path, ...]] = tuple
    """Those of outside that can be seen now; asked for each command."""
    filtered: Callable[[list[str]], list[str]] = list
    """Puts a filter for system calls round it: the kernel's keyrings are nobody's namespace."""

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
        for path_inside in _PROC_COVERED:
            command += ["--ro-bind-try", path_inside, path_inside]
        command += ["--tmpfs", "/run"]
        for path_inside in _RUN_KEEPS:
            command += ["--ro-bind-try", path_inside, path_inside]
        command += ["--tmpfs", "/tmp"]
        outer, inner = self._outer(), self._inner()
        for path in outer:
            command += ["--tmpfs", str(path)]
        command += ["--bind", project, project]
        command += self._orders_kept(inner)
        for path in inner:
            command += ["--tmpfs", str(path)]
        for path in self.shown:
            command += ["--ro-bind-try", str(path), str(path)]
        for path in self.sockets():
            if self._shows(path):
                command += ["--ro-bind", "/dev/null", str(path)]
        for path in (*outer, *inner):  # last: the project's mount point must be made before
            command += ["--remount-ro", str(path)]
        command += ["--chdir", project, "--setenv", "TMPDIR", "/tmp"]
        for name in _WAYS_OUT:
            command += ["--unsetenv", name]
        return self.filtered([*command, "--", *argv])

    def hiding(self, argv: list[str]) -> list[str]:
        """Wraps a program of ours that only reads: it sees everything but what is hidden."""
        project = str(self.project)
        command = [self.program, "--dev-bind", "/", "/"]
        outer, inner = self._outer(), self._inner()
        for path in outer:
            command += ["--tmpfs", str(path)]
        if outer:
            command += ["--bind", project, project]
        for path in inner:
            command += ["--tmpfs", str(path)]
        for path in self.shown:
            command += ["--ro-bind-try", str(path), str(path)]
        return [*command, "--", *argv]

    def _outer(self) -> list[Path]:
        """Hidden folders that the project lies in."""
        return [path for path in self.hidden if self.project.is_relative_to(path)]

    def _inner(self) -> list[Path]:
        """Those elsewhere, in the project or beside it."""
        outer = self._outer()
        return [path for path in self.hidden if path not in outer and is_folder(path)]

    def _orders_kept(self, hidden: list[Path]) -> list[str]:
        """Mounts for what agentsh takes orders from, and for the folders that lead to it.

        Whoever renames such a folder has its name free for another one, with other orders in it. A
        mount point cannot be renamed.
        """
        ways = {
            folder
            for path in (*self.kept, *hidden)
            for folder in path.parents
            if folder != self.project and folder.is_relative_to(self.project) and is_folder(folder)
        }
        command: list[str] = []
        for folder in sorted(ways):
            command += ["--bind", str(folder), str(folder)]
        for path in self.kept:
            command += ["--ro-bind-try", str(path), str(path)]
        return command

    def _shows(self, path: Path) -> bool:
        """Whether a real path of outside can be seen inside: the innermost mount decides."""
        covers = [folder for folder in (*self.hidden, *_OWN) if path.is_relative_to(folder)]
        if not path.is_relative_to(self.project):
            return not covers
        return not any(folder.is_relative_to(self.project) for folder in covers)


def open_sandbox(
    environ: Mapping[str, str],
    project: Path,
    hidden: tuple[Path, ...],
    *,
    network: bool = False,
    kept: tuple[Path, ...] = (),
    shown: tuple[Path, ...] = (),
) -> Sandbox:
    """A sandbox that works here and now. Raises UsageError where bubblewrap is missing or fails.

    Called before anything is asked or run: never silently without.
    """
    program = find_program("bwrap", environ, project)
    if program is None:
        raise UsageError(
            "--sandbox needs bubblewrap (bwrap), which is not on PATH",
            hint="install the package bubblewrap, or run without --sandbox",
        )
    sandbox = Sandbox(
        program,
        real(project),
        tuple(real(path) for path in hidden),
        shown,
        network=network,
        is_root=os.geteuid() == 0,
        kept=tuple(real(path) for path in kept if not is_link(path)),
        sockets=lambda: outside_sockets(environ),
        filtered=CallFilter().around,
    )
    _probe(sandbox, environ)
    return sandbox


def _probe(sandbox: Sandbox, environ: Mapping[str, str]) -> None:
    """Run `true` inside. Raises UsageError with bubblewrap's own words."""
    try:
        done = subprocess.run(
            sandbox(["/bin/sh", "-c", ":"]),
            env=plain_environment(environ, sandbox.project),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as e:
        raise UsageError(f"--sandbox: bubblewrap cannot run here: {e}") from e
    if done.returncode:
        reason = done.stderr.decode("utf-8", "replace").strip()[:500] or f"exit {done.returncode}"
        raise UsageError(
            f"--sandbox: bubblewrap cannot run here: {reason}",
            hint="user namespaces may be switched off, or forbidden in this container",
        )

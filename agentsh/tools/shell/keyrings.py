"""No keyring of the kernel in a sandbox: a filter for the system calls that reach one.

A keyring belongs to the session, not to a namespace: what is kept there outside (tickets of
Kerberos, keys of encrypted folders) could be read and exchanged by a sandboxed command, and a
request for a key makes the kernel start a program outside. The filter is a program for seccomp, as
`bwrap --seccomp` reads it: add_key, request_key and keyctl do not exist (ENOSYS), everything else
is allowed; a machine that is not listed has no filter. Read next: sandbox.py.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Mapping
from typing import Final

_CALLS: Final[Mapping[int, tuple[int, int, int]]] = {
    0xC000003E: (248, 249, 250),  # x86_64, x32 too
    0x40000003: (286, 287, 288),  # i386
    0xC00000B7: (217, 218, 219),  # aarch64
    0x40000028: (309, 310, 311),  # arm
    0xC00000F3: (217, 218, 219),  # riscv64
}
"""AUDIT_ARCH_* → the numbers of the three calls (linux/audit.h, asm/unistd.h)."""
_LOAD, _EQUAL, _AND, _RETURN = 0x20, 0x15, 0x54, 0x06
_ALLOW: Final = 0x7FFF0000
_NO_SUCH_CALL: Final = 0x00050000 | 38
_NOT_X32: Final = 0xBFFFFFFF
_FD: Final = "9"


def keyring_filter() -> bytes:
    """The program, an array of struct sock_filter. Pure."""
    return b"".join(struct.pack("=HBBI", *step) for step in _steps())


def _steps() -> Iterator[tuple[int, int, int, int]]:
    """(code, steps to jump over if so, if not, value)"""
    yield (_LOAD, 0, 0, 4)  # seccomp_data.arch
    for arch, numbers in _CALLS.items():
        yield (_EQUAL, 0, len(numbers) + 4, arch)
        yield (_LOAD, 0, 0, 0)  # seccomp_data.nr
        yield (_AND, 0, 0, _NOT_X32)
        for left in range(len(numbers), 0, -1):
            yield (_EQUAL, left, 0, numbers[len(numbers) - left])
        yield (_RETURN, 0, 0, _ALLOW)
        yield (_RETURN, 0, 0, _NO_SUCH_CALL)
    yield (_RETURN, 0, 0, _ALLOW)


class CallFilter:
    """The filter as a file without a name, that each sandbox of this process opens anew."""

    def __init__(self) -> None:
        self._file = os.memfd_create("agentsh-filter", os.MFD_CLOEXEC)
        os.write(self._file, keyring_filter())

    def around(self, argv: list[str]) -> list[str]:
        """An argv of bwrap, with the filter handed to it as a descriptor."""
        file = f"/proc/{os.getpid()}/fd/{self._file}"
        opening = f'exec {_FD}<"$0" && exec "$@"'
        return ["/bin/sh", "-c", opening, file, argv[0], "--seccomp", _FD, *argv[1:]]

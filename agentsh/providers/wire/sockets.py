"""Sockets under httpcore: its network seam, so that every wait can be ended from outside.

`Sockets` makes the connections and knows the one in use; `shut` ends whatever waits on it,
connecting and name look-up included, from a signal handler or another thread. A read takes all that
has come and makes its framing coarse (rechunk.py). Faults leave as httpcore's own; wire.py
translates them.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeAlias

from agentsh.providers.wire.libraries import httpcore
from agentsh.providers.wire.rechunk import Rechunker

if TYPE_CHECKING:
    import ssl

_READ: Final = 262_144
_MOST_INTERIMS: Final = 100
_Option: TypeAlias = (
    tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]
)
_Address: TypeAlias = tuple[
    int, int, int, str, tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]
]


class DrippingError(httpcore.ReadTimeout):
    """Bytes came all the time, and what they belong to did not end. `seconds`: what it had."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"not whole after {seconds:g} s")
        self.seconds = seconds


class Sockets(httpcore.NetworkBackend):
    """Makes the connections, and knows the one that is in use.

    `head_limit`: seconds that the head of a response may take, from its first byte on.
    """

    def __init__(self, head_limit: float = float("inf")) -> None:
        self._current: socket.socket | None = None
        self._is_shut = False
        self._head_limit = head_limit
        self._until = self._given = float("inf")
        self.patience = float("inf")

    def end_within(self, seconds: float) -> None:
        """What is read from now on ends by then, however small its pieces are."""
        self._given = seconds
        self._until = time.monotonic() + seconds

    def head_begins(self) -> None:
        self.end_within(self._head_limit)

    def wait(self, timeout: float | None) -> float:
        """Seconds that the next read may wait. Raises DrippingError."""
        left = self._until - time.monotonic()
        if left <= 0:
            raise DrippingError(self._given)
        return min(timeout or float("inf"), self.patience, left, 1e9)

    def begin(self) -> None:
        self._is_shut = False

    def shut(self) -> None:
        self._is_shut = True
        if (current := self._current) is not None:
            with suppress(OSError):
                # the plain socket's method: a TLS socket's own would first forget its session,
                # under the feet of a thread that is reading
                socket.socket.shutdown(current, socket.SHUT_RDWR)

    def use(self, sock: socket.socket) -> None:
        self._current = sock
        if self._is_shut:
            self.shut()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[_Option] | None = None,
    ) -> httpcore.NetworkStream:
        error: OSError | None = None
        for family, kind, protocol, _, address in self._resolve(host, port, timeout):
            sock = socket.socket(family, kind, protocol)
            self.use(sock)
            try:
                sock.settimeout(timeout)
                sock.connect(address)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            except OSError as e:
                sock.close()
                error = e
                if self._is_shut:
                    break
                continue
            return _Stream(sock, self)
        if isinstance(error, TimeoutError):
            raise httpcore.ConnectTimeout(str(error)) from error
        raise httpcore.ConnectError(str(error or f"no address for {host}")) from error

    def _resolve(self, host: str, port: int, timeout: float | None) -> list[_Address]:
        """Addresses of a name; a slow name server is left behind when the user aborts."""
        name = host.encode("ascii")  # a URL's host is; a str loads the codec of international names
        addresses: list[_Address] = []
        trouble: list[OSError] = []

        def look_up(flags: int = 0) -> None:
            try:
                addresses.extend(
                    socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, flags=flags)
                )
            except OSError as e:
                trouble.append(e)

        look_up(socket.AI_NUMERICHOST)
        if addresses:
            return addresses
        trouble.clear()
        thread = threading.Thread(target=look_up, daemon=True)
        thread.start()
        began = time.monotonic()
        while thread.is_alive() and not self._is_shut:
            thread.join(0.05)
            if timeout is not None and time.monotonic() - began > timeout:
                raise httpcore.ConnectTimeout(f"the name {host} was not resolved")
        if trouble:
            raise httpcore.ConnectError(str(trouble[0])) from trouble[0]
        return list(addresses)

    def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[_Option] | None = None,
    ) -> httpcore.NetworkStream:
        raise httpcore.UnsupportedProtocol("unix sockets are not used")

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class _Stream(httpcore.NetworkStream):
    """One connection. A read takes all that is there."""

    def __init__(self, sock: socket.socket, sockets: Sockets) -> None:
        self._sock = sock
        self._sockets = sockets
        self._rechunker = Rechunker()
        self._is_asked = False
        """Something was sent, and nothing has come since."""

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            while block := self._received(timeout):
                coarse = self._rechunker.feed(block)
                if self._rechunker.interims > _MOST_INTERIMS:
                    raise httpcore.RemoteProtocolError("interim responses (1xx) without end")
                if coarse:
                    return coarse
        except TimeoutError as e:
            self._sockets.wait(timeout)  # which of the two limits it was
            raise httpcore.ReadTimeout(str(e)) from e
        except OSError as e:
            raise httpcore.ReadError(str(e)) from e
        return b""

    def _received(self, timeout: float | None) -> bytes:
        self._sock.settimeout(self._sockets.wait(timeout))
        block = self._sock.recv(_READ)
        if self._is_asked:
            self._is_asked = False
            self._sockets.head_begins()
        return block

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._rechunker.reset()
        self._is_asked = True
        try:
            self._sock.settimeout(timeout)
            self._sock.sendall(buffer)
        except TimeoutError as e:
            raise httpcore.WriteTimeout(str(e)) from e
        except OSError as e:
            raise httpcore.WriteError(str(e)) from e

    def close(self) -> None:
        self._sock.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        self._sock.settimeout(timeout)
        # the old socket is empty from here on: what fails must close the new one
        self._sock = ssl_context.wrap_socket(
            self._sock, server_hostname=server_hostname, do_handshake_on_connect=False
        )
        self._sockets.use(self._sock)
        try:
            self._sock.do_handshake()
        except TimeoutError as e:
            self.close()
            raise httpcore.ConnectTimeout(str(e)) from e
        except OSError as e:
            self.close()
            raise httpcore.ConnectError(str(e)) from e
        return _Stream(self._sock, self._sockets)

    def get_extra_info(self, info: str) -> object:
        match info:
            case "socket":
                return self._sock
            case "is_readable":
                return _is_readable(self._sock)
            case _:
                return None


def _is_readable(sock: socket.socket) -> bool:
    """Whether something came while nobody asked: for a connection at rest, its end."""
    timeout = sock.gettimeout()
    try:
        sock.setblocking(False)
        socket.socket.recv(sock, 1, socket.MSG_PEEK)
        return True
    except BlockingIOError:
        return False
    except OSError:
        return True
    finally:
        with suppress(OSError):
            sock.settimeout(timeout)

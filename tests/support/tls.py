"""TLS on loopback: a certificate made for the test, and a proxy that knows CONNECT."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

HAS_OPENSSL = shutil.which("openssl") is not None


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """A self-signed certificate for localhost and 127.0.0.1, and its key."""
    certificate, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        [
            *(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
            ),
            *("-nodes", "-days", "2", "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1,DNS:api.example"),
            *("-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    return certificate, key


def server_context(folder: Path) -> ssl.SSLContext:
    certificate, key = make_certificate(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


class ConnectProxy:
    """Every CONNECT goes to one port, whatever it names. `heads` has what was asked."""

    def __init__(self, target: int) -> None:
        self._target = target
        self.heads: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._sockets.append(client)
                head = b""
                while b"\r\n\r\n" not in head:
                    head += client.recv(4096)
                self.heads.append(head)
                server = socket.create_connection(("127.0.0.1", self._target))
                self._sockets.append(server)
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                for a, b in ((client, server), (server, client)):
                    threading.Thread(target=self._pump, args=(a, b), daemon=True).start()

    @staticmethod
    def _pump(a: socket.socket, b: socket.socket) -> None:
        with suppress(OSError):
            while data := a.recv(65536):
                b.sendall(data)
            b.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        for sock in (self._listener, *self._sockets):
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()


@contextmanager
def connect_proxy(target: int) -> Iterator[ConnectProxy]:
    proxy = ConnectProxy(target)
    try:
        yield proxy
    finally:
        proxy.close()


@contextmanager
def listening(*, answer: bytes | None = None, until_asked_again: bool = False) -> Iterator[int]:
    """A port where somebody accepts and says this, or nothing; and hangs up, at once or then."""
    kept: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            with suppress(OSError):
                while True:
                    client, _ = listener.accept()
                    kept.append(client)
                    if answer is not None:
                        client.recv(65536)
                        client.sendall(answer)
                        if until_asked_again:
                            client.recv(65536)
                        client.shutdown(socket.SHUT_WR)

        threading.Thread(target=accept, daemon=True).start()
        try:
            yield listener.getsockname()[1]
        finally:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            for sock in kept:
                sock.close()

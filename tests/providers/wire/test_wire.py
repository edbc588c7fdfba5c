from __future__ import annotations

import gzip
import json
import threading
import time
import zlib
from pathlib import Path

import pytest

from agentsh.abort import Abort
from agentsh.errors import ConnectionFailedError, ProviderTimeoutError, UsageError
from agentsh.providers.wire.failures import ErrorSource
from agentsh.providers.wire.wire import Limits, Wire
from tests.providers.asking import ask, failure, provider_for
from tests.support import endpoint as ep
from tests.support.tls import HAS_OPENSSL, connect_proxy, listening, server_context

with_openssl = pytest.mark.skipif(not HAS_OPENSSL, reason="no openssl to make a certificate")


@with_openssl
def test_a_ca_of_the_users_own_is_trusted(tmp_path: Path) -> None:
    with ep.serve(ep.text("one"), ep.text("two"), tls=server_context(tmp_path)) as server:
        provider = provider_for(server.base_url, ca_file=str(tmp_path / "cert.pem"))

        assert [ask(provider)[1].text for _ in range(2)] == ["one", "two"]


@with_openssl
@pytest.mark.parametrize(("tls", "connections"), [(True, 1), (False, 2)])
def test_requests_share_one_connection_under_tls(
    tmp_path: Path, tls: bool, connections: int
) -> None:
    ports: list[int] = []

    def noting(reply: ep.Reply) -> ep.Reply:
        def noted(handler: ep.Handler) -> None:
            ports.append(handler.client_address[1])
            reply(handler)

        return noted

    context = server_context(tmp_path)
    replies = (noting(ep.text("one")), noting(ep.text("two")))
    with ep.serve(*replies, tls=context if tls else None) as server:
        provider = provider_for(server.base_url, ca_file=str(tmp_path / "cert.pem"))
        texts = [ask(provider)[1].text for _ in range(2)]

    assert texts == ["one", "two"]
    assert len(set(ports)) == connections


@with_openssl
def test_the_ca_may_come_from_the_environment_that_is_handed_in(tmp_path: Path) -> None:
    with ep.serve(ep.text("one"), tls=server_context(tmp_path)) as server:
        environ = {"SSL_CERT_FILE": str(tmp_path / "cert.pem")}

        assert ask(provider_for(server.base_url, environ=environ))[1].text == "one"


@with_openssl
def test_an_unknown_ca_is_refused_and_not_tried_again(tmp_path: Path) -> None:
    with ep.serve(ep.text("one"), tls=server_context(tmp_path)) as server:
        error = failure(provider_for(server.base_url))

    assert type(error) is ConnectionFailedError
    assert not error.retryable
    assert "ca_file" in str(error.hint)


@with_openssl
def test_tls_goes_through_a_proxy_that_knows_connect(tmp_path: Path) -> None:
    with (
        ep.serve(ep.text("far away"), tls=server_context(tmp_path)) as server,
        connect_proxy(server.port) as proxy,
    ):
        provider = provider_for(
            "https://api.example/v1",
            ca_file=str(tmp_path / "cert.pem"),
            environ={"HTTPS_PROXY": f"http://me:pw@127.0.0.1:{proxy.port}"},
            key="sk-check-0123456789abcdef",
        )

        assert ask(provider)[1].text == "far away"
        assert proxy.heads[0].startswith(b"CONNECT api.example:443 HTTP/1.1")
        assert b"sk-check" not in proxy.heads[0]


def test_a_ca_file_that_is_none_is_a_mistake_of_the_user(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nope\.pem"):
        provider_for("https://127.0.0.1:1/v1", ca_file=str(tmp_path / "nope.pem"))


def test_an_abort_ends_a_handshake_that_never_ends() -> None:
    abort = Abort()
    with listening() as port:
        provider = provider_for(f"https://127.0.0.1:{port}/v1", limits=Limits(connect=20.0))
        threading.Timer(0.3, abort.set).start()
        began = time.monotonic()

        assert ask(provider, abort=abort)[1].stop_reason == "aborted"
        assert time.monotonic() - began < 3


def test_a_handshake_that_never_ends_is_given_up() -> None:
    with listening() as port:
        error = failure(provider_for(f"https://127.0.0.1:{port}/v1", limits=Limits(connect=0.3)))

    assert type(error) is ConnectionFailedError
    assert "within 0.3 s" in str(error)


def test_a_name_is_looked_up() -> None:
    with ep.serve(ep.text("ok")) as server:
        assert ask(provider_for(f"http://localhost:{server.port}/v1"))[1].text == "ok"


def test_an_abort_before_the_look_up_asks_nobody() -> None:
    abort = Abort()
    abort.set()

    assert ask(provider_for("http://localhost:9/v1"), abort=abort)[1].stop_reason == "aborted"


@pytest.mark.parametrize("answer", [b"SSH-2.0-OpenSSH_9\r\n", b"HTTP/1.1 200 OK\r\n", b"\0" * 99])
def test_what_is_no_http_is_a_lost_connection(answer: bytes) -> None:
    with listening(answer=answer) as port:
        error = failure(provider_for(f"http://127.0.0.1:{port}/v1"))

    assert type(error) is ConnectionFailedError
    assert "connection was lost" in str(error)


def test_a_server_that_does_not_take_the_body_is_silent() -> None:
    with listening() as port:
        error = failure(provider_for(f"http://127.0.0.1:{port}/v1", limits=Limits(idle=0.3)))

    assert type(error) is ProviderTimeoutError


@pytest.mark.parametrize("packing", ["gzip", "deflate"])
def test_a_body_that_was_packed_unasked_is_unpacked(packing: str) -> None:
    body = json.dumps(ep.chunk({"content": "small"}, "stop")).encode()
    data = b"data: " + body + b"\n\ndata: [DONE]\n\n"
    packed = gzip.compress(data) if packing == "gzip" else zlib.compress(data)
    with listening(answer=_answer(packed, f"Content-Encoding: {packing}")) as port:
        assert ask(provider_for(f"http://127.0.0.1:{port}/v1"))[1].text == "small"


@pytest.mark.parametrize("first", [1, 2, 9, 1000])
def test_e44_a_body_that_was_packed_without_a_word_is_unpacked(first: int) -> None:
    data = ep.event(ep.chunk({"content": "small"}, "stop")) + ep.DONE
    packed = gzip.compress(data)
    with ep.serve(ep.raw([packed[:first], packed[first:] or ep.DONE])) as server:
        assert ask(provider_for(server.base_url))[1].text == "small"


def test_e44_a_packed_body_that_is_damaged_is_a_lost_connection() -> None:
    packed = gzip.compress(b"data: {}" * 99)
    with ep.serve(ep.raw([packed[:20] + b"\xff" * 9])) as server:
        error = failure(provider_for(server.base_url))

    assert type(error) is ConnectionFailedError


@pytest.mark.parametrize("packed", [b"\x28\xb5\x2f\xfd\x04\x58\x91\xb3", b"\x0b\x02\x80abc\x03"])
def test_e44_a_packing_that_nobody_here_knows_is_named_as_such(packed: bytes) -> None:
    with ep.serve(ep.raw([packed], content_type="application/json")) as server:
        error = failure(provider_for(server.base_url))

    assert "no text: packed, perhaps" in str(error)
    assert "\ufffd" not in str(error)
    assert "proxy" in str(error.hint)


def test_what_unpacks_to_a_thousand_times_its_size_is_handed_on_in_small_pieces() -> None:
    packed = _answer(gzip.compress(b"\n" * (8 << 20)), "Content-Encoding: gzip")
    with listening(answer=packed) as port:
        url = f"http://127.0.0.1:{port}/v1"
        wire = Wire(ErrorSource(url))
        try:
            with wire.send("GET", url, headers={}) as answer:
                sizes = [len(block) for block in answer.blocks]
        finally:
            wire.close()

    assert sum(sizes) == 8 << 20
    assert max(sizes) <= 1 << 16


def test_interim_answers_are_skipped() -> None:
    body = json.dumps(ep.chunk({"content": "late"}, "stop")).encode()
    answer = b"HTTP/1.1 103 Early Hints\r\n\r\n" + _answer(b"data: " + body + b"\n\n")
    with listening(answer=answer) as port:
        assert ask(provider_for(f"http://127.0.0.1:{port}/v1"))[1].text == "late"


def test_a_connection_that_was_closed_at_rest_is_made_anew() -> None:
    body = json.dumps(ep.chunk({"content": "again"}, "stop")).encode()
    with listening(answer=_answer(b"data: " + body + b"\n\n")) as port:
        provider = provider_for(f"http://127.0.0.1:{port}/v1")

        assert [ask(provider)[1].text for _ in range(2)] == ["again", "again"]


def test_a_plain_server_that_hangs_up_as_it_is_asked_again_costs_nothing() -> None:
    body = json.dumps(ep.chunk({"content": "again"}, "stop")).encode()
    answer = _answer(b"data: " + body + b"\n\n", "Keep-Alive: timeout=5, max=100")
    with listening(answer=answer, until_asked_again=True) as port:
        provider = provider_for(f"http://127.0.0.1:{port}/v1")

        assert [ask(provider)[1].text for _ in range(3)] == ["again"] * 3


def _answer(body: bytes, *headers: str) -> bytes:
    head = ["HTTP/1.1 200 OK", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*head, "", ""]).encode() + body


# ---- what httpx would do by itself -----------------------------------------------------------


def test_only_the_headers_that_are_meant_go_out_whatever_a_server_sets() -> None:
    def with_cookie(handler: ep.Handler) -> None:
        answered = json.dumps({"choices": [{"message": {"content": "one"}}]}).encode()
        handler.send_response(200)
        handler.send_header("Set-Cookie", "who=me; Path=/")
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(answered)))
        handler.end_headers()
        handler.wfile.write(answered)

    with ep.serve(with_cookie, ep.text("two")) as server:
        address = server.base_url.replace("http://", "http://someone:secret@")
        provider = provider_for(address, key="k")
        texts = [ask(provider)[1].text for _ in range(2)]

    names = {name.lower() for name in server.requests[1].headers}
    assert texts == ["one", "two"]
    assert names - {"host", "accept", "accept-encoding", "authorization", "user-agent"} == {
        "content-type",
        "content-length",
    }
    assert server.requests[1].headers["authorization"] == "Bearer k"


def test_a_key_follows_no_redirect() -> None:
    with ep.serve(ep.text("never")) as other:
        away = ep.status(307, b"", headers={"Location": f"{other.base_url}/chat/completions"})
        with ep.serve(away) as server:
            failed = failure(provider_for(server.base_url, key="k"))

        assert "307" in str(failed)
        assert other.requests == []

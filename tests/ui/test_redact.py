"""Redaction: what is a key by its form goes, everything else stays byte for byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.jsontext import JsonObject, JsonValue, dumps_text
from agentsh.ui.redact import Redactor
from tests.session.strategies import json_values

# put together here, so that no scanner takes this file for a leak
SECRETS = {
    "sk-" + "proj-" + "A1b2C3d4" * 5: "a provider's key",
    "sk-" + "ant-api03-" + "aB3_" * 20: "a provider's key",
    "sk-" + "or-v1-" + "0123abcd" * 8: "a provider's key",
    "sk-" + "a1B2c3D4" * 6: "a provider's key",
    "AIza" + "B" * 35: "a provider's key",
    "hf_" + "x" * 34: "a provider's key",
    "ghp_" + "Z9" * 18: "a token",
    "github_pat_" + "a" * 22 + "_" + "b" * 59: "a token",
    "glpat-" + "c" * 20: "a token",
    "npm_" + "d" * 36: "a token",
    "xoxb-" + "1234567890-" * 3: "a token",
    "eyJ" + "h" * 12 + ".eyJ" + "p" * 12 + "." + "s" * 20: "a token",
    "AKIA" + "ABCDEFGH" * 2: "an AWS key",
    "-----BEGIN PRIVATE KEY-----\nTUlJ\n-----END PRIVATE KEY-----": "a private key",
    "-----BEGIN OPENSSH PRIVATE KEY-----\nTUlJ\nTUlK": "a private key",
}
HARMLESS = (
    "sk-learn and sk-something-with-words are names",
    "the id is 01a22a2b-215a-799d-a8c3-70cf3faffc20",
    "sha256:" + "0123456789abcdef" * 4,
    "https://example.com:8080/path@version",
    "git@github.com:owner/name.git",
    "grep 'BEGIN RSA PRIVATE KEY' file",
    "a heading -----BEGIN PRIVATE KEY----- in a sentence",
    "postgres://$USER:${PASSWORD}@host/db",
    "Authorization: Bearer $TOKEN",
    "data:image/png;base64," + "iVBORw0KGgo" * 20,
    "call_" + "Ab1" * 12,
    "AKIAshort",
)


@pytest.mark.parametrize(("secret", "kind"), SECRETS.items())
@pytest.mark.parametrize("around", ["{}", "KEY={}\n", '"{}"', "before {} after", "({})", "{}."])
def test_a_secret_goes_wherever_it_stands(secret: str, kind: str, around: str) -> None:
    redactor = Redactor()

    clean = redactor.text(around.format(secret))

    assert clean == around.format(f"[redacted: {kind}]") or (
        "OPENSSH" in secret and secret[-4:] not in clean  # cut off: it ends where it can
    )
    assert redactor.found == {kind: 1}


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_a_little_like_it_stays(text: str) -> None:
    redactor = Redactor()

    assert redactor.text(text) == text
    assert not redactor.found


def test_what_leads_to_a_secret_stays() -> None:
    redactor = Redactor()

    told = redactor.text(
        "curl -H 'Authorization: Bearer abcdefghijklmnop1234' postgres://bob:hunter2@db.local/x\n"
        "AWS_SECRET_ACCESS_KEY=" + "aB3/" * 10
    )

    assert told == (
        "curl -H 'Authorization: Bearer [redacted: a token]' "
        "postgres://bob:[redacted: a password]@db.local/x\n"
        "AWS_SECRET_ACCESS_KEY=[redacted: an AWS key]"
    )


def test_a_key_that_is_spelled_in_json_goes_whole() -> None:
    key = "-----BEGIN PRIVATE KEY-----\nTUlJ\n-----END PRIVATE KEY-----\n"
    raw = dumps_text({"content": key, "path": "a"})

    assert Redactor().text(raw) == '{"content":"[redacted: a private key]\\n","path":"a"}'


def test_opaque_members_are_not_looked_into() -> None:
    secret = next(iter(SECRETS))
    value: JsonObject = {
        "content": [
            {"type": "thinking", "thinking": secret, "thinkingSignature": secret},
            {"type": "text", "text": secret, "textSignature": secret},
            {"type": "image", "data": secret, "mimeType": "image/png"},
        ],
        "encrypted_content": secret,
    }
    redactor = Redactor()

    clean = redactor.object(value)

    assert dumps_text(clean).count(secret) == 4
    assert redactor.found == {"a provider's key": 2}


@given(json_values, st.sampled_from(sorted(SECRETS)))
def test_no_secret_is_left_in_any_value_and_the_rest_is_as_it_was(
    value: JsonValue, secret: str
) -> None:
    redactor = Redactor()
    assert redactor.value(value) == value

    clean = redactor.value([value, {"deep": [f"x {secret} y", value]}])

    assert isinstance(clean, list)
    assert clean[0] == value
    assert secret[:40] not in dumps_text(clean)

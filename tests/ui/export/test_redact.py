"""Redaction: what is a key by its form goes, everything else stays byte for byte."""

from __future__ import annotations

import base64
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.jsontext import JsonObject, JsonValue, dumps_text
from agentsh.sanitize import safe_text
from agentsh.ui.export.redact import Redactor
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
    "fc-" + "0a1b2c3d" * 4: "a token",
    "tvly-" + "dev-" + "aB3" * 10: "a token",
    "dop_v1_" + "0a1b2c3d" * 8: "a token",
    "sbp_" + "0a1b2c3d" * 5: "a token",
    "rubygems_" + "0a1b2c3d" * 6: "a token",
    "shpat_" + "0a1b2c3d" * 4: "a token",
    "lsv2_pt_" + "0a1b2c3d" * 4 + "_" + "0a1b2c3d4e": "a token",
    "lin_api_" + "aB3d" * 10: "a token",
    "hvs." + "aB3d" * 10: "a token",
    "GOCSPX-" + "aB3d" * 7: "a token",
    "glsa_" + "aB3d" * 8 + "_0a1b2c3d": "a token",
    "npm_" + "d" * 36: "a token",
    "xoxb-" + "1234567890-" * 3: "a token",
    "eyJ" + "h" * 12 + ".eyJ" + "p" * 12 + "." + "s" * 20: "a token",
    "ghs_" + "Z9" * 30: "a token",  # longer than the least
    "gldt-" + "c" * 24: "a token",
    "pypi-" + "AgEIcHlwaS5vcmc" + "e" * 80: "a token",
    "SG." + "f" * 22 + "." + "g" * 43: "a token",
    "sk_" + "live_" + "h" * 30: "a token",
    "sq0csp-" + "i" * 43: "a token",
    "123456789:" + "j" * 35: "a token",
    "https://hooks.slack.com/" + "services/T0AB/B0CD/" + "k" * 24: "a token",
    "AccountKey=" + "l" * 86 + "==": "a token",
    "0123456789abcdef" * 2 + "-us12": "a token",
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
    "1733000000:" + "0123456789abcdef0123" * 2,  # a time and a digest
    "blob " + "x/AKIA" + "ABCDEFGH" * 2,
    "the class APEndpointsList and AC" + "0123456789abcdef" * 4,
    "api_key = settings.endpoint.api_key_of_this_endpoint_or_none_at_all",
    "password: correcthorsebatterystaple",
    "VGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcyBvdmVyIHRoZSBsYXp5IGRvZw==",
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


def test_a_token_of_npm_that_is_an_id_goes_with_its_line() -> None:
    line = "//registry.npmjs.org/:_authToken=" + "01a22a2b-215a-799d-a8c3-70cf3faffc20"

    assert Redactor().text(f"echo {line} >> .npmrc") == "echo [redacted: a token] >> .npmrc"


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


@pytest.mark.parametrize(
    "key", ["heron-2f9c41d7b8e04a55-river", 'quo"te\\n/+=x y', "plain words!!"]
)
def test_a_key_in_use_goes_whatever_its_form_wherever_it_stands(key: str) -> None:
    code = base64.b64encode(key.encode()).decode()
    line: JsonObject = {
        "text": f"my key is {key}, is that right?",
        "arguments": dumps_text({"header": key}),
        "url": "https://x/?k=" + quote(key, safe=""),
        "basic": f"Basic {code}",
        "thoughtSignature": f"opaque {key} opaque",
        key: [key],
    }
    redactor = Redactor([key])

    text = dumps_text(redactor.object(line))

    for form in (key, dumps_text(key)[1:-1], quote(key, safe=""), code.rstrip("=")):
        assert form not in text
    assert redactor.found["the key in use"] == 7
    assert Redactor().text(key) == key


@pytest.mark.parametrize("unseen", ["\u200b", "\x1b[01;31m", "\x1b[0m\x1b[K", "\ufeff", "\u2060"])
@pytest.mark.parametrize("where", [3, 9, -1])
def test_what_a_reader_does_not_see_hides_no_key(unseen: str, where: int) -> None:
    key = "my-own-key-0123456789"
    other = "ghp_" + "Z9" * 18
    redactor = Redactor([key])

    for secret in (key, other):
        text = f"a {secret[:where]}{unseen}{secret[where:]} b"
        assert secret not in safe_text(redactor.text(text))
    assert redactor.found.total() == 2


def test_colours_stay_where_there_is_no_secret() -> None:
    text = "\x1b[01;31mred\x1b[0m\r\n"

    assert Redactor(["my-own-key-0123456789"]).text(text) == text


@given(
    key=st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=12),
    before=st.binary(max_size=7),
    after=st.binary(max_size=4),
)
def test_a_key_in_the_midst_of_a_header_goes_too(key: str, before: bytes, after: bytes) -> None:
    whole = before + key.encode() + after
    for code in (base64.b64encode(whole), base64.urlsafe_b64encode(whole), whole.hex().encode()):
        made = Redactor([key]).text(f"Authorization: Basic {code.decode()}")

        assert "the key in use" in made

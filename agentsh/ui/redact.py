"""Secrets out of what is shared: few patterns, each of a thing that is nothing but a secret. Pure.

A key is known by its own form (a provider's prefix and length), never by looking random, so that
text, ids and digests stay as they are (S09). Opaque fields (signatures, encrypted reasoning,
images) are not looked into: a changed one is worth nothing. What is put in place names the kind,
and says nothing of the value. Read next: document.py, cli/export.py.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from agentsh.jsontext import JsonObject, JsonValue

_BEFORE = r"(?<![A-Za-z0-9_+/-])"
_AFTER = r"(?![A-Za-z0-9_-])"
_KEY = "a provider's key"
_TOKEN = "a token"

# kind → patterns; what stands in the group `keep` stays
_PATTERNS: Final[tuple[tuple[str, str], ...]] = (
    (
        "a private key",
        # to its end, or as far as it goes where the output was cut; `\n` may be spelled in JSON
        r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?=[ \t]*(?:\r?\n|\\[nr]))"
        r"(?:[\sA-Za-z0-9+/=:,.()-]|\\[nrt])*?"
        r"(?:-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----|(?=[^\sA-Za-z0-9+/=:,.()\\-])|\Z)",
    ),
    (_KEY, _BEFORE + r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}"),
    (_KEY, _BEFORE + r"sk-ant-[a-z]{3,8}[0-9]{2}-[A-Za-z0-9_-]{20,}"),
    (_KEY, _BEFORE + r"sk-or-v1-[0-9a-f]{40,}" + _AFTER),
    (_KEY, _BEFORE + r"sk-[A-Za-z0-9]{32,64}" + _AFTER),
    (_KEY, _BEFORE + r"AIza[A-Za-z0-9_-]{35}" + _AFTER),
    (_KEY, _BEFORE + r"(?:xai-|gsk_|hf_|r8_|nvapi-|pplx-|fw_)[A-Za-z0-9_-]{30,}"),
    (_TOKEN, _BEFORE + r"gh[pousr]_[A-Za-z0-9]{36,}"),
    (_TOKEN, _BEFORE + r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{40,}"),
    (_TOKEN, _BEFORE + r"glpat-[A-Za-z0-9_-]{20,}"),
    (_TOKEN, _BEFORE + r"npm_[A-Za-z0-9]{36}" + _AFTER),
    (_TOKEN, _BEFORE + r"pypi-AgE[A-Za-z0-9_-]{50,}"),
    (_TOKEN, _BEFORE + r"xox[abeoprs]-[A-Za-z0-9-]{20,}"),
    (_TOKEN, _BEFORE + r"[sr]k_live_[A-Za-z0-9]{20,}"),
    (_TOKEN, _BEFORE + r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    (
        _TOKEN,
        r"(?P<keep>\b[Aa]uthorization[\"']?\s*[:=]\s*[\"']?[Bb]earer )[A-Za-z0-9._~+/-]{16,}=*",
    ),
    ("an AWS key", _BEFORE + r"(?:AKIA|ASIA)[A-Z2-7]{16}" + _AFTER),
    (
        "an AWS key",
        r"(?P<keep>(?i:aws_?secret_?access_?key)[\"']?\s*[:=]\s*[\"']?)"
        r"[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])",
    ),
    (
        "a password",
        r"(?P<keep>\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"'<>]{1,64}:)"
        r"[^\s/:@\"'<>$*{]{3,128}(?=@[\w.-])",
    ),
)
_RULES: Final = tuple((kind, re.compile(pattern)) for kind, pattern in _PATTERNS)
# a text without any of these holds nothing; looking for words is ten times as fast as for patterns
_HINTS: Final = (
    *("PRIVATE KEY", "sk-", "AIza", "xai-", "gsk_", "hf_", "r8_", "nvapi-", "pplx-", "fw_"),
    *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "npm_", "pypi-", "xox"),
    *("k_live_", "eyJ", "earer ", "AKIA", "ASIA", "://", "ecret", "ECRET"),
)
_OPAQUE: Final = frozenset(
    {"encrypted_content", "encryptedContent", "thoughtSignature", "thinkingSignature"}
    | {"textSignature", "signature", "data_signature", "reasoning_details"}
)


class Redactor:
    """`found` counts by kind."""

    def __init__(self) -> None:
        self.found: Counter[str] = Counter()

    def object(self, value: JsonObject) -> JsonObject:
        """An entry's line; a copy where something had to go."""
        changed = self.value(value)
        assert isinstance(changed, dict)
        return changed

    def value(self, value: JsonValue) -> JsonValue:
        match value:
            case str():
                return self.text(value)
            case dict():
                is_image = value.get("type") == "image"
                return {
                    self.text(k): v if k in _OPAQUE or (is_image and k == "data") else self.value(v)
                    for k, v in value.items()
                }
            case list():
                return [self.value(item) for item in value]
            case _:
                return value

    def text(self, text: str) -> str:
        if not any(hint in text for hint in _HINTS):
            return text
        for kind, pattern in _RULES:
            keep = r"\g<keep>" if "keep" in pattern.groupindex else ""
            text, count = pattern.subn(f"{keep}[redacted: {kind}]", text)
            if count:
                self.found[kind] += count
        return text

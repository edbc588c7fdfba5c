"""Secrets out of what is shared: by patterns, each of a thing that is nothing but a secret. Pure.

A key is known by its own form (a provider's prefix and length), never by looking random, so that
text, ids and digests stay as they are (S09); only keys in use are known exactly, and go whatever
their form is. Forms of services are those of detect-secrets, which others maintain; here stand
those that it lacks or knows less well (docs/adr/0035). Only its patterns are used: nothing is asked
of a network. Opaque fields (signatures, encrypted reasoning, images) are not looked into but for
those: a changed one is worth nothing. What is put in place names the kind, and says nothing of the
value. Read next: document.py, cli/commands/export.py.
"""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Final
from urllib.parse import quote

from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
from detect_secrets.plugins.base import RegexBasedDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
from detect_secrets.plugins.mailchimp import MailchimpDetector
from detect_secrets.plugins.npm import NpmDetector
from detect_secrets.plugins.pypi_token import PypiTokenDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
from detect_secrets.plugins.twilio import TwilioKeyDetector

from agentsh.jsontext import JsonObject, JsonValue, dumps_text
from agentsh.sanitize import safe_text

_BEFORE = r"(?<![A-Za-z0-9_+/-])"
_AFTER = r"(?![A-Za-z0-9_-])"
_KEY = "a provider's key"
_TOKEN = "a token"
_AWS = "an AWS key"
_IN_USE = "the key in use"

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
    (_TOKEN, _BEFORE + r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{40,}"),
    (_TOKEN, _BEFORE + r"npm_[A-Za-z0-9]{36}" + _AFTER),
    (_TOKEN, _BEFORE + r"xoxe-[A-Za-z0-9-]{20,}"),
    (_TOKEN, _BEFORE + r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    # services that agents are given keys for, which detect-secrets does not know
    (_TOKEN, _BEFORE + r"(?:fc-|dapi)[0-9a-f]{32}" + _AFTER),
    (_TOKEN, _BEFORE + r"tvly-[A-Za-z0-9-]{20,}"),
    (_TOKEN, _BEFORE + r"do[por]_v1_[0-9a-f]{64}" + _AFTER),
    (_TOKEN, _BEFORE + r"(?:sbp_|e2b_)[0-9a-f]{40}" + _AFTER),
    (_TOKEN, _BEFORE + r"rubygems_[0-9a-f]{48}" + _AFTER),
    (_TOKEN, _BEFORE + r"shp(?:at|ca|pa|ss)_[0-9a-f]{32}" + _AFTER),
    (_TOKEN, _BEFORE + r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}" + _AFTER),
    (_TOKEN, _BEFORE + r"(?:lin_api_|ntn_|figd_|dckr_[po]at_|hvs\.|ya29\.)[A-Za-z0-9_-]{27,}"),
    (_TOKEN, _BEFORE + r"(?:GOCSPX-|ATATT3|sntry[su]_|glsa_)[A-Za-z0-9_=+/-]{28,}"),
    (
        _TOKEN,
        r"(?P<keep>\b[Aa]uthorization[\"']?\s*[:=]\s*[\"']?[Bb]earer )[A-Za-z0-9._~+/-]{16,}=*",
    ),
    (
        _AWS,
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

_PLUGINS: Final[tuple[tuple[str, type[RegexBasedDetector]], ...]] = (
    (_AWS, AWSKeyDetector),
    (_TOKEN, AzureStorageKeyDetector),
    (_TOKEN, DiscordBotTokenDetector),
    (_TOKEN, GitHubTokenDetector),
    (_TOKEN, GitLabTokenDetector),
    (_TOKEN, MailchimpDetector),
    (_TOKEN, NpmDetector),
    (_TOKEN, PypiTokenDetector),
    (_TOKEN, SendGridDetector),
    (_TOKEN, SlackDetector),
    (_TOKEN, SquareOAuthDetector),
    (_TOKEN, StripeDetector),
    (_TOKEN, TelegramBotTokenDetector),
    (_TOKEN, TwilioKeyDetector),
)
_GROWING: Final = (GitHubTokenDetector, SlackDetector, StripeDetector)
"""Their patterns end where a token had its least length; it may go on."""
_RUN: Final = re.compile(r"[A-Za-z0-9_+/.:=@%~-]{20,}")
"""What can be a secret of these forms: none is shorter, and none has a blank in it."""


def _of_words(plugin: type[RegexBasedDetector], pattern: re.Pattern[str]) -> re.Pattern[str]:
    """The plugin's pattern, of whole words: a run of letters and digits may hold any form."""
    end = "[A-Za-z0-9_-]*" if plugin in _GROWING else _AFTER
    return re.compile(f"{_BEFORE}(?:{pattern.pattern}){end}", pattern.flags)


_MAINTAINED: Final = tuple(
    (kind, _of_words(plugin, pattern))
    for kind, plugin in _PLUGINS
    for pattern in plugin().denylist
    if plugin is not AWSKeyDetector or not pattern.groups  # the other reads an assignment
)
# a text without any of these holds nothing; looking for words is ten times as fast as for patterns
_HINTS: Final = (
    *("PRIVATE KEY", "sk-", "AIza", "xai-", "gsk_", "hf_", "r8_", "nvapi-", "pplx-", "fw_"),
    *("github_pat_", "npm_", "xoxe-", "eyJ", "earer ", "://", "ecret", "ECRET"),
    *("fc-", "dapi", "tvly-", "_v1_", "sbp_", "e2b_", "rubygems_", "shp", "lsv2_", "lin_api_"),
    *("ntn_", "figd_", "dckr_", "hvs.", "ya29.", "GOCSPX-", "ATATT3", "sntry", "glsa_"),
)
_OPAQUE: Final = frozenset(
    {"encrypted_content", "encryptedContent", "thoughtSignature", "thinkingSignature"}
    | {"textSignature", "signature", "data_signature", "reasoning_details"}
)


class Redactor:
    """`found` counts by kind. `known` are keys in use: they go whatever their form is."""

    def __init__(self, keys: Collection[str] = ()) -> None:
        self.found: Counter[str] = Counter()
        spelled = {form for key in keys for form in _spellings(key)}
        longest_first = sorted(spelled, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, longest_first))) if spelled else None

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
                    self.text(k): self._opaque(v)
                    if k in _OPAQUE or (is_image and k == "data")
                    else self.value(v)
                    for k, v in value.items()
                }
            case list():
                return [self.value(item) for item in value]
            case _:
                return value

    def _opaque(self, value: JsonValue) -> JsonValue:
        """Of what is not looked into only a key in use goes, where it stands there as text."""
        return self._without_known(value) if isinstance(value, str) else value

    def _without_known(self, text: str) -> str:
        if self._known is None:
            return text
        text, count = self._known.subn(f"[redacted: {_IN_USE}]", text)
        if count:
            self.found[_IN_USE] += count
        return text

    def text(self, text: str) -> str:
        """Without secrets, also where what a reader does not see stands in the middle of one."""
        shown = safe_text(text)
        if shown == text:
            return self._looked_through(text)
        before = Counter(self.found)
        redacted = self._looked_through(text)
        counts, self.found = self.found, before
        bare = self._looked_through(shown)
        if self.found.total() > counts.total():
            return bare  # a colour or a zero-width space was in it
        self.found = counts
        return redacted

    def _looked_through(self, text: str) -> str:
        text = self._without_known(text)
        text = _RUN.sub(self._of_services, text)
        if not any(hint in text for hint in _HINTS):
            return text
        for kind, pattern in _RULES:
            keep = r"\g<keep>" if "keep" in pattern.groupindex else ""
            text, count = pattern.subn(f"{keep}[redacted: {kind}]", text)
            if count:
                self.found[kind] += count
        return text

    def _of_services(self, run: re.Match[str]) -> str:
        text = run[0]
        for kind, pattern in _MAINTAINED:
            text, count = pattern.subn(f"[redacted: {kind}]", text)
            if count:
                self.found[kind] += count
        return text


def _spellings(key: str) -> tuple[str, ...]:
    """The key, and how it stands in a URL, in JSON inside of a text, in hex and in base64."""
    data = key.encode("utf-8", "replace")
    return key, quote(key, safe=""), dumps_text(key)[1:-1], data.hex(), *_in_base64(data)


def _in_base64(data: bytes) -> Iterator[str]:
    """As a header's value, and in the midst of one (`user:KEY`): what of it is nobody else's."""
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        yield encode(data).decode("ascii").rstrip("=")
        for before in (0, 1, 2):
            code = encode(bytes(before) + data).decode("ascii")
            yield code[-(-before * 4 // 3) : (before + len(data)) // 3 * 4]

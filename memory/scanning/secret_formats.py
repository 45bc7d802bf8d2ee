"""Credentials that their issuers made recognisable: a prefix, a length, an alphabet.

Own rules and no library: what is needed is a table of public formats with offsets. detect-secrets was
measured first: with its defaults it flags 298 of 300 ordinary texts, it reports lines and not offsets, and
it brings an HTTP client for asking issuers whether a key is live, which nothing here may do.

A pattern is tried where its prefix stands at the start of a token, and its quantifiers are bounded and
possessive, so no text makes it slow. Group 1 is the part that must look random: a row of x, dots or zeros
is somebody's placeholder and stays clean.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from memory.scanning.report import Span


def looks_random(body: str) -> bool:
    """Eight different characters and a digit: any real key, and hardly a placeholder or a slug."""
    return len(set(body)) >= 8 and any(character.isdigit() for character in body)


def _signed_token(header: str) -> bool:
    """Whether a token's first part is a JOSE header."""
    try:
        return "alg" in json.loads(base64.urlsafe_b64decode(header + "=" * (-len(header) % 4)))
    except (ValueError, TypeError, RecursionError):
        return False


@dataclass(frozen=True, slots=True)
class SecretFormat:
    """One published form of credential.

    Attributes:
        rule: the finding's name.
        prefixes: how it starts; a cheap search for these decides whether the pattern is tried at all.
        pattern: the whole credential, from the prefix on.
        inside: what may not stand right before the prefix.
        genuine: the last word on group 1.
    """

    rule: str
    prefixes: tuple[str, ...]
    pattern: re.Pattern[str]
    inside: re.Pattern[str] = re.compile(r"[A-Za-z0-9]")
    genuine: Callable[[str], bool] = looks_random

    def spans(self, text: str) -> Iterator[Span]:
        """Every credential of this form in ``text``."""
        for prefix in self.prefixes:
            place = text.find(prefix)
            while place >= 0:
                end = place + len(prefix)
                if place == 0 or not self.inside.match(text, place - 1):
                    match = self.pattern.match(text, place)
                    if match:
                        end = match.end()
                        if self.genuine(match[1]):
                            yield Span(self.rule, place, end)
                place = text.find(prefix, end)


_WORD = re.compile(r"[A-Za-z0-9_-]")


def _format(
    rule: str,
    prefixes: str,
    pattern: str,
    *,
    inside: re.Pattern[str] | None = None,
    genuine: Callable[[str], bool] = looks_random,
) -> SecretFormat:
    compiled = re.compile(pattern)
    # A body that may itself contain the prefix is tried only at the start of its token.
    inside = inside or (_WORD if "_-]" in pattern else re.compile(r"[A-Za-z0-9]"))
    return SecretFormat(f"secrets.{rule}", tuple(prefixes.split()), compiled, inside, genuine)


FORMATS: tuple[SecretFormat, ...] = (
    _format("oml_key", "oml_", r"oml_(?:k[a-z]?|r)_([0-9A-Za-z]{20,64}+)"),
    _format(
        "aws_access_key",
        "AKIA ASIA ABIA ACCA",
        r"A[KSBC][IC]A([A-Z0-9]{16})(?![A-Za-z0-9])",
        genuine=lambda body: len(set(body)) >= 8,
    ),
    _format("azure_storage_key", "AccountKey=", r"AccountKey=([A-Za-z0-9+/]{86}==)"),
    _format("google_key", "AIza", r"AIza([0-9A-Za-z_-]{35})(?![0-9A-Za-z_-])"),
    _format("google_key", "GOCSPX-", r"GOCSPX-([0-9A-Za-z_-]{24,40}+)"),
    _format("google_key", "ya29.", r"ya29\.([0-9A-Za-z_-]{24,512}+)"),
    _format("github_token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_([A-Za-z0-9]{36,255}+)"),
    _format("github_token", "github_pat_", r"github_pat_([A-Za-z0-9]{22}_[A-Za-z0-9]{40,64}+)"),
    _format(
        "gitlab_token",
        "glpat- gldt- glrt- glptt- glft- glsoat- glcbt-",
        r"gl(?:pat|dt|rt|ptt|ft|soat|cbt)-([0-9A-Za-z_-]{20,128}+)",
    ),
    _format(
        "slack_token",
        "xoxb- xoxp- xoxa- xoxo- xoxr- xoxs- xoxe- xoxe.",
        r"xox[abeoprs][-.]([0-9A-Za-z_-]{20,255}+)",
    ),
    _format("slack_token", "xapp-", r"xapp-([0-9A-Za-z_-]{24,255}+)"),
    _format(
        "slack_token",
        "hooks.slack.com/services/",
        r"hooks\.slack\.com/services/(T[A-Z0-9]{6,16}+/B[A-Z0-9]{6,16}+/[A-Za-z0-9]{20,48}+)",
    ),
    _format("stripe_key", "sk_live_ rk_live_", r"[sr]k_live_([0-9A-Za-z]{16,255}+)"),
    _format("stripe_key", "whsec_", r"whsec_([0-9A-Za-z+/]{24,128}+)"),
    _format("stripe_test_key", "sk_test_ rk_test_", r"[sr]k_test_([0-9A-Za-z]{16,255}+)"),
    _format("anthropic_key", "sk-ant-", r"sk-ant-([0-9A-Za-z_-]{24,255}+)"),
    _format(
        "openai_key",
        "sk-proj- sk-svcacct- sk-admin- sk-or-v1-",
        r"sk-(?:proj|svcacct|admin|or-v1)-([0-9A-Za-z_-]{24,255}+)",
    ),
    _format("openai_key", "sk-", r"sk-([0-9A-Za-z]{32,64}+)(?![0-9A-Za-z_-])", inside=_WORD),
    _format("registry_token", "npm_", r"npm_([A-Za-z0-9]{36})(?![A-Za-z0-9])"),
    _format("registry_token", "pypi-", r"pypi-(AgE[0-9A-Za-z_-]{40,255}+)"),
    _format("registry_token", "dckr_pat_", r"dckr_pat_([0-9A-Za-z_-]{24,64}+)"),
    _format(
        "registry_token",
        "hf_",
        r"hf_([A-Za-z0-9]{34,40}+)(?![A-Za-z0-9])",
        genuine=lambda body: len(set(body)) >= 12,
    ),
    _format("service_token", "SG.", r"SG\.([0-9A-Za-z_-]{22}\.[0-9A-Za-z_-]{43})"),
    _format("service_token", "dop_v1_ doo_v1_ dor_v1_", r"do[por]_v1_([0-9a-f]{64})"),
    _format("service_token", "hvs. hvb.", r"hv[sb]\.([0-9A-Za-z_-]{24,255}+)"),
    _format("service_token", "shpat_ shpss_ shpca_ shppa_", r"shp(?:at|ss|ca|pa)_([0-9a-fA-F]{32})"),
    _format("service_token", "dapi", r"dapi([0-9a-f]{32})(?![0-9A-Za-z])"),
    _format("service_token", "glsa_", r"glsa_([0-9A-Za-z]{32}_[0-9a-f]{8})"),
    _format("service_token", "lin_api_", r"lin_api_([0-9A-Za-z]{32,64}+)"),
    _format("service_token", "gsk_", r"gsk_([0-9A-Za-z]{40,64}+)"),
    _format("service_token", "xai-", r"xai-([0-9A-Za-z]{60,100}+)"),
    _format("service_token", "tskey-", r"tskey-[a-z]{4,10}-([0-9A-Za-z_-]{20,80}+)"),
    _format("private_key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1([0-9A-Z]{58})"),
    _format(
        "json_web_token",
        "eyJ",
        r"(eyJ[0-9A-Za-z_-]{8,1024}+)\.eyJ[0-9A-Za-z_-]{8,8192}+\.[0-9A-Za-z_-]{16,1024}+",
        genuine=_signed_token,
    ),
)

"""The ``secrets`` scanner: credentials that somebody pasted into a memory.

Three kinds: forms that an issuer published (``secret_formats.py``), structures around a secret (PEM blocks,
passwords inside connection strings), and random-looking values beside a word such as "password". The first
two are exact and block, the third is a guess and flags (``policy.py``). A span covers the secret and not
the words around it, so that a page can hide exactly that.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Mapping

from memory.scanning.fold import fold
from memory.scanning.report import Severity, Span
from memory.scanning.secret_formats import FORMATS, looks_random

# PEM blocks

_PEM_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_PEM_BODY = re.compile(r"[A-Za-z0-9+/]{32}")
_PEM_END = "-----END "
_PEM_HEADERS = 400  # characters of Proc-Type, DEK-Info, Version and Comment lines before the body
_PEM_LONGEST = 16_384

# Passwords in connection strings

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}\Z")
_USER_AND_PASSWORD = re.compile(r"([^\s:/?#@\"'<>]{0,128}+):([^\s/@\"'<>]{3,256}+)@[\w\[]")
_KEYWORD_PASSWORD = re.compile(r"(?i:password|pwd) ?= ?([^\s;\"']{4,128}+)")
_LONGEST_STRING = 256
_KEYWORD_HOST = re.compile(r"(?i:server|data source|host|endpoint|addr) ?=")
_PLACEHOLDER = re.compile(
    r"(?:(?:my|your|the|db)[_-]?)?(?:pass(?:w(?:or)?d)?|pwd|secret)"
    r"|change[_-]?(?:me|it)|example|placeholder|redacted|hidden|empty|none|null"
)
_TEMPLATE = re.compile(r"[*<>{}$]|%[s(]|\.\.\.|…")

# Values beside a telling word

_TELLING_WORD = re.compile(
    r"(?i)secret|token|pass(?:w|phrase|code)|pwd|api[ _-]?key|a(?:ccess|uth)[ _-]?key|credential"
)
_ASSIGNMENT = re.compile(
    r"(?i:(passw(?:or)?d|passphrase|passcode|pwd)|secret|token|api[ _-]?key|access[ _-]?key|auth[_-]?key"
    r"|credentials?)[\w.-]{0,24}+[\"'\])]{0,2}+(?:(\s{1,3}is:?\s{1,3})|\s{0,3}(?:=>|:=|==?|:)\s{0,3})"
    r"[\"'`]?([^\s\"'`,;()<>\[\]{}]{8,256}+)"
)
_AWS_SECRET = re.compile(
    r"(?i:secret)[\w .-]{0,24}[\"']?\s{0,3}(?:=>|=|:|is)\s{0,3}[\"']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"
)
_BEARER = re.compile(r"(?i:bearer) {1,3}([A-Za-z0-9._~+/-]{20,512}+)")
_NOT_A_VALUE = re.compile(r"://|\(|^(?:[$%@/\\.]|os\.|env\.|process\.|self\.|config\.)")


class SecretsScanner:
    """Private keys, issued keys and tokens, passwords in connection strings, likely passwords."""

    name = "secrets"
    version = "1"
    rules: Mapping[str, Severity] = {
        **{secret_format.rule: Severity.CRITICAL for secret_format in FORMATS},
        "secrets.private_key": Severity.CRITICAL,
        "secrets.aws_secret_key": Severity.CRITICAL,
        "secrets.connection_string": Severity.CRITICAL,
        "secrets.bearer_token": Severity.HIGH,
        "secrets.assigned_secret": Severity.MEDIUM,
        "secrets.private_key_header": Severity.LOW,
        "secrets.stripe_test_key": Severity.LOW,
    }

    def scan(self, text: str) -> Iterator[Span]:
        """Spans of everything that looks like a credential, by offsets of the text as sent."""
        folded = fold(text)
        for rule, start, end in _secrets(folded.text):
            yield Span(rule, *folded.span_as_sent(start, end))


def _secrets(text: str) -> Iterator[Span]:
    for secret_format in FORMATS:
        yield from secret_format.spans(text)
    if "-----BEGIN " in text:
        yield from _private_keys(text)
    if "://" in text:
        yield from _url_passwords(text)
    lower = text.lower()
    if "password" in lower or "pwd" in lower:
        yield from _keyword_passwords(text)
    if _TELLING_WORD.search(text):
        yield from _aws_secrets(text)
        yield from _assigned(text)
    if "bearer" in lower:
        for match in _BEARER.finditer(text):
            if looks_random(match[1]):
                yield Span("secrets.bearer_token", *match.span(1))


def _private_keys(text: str) -> Iterator[Span]:
    end_marker = 0
    for begin in _PEM_BEGIN.finditer(text):
        if 0 <= end_marker < begin.end():
            end_marker = text.find(_PEM_END, begin.end())
        stop = end_marker if end_marker >= 0 else len(text)
        body = _PEM_BODY.search(text, begin.end(), min(stop, begin.end() + _PEM_HEADERS))
        if body is None:
            yield Span("secrets.private_key_header", *begin.span())
            continue
        stop = min(stop, begin.start() + _PEM_LONGEST)
        if stop == end_marker:
            closing = text.find("-----", stop + len(_PEM_END), stop + 64)
            stop = closing + 5 if closing >= 0 else stop
        yield Span("secrets.private_key", begin.start(), stop)


def _url_passwords(text: str) -> Iterator[Span]:
    place = text.find("://")
    while place >= 0:
        match = _USER_AND_PASSWORD.match(text, place + 3)
        if match and _SCHEME.search(text[max(0, place - 21) : place]) and _is_password(match[2], match[1]):
            yield Span("secrets.connection_string", *match.span(2))
        place = text.find("://", place + 3)


def _keyword_passwords(text: str) -> Iterator[Span]:
    """``Server=db;Uid=app;Pwd=…``: a password keyword with a host keyword before it on the same line."""
    hosts = [match.start() for match in _KEYWORD_HOST.finditer(text)]
    for match in _KEYWORD_PASSWORD.finditer(text) if hosts else ():
        nearest = bisect(hosts, match.start()) - 1
        if nearest < 0 or match.start() - hosts[nearest] > _LONGEST_STRING:
            continue
        if "\n" not in text[hosts[nearest] : match.start()] and _is_password(match[1]):
            yield Span("secrets.connection_string", *match.span(1))


def _is_password(value: str, user: str = "") -> bool:
    """Not a manual's placeholder: a word like "password", the user's name again, a template, one letter."""
    plain = value.lower()
    return not (
        _PLACEHOLDER.fullmatch(plain) or plain == user.lower() or _TEMPLATE.search(value) or len(set(plain)) < 3
    )


def _aws_secrets(text: str) -> Iterator[Span]:
    has_access_key = "AKIA" in text or "ASIA" in text
    for match in _AWS_SECRET.finditer(text):
        near_aws = has_access_key or "aws" in text[max(0, match.start() - 40) : match.start()].lower()
        if near_aws and looks_random(match[1]):
            yield Span("secrets.aws_secret_key", *match.span(1))


def _assigned(text: str) -> Iterator[Span]:
    for match in _ASSIGNMENT.finditer(text):
        password, in_prose = match[1], match[2]
        value = match[3].rstrip(".:!?" if in_prose else ".:")
        if _likely_secret(value, password=bool(password), in_prose=bool(in_prose)):
            yield Span("secrets.assigned_secret", match.start(3), match.start(3) + len(value))


def _likely_secret(value: str, *, password: bool, in_prose: bool) -> bool:
    """Whether a value is more likely a secret than a name, a path, a template or a sentence."""
    if _NOT_A_VALUE.search(value) or _TEMPLATE.search(value) or _PLACEHOLDER.fullmatch(value.lower()):
        return False
    lower, upper, digit = (any(test(c) for c in value) for test in (str.islower, str.isupper, str.isdigit))
    if not digit or not (lower or upper):
        return False
    if password:
        other = not value.isalnum()
        return len(value) >= 8 and (not in_prose or lower + upper + other >= 2) and len(set(value)) >= 5
    return len(value) >= 16 and len(set(value)) >= 10

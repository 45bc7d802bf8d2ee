"""The secrets scanner: issued keys block, likely passwords flag, manuals and prose stay clean.

No credential is written out in this file: each is put together when the test runs, so that no scanner of source
code, ours included, finds one here.
"""

from __future__ import annotations

import base64
import json
import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.scanning.chain import scan_text
from memory.scanning.report import Outcome
from memory.scanning.secrets import SecretsScanner

SCANNER = SecretsScanner()
ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def some(count, alphabet=ALNUM, seed=7):
    """``count`` random characters, the same in every run, with a digit in them."""
    chosen = random.Random(seed).choices(alphabet, k=count - 1)
    return "".join(chosen) + "7"


def b64url(document):
    return base64.urlsafe_b64encode(json.dumps(document).encode()).rstrip(b"=").decode()


def pem(kind="RSA PRIVATE KEY", *, newline="\n", headers=()):
    lines = [f"-----BEGIN {kind}-----", *headers, *([some(64)] * 3), some(20) + "==", f"-----END {kind}-----"]
    return newline.join(lines)


JWT = f"{b64url({'alg': 'HS256', 'typ': 'JWT'})}.{b64url({'sub': '1234567890'})}.{some(43)}"

ISSUED = {
    "oml key": ("oml_key", "oml_k_" + some(26, "0123456789ABCDEFGHJKMNPQRSTVWXYZ")),
    "oml run token": ("oml_key", "oml_r_" + some(26, "0123456789ABCDEFGHJKMNPQRSTVWXYZ")),
    "aws access key": ("aws_access_key", "AKIA" + some(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")),
    "aws temporary key": ("aws_access_key", "ASIA" + some(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")),
    "azure storage": ("azure_storage_key", "AccountKey=" + some(86) + "=="),
    "google api key": ("google_key", "AIza" + some(35, ALNUM + "-_")),
    "google client secret": ("google_key", "GOCSPX-" + some(28)),
    "google access token": ("google_key", "ya29." + some(60)),
    "github classic": ("github_token", "ghp_" + some(36)),
    "github app": ("github_token", "ghs_" + some(36)),
    "github fine-grained": ("github_token", "github_pat_" + some(22) + "_" + some(59)),
    "gitlab": ("gitlab_token", "glpat-" + some(20)),
    "slack bot": ("slack_token", "-".join(["xoxb", "123456789012", "1234567890123", some(24)])),
    "slack app": ("slack_token", "xapp-1-A0123456789-" + some(40)),
    "slack webhook": ("slack_token", "hooks.slack.com/services/T01234567/B01234567/" + some(24)),
    "stripe live": ("stripe_key", "sk_live_" + some(24)),
    "stripe restricted": ("stripe_key", "rk_live_" + some(24)),
    "stripe webhook": ("stripe_key", "whsec_" + some(32)),
    "anthropic": ("anthropic_key", "sk-ant-api03-" + some(93, ALNUM + "-_") + "AA"),
    "openai project": ("openai_key", "sk-proj-" + some(74, ALNUM + "-_")),
    "openai legacy": ("openai_key", "sk-" + some(48)),
    "npm": ("registry_token", "npm_" + some(36)),
    "pypi": ("registry_token", "pypi-AgEIcHlwaS5vcmc" + some(80)),
    "hugging face": ("registry_token", "hf_" + some(34, string.ascii_letters)),
    "docker hub": ("registry_token", "dckr_pat_" + some(27)),
    "sendgrid": ("service_token", "SG." + some(22) + "." + some(43)),
    "digitalocean": ("service_token", "dop_v1_" + some(64, HEX)),
    "vault": ("service_token", "hvs." + some(40)),
    "shopify": ("service_token", "shpat_" + some(32, HEX)),
    "databricks": ("service_token", "dapi" + some(32, HEX)),
    "grafana": ("service_token", "glsa_" + some(32) + "_" + some(8, HEX)),
    "linear": ("service_token", "lin_api_" + some(40)),
    "groq": ("service_token", "gsk_" + some(52)),
    "xai": ("service_token", "xai-" + some(80)),
    "tailscale": ("service_token", "tskey-auth-" + some(30)),
    "age": ("private_key", "AGE-SECRET-KEY-1" + some(58, "ABCDEFGHJKLMNPQRSTUVWXYZ0123456789")),
    "json web token": ("json_web_token", JWT),
    "rsa key": ("private_key", pem()),
    "openssh key": ("private_key", pem("OPENSSH PRIVATE KEY")),
    "pkcs8 key": ("private_key", pem("PRIVATE KEY")),
    "pgp key": ("private_key", pem("PGP PRIVATE KEY BLOCK", headers=["Version: GnuPG v2", ""])),
    "encrypted key": (
        "private_key",
        pem(headers=["Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC," + some(32, HEX), ""]),
    ),
    "key inside json": ("private_key", pem(newline="\\n")),
}

INSIDE_WORDS = {
    "aws secret": ("aws_secret_key", "aws_secret_access_key = '%s'", some(40, ALNUM + "/+")),
    "aws secret in env": ("aws_secret_key", "export AWS_SECRET_ACCESS_KEY=%s", some(40)),
    "postgres url": ("connection_string", "postgres://app:%s@db.internal:5432/app", "T0psecret" + some(4)),
    "redis url": ("connection_string", "redis://:%s@cache:6379/0", some(12)),
    "basic auth url": ("connection_string", "see https://bot:%s@example.com/x.git", some(12)),
    "sql server": ("connection_string", "Server=db;Database=x;User Id=app;Password=%s;", "s3cr3t!" + some(4)),
    "yaml password": ("assigned_secret", "password: %s", "hunter2hunter"),
    "quoted password": ("assigned_secret", '{"db_password": "%s"}', "Sunshine2024!"),
    "password in prose": ("assigned_secret", "the wifi password is %s.", "Sunshine2024"),
    "api key": ("assigned_secret", "API_KEY=%s", some(32)),
    "hex secret": ("assigned_secret", "client_secret: '%s'", some(40, HEX)),
    "bearer": ("bearer_token", "curl -H 'Authorization: Bearer %s'", some(40)),
    "stripe test": ("stripe_test_key", "%s", "sk_test_" + some(24)),
    "key header alone": ("private_key_header", "%s", "-----BEGIN RSA PRIVATE KEY-----"),
}

BENIGN = [
    "The password policy asks for 12 characters.",
    "password: ********",
    "password=<your password here>",
    "Set PASSWORD=${DB_PASSWORD} in the environment.",
    "password = os.environ['DB_PASSWORD']",
    "token = get_token(client_id, client_secret)",
    "max_tokens: 200000, token count: 4096",
    "The secret is that nobody knows.",
    "api_key: your-api-key-goes-here",
    "postgres://user:password@localhost/db",
    "postgres://postgres:postgres@localhost:5432/postgres",
    "https://user:${TOKEN}@example.com",
    "redis://cache:6379/0 and http://[::1]:8000/",
    "mail ann@example.com: the ratio 3:4@noon",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "sk-ant-api03-XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX",
    "oml_k_" + "0" * 26,
    "AKIA" + "X" * 16,
    "sk-learn-pipeline-with-standard-scaler-and-pca-components",
    "task-" + "abcdefghij" * 4,
    "commit 8b1118b376c313ed420e5133ba91307817ed52c2",
    "sha256:" + "9f86d081884c7d65" * 4,
    "id 550e8400-e29b-41d4-a716-446655440000",
    "eyJ is how a base64 JSON object begins: eyJhIjoxfQ",
    "Public: -----BEGIN PUBLIC KEY-----\n" + "A1b2" * 16 + "\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----\n" + "A1b2" * 16 + "\n-----END CERTIFICATE-----",
    "Bearer tokens are sent in a header; the bearer of this letter is honest.",
    "Remember to rotate the access key next week.",
    "We measured 1234567890 tokens = 12 pages.",
    "",
]


def report_of(text):
    (report,) = scan_text(text, scanners=[SCANNER])
    return report


@pytest.mark.parametrize("kind", ISSUED)
def test_secrets_scanner__an_issued_credential_in_prose__blocks_and_spans_exactly_it(kind):
    rule, secret = ISSUED[kind]
    text = f"For the demo use {secret} until Friday."
    report = report_of(text)
    assert report.outcome is Outcome.BLOCKED
    spans = [text[f.start : f.end] for f in report.findings if f.rule == f"secrets.{rule}"]
    assert spans == [secret]


@pytest.mark.parametrize("kind", ISSUED)
def test_secrets_scanner__an_issued_credential_behind_an_equals_sign__blocks(kind):
    _, secret = ISSUED[kind]
    assert report_of(f"KEY={secret}").outcome is Outcome.BLOCKED


@pytest.mark.parametrize("kind", INSIDE_WORDS)
def test_secrets_scanner__a_value_beside_telling_words__spans_only_the_value(kind):
    rule, around, secret = INSIDE_WORDS[kind]
    text = around % secret
    spans = [text[f.start : f.end] for f in report_of(text).findings if f.rule == f"secrets.{rule}"]
    assert spans == [secret]


@pytest.mark.parametrize("text", BENIGN)
def test_secrets_scanner__manuals_and_prose__are_clean(text):
    assert report_of(text).findings == ()


def test_secrets_scanner__every_rule__is_raised_by_an_example():
    raised = {f"secrets.{rule}" for rule, *_ in [*ISSUED.values(), *INSIDE_WORDS.values()]}
    assert raised == set(SCANNER.rules)


def test_secrets_scanner__the_key_of_aws_manuals__blocks_like_any_other():
    assert report_of("AKIA" + "IOSFODNN7EXAMPLE").outcome is Outcome.BLOCKED


def test_secrets_scanner__a_key_without_its_end_line__is_still_found():
    cut = pem().rsplit("-----END", 1)[0]
    assert report_of(cut).outcome is Outcome.BLOCKED


def test_secrets_scanner__two_keys__are_two_findings():
    text = f"{pem()}\nand\n{pem('EC PRIVATE KEY')}"
    assert [text[f.start : f.end] for f in report_of(text).findings] == [pem(), pem("EC PRIVATE KEY")]


def test_secrets_scanner__a_full_width_key__is_found_where_it_stands():
    secret = ISSUED["github classic"][1]
    wide = secret.translate({code: code + 0xFEE0 for code in range(0x21, 0x7F)})
    text = f"価格：{wide}"
    (finding,) = report_of(text).findings
    assert text[finding.start : finding.end] == wide


GITHUB = ISSUED["github classic"][1]


@given(
    before=st.text(" éя漢😀\u200b\xad.:", max_size=12),
    after=st.text(" éя漢😀\u200b\xad.:", max_size=12),
    places=st.sets(st.integers(1, len(GITHUB) - 1), max_size=4),
    split=st.sampled_from("\u200b\u200d\u2060\xad\ufeff\U000e0041"),
)
def test_secrets_scanner__a_key_split_by_invisible_characters__is_found_whole(before, after, places, split):
    sent = "".join(split * (place in places) + letter for place, letter in enumerate(GITHUB))
    text = before + sent + after
    (finding,) = report_of(text).findings
    assert finding.rule == "secrets.github_token"
    assert text[finding.start : finding.end] == sent


@given(kind=st.sampled_from(sorted(ISSUED)), before=st.text(max_size=20), after=st.text(max_size=20))
def test_secrets_scanner__a_key_on_a_line_of_its_own__is_found_in_any_company(kind, before, after):
    _, secret = ISSUED[kind]
    assert report_of(f"{before}\n{secret}\n{after}").outcome is Outcome.BLOCKED

"""What was sent is what is served: any Unicode text, byte for byte, on every face that may show it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from memory.claims.models import Artifact
from memory.recall import index
from oml.core.canonical import sha256_hex
from oml.core.clock import now
from review.selectors.served import served_item
from tests.support.world import World

pytestmark = pytest.mark.django_db

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=200)


def sent(client: Client, world: World, text: str, *, ascii_only: bool) -> str:
    body = {"workarea": "universe.a", "claim_key": f"c-{Artifact.objects.count()}", "text": text, "kind": "steering"}
    raw = json.dumps(body, ensure_ascii=ascii_only).encode()
    headers = {"Authorization": f"Bearer {world.secret[world.writer]}"}
    answer = client.post("/v1/memories", raw, content_type="application/json", headers=headers)
    assert answer.status_code == 201, answer.content
    return str(answer.json()["artifact_id"])


def got(client: Client, world: World, method: str, path: str, body: Any = None) -> Any:
    headers = {"Authorization": f"Bearer {world.secret[world.reader]}"}
    raw = b"" if body is None else json.dumps(body).encode()
    answer = client.generic(method, f"/v1/{path}", raw, content_type="application/json", headers=headers)
    assert answer.status_code == 200, answer.content
    return answer.json()


@hypothesis_settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=texts, ascii_only=st.booleans())
@example(text="e\u0301 \u00e9 \ufb01 \u212b", ascii_only=True)  # no normalisation, of any form
@example(text="\ufeff\u200b\u202e\u2066abc\u2069\U000e0041", ascii_only=False)
@example(text="👩\u200d👩\u200d👧\u200d👦 مرحبا שלום 漢字かな 한국어 Ελληνικά", ascii_only=False)
@example(text="\r\n\t \x0b\x0c\x1f\x7f\x85\u2028\u2029 ", ascii_only=True)
@example(text="\\u0041 \\n \" ' ; -- <script>&amp;{{ x }}{% y %}", ascii_only=False)
@example(text="x", ascii_only=False)
def test_text__any_unicode__comes_back_byte_for_byte(world: World, client: Client, text: str, ascii_only: bool) -> None:
    artifact = sent(client, world, text, ascii_only=ascii_only)
    row = Artifact.objects.get(pk=artifact)
    assert row.text == text
    assert row.text_sha256 == sha256_hex(text.encode())
    # The scanners' verdicts are tested elsewhere; here every text is let through, blocked ones included.
    Artifact.objects.filter(pk=artifact).update(scan_state="clean")
    serve = world.serve(artifact)
    assert served_item(world.reviewer, serve_id=serve.pk)["text"] == text
    Artifact.objects.filter(pk=artifact).update(state="promoted", promoted_at=now())
    index.publish(Artifact.objects.select_related("workarea").get(pk=artifact))
    assert got(client, world, "GET", f"memories/{artifact}")["text"] == text
    steering = got(client, world, "POST", "recall", {"query": "anything", "scope": "universe.a"})["steering"]
    assert [part["text"] for part in steering if part["artifact_id"] == artifact] == [text]
    Artifact.objects.filter(pk=artifact).update(state="demoted")
    index.withdraw(artifact)


def test_text__of_the_longest_legal_size__comes_back_whole(world: World, client: Client) -> None:
    text = "".join(chr(0x10FFFF - number) for number in range(32_768))
    artifact = sent(client, world, text, ascii_only=True)
    assert Artifact.objects.get(pk=artifact).text == text

"""Request shapes of the review routes (design: shapes, Review)."""

from __future__ import annotations

from typing import Any

from oml.http.fields import OneOf, Reference, StrictSerializer, Text, Whole
from review.policy import ReasonCode, VerdictWord


class QueueShape(StrictSerializer):
    workarea = Reference(required=False, help_text="Only this subtree: id or path.")
    kind = Text(max_length=64, required=False)
    scan = Text(max_length=64, required=False, help_text="pending, clean, flagged, blocked or failed.")
    author_key = Reference(required=False)
    claim_key = Text(max_length=128, required=False, help_text="Part of a claim key.")
    channel = Text(max_length=64, required=False, help_text="claim, agent_note or agent_slot.")
    turn = Text(max_length=64, required=False, help_text="mine: this key may judge it now; or others.")
    limit = Whole(required=False, help_text="1 to 100; 50 when left out.")
    cursor = Text(max_length=4096, required=False)


class EdgeQueueShape(StrictSerializer):
    workarea = Reference(required=False, help_text="Only edges with an end in this subtree: id or path.")
    kind = Text(max_length=64, required=False, help_text="workarea or claim.")
    turn = Text(max_length=64, required=False, help_text="mine: this key may judge it now; or others.")
    limit = Whole(required=False, help_text="1 to 100; 50 when left out.")
    cursor = Text(max_length=4096, required=False)


class ServeShape(StrictSerializer):
    artifact_id = Reference(required=False, help_text="The held item to open …")
    edge_id = Reference(required=False, help_text="… or the pending edge.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if len(attrs) != 1:
            self.fail_with("names one thing to open: artifact_id or edge_id")
        return attrs


class VerdictShape(StrictSerializer):
    serve_id = Reference(help_text="The serve this verdict consumes.")
    content_digest = Text(max_length=128, help_text="The digest the serve answered.")
    verdict = OneOf(words=VerdictWord)
    reason_code = OneOf(words=ReasonCode, required=False)
    reason = Text(max_length=4000, min_length=0, required=False)

"""Request shapes of memory, shared by ``/v1`` and MCP (seed; design: shapes, "Submissions and reads")."""

from __future__ import annotations

from typing import Any

from memory.claims import rules
from memory.claims.states import Kind, SubmitVerb
from memory.graph.labels import MAX_NOTE, EdgeKind
from memory.recall.commands import MAX_QUERY
from oml.http.fields import Flag, Listing, Matching, Moment, OneOf, Reference, StrictSerializer, Text, Whole


class AttachmentShape(StrictSerializer):
    upload_session = Reference(help_text="A completed upload session of this key.")


class EvidenceShape(StrictSerializer):
    sr_id = Reference(help_text="A source record readable by this key.")
    version = Whole(required=False, help_text="Version cited; the head at submission when left out.")


class RememberShape(StrictSerializer):
    workarea = Reference(help_text="Target node: its id, or its path.")
    claim_key = Matching(
        pattern=rules.CLAIM_KEY,
        explain="is 1 to 128 of A-Z a-z 0-9 . _ : / - and starts with a letter or digit",
        max_length=10_000,
        help_text="Your name for the claim; unique per workarea over non-erased claims.",
    )
    text = Text(
        max_length=rules.MAX_TEXT,
        oversize_is_limit=True,
        help_text="What is remembered, kept exactly as sent.",
    )
    kind = OneOf(words=Kind, required=False, help_text="memory (default), derived_fact or steering.")
    attachments = Listing(
        child=AttachmentShape(),
        required=False,
        max_length=rules.MAX_ATTACHMENTS,
        help_text="Completed upload sessions to bind.",
    )
    derives_from = Listing(
        child=Reference(),
        required=False,
        max_length=rules.MAX_LINEAGE,
        help_text="Artifact ids this rests on; each promoted and readable by this key.",
    )
    evidence = Listing(
        child=EvidenceShape(),
        required=False,
        max_length=rules.MAX_EVIDENCE,
        help_text="Source-record versions cited.",
    )
    idempotency_key = Matching(
        pattern=rules.IDEMPOTENCY_KEY,
        explain="is 1 to 128 printable ASCII characters without spaces",
        max_length=10_000,
        required=False,
        help_text="A stable name of this request; a retry with it never writes twice.",
    )
    simulation_id = Reference(required=False, help_text="Simulation this row is fenced into.")
    occurred_at = Moment(required=False, help_text="When what is remembered happened, RFC 3339 with offset.")
    thread = Text(max_length=rules.MAX_THREAD, required=False, help_text="Conversation or run; neighbours help recall.")
    valid_from = Moment(required=False, help_text="Absent from recall before this time.")
    valid_to = Moment(required=False, help_text="Absent from recall after this time.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        start, end = attrs.get("valid_from"), attrs.get("valid_to")
        if start is not None and end is not None and end < start:
            self.fail_with("lies before valid_from", "valid_to")
        return attrs


class LearnShape(RememberShape):
    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("kind", Kind.DERIVED_FACT) != Kind.DERIVED_FACT:
            self.fail_with("is derived_fact for learn", "kind")
        return super().validate(attrs)


class SubmitShape(RememberShape):
    """``POST /v1/memories``: one route, the verb in the body."""

    verb = OneOf(words=SubmitVerb, required=False, help_text="remember (default) or learn.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("verb") == SubmitVerb.LEARN and attrs.get("kind", Kind.DERIVED_FACT) != Kind.DERIVED_FACT:
            self.fail_with("is derived_fact for learn", "kind")
        return super().validate(attrs)


class VersionShape(StrictSerializer):
    artifact = Reference(help_text="The latest promoted version of your own claim.")
    text = Text(max_length=rules.MAX_TEXT, oversize_is_limit=True, help_text="The new version, kept exactly as sent.")
    attachments = Listing(child=AttachmentShape(), required=False, max_length=rules.MAX_ATTACHMENTS)
    derives_from = Listing(child=Reference(), required=False, max_length=rules.MAX_LINEAGE)
    evidence = Listing(child=EvidenceShape(), required=False, max_length=rules.MAX_EVIDENCE)
    idempotency_key = Matching(
        pattern=rules.IDEMPOTENCY_KEY,
        explain="is 1 to 128 printable ASCII characters without spaces",
        max_length=10_000,
        required=False,
    )


class DemoteShape(StrictSerializer):
    artifact = Reference()
    reason = Text(max_length=2000, help_text="Why; kept beside the journal.")


class EraseShape(StrictSerializer):
    artifact = Reference()
    reason = Text(max_length=2000, help_text="Why; only a commitment to it is kept.")
    preview = Flag(required=False, help_text="Change nothing, only say what would go.")


class ProposeShape(StrictSerializer):
    kind = OneOf(words=EdgeKind, help_text="workarea or claim.")
    label = Text(max_length=64, help_text="What the edge says, from → to.")  # type: ignore[assignment]
    note = Text(max_length=MAX_NOTE, min_length=0, required=False, help_text="Why, for the ratifier.")

    def get_fields(self) -> dict[str, Any]:
        # ``from`` is a word of Python, so the two ends are declared here.
        ends = {
            "from": Reference(help_text="Workarea id or path, or artifact id."),
            "to": Reference(help_text="Workarea id or path, or artifact id."),
        }
        return {**super().get_fields(), **ends}


class GraphShape(StrictSerializer):
    scope = Reference(help_text="Node whose subtree is read: id or path.")
    roots = Listing(child=Reference(), required=False, max_length=100, help_text="Artifact ids to start from.")
    depth = Whole(required=False, help_text="Steps from the roots, 0 to 5; 1 when left out.")
    limit = Whole(required=False, help_text="Claims per page, 1 to 500; 100 when left out.")
    cursor = Text(max_length=4096, required=False, help_text="next_cursor of the page before.")


class FiltersShape(StrictSerializer):
    kind = OneOf(words=(Kind.MEMORY, Kind.DERIVED_FACT), required=False)
    author_key = Reference(required=False)
    claim_key_prefix = Text(max_length=128, required=False)
    occurred_from = Moment(required=False)
    occurred_to = Moment(required=False)
    promoted_from = Moment(required=False)
    promoted_to = Moment(required=False)


class RecallShape(StrictSerializer):
    query = Text(max_length=MAX_QUERY, oversize_is_limit=True, help_text="What you want to know.")
    scope = Reference(help_text="Node whose subtree is searched: id or path.")
    k = Whole(required=False, help_text="How many hits, 1 to 50; 8 when left out.")
    filters = FiltersShape(required=False, help_text="Narrow the hits.")
    max_chars = Whole(required=False, help_text="Byte budget for texts; what is cut is said.")
    explain = Flag(required=False, help_text="Add the parts of each score.")


class MyWorkShape(StrictSerializer):
    workarea = Reference(required=False, help_text="Only submissions to this node.")
    state = Text(max_length=64, required=False, help_text="held, promoted, demoted, rejected or erased.")
    limit = Whole(required=False, help_text="1 to 100; 20 when left out.")
    cursor = Text(max_length=4096, required=False, help_text="next_cursor of the page before.")


class WorkareaShape(StrictSerializer):
    workarea = Reference(help_text="Node: id or path.")


class TailShape(StrictSerializer):
    scope = Reference(help_text="Node whose subtree is tailed: id or path.")
    after_seq = Whole(required=False, help_text="Last sequence you processed; newest events when left out.")
    limit = Whole(required=False, help_text="1 to 500; 50 when left out.")


class ArtifactShape(StrictSerializer):
    artifact = Reference(help_text="Artifact id.")

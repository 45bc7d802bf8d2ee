"""Request shapes of source records, shared by their routes and their MCP mount (seed; design: records, shapes)."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from memory.claims.rules import IDEMPOTENCY_KEY
from memory.recall.commands import MAX_QUERY
from memory.records import rules
from oml.core.spooled import Spooled
from oml.http.fields import Described, Flag, Listing, Matching, Moment, OneOf, Reference, StrictSerializer, Text, Whole


class Content(Described, serializers.Field[Any, Any, Any, Any]):
    """A string of any size, exactly as sent: U+0000 included, only a lone surrogate is no text."""

    def __init__(self, *, least: int = 1, **kwargs: Any) -> None:
        self.least = least
        super().__init__(**kwargs)

    def json_schema(self) -> dict[str, Any]:
        return {"type": "string", "minLength": self.least}

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Spooled):
            return data
        if not isinstance(data, str):
            raise serializers.ValidationError("is a string; JSON is sent as its text")
        if len(data) < self.least:
            raise serializers.ValidationError("has at least 1 character")
        if any("\ud800" <= character <= "\udfff" for character in data):
            raise serializers.ValidationError("holds a lone surrogate; it is not valid Unicode")
        return data

    def to_representation(self, value: Any) -> Any:
        return value


class Property(Text):
    """An edge property ``label:value``."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=4096, **kwargs)

    def to_internal_value(self, data: Any) -> Any:
        try:
            return rules.parse_property(super().to_internal_value(data))
        except ValueError as error:
            raise serializers.ValidationError(str(error)) from None


def _properties(help_text: str) -> Listing:
    return Listing(child=Property(), required=False, unique=False, max_length=rules.MAX_PROPERTIES, help_text=help_text)


def _note(help_text: str) -> Text:
    return Text(max_length=rules.MAX_NOTE, required=False, help_text=help_text)


class RecordShape(StrictSerializer):
    content = Content(help_text="What is kept, exactly as sent, of any size.")
    source_type = Text(max_length=rules.MAX_NAME, required=False, help_text="A source type of the lane.")
    properties = _properties('Edge properties, "label:value".')
    assign_lane = Reference(required=False, help_text="Another lane of yours, label or UUID; your home lane else.")
    source_system = Text(
        max_length=rules.MAX_SOURCE_SYSTEM, required=False, help_text="What sends it; the User-Agent when left out."
    )


class IngestShape(RecordShape):
    sync = Flag(required=False, help_text="Derive tags and vectors before the answer, which says how far.")


class BatchShape(StrictSerializer):
    records = Listing(child=RecordShape(), unique=False, help_text="1 to 200 records, kept together or not at all.")
    idempotency_key = Matching(
        pattern=IDEMPOTENCY_KEY,
        explain="is 1 to 128 printable ASCII characters without spaces",
        max_length=10_000,
        required=False,
        help_text="A stable name of this request; a retry with it never writes twice.",
    )


class ReadShape(StrictSerializer):
    sr_id = Reference(help_text="The record.")
    as_of = Moment(required=False, help_text="As it stood then, RFC 3339 with offset.")
    version = Whole(required=False, help_text="At this version.")


class UpdateShape(StrictSerializer):
    sr_id = Reference(help_text="The record.")
    content = Content(required=False, help_text="The whole new content, never a difference.")
    properties = _properties("Merged by label: each label named has its values replaced, others stay.")
    note = _note("Why this version exists.")
    expected_version = Whole(required=False, help_text="Refused if the record is at another version.")
    sync = Flag(required=False, help_text="Derive tags and vectors before the answer, which says how far.")


class PropertyShape(StrictSerializer):
    sr_id = Reference(help_text="The record.")
    property = Property(help_text='"label:value".')


class PropertyChangeShape(PropertyShape):
    action = OneOf(words=("add", "remove"), help_text="add or remove.")


class ConnectionShape(StrictSerializer):
    sr_id = Reference(help_text="The record the connection starts from.")
    to = Reference(help_text="The record it leads to.")
    label = Matching(  # type: ignore[assignment]
        pattern=rules.LABEL, explain="is 1 to 64 of a-z 0-9 _ . -", max_length=10_000, help_text="What it says."
    )


class ConnectionChangeShape(ConnectionShape):
    action = OneOf(words=("add", "remove"), required=False, help_text="add (default) or remove.")


class AmendShape(StrictSerializer):
    sr_id = Reference(help_text="The record this is pinned to.")
    content = Content(help_text="What is right, or what is so now.")
    note = _note("Why.")
    properties = _properties("Edge properties of the new record.")
    source_system = Text(max_length=rules.MAX_SOURCE_SYSTEM, required=False, help_text="What sends it.")


class TombstoneShape(StrictSerializer):
    sr_id = Reference(help_text="The record.")
    note = _note("Why it is removed.")


class RecordEraseShape(StrictSerializer):
    sr_id = Reference(help_text="The record, of any principal.")
    reason = Text(max_length=rules.MAX_NOTE, help_text="Why; only a commitment to it is kept.")
    preview = Flag(required=False, help_text="Change nothing, only say what would go.")


class HistoryShape(StrictSerializer):
    sr_id = Reference(help_text="The record.")


class GroupShape(StrictSerializer):
    name = Text(max_length=100, help_text="Name of the group; made on first use.")
    add = Listing(child=Reference(), required=False, max_length=rules.MAX_GROUP_CHANGE, help_text="Records to put in.")
    remove = Listing(
        child=Reference(), required=False, max_length=rules.MAX_GROUP_CHANGE, help_text="Records to take out."
    )


class SourceTypeShape(StrictSerializer):
    name = Matching(pattern=rules.LABEL, explain="is 1 to 64 of a-z 0-9 _ . -", max_length=10_000)
    authority = Whole(help_text="0 to 100.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not 0 <= attrs["authority"] <= 100:
            self.fail_with("is 0 to 100", "authority")
        return attrs


class LaneShape(StrictSerializer):
    label = Text(max_length=100, help_text="Unique among your lanes.")  # type: ignore[assignment]
    workarea = Reference(required=False, help_text="Who may not write there writes no record into the lane.")
    source_types = Listing(child=SourceTypeShape(), required=False, max_length=50, help_text="Beside the seeded ones.")
    default_source_type = Text(max_length=rules.MAX_NAME, required=False, help_text="Of records that name none.")


class LanesShape(StrictSerializer):
    pass


class GatherShape(StrictSerializer):
    query = Text(max_length=MAX_QUERY, oversize_is_limit=True, required=False, help_text="What you want to know.")
    properties = _properties("All of these must be on the record, declared or derived.")
    lanes = Listing(child=Reference(), required=False, max_length=50, help_text="Only these lanes, label or UUID.")
    source_type = Text(max_length=rules.MAX_NAME, required=False, help_text="Only this source type.")
    min_authority = Whole(required=False, help_text="Only records of at least this authority.")
    k = Whole(required=False, help_text="How many, 1 to 50; 10 when left out.")


class TimelineShape(StrictSerializer):
    since = Moment(required=False, help_text="Ingested at or after this time, RFC 3339 with offset.")
    until = Moment(required=False, help_text="Ingested at or before this time.")
    properties = _properties("All of these must be on the record, declared or derived.")
    lanes = Listing(child=Reference(), required=False, max_length=50, help_text="Only these lanes, label or UUID.")
    order = OneOf(words=("asc", "desc"), required=False, help_text="asc (default) or desc.")
    limit = Whole(required=False, help_text="1 to 100; 20 when left out.")
    cursor = Text(max_length=4096, required=False, help_text="next_cursor of the page before.")


class FileShape(StrictSerializer):
    path = Text(max_length=rules.MAX_VALUE, help_text="Where it is in the folder.")
    content = Content(least=0, help_text="Its text; a file may be empty.")


class IntakeShape(StrictSerializer):
    folder = Text(max_length=rules.MAX_VALUE, help_text="Name of the folder, the same on every run.")
    files = Listing(child=FileShape(), unique=False, max_length=rules.MAX_FILES, help_text="All of its files.")

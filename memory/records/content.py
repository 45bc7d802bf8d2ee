"""The bytes of contents: written and read in pieces, so that no content is ever in memory whole unless it is small."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory.records.models import ContentBlob, ContentPiece
from oml.core.errors import Unavailable
from oml.core.spooled import PIECE, LargeText, Spooled, measure, pieces_of
from oml.crypto.digest import commitment, new_salt

#: Contents up to this many bytes are one piece, and are handed out as strings.
SMALL = PIECE
#: Contents up to this many bytes are written in the statement of their record, a batch of them too.
_WITH_RECORD = PIECE // 16


@dataclass(frozen=True, slots=True)
class StoredText:
    """A large stored content, read as it is sent on."""

    blob_id: int
    size: int

    def text(self) -> Iterator[str]:
        """Its characters in order, about a piece at a time."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        for ordinal in range(-(-self.size // PIECE)):
            data = (
                ContentPiece.objects.filter(blob=self.blob_id, ordinal=ordinal).values_list("data", flat=True).first()
            )
            if data is None:  # erased while it was read
                raise Unavailable
            yield decoder.decode(bytes(data))
        yield decoder.decode(b"", final=True)

    def json(self) -> Iterator[bytes]:
        """The content as a JSON string, its quotes included."""
        yield b'"'
        for part in self.text():
            yield json.dumps(part, ensure_ascii=False)[1:-1].encode()
        yield b'"'


Stored = str | StoredText


def store(tenant_id: str, sr_id: str, text: LargeText) -> tuple[str, int, bytes]:
    """Keep a content of a record; the same bytes again are kept once per record.

    Returns:
        Hex SHA-256, size in bytes, and the salt for commitments to it.
    """
    sha256, size = measure(text)
    known = ContentBlob.objects.filter(sr_id=sr_id, sha256=sha256).first()
    if known is not None:
        return sha256, size, bytes(known.salt)
    salt = new_salt()
    blob = ContentBlob.objects.create(tenant_id=tenant_id, sr_id=sr_id, sha256=sha256, size=size, salt=salt)
    pour(blob.pk, text)
    return sha256, size, salt


def small(text: LargeText) -> bytes | None:
    """The bytes of a content that is written with its record; None for one that :func:`pour` writes."""
    if isinstance(text, Spooled):
        return b"".join(text.pieces()) if text.size <= _WITH_RECORD else None
    raw = text.encode()
    return raw if len(raw) <= _WITH_RECORD else None


def pour(blob_id: int, text: LargeText) -> None:
    """Write a content that has only its number yet, piece by piece."""
    for ordinal, piece in enumerate(pieces_of(text)):
        ContentPiece.objects.create(blob_id=blob_id, ordinal=ordinal, data=piece)


def stored(sr_id: str, sha256: str, size: int) -> Stored | None:
    """A content of a record, of a known size; None once it was erased."""
    if size > SMALL:
        blob = ContentBlob.objects.filter(sr_id=sr_id, sha256=sha256).first()
        return StoredText(blob.pk, blob.size) if blob is not None else None
    return stored_many([(sr_id, sha256)]).get(sr_id)


def stored_many(contents: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Small contents by their record, one per record; one statement. What was erased is left out.

    Args:
        contents: sr_id and hex SHA-256.
    """
    wanted = dict(contents)
    rows = ContentPiece.objects.filter(ordinal=0, blob__sr_id__in=list(wanted), blob__sha256__in=wanted.values())
    found = rows.values_list("blob__sr_id", "blob__sha256", "data")
    return {sr_id: bytes(data).decode() for sr_id, sha256, data in found if wanted[sr_id] == sha256}


def committed(salt: bytes, sha256: str) -> str:
    """What the journal says of a content: provable while its salt exists, meaningless after."""
    return commitment(salt, bytes.fromhex(sha256))

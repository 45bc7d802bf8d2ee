"""The bytes of contents: written and read in pieces, so that no content is ever in memory whole unless it is small."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from dataclasses import dataclass

from memory.records.models import ContentBlob, ContentPiece
from oml.core.errors import Unavailable
from oml.core.spooled import PIECE, LargeText, measure, pieces_of
from oml.crypto.digest import commitment, new_salt

#: Contents up to this many bytes are handed out as strings.
SMALL = PIECE


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
    for ordinal, piece in enumerate(pieces_of(text)):
        ContentPiece.objects.create(blob=blob, ordinal=ordinal, data=piece)
    return sha256, size, salt


def store_many(tenant_id: str, contents: list[tuple[str, LargeText, str, int]]) -> dict[str, bytes]:
    """Keep first contents of new records, small ones in two statements; salts by record.

    Args:
        tenant_id: whose records.
        contents: sr_id, text, hex SHA-256, size.
    """
    blobs = [
        ContentBlob(tenant_id=tenant_id, sr_id=sr_id, sha256=sha256, size=size, salt=new_salt())
        for sr_id, _, sha256, size in contents
    ]
    ContentBlob.objects.bulk_create(blobs)
    small: list[ContentPiece] = []
    for blob, (_, text, _, _) in zip(blobs, contents, strict=True):
        for ordinal, data in enumerate(pieces_of(text)):
            piece = ContentPiece(blob=blob, ordinal=ordinal, data=data)
            if len(data) > PIECE // 16:
                piece.save(force_insert=True)
            else:
                small.append(piece)
    ContentPiece.objects.bulk_create(small)
    return {blob.sr_id: bytes(blob.salt) for blob in blobs}


def stored(sr_id: str, sha256: str, size: int) -> Stored | None:
    """A content of a record, of a known size; None once it was erased."""
    if size > SMALL:
        blob = ContentBlob.objects.filter(sr_id=sr_id, sha256=sha256).first()
        return StoredText(blob.pk, blob.size) if blob is not None else None
    rows = ContentPiece.objects.filter(blob__sr_id=sr_id, blob__sha256=sha256).order_by("ordinal")
    pieces = [bytes(piece) for piece in rows.values_list("data", flat=True)]
    return b"".join(pieces).decode() if pieces else None


def committed(salt: bytes, sha256: str) -> str:
    """What the journal says of a content: provable while its salt exists, meaningless after."""
    return commitment(salt, bytes.fromhex(sha256))

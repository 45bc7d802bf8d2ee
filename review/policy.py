"""R2 and the words of a verdict, pure: who may judge what, and what a rejection must say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class VerdictWord(StrEnum):
    RATIFY = "ratify"
    REJECT = "reject"


class ReasonCode(StrEnum):
    NOT_SUPPORTED = "not_supported"
    WRONG = "wrong"
    DUPLICATE = "duplicate"
    OUT_OF_SCOPE = "out_of_scope"
    SENSITIVE = "sensitive"
    UNSAFE = "unsafe"
    OTHER = "other"


REASON_TEXT: dict[ReasonCode, str] = {
    ReasonCode.NOT_SUPPORTED: "Not supported by what it derives from",
    ReasonCode.WRONG: "Wrong",
    ReasonCode.DUPLICATE: "Says what a promoted memory says already",
    ReasonCode.OUT_OF_SCOPE: "Does not belong in this workarea",
    ReasonCode.SENSITIVE: "Holds something that must not be kept",
    ReasonCode.UNSAFE: "Would mislead or endanger whoever acts on it",
    ReasonCode.OTHER: "Another reason",
}


@dataclass(frozen=True, slots=True)
class Identity:
    """The (key, principal) pair that wrote or judges something, with the principal who issued the key."""

    key_id: str
    principal_id: str
    sponsor_id: str | None = None

    def same_as(self, other: Identity) -> bool:
        """R2 compares by key *and* by principal: either one being equal makes it the same hand.

        So does a key that one of the two issued and the other uses: whoever could make themselves a second identity
        would otherwise judge their own work with it (ADR-0016).
        """
        if self.key_id == other.key_id or self.principal_id == other.principal_id:
            return True
        return self.sponsor_id == other.principal_id or other.sponsor_id == self.principal_id


class Standing(StrEnum):
    """What R2 says of a reviewer and an item."""

    MAY_JUDGE = "may_judge"
    SELF_SIGNED = "self_signed"
    AUTHOR = "author"
    LINEAGE_AUTHOR = "lineage_author"


def standing(
    reviewer: Identity,
    *,
    author: Identity,
    ancestors: Iterable[Identity],
    lineage_exclusion: bool,
    relaxed: bool,
    steering: bool,
) -> Standing:
    """Apply R2 to one reviewer and one item.

    Args:
        reviewer: who would judge.
        author: who wrote the item.
        ancestors: who wrote each artifact in its lineage closure.
        lineage_exclusion: the policy's switch for the second half of R2.
        relaxed: whether the effective policy allows self-signed review here (development, tenant flag on).
        steering: whether the item is steering, which is never self-signed.
    """
    if reviewer.same_as(author):
        return Standing.SELF_SIGNED if relaxed and not steering else Standing.AUTHOR
    if lineage_exclusion and any(reviewer.same_as(ancestor) for ancestor in ancestors):
        return Standing.LINEAGE_AUTHOR
    return Standing.MAY_JUDGE

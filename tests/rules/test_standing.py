"""R2, pure: the reviewer is never the author, by key and by principal, over everything the item rests on."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review.policy import Identity, Standing, standing

ME = Identity("key_me", "pri_me")
MY_OTHER_KEY = Identity("key_mine_too", "pri_me")
MY_KEY_LENT = Identity("key_me", "pri_somebody")
STRANGER = Identity("key_other", "pri_other")
ANOTHER = Identity("key_third", "pri_third")
MADE_BY_ME = Identity("key_made", "pri_made", "pri_me")
HANDS = {
    "my key": ME,
    "my other key": MY_OTHER_KEY,
    "my key under another principal": MY_KEY_LENT,
    "a key that I issued": MADE_BY_ME,
}


def judged(**fields: Any) -> Standing:
    defaults: dict[str, Any] = {
        "author": STRANGER,
        "ancestors": [],
        "lineage_exclusion": True,
        "relaxed": False,
        "steering": False,
    }
    return standing(ME, **{**defaults, **fields})


def test_standing__a_stranger_s_item__may_be_judged() -> None:
    assert judged(ancestors=[STRANGER]) is Standing.MAY_JUDGE


@pytest.mark.parametrize("hand", HANDS.values(), ids=HANDS)
def test_standing__written_by_my_hand__is_author(hand: Identity) -> None:
    assert judged(author=hand) is Standing.AUTHOR


@pytest.mark.parametrize("hand", HANDS.values(), ids=HANDS)
def test_standing__resting_on_my_hand__is_lineage_author(hand: Identity) -> None:
    assert judged(ancestors=[STRANGER, hand, STRANGER]) is Standing.LINEAGE_AUTHOR


@pytest.mark.parametrize("hand", [STRANGER, Identity("key_x", "pri_other", "pri_third")], ids=["agent", "issued"])
def test_standing__my_key_was_issued_by_the_author__is_the_authors_hand(hand: Identity) -> None:
    issued = Identity("key_me", "pri_me", "pri_other")
    fields: dict[str, Any] = {"lineage_exclusion": True, "relaxed": False, "steering": False}
    assert standing(issued, author=hand, ancestors=[], **fields) is Standing.AUTHOR
    assert standing(issued, author=ANOTHER, ancestors=[hand], **fields) is Standing.LINEAGE_AUTHOR


def test_standing__two_keys_that_a_third_issued__are_two_hands() -> None:
    """Somebody issues every key of a tenant; that alone makes nobody the author of anything."""
    mine, theirs = Identity("key_me", "pri_me", "pri_admin"), Identity("key_other", "pri_other", "pri_admin")
    fields: dict[str, Any] = {"lineage_exclusion": True, "relaxed": False, "steering": False}
    assert standing(mine, author=theirs, ancestors=[theirs], **fields) is Standing.MAY_JUDGE
    assert not Identity("key_1", "pri_1").same_as(Identity("key_2", "pri_2"))


def test_standing__author_and_lineage_author__is_refused_as_author() -> None:
    assert judged(author=ME, ancestors=[ME]) is Standing.AUTHOR


def test_standing__relaxed__lets_the_author_sign_but_marks_it() -> None:
    assert judged(author=MY_OTHER_KEY, relaxed=True) is Standing.SELF_SIGNED


def test_standing__relaxed_steering__is_still_author() -> None:
    assert judged(author=ME, relaxed=True, steering=True) is Standing.AUTHOR


def test_standing__relaxed__does_not_open_what_rests_on_my_work() -> None:
    assert judged(ancestors=[ME], relaxed=True) is Standing.LINEAGE_AUTHOR


def test_standing__lineage_exclusion_off__opens_lineage_and_nothing_else() -> None:
    assert judged(ancestors=[ME], lineage_exclusion=False) is Standing.MAY_JUDGE
    assert judged(author=ME, lineage_exclusion=False) is Standing.AUTHOR


identities = st.builds(Identity, st.sampled_from(["k1", "k2", "k3"]), st.sampled_from(["p1", "p2"]))


@given(
    reviewer=identities,
    author=identities,
    ancestors=st.lists(identities, max_size=4),
    exclusion=st.booleans(),
    steering=st.booleans(),
)
def test_standing__not_relaxed__never_lets_one_hand_do_both(
    reviewer: Identity, author: Identity, ancestors: list[Identity], exclusion: bool, steering: bool
) -> None:
    stands = standing(
        reviewer,
        author=author,
        ancestors=ancestors,
        lineage_exclusion=exclusion,
        relaxed=False,
        steering=steering,
    )
    same = {reviewer.key_id, reviewer.principal_id} & {author.key_id, author.principal_id}
    assert (stands is Standing.AUTHOR) == bool(same)
    assert stands is not Standing.SELF_SIGNED

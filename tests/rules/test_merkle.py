"""RFC 6962's tree: published roots, and proofs against the definition itself over trees of every small size."""

from __future__ import annotations

import base64
import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oml.journal import merkle
from oml.journal.hashing import leaf_hash
from oml.journal.merkle import Frontier, Node, Place, cover, node_hash, root_of

# The inputs and roots that RFC 6962's reference implementation is tested with.
RFC_INPUTS = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
RFC_LEAVES = [leaf_hash(bytes.fromhex(text)) for text in RFC_INPUTS]
RFC_ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
LARGEST = 40


def leaves(count: int) -> list[bytes]:
    return [leaf_hash(b"%d" % number) for number in range(count)]


def naive_root(rows: list[bytes]) -> bytes:
    """RFC 6962, 2.1, word for word."""
    if not rows:
        return hashlib.sha256(b"").digest()
    if len(rows) == 1:
        return rows[0]
    split = 1
    while split * 2 < len(rows):
        split *= 2
    return node_hash(naive_root(rows[:split]), naive_root(rows[split:]))


def node_of(rows: list[bytes]) -> Node:
    """Complete subtrees computed from the leaves; one that is not complete is a mistake of the prover."""

    def node(place: Place) -> bytes:
        start, end = place.index << place.level, (place.index + 1) << place.level
        assert end <= len(rows), "the prover asked for a subtree that is not complete"
        return naive_root(rows[start:end])

    return node


@pytest.mark.parametrize("size", range(1, 9))
def test_root_of__the_published_leaves__is_the_published_root(size: int) -> None:
    assert root_of(RFC_LEAVES[:size]).hex() == RFC_ROOTS[size - 1]


def test_root_of__no_leaf__is_the_hash_of_nothing() -> None:
    assert root_of([]) == hashlib.sha256(b"").digest()


def test_consistency_proof__published_vector_from_two_to_five__is_those_two_hashes() -> None:
    assert [base64.b64encode(step).decode() for step in merkle.consistency_proof(node_of(RFC_LEAVES), 2, 5)] == [
        "Xwg/ChozygdqlSeYMlgNs+DvRYS9/x9UyKNg9Q3jAx4=",
        "vBoGQ7EuTS18d5GPROD095qDi2z57FtcKD4fTYhZnms=",
    ]


def test_frontier__any_size__has_the_root_of_the_definition() -> None:
    frontier = Frontier()
    rows = leaves(130)
    for count, leaf in enumerate(rows, start=1):
        frontier.push(leaf)
        assert (frontier.size, frontier.root()) == (count, naive_root(rows[:count]))


def test_tree_root__every_size__needs_complete_subtrees_only() -> None:
    rows = leaves(LARGEST)
    for size in range(LARGEST + 1):
        assert merkle.tree_root(node_of(rows[:size]), size) == naive_root(rows[:size])


def test_inclusion_proof__every_leaf_of_every_small_tree__verifies_there_and_nowhere_else() -> None:
    rows = leaves(LARGEST)
    for size in range(1, LARGEST + 1):
        root = naive_root(rows[:size])
        for index in range(size):
            proof = merkle.inclusion_proof(node_of(rows[:size]), index, size)
            assert merkle.verify_inclusion(rows[index], index, size, proof, root)
            others = [other for other in range(size) if other != index]
            assert not any(merkle.verify_inclusion(rows[index], other, size, proof, root) for other in others)


def test_consistency_proof__every_pair_of_small_sizes__verifies_there_and_nowhere_else() -> None:
    rows = leaves(LARGEST)
    roots = [naive_root(rows[:size]) for size in range(LARGEST + 1)]
    for new in range(1, LARGEST + 1):
        for old in range(1, new + 1):
            proof = merkle.consistency_proof(node_of(rows[:new]), old, new)
            assert merkle.verify_consistency(old, new, proof, roots[old], roots[new])
            for other in range(1, new + 1):
                if other != old:
                    assert not merkle.verify_consistency(other, new, proof, roots[old], roots[new])


@given(size=st.integers(1, 300), data=st.data())
@settings(max_examples=150)
def test_proofs__one_bit_changed_or_one_hash_too_few_or_too_many__do_not_verify(size: int, data: st.DataObject) -> None:
    rows = leaves(size)
    root = naive_root(rows)
    index = data.draw(st.integers(0, size - 1))
    old = data.draw(st.integers(1, size))
    inclusion = merkle.inclusion_proof(node_of(rows), index, size)
    consistency = merkle.consistency_proof(node_of(rows), old, size)
    for wrong in mutated(inclusion, data):
        assert not merkle.verify_inclusion(rows[index], index, size, wrong, root)
    for wrong in mutated(consistency, data):
        assert not merkle.verify_consistency(old, size, wrong, naive_root(rows[:old]), root)


def mutated(proof: list[bytes], data: st.DataObject) -> list[list[bytes]]:
    wrong = [[*proof, bytes(32)], [bytes(32), *proof]]
    if proof:
        at, bit = data.draw(st.integers(0, len(proof) - 1)), data.draw(st.integers(0, 255))
        flipped = (int.from_bytes(proof[at], "big") ^ (1 << bit)).to_bytes(32, "big")
        wrong += [[*proof[:at], flipped, *proof[at + 1 :]], proof[1:], proof[:-1]]
    return wrong


@given(start=st.integers(0, 400), length=st.integers(0, 400))
def test_cover__any_range__is_its_leaves_in_order_in_complete_blocks(start: int, length: int) -> None:
    covered: list[int] = []
    for place in cover(start, start + length):
        covered += range(place.index << place.level, (place.index + 1) << place.level)
    assert covered == list(range(start, start + length))


@given(size=st.integers(1, 300), data=st.data())
def test_slice__left_subtrees_its_leaves_right_subtrees__give_the_root(size: int, data: st.DataObject) -> None:
    rows = leaves(size)
    start = data.draw(st.integers(0, size))
    end = data.draw(st.integers(start, size))
    node, frontier = node_of(rows), Frontier()
    for place in cover(0, start):
        frontier.push(node(place), place.level)
    for leaf in rows[start:end]:
        frontier.push(leaf)
    for place in cover(end, size):
        frontier.push(node(place), place.level)
    assert frontier.root() == naive_root(rows)


@pytest.mark.parametrize("size", [10_000_000, 10_000_019, 2**24 - 1])
def test_places_needed__ten_million_leaves__are_few(size: int) -> None:
    assert len(merkle.places_needed(lambda node: merkle.tree_root(node, size))) <= 24
    assert len(merkle.places_needed(lambda node: merkle.inclusion_proof(node, size // 3, size))) <= 48
    assert len(merkle.places_needed(lambda node: merkle.consistency_proof(node, size // 3, size))) <= 72


@pytest.mark.parametrize("index, size", [(0, 0), (-1, 3), (3, 3)])
def test_inclusion_proof__no_such_leaf__is_refused(index: int, size: int) -> None:
    with pytest.raises(ValueError, match="no such leaf"):
        merkle.inclusion_proof(node_of(leaves(size)), index, size)


@pytest.mark.parametrize("old, new", [(0, 3), (4, 3), (0, 0)])
def test_consistency_proof__from_nothing_or_backwards__is_refused(old: int, new: int) -> None:
    with pytest.raises(ValueError, match="grows"):
        merkle.consistency_proof(node_of(leaves(new)), old, new)
    assert not merkle.verify_consistency(old, new, [], bytes(32), bytes(32))


def test_push__a_block_out_of_place__is_refused() -> None:
    frontier = Frontier()
    frontier.push(bytes(32))
    with pytest.raises(ValueError, match="multiple of its size"):
        frontier.push(bytes(32), level=1)

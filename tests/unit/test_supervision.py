"""Links: blocks against a naive closure, contradictions with the chain that proves them."""

from __future__ import annotations

import re

import numpy as np
import pytest

from likewise.errors import InputError
from likewise.partitions import Partition
from likewise.supervision import Links


def naive_blocks(n: int, pairs: np.ndarray) -> np.ndarray:
    block = list(range(n))
    for _ in range(n):
        for p, q in pairs:
            block = [min(block[p], block[q]) if b in (block[p], block[q]) else b for b in block]
    return Partition.from_labels(block).labels


@pytest.mark.parametrize("draw", range(50))
def test_blocks_are_the_closure_of_the_pairs(draw: int):
    rng = np.random.default_rng(draw)
    n = int(rng.integers(2, 10))
    pairs = rng.integers(0, n, size=(int(rng.integers(0, 8)), 2))
    np.testing.assert_array_equal(Links.of(n, pairs).blocks, naive_blocks(n, pairs))


def test_no_links_leave_every_item_alone():
    np.testing.assert_array_equal(Links.of(3).blocks, [0, 1, 2])
    np.testing.assert_array_equal(Links.of(3, [], []).blocks, [0, 1, 2])


def test_a_contradiction_names_the_shortest_chain():
    must = [(5, 0), (0, 1), (1, 2), (2, 3), (0, 3)]
    with pytest.raises(InputError, match=re.escape("5 - 0 - 3")):
        Links.of(6, must, [(1, 4), (5, 3)])


def test_a_chain_between_blocks_does_not_exist():
    links = Links.of(4, [(0, 1), (2, 3)])
    assert links.chain(0, 3) == []
    assert links.chain(1, 0) == [1, 0]
    assert links.chain(2, 2) == [2]


@pytest.mark.parametrize(
    ("must", "cannot", "message"),
    [
        ([(0, 9)], None, "must_link[0] is [0, 9]"),
        ([(0, -1)], None, "must_link[0] is [0, -1]"),
        ([0, 1], None, "shape (2,)"),
        ([(0.5, 1.0)], None, "float64"),
        (None, [(2, 2)], "apart from itself"),
    ],
)
def test_bad_pairs_are_named(must, cannot, message: str):
    with pytest.raises(InputError, match=re.escape(message)):
        Links.of(4, must, cannot)


def test_links_that_rule_out_nothing_do_not_bind():
    assert not Links.of(3).bind
    assert not Links.of(3, [(1, 1)]).bind
    assert Links.of(3, [(1, 2)]).bind
    assert Links.of(3, None, [(1, 2)]).bind


def test_labels_keep_to_links_or_not():
    links = Links.of(4, [(0, 1), (1, 2)], [(2, 3)])
    assert links.hold_for([0, 0, 0, 1])
    assert not links.hold_for([0, 0, 0, 0])
    assert not links.hold_for([0, 1, 0, 2])


@pytest.mark.parametrize("draw", range(50))
def test_carried_links_rule_out_what_the_links_did(draw: int):
    """Items move to other places, some share one, some have none; the places keep the links."""
    rng = np.random.default_rng(draw)
    n = int(rng.integers(2, 10))
    must = rng.integers(0, n, size=(int(rng.integers(0, 5)), 2))
    blocks = Links.of(n, must).blocks
    cannot = rng.integers(0, n, size=(int(rng.integers(0, 6)), 2))
    cannot = cannot[blocks[cannot[:, 0]] != blocks[cannot[:, 1]]]
    links = Links.of(n, must, cannot)
    # The second item of a block, if any, goes where the first went; the third has no place.
    rank = np.array([np.count_nonzero(blocks[:p] == blocks[p]) for p in range(n)])
    own = rng.permutation(np.count_nonzero((rank != 1) & (rank != 2)))
    place = np.full(n, -1)
    place[(rank != 1) & (rank != 2)] = own
    for p in np.flatnonzero(rank == 1):
        place[p] = place[np.flatnonzero((blocks == blocks[p]) & (rank == 0))[0]]
    carried = links.carried_to(place, len(own))
    for _ in range(20):
        labels = rng.integers(0, 4, size=len(own))
        of_block = np.full(n, -1)
        of_block[blocks[place >= 0]] = labels[place[place >= 0]]
        joined = all(
            len(set(labels[place[(blocks == b) & (place >= 0)]].tolist())) == 1
            for b in np.unique(blocks)
        )
        torn = all(of_block[blocks[p]] != of_block[blocks[q]] for p, q in cannot)
        assert carried.hold_for(labels) == (joined and torn)

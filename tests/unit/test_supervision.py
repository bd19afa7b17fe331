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

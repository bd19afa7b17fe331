"""Units: the rows of one set that a decoder sees, in an order that does not depend on the user's.

Rows of weight zero leave; equal rows are merged where the distances allow it, because in an optimal
solution they share their cluster at no cost; what is left is put into a canonical order. So neither
the order of rows nor the choice between repeating a row and weighting it changes the result. Equal
rows are merged only if links do not tell them apart; where links do, they decide about the order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise.arrays.blocks import row_blocks
from likewise.supervision import Links

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Hashes = NDArray[np.uint64]


@dataclass(frozen=True)
class Units:
    """Which row stands for each unit, which unit each row belongs to (-1: none), and weights."""

    row_of: Indices
    unit_of: Indices
    weight: Floats

    def __len__(self) -> int:
        return len(self.row_of)

    @property
    def weighted(self) -> bool:
        """Whether a unit counts for anything but one row."""
        return bool(np.any(self.weight != 1.0))


def units_of_rows(
    X: Floats,
    weight: Floats | None,
    opening: Floats | None,
    *,
    merge: bool,
    links: Links | None = None,
) -> Units:
    """Units in the lexicographic order of their rows; equal rows in one unit where ``merge``.

    The row that stands for merged ones is the cheapest as an exemplar, the first of equal ones.
    """
    weight = np.ones(len(X)) if weight is None else weight
    present = np.flatnonzero(weight > 0)
    keys = X[present].T[::-1]
    kin = None if links is None else _kin(links)
    if links is not None and kin is not None:
        _, mark = np.unique(_marks(_hash_of_rows(X, opening), links, kin), return_inverse=True)
        keys = np.vstack([kin[present], mark[present], keys])
    if opening is not None:
        keys = np.vstack([opening[present], keys])
    rows = present[np.lexsort(keys)]
    starts = np.ones(len(rows), dtype=bool)
    if merge:
        starts[1:] = np.any(X[rows[1:]] != X[rows[:-1]], axis=1)
        if kin is not None:
            starts[1:] |= kin[rows[1:]] != kin[rows[:-1]]
    unit_of = np.full(len(X), -1, dtype=np.intp)
    unit_of[rows] = np.cumsum(starts) - 1
    merged = np.bincount(unit_of[rows], weights=weight[rows]).astype(float)
    return Units(rows[starts], unit_of, merged)


def units_of_costs(
    costs: Floats | sparse.csr_array,
    opening: Floats | None,
    weight: Floats | None,
    links: Links | None = None,
) -> Units:
    """Units in the order of a hash of what each item pays, is paid and costs as an exemplar."""
    n = costs.shape[0]
    weight = np.ones(n) if weight is None else weight
    own = _mixed(weight) if opening is None else _mixed(weight) ^ _mixed(opening + 0.0) << _ONE
    present = np.flatnonzero(weight > 0)
    counted = (weight > 0).astype(np.uint64)
    own = _hash_round(costs, own, counted)
    if len(np.unique(own[present])) < len(present):
        # The second round tells apart what looks alike to itself but not to others.
        own = _hash_round(costs, own, counted)
    order = np.argsort(own[present], kind="stable")
    if links is not None:
        order = np.lexsort((_marks(own, links, _kin(links))[present], own[present]))
    rows = present[order]
    unit_of = np.full(n, -1, dtype=np.intp)
    unit_of[rows] = np.arange(len(rows))
    return Units(rows, unit_of, weight[rows])


def _kin(links: Links) -> Indices:
    """The block of every item that has a link to another, -1 for the others."""
    linked = np.bincount(links.blocks)[links.blocks] > 1
    torn = np.unique(links.blocks[links.apart])
    return np.where(linked | np.isin(links.blocks, torn), links.blocks, -1)


def _marks(own: Hashes, links: Links, kin: Indices) -> Hashes:
    """Hashes that see the links of every item, through the items at their other ends."""
    of_block = np.zeros(int(links.blocks.max()) + 1, dtype=np.uint64)
    np.add.at(of_block, links.blocks, _mixed_bits(own))
    ends = np.unique(np.sort(links.blocks[links.apart], axis=1), axis=0)
    apart = np.zeros_like(of_block)
    np.add.at(apart, ends[:, 0], _mixed_bits(of_block[ends[:, 1]]))
    np.add.at(apart, ends[:, 1], _mixed_bits(of_block[ends[:, 0]]))
    return np.where(kin < 0, np.uint64(0), _mixed_bits(of_block ^ apart << _ONE)[links.blocks])


def _hash_of_rows(X: Floats, opening: Floats | None) -> Hashes:
    # Not from zero, which a row of zeros would leave at zero.
    own = np.full(len(X), _ODD) if opening is None else _mixed(opening) ^ _ODD
    for column in X.T:
        own = _mixed_bits(own ^ _mixed(column))
    return own


_ONE = np.uint64(1)
_SHIFT = np.uint64(32)
_ODD = np.uint64(0x9E3779B97F4A7C15)
_ODD_TOO = np.uint64(0xD6E8FEB86659FD93)


def _mixed(values: Floats) -> Hashes:
    """Bits of the values, mixed; + 0.0 makes the two zeros one."""
    return _mixed_bits(np.ascontiguousarray(values + 0.0).view(np.uint64))


def _mixed_bits(bits: Hashes) -> Hashes:
    mixed = (bits ^ (bits >> _SHIFT)) * _ODD
    return (mixed ^ (mixed >> _SHIFT)) * _ODD_TOO


def _hash_round(costs: Any, own: Hashes, counted: Hashes) -> Hashes:
    """Hashes that see the costs from and to all others; sums modulo 2**64 have no order.

    ``counted`` is one, or zero for items that count as absent.
    """
    n = len(own)
    paid, received = np.zeros(n, dtype=np.uint64), np.zeros(n, dtype=np.uint64)
    if sparse.issparse(costs):
        rows = np.repeat(np.arange(n), np.diff(costs.indptr))
        value = _mixed(costs.data)
        np.add.at(paid, rows, _mixed_bits(value ^ own[costs.indices]) * counted[costs.indices])
        np.add.at(received, costs.indices, _mixed_bits(value + own[rows]) * counted[rows])
    else:
        for block in row_blocks(n, 32 * n):
            value = _mixed(costs[block])
            at = np.arange(block.start, block.stop)
            value[at - block.start, at] = 0
            # A product of unsigned integers is modulo 2**64, like the sums.
            paid[block] = _mixed_bits(value ^ own) @ counted
            received += counted[block] @ _mixed_bits(value + own[block, None])
    return _mixed_bits(own ^ _mixed_bits(paid) ^ (_mixed_bits(received) << _ONE))

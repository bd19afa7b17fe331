"""Supervision: what is shown about how a set is to be partitioned.

``Links`` hold pairs of items that belong together and pairs that do not. Pairs that belong together
chain: their connected components are the blocks that no partition may split. A pair that is kept
apart inside a block contradicts the chain that connects it, and the error shows that chain.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order, connected_components

from likewise.errors import InputError

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Links:
    """Pairs of items that must, and pairs that must not, share a cluster.

    Parameters
    ----------
    n_items : int
        Number of items of the set.
    together, apart : array of shape (m, 2)
        Pairs of item numbers.

    Examples
    --------
    >>> from likewise.supervision import Links
    >>> links = Links.of(4, must_link=[(0, 1), (1, 2)], cannot_link=[(2, 3)])
    >>> links.blocks
    array([0, 0, 0, 1])
    """

    n_items: int
    together: Indices
    apart: Indices

    @classmethod
    def of(
        cls,
        n_items: int,
        must_link: ArrayLike | None = None,
        cannot_link: ArrayLike | None = None,
    ) -> Links:
        """Checked links; contradictions are refused with the chain of pairs that proves them."""
        links = cls(
            n_items,
            _pairs("must_link", must_link, n_items),
            _pairs("cannot_link", cannot_link, n_items),
        )
        blocks = links.blocks
        torn = np.flatnonzero(blocks[links.apart[:, 0]] == blocks[links.apart[:, 1]])
        if len(torn):
            first, second = (int(item) for item in links.apart[torn[0]])
            chain = " - ".join(map(str, links.chain(first, second)))
            raise InputError(
                f"cannot_link[{torn[0]}] keeps items {first} and {second} apart, but must_link "
                f"joins them: {chain} ({len(torn)} such pairs). Remove one of these links."
            )
        return links

    @cached_property
    def blocks(self) -> Indices:
        """The block of every item, numbered by first appearance."""
        _, block = connected_components(self._graph, directed=False)
        _, first, inverse = np.unique(block, return_index=True, return_inverse=True)
        rank = np.empty(len(first), dtype=np.intp)
        rank[np.argsort(first)] = np.arange(len(first))
        return np.asarray(rank[inverse], dtype=np.intp)

    @property
    def bind(self) -> bool:
        """Whether any partition is ruled out."""
        return bool(len(self.apart)) or int(self.blocks.max(initial=-1)) + 1 < self.n_items

    def hold_for(self, labels: ArrayLike) -> bool:
        """Whether a partition, given as labels, keeps to all links."""
        label = np.asarray(labels)
        joined = label[self.together[:, 0]] == label[self.together[:, 1]]
        return bool(joined.all() and (label[self.apart[:, 0]] != label[self.apart[:, 1]]).all())

    def carried_to(self, place: Indices, n_items: int) -> Links:
        """The links between the places of the items; those without a place, -1, are left out.

        Items that are joined by way of one without a place stay joined. A block without any place
        must not be kept apart from others.
        """
        placed = np.flatnonzero(place >= 0)
        blocks, first = np.unique(self.blocks[placed], return_index=True)
        stands_for = np.full(int(self.blocks.max(initial=-1)) + 1, -1, dtype=np.intp)
        stands_for[blocks] = place[placed[first]]
        pairs = np.column_stack([stands_for[self.blocks[placed]], place[placed]])
        together = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
        apart = np.unique(np.sort(stands_for[self.blocks[self.apart]], axis=1), axis=0)
        return Links(n_items, together, apart)

    def chain(self, start: int, end: int) -> list[int]:
        """Items from ``start`` to ``end``, each linked to the next; as short as can be."""
        _, before = breadth_first_order(self._graph, start, directed=False)
        items = [end]
        while items[-1] != start:
            if before[items[-1]] < 0:
                return []
            items.append(int(before[items[-1]]))
        return items[::-1]

    @cached_property
    def _graph(self) -> sparse.csr_array:
        ones = np.ones(len(self.together))
        ends = (self.together[:, 0], self.together[:, 1])
        return sparse.csr_array((ones, ends), shape=(self.n_items, self.n_items))


@dataclass(frozen=True, eq=False)
class Example:
    """A set, and the clusters that were shown of it.

    Parameters
    ----------
    pairs : Pairs
        The pair features of its items (`likewise.geometry.pairs`).
    shown : array of shape (n,)
        The shown cluster of every item, 0..c-1.
    openings : array of shape (n, g)
        The features of every item's opening cost.
    """

    pairs: Any
    shown: Indices
    openings: NDArray[np.float64]

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.shown)

    @property
    def n_shown(self) -> int:
        """Number of shown clusters."""
        return int(self.shown.max()) + 1


@dataclass(frozen=True, eq=False)
class SegmentedSeries:
    """A sequence, and the segments that were shown of it.

    Parameters
    ----------
    rows : array of shape (T, p)
        Centred, in the units in which columns are compared.
    shown : ShownSegments
        The segments (`likewise.potentials`).
    """

    rows: NDArray[np.float64]
    shown: Any


@dataclass(frozen=True, eq=False)
class Windows:
    """Which cuts, and which pairs of consecutive ones, segmentations may have.

    ``allowed[t]`` says whether a segment may start at row t, and the cut before t is one from
    ``low[t]`` to ``high[t]``; 0 and the number of rows are cuts of every segmentation.
    """

    low: Indices
    high: Indices
    allowed: NDArray[np.bool_]

    @classmethod
    def of(cls, n_items: int, min_size: int = 1) -> Windows:
        """All of them, segments of a least size."""
        ends = np.arange(n_items + 1)
        return cls(np.zeros_like(ends), ends - min_size, np.ones(n_items + 1, dtype=np.bool_))


class RegionLabels:
    """How many changes there are in some regions of a sequence.

    Parameters
    ----------
    regions : list of (start, end, changes), or frame or array of three columns
        Half-open in positions of change points (the first row of a segment after the first): a
        change at ``start`` is inside, one at ``end`` is not. ``changes`` is 0, 1 or ``">=1"``.
        Sorted, without overlaps.

    Examples
    --------
    >>> import likewise as lw
    >>> labels = lw.RegionLabels([(10, 20, 0), (40, 60, 1), (80, 95, ">=1")])
    >>> labels.errors([15, 50])
    2
    """

    def __init__(self, regions: Any) -> None:
        self.regions = regions

    def __repr__(self) -> str:
        return f"RegionLabels({self.regions!r})"

    @property
    def rows(self) -> list[tuple[int, int, str]]:
        """The regions, checked; changes as "0", "1" or ">=1"."""
        table = self.regions
        if hasattr(table, "to_numpy"):
            table = table.to_numpy()
        rows = [_region(place, row) for place, row in enumerate(table)]
        for place, (before, after) in enumerate(pairwise(rows), 1):
            if after[0] < before[0]:
                raise InputError(
                    f"{_named(place, after)} starts before the one in front of it: sort them."
                )
            if after[0] < before[1]:
                raise InputError(
                    f"{_named(place, after)} overlaps with {_named(place - 1, before)}: regions "
                    "are half-open and must not overlap. Shorten one of them."
                )
        return rows

    def errors(self, change_points: ArrayLike) -> int:
        """In how many regions a segmentation has another number of changes."""
        cuts = np.asarray(change_points)
        counts = [int(((cuts >= start) & (cuts < end)).sum()) for start, end, _ in self.rows]
        kinds = [changes for _, _, changes in self.rows]
        return sum(
            not (count >= 1 if kind == ">=1" else count == int(kind))
            for count, kind in zip(counts, kinds, strict=True)
        )

    def windows(self, n_items: int, min_size: int = 1, first: int | None = None) -> Windows:
        """What the regions, or the ``first`` ones of them, leave of all segmentations."""
        windows = Windows.of(n_items, min_size)
        low, high, allowed = windows.low, windows.high, windows.allowed
        for place, (start, end, changes) in enumerate(self.rows[:first]):
            if start < 1 or end > n_items:
                raise InputError(
                    f"{_named(place, (start, end, changes))} must be within 1 and {n_items}, where "
                    f"changes of a sequence of {n_items} rows can be."
                )
            if changes == "0":
                allowed[start:end] = False
                continue
            # Whoever comes behind the region has a change in it before.
            low[end:] = np.maximum(low[end:], start)
            if changes == "1":
                high[start:end] = np.minimum(high[start:end], start - 1)
        return windows


def _named(place: int, region: tuple[int, int, str]) -> str:
    start, end, changes = region
    return f"labels[{place}] = ({start}, {end}, {changes})"


def _region(place: int, row: Any) -> tuple[int, int, str]:
    rule = (
        f"labels[{place}] must be (start, end, changes) with whole numbers start < end and changes "
        "0, 1 or '>=1'"
    )
    try:
        start, end, changes = row
        start, end = float(start), float(end)
    except (TypeError, ValueError) as error:
        raise InputError(f"{rule}; got {row!r}.") from error
    text = str(changes).replace(" ", "")
    text = {"0.0": "0", "1.0": "1", "≥1": ">=1"}.get(text, text)
    whole = start.is_integer() and end.is_integer()
    if not whole or start >= end or text not in ("0", "1", ">=1"):
        raise InputError(f"{rule}; got {row!r}.")
    return int(start), int(end), text


def _pairs(name: str, pairs: ArrayLike | None, n_items: int) -> Indices:
    if pairs is None:
        return np.empty((0, 2), dtype=np.intp)
    array = np.asarray(pairs)
    rule = f"{name} must be pairs of row numbers from 0 to {n_items - 1}, an array of shape (m, 2)"
    if array.size == 0:
        return np.empty((0, 2), dtype=np.intp)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise InputError(f"{rule}; got shape {array.shape} of {array.dtype}.")
    outside = np.flatnonzero(((array < 0) | (array >= n_items)).any(axis=1))
    if len(outside):
        raise InputError(f"{rule}; {name}[{outside[0]}] is {array[outside[0]].tolist()}.")
    if name == "cannot_link" and np.any(array[:, 0] == array[:, 1]):
        place = int(np.flatnonzero(array[:, 0] == array[:, 1])[0])
        raise InputError(f"{name}[{place}] keeps item {array[place, 0]} apart from itself.")
    return array.astype(np.intp)

"""Links between rows on their way to the decoder: checked, and carried from rows to units."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise.arrays.blocks import require_memory
from likewise.errors import InputError
from likewise.estimators.units import Units
from likewise.potentials import AssignmentCosts, LinkedCosts
from likewise.supervision import Links

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Distances, what blocks pay, and what the search derives from that in passing.
BYTES_PER_PAIR = 26


def row_links(
    n_rows: int, must_link: Any, cannot_link: Any, sample_weight: Floats | None
) -> Links | None:
    """The links that a user gave, checked; None where they rule nothing out."""
    links = Links.of(n_rows, must_link, cannot_link)
    if not links.bind:
        return None
    if sample_weight is not None:
        _refuse_absent(links, sample_weight > 0)
    return links


def refuse_candidates(candidates: int | None) -> None:
    """Links are solved over all pairs, or over pairs that the user chose."""
    if candidates is not None:
        raise InputError(
            f"candidates={candidates} cannot be combined with must_link or cannot_link: the rows "
            "of a block need candidates in common, which nearest neighbours of single rows are "
            "not. Leave candidates out, or pass features='precomputed' with a SciPy sparse array "
            "of the pairs that are allowed."
        )


def require_memory_for_links(n: int) -> None:
    """Refuse what does not fit, before the distances are computed."""
    require_memory(
        BYTES_PER_PAIR * n * n,
        f"Exemplar clustering of {n} rows under links, which is over all pairs,",
        "pass fewer rows",
    )


def linked_costs(
    costs: AssignmentCosts, links: Links | None, units: Units
) -> AssignmentCosts | LinkedCosts:
    """The potentials under the links between rows, if any are left between units."""
    if links is None:
        return costs
    between = links.carried_to(units.unit_of, len(units))
    if not between.bind:
        return costs
    if costs.is_sparse:
        require_memory_for_links(len(units))
        _refuse_unserved(costs, between, units)
    return LinkedCosts(costs, between)


def label_linked(labels: Indices, links: Links | None) -> None:
    """Give rows without a label, in place, that of the rows they are joined with, if any."""
    if links is None:
        return
    of_block = np.full(int(links.blocks.max()) + 1, -1, dtype=np.intp)
    known = labels >= 0
    of_block[links.blocks[known]] = labels[known]
    labels[~known] = of_block[links.blocks[~known]]


def _refuse_absent(links: Links, present: NDArray[np.bool_]) -> None:
    n_blocks = int(links.blocks.max()) + 1
    linked = np.bincount(links.blocks, minlength=n_blocks) > 1
    linked[links.blocks[links.apart]] = True
    counted = np.bincount(links.blocks[present], minlength=n_blocks) > 0
    absent = np.flatnonzero(linked & ~counted)
    if len(absent):
        rows = np.flatnonzero(links.blocks == absent[0])
        raise InputError(
            f"must_link and cannot_link concern {_rows(rows)}, but sample_weight is 0 for all of "
            f"them ({len(absent)} such blocks of linked rows), and a row of weight 0 counts as "
            "absent. Give one of them a positive weight, or remove their links."
        )


def _refuse_unserved(costs: AssignmentCosts, links: Links, units: Units) -> None:
    """Blocks that no unit may serve as a whole, over the stored pairs."""
    n, blocks = costs.n_items, links.blocks
    pairs = sparse.coo_array(costs.service)
    off = pairs.row != pairs.col
    everyone = np.arange(n)
    client = np.concatenate([blocks[pairs.row[off]], blocks])
    server = np.concatenate([pairs.col[off], everyone])
    ones = np.ones(len(client), dtype=np.int64)
    # Of each block, how many rows each unit may serve, itself included.
    served = sparse.coo_array((ones, (client, server)), shape=(int(blocks.max()) + 1, n)).tocsr()
    served = sparse.coo_array(served)
    block, unit = served.coords
    whole = served.data == np.bincount(blocks)[block]
    exemplars = np.zeros(n, dtype=bool)
    exemplars[unit[whole & (blocks[unit] == block)]] = True
    # Kept apart: numbers of pairs of blocks, in both directions.
    ends = blocks[links.apart]
    apart = np.concatenate([ends[:, 0] * n + ends[:, 1], ends[:, 1] * n + ends[:, 0]])
    may = whole & exemplars[unit] & ~np.isin(block * n + blocks[unit], apart)
    unserved = np.setdiff1d(blocks, block[may])
    if len(unserved):
        rows = np.sort(units.row_of[blocks == unserved[0]])
        raise InputError(
            f"must_link joins {_rows(rows)}, but no row may serve all of them and be an exemplar: "
            f"the sparse X stores no such pairs, or cannot_link forbids them ({len(unserved)} such "
            "blocks of linked rows). Store the pairs between the rows of the block, or remove "
            "links."
        )


def _rows(rows: Indices) -> str:
    shown = ", ".join(map(str, rows[:6])) + (", ..." if len(rows) > 6 else "")
    return f"row {shown}" if len(rows) == 1 else f"rows {shown}"

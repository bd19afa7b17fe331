"""Hypothesis strategies for the inputs of the library."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from likewise.potentials import AssignmentCosts

# Few values, so that there are ties and energies that cancel, or any finite ones.
few_values = st.sampled_from([-1.0, -0.3, 0.0, 0.1, 0.2, 0.3, 0.7, 1.0, 1 / 3, 2.5])
any_values = st.floats(-1e6, 1e6, allow_subnormal=False).map(lambda x: x if abs(x) > 1e-6 else 0.0)


@st.composite
def assignment_costs(draw, max_items: int = 6) -> AssignmentCosts:
    """Dense or sparse, any signs, with ties more often than not."""
    n = draw(st.integers(1, max_items))
    values = draw(st.sampled_from([few_values, any_values]))
    service = draw(hnp.arrays(np.float64, (n, n), elements=values))
    opening = draw(hnp.arrays(np.float64, n, elements=values))
    if draw(st.booleans()):
        keep = draw(hnp.arrays(np.bool_, (n, n)))
        np.fill_diagonal(keep, False)
        rows, columns = np.nonzero(keep)
        service = sparse.csr_array((service[keep], (rows, columns)), shape=(n, n))
    return AssignmentCosts(service, opening)


@st.composite
def labels(draw, max_items: int = 12) -> list[int]:
    """Labels of any kind of integer, for at least one item."""
    return draw(st.lists(st.integers(-3, 5), min_size=1, max_size=max_items))


@st.composite
def services(draw, max_items: int = 12) -> list[int]:
    """For every item the item that serves it, exemplars serving themselves."""
    n = draw(st.integers(1, max_items))
    exemplars = sorted(draw(st.sets(st.integers(0, n - 1), min_size=1)))
    served = draw(st.lists(st.sampled_from(exemplars), min_size=n, max_size=n))
    return [p if p in exemplars else q for p, q in enumerate(served)]

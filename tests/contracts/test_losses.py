"""Every registered loss is eq. (15) of komodakis2011, zero for what was shown and only there."""

from __future__ import annotations

import numpy as np
import pytest

from likewise.losses.exemplar import ExemplarLoss
from likewise.partitions import FractionalPartition, Partition
from likewise.potentials import AssignmentCosts
from naive import learning as naive
from registry import LOSSES, shown_clusters, sparse_costs

losses = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)


@losses
def test_it_is_the_definition(loss: ExemplarLoss, seed: int):
    rng = np.random.default_rng(seed)
    for n in range(1, 6):
        shown = shown_clusters(rng, n)
        for served_by in naive.services(n):
            expected = naive.delta(naive.point_of(served_by), shown, loss.alpha, loss.beta)
            partition = Partition.from_service(served_by)
            # At most 2 n terms that are multiples of alpha and beta.
            assert loss.value(shown, partition) == pytest.approx(expected, abs=1e-12)


@losses
def test_it_is_zero_for_what_was_shown_and_never_negative(loss: ExemplarLoss, seed: int):
    """Eq. (16), which needs both weights above zero."""
    rng = np.random.default_rng(seed)
    for n in range(1, 6):
        shown = shown_clusters(rng, n)
        for served_by in naive.services(n):
            value = loss.value(shown, Partition.from_service(served_by))
            assert value >= -1e-12
            if naive.shows(naive.point_of(served_by), shown):
                assert value == pytest.approx(0.0, abs=1e-12)
            elif loss.alpha > 0.0 and loss.beta > 0.0:
                assert value >= min(loss.alpha, loss.beta) - 1e-12


@losses
def test_between_partitions_it_is_concave(loss: ExemplarLoss, seed: int):
    rng = np.random.default_rng(seed)
    n = 6
    shown = shown_clusters(rng, n)
    for _ in range(100):
        ends = [np.diag(rng.random(n)) for _ in range(2)]
        for x in ends:
            for p in range(n):
                for q in range(n):
                    x[p, q] = x[q, q] * rng.random() if p != q else x[q, q]
        values = [loss.value(shown, point(x)) for x in (*ends, sum(ends) / 2)]
        assert values[2] >= (values[0] + values[1]) / 2 - 1e-12


def point(x: np.ndarray) -> FractionalPartition:
    clients, servers = np.nonzero(x * (1.0 - np.eye(len(x))))
    return FractionalPartition(np.diag(x).copy(), clients, servers, x[clients, servers])


@losses
def test_it_refuses_potentials_it_does_not_fold_into(loss: ExemplarLoss):
    costs = sparse_costs(np.random.default_rng(0), 0, 5)
    for given in (costs, np.zeros((5, 5))):
        with pytest.raises(TypeError, match="dense AssignmentCosts"):
            loss.augment(given, np.zeros(5, dtype=np.intp))


@losses
def test_the_diagonal_of_the_costs_is_never_read(loss: ExemplarLoss):
    rng = np.random.default_rng(3)
    shown, service = np.array([0, 1, 0, 1]), rng.random((4, 4))
    found = []
    for diagonal in (0.0, 7.0, np.inf):
        np.fill_diagonal(service, diagonal)
        augmented = loss.augment(AssignmentCosts(service, np.ones(4)), shown)
        found.append([augmented.energy_of(Partition.from_service(s)) for s in naive.services(4)])
    assert found[0] == found[1] == found[2]

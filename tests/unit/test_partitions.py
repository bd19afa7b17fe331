"""Partition: canonical labels, and representatives that are members."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from likewise.partitions import Partition
from strategies import labels, services


@given(labels())
def test_labels_are_numbered_by_first_appearance(given_labels: list[int]):
    partition = Partition.from_labels(given_labels)
    order = list(dict.fromkeys(given_labels))
    assert partition.labels.tolist() == [order.index(label) for label in given_labels]
    assert partition.n_items == len(given_labels)
    assert partition.n_clusters == len(order)
    assert partition.sizes.tolist() == [given_labels.count(label) for label in order]
    assert partition.representatives is None


def test_labels_of_any_kind():
    assert Partition.from_labels(["b", "a", "b"]).labels.tolist() == [0, 1, 0]
    assert Partition.from_labels([]).n_clusters == 0


@given(services())
def test_service_gives_back_itself(served_by: list[int]):
    partition = Partition.from_service(served_by)
    assert partition.served_by.tolist() == served_by
    assert partition.representatives is not None
    own = partition.labels[partition.representatives]
    assert own.tolist() == list(range(partition.n_clusters))
    assert np.all(np.diff(partition.sizes) <= 0)


def test_the_heaviest_cluster_comes_first():
    served_by = [0, 1, 1, 3, 3, 3]
    assert Partition.from_service(served_by).representatives.tolist() == [3, 1, 0]
    heavy = Partition.from_service(served_by, weight=[9.0, 1, 1, 1, 1, 1])
    assert heavy.representatives.tolist() == [0, 3, 1]
    assert heavy.labels.tolist() == [0, 2, 2, 1, 1, 1]


def test_equal_clusters_keep_the_order_of_representatives():
    assert Partition.from_service([2, 1, 2, 1]).representatives.tolist() == [1, 2]


def test_without_representatives():
    with pytest.raises(ValueError, match="no representatives"):
        _ = Partition.from_labels([0, 1]).served_by


def test_partitions_do_not_change():
    partition = Partition.from_labels([0, 1])
    with pytest.raises(AttributeError):
        partition.labels = np.zeros(2, dtype=np.intp)

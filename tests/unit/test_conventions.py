"""Conversions of segmentations: there and back, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from likewise import conventions as to
from likewise.errors import InputError


def test_there_and_back(seed: int):
    rng = np.random.default_rng(seed)
    for _ in range(100):
        n = int(rng.integers(1, 30))
        cuts = np.flatnonzero(rng.random(n) < 0.3)
        cuts = cuts[cuts > 0]
        np.testing.assert_array_equal(to.change_points_of(to.labels_of(cuts, n)), cuts)
        for there, back in (
            (to.to_ruptures, to.from_ruptures), (to.to_intervals, to.from_intervals)
        ):  # fmt: skip
            found, length = back(there(cuts, n))
            np.testing.assert_array_equal(found, cuts)
            assert length == n
        np.testing.assert_array_equal(to.from_skchange(to.to_skchange(cuts, n), n), cuts)
        again = to.from_tcpd(to.to_tcpd({"a": cuts, "b": []}, n), n)
        np.testing.assert_array_equal(again["a"], cuts)
        assert len(again["b"]) == 0
        # Every row is in one interval, and the intervals are the segments.
        covered = np.concatenate([np.arange(*pair) for pair in to.to_intervals(cuts, n)])
        np.testing.assert_array_equal(covered, np.arange(n))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: to.labels_of([0], 5), r"from 1 to 4; \[0\] is 0"),
        (lambda: to.labels_of([2, 5], 5), r"\[1\] is 5"),
        (lambda: to.labels_of([3, 2], 5), r"\[1\] = 2 is behind 3"),
        (lambda: to.labels_of([2, 2], 5), r"\[1\] = 2 is behind 2"),
        (lambda: to.labels_of([1.5], 5), "whole numbers .* float64"),
        (lambda: to.labels_of([[1]], 5), r"shape \(1, 1\)"),
        (lambda: to.change_points_of([[1, 2]]), "one per row"),
        (lambda: to.from_ruptures([]), "the list is empty"),
        (lambda: to.from_intervals([(1, 5)]), "begin at row 0"),
        (lambda: to.from_intervals([(0, 3), (4, 6)]), r"intervals\[1\] must begin .* at 3"),
    ],
)
def test_refused(call, message: str):
    with pytest.raises(InputError, match=message):
        call()


def test_as_ruptures_writes_it():
    rpt = pytest.importorskip("ruptures", reason="a comparator of the extra bench")
    rows = np.repeat([0.0, 5.0, 1.0], [20, 30, 10])[:, None]
    found, n = to.from_ruptures(rpt.Dynp(model="l2", min_size=2, jump=1).fit(rows).predict(2))
    np.testing.assert_array_equal(found, [20, 50])
    assert n == 60

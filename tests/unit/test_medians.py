"""Medians of pairs of rows that stand for many, against repeating the rows."""

from __future__ import annotations

import tracemalloc
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.arrays.blocks import MIB, row_blocks
from likewise.estimators import medians
from likewise.estimators.medians import pair_median, weighted_median
from naive import exemplar as naive

counts = st.lists(st.integers(0, 3), min_size=1, max_size=7)


@given(counts=counts, number=st.integers(0, 1000), ties=st.booleans())
def test_pairs(counts: list[int], number: int, ties: bool):
    rng = np.random.default_rng(number)
    n = len(counts)
    d = rng.integers(-1, 3, size=(n, n)).astype(float) if ties else rng.normal(size=(n, n))
    kept = np.flatnonzero(counts)
    d, times = d[np.ix_(kept, kept)], np.array(counts, dtype=float)[kept]
    if len(times) == 0:
        return
    assert pair_median(d, times) == naive.median_of_repeated(d, times)


@pytest.mark.parametrize("kind", ["even", "skewed", "few values", "mostly zero"])
def test_many_pairs(kind: str, seed: int):
    """More pairs than are sampled; where the sample misleads, the search is widened."""
    rng = np.random.default_rng(seed)
    n = 300
    d = {
        "even": rng.random((n, n)),
        "skewed": rng.lognormal(0.0, 5.0, size=(n, n)),
        "few values": rng.integers(0, 3, size=(n, n)).astype(float),
        "mostly zero": np.where(rng.random((n, n)) < 0.5, 0.0, rng.random((n, n))),
    }[kind]
    times = rng.integers(1, 3, size=n).astype(float)
    repeated = np.repeat(np.arange(n), times.astype(int))
    values = d[np.ix_(repeated, repeated)]
    values[repeated[:, None] == repeated] = 0.0
    expected = np.median(values[~np.eye(len(repeated), dtype=bool)])
    assert pair_median(d, times) == expected


def test_a_sample_that_misleads(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(medians, "SAMPLE", 4)
    rng = np.random.default_rng(0)
    for n in (3, 10, 30):
        d, times = rng.random((n, n)), rng.integers(1, 4, size=n).astype(float)
        assert pair_median(d, times) == naive.median_of_repeated(d, times)


def test_without_weights():
    d = np.random.default_rng(1).random((9, 9))
    assert pair_median(d, np.ones(9)) == np.median(d[~np.eye(9, dtype=bool)])
    assert pair_median(np.ones((1, 1)), np.ones(1)) == 0.0
    assert pair_median(np.ones((1, 1)), np.array([3.0])) == 0.0
    assert pair_median(np.ones((1, 1)), np.array([0.5])) == 0.0


def test_one_row_of_weight_one_half_has_no_pair_with_itself():
    d = np.array([[9.0, 2.0], [4.0, 9.0]])
    assert pair_median(d, np.array([0.5, 0.5])) == 3.0


@given(
    values=st.lists(st.integers(-3, 3), min_size=1, max_size=8),
    number=st.integers(0, 100),
)
def test_values_with_counts(values: list[int], number: int):
    times = np.random.default_rng(number).integers(0, 4, size=len(values))
    repeated = np.repeat(values, times)
    expected = np.median(repeated) if len(repeated) else 0.0
    found = weighted_median(np.array(values, dtype=float), times.astype(float))
    assert found == expected


def test_memory_stays_below_a_copy(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(medians, "row_blocks", partial(row_blocks, limit=MIB))
    n = 1500
    rng = np.random.default_rng(2)
    d = rng.random((n, n))
    for times in (np.ones(n), rng.integers(1, 3, size=n).astype(float)):
        tracemalloc.start()
        pair_median(d, times)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak <= 1.2 * d.nbytes

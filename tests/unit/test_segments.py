"""Segmentations against enumeration and against the unpruned recursion."""

from __future__ import annotations

import numpy as np
import pytest

from likewise.arrays.blocks import BUDGET_VARIABLE
from likewise.decoders._kernels import functional
from likewise.decoders._kernels import segments as kernels
from likewise.decoders.segments import YOUNG, blocks_for, decode_segments, penalty_path
from likewise.errors import MemoryBudgetError
from likewise.partitions import Partition
from likewise.potentials import GramScores, TraceScores
from likewise.supervision import RegionLabels, Windows
from naive import segments as naive

N_DRAWS = 500
PENALTIES = (0.0, 0.1, 0.5, 2.0, 10.0)


def random_regions(rng: np.random.Generator, n: int) -> RegionLabels | None:
    if n < 4 or rng.random() < 0.4:
        return None
    ends = np.sort(rng.choice(np.arange(1, n + 1), size=4 if n > 4 else 2, replace=False))
    kinds = [0, 1, ">=1"]
    return RegionLabels(
        [
            (int(a), int(b), kinds[rng.integers(3)])
            for a, b in zip(ends[::2], ends[1::2], strict=True)
        ]
    )


def random_scores(rng: np.random.Generator, index: int, n: int):
    """Rows of one to three columns, or symmetric scores of any sign, and their naive scatter."""
    penalty = float(rng.choice(PENALTIES))
    if index % 3 == 0:
        scores = rng.normal(size=(n, n))
        gram = scores + scores.T
        return GramScores(gram, penalty), lambda cuts: naive.scatter_of_gram(gram, cuts)
    rows = rng.normal(size=(n, 1 + index % 3))
    if index % 4 == 0:
        rows = np.round(rows)
    return TraceScores(rows, penalty), lambda cuts: naive.scatter_of_rows(rows, cuts)


@pytest.mark.parametrize("known", [False, True], ids=["penalty", "number known"])
@pytest.mark.parametrize("regions", [False, True], ids=["free", "regions"])
def test_equal_to_enumeration(known: bool, regions: bool, seed: int):
    rng = np.random.default_rng(seed)
    feasible = 0
    for index in range(N_DRAWS // 2):
        # Enumerations of 12 rows take long; a few of them.
        n = int(rng.integers(1, 13 if index % 50 == 0 else 9))
        min_size = int(rng.integers(1, min(5, n) + 1))
        n_segments = int(rng.integers(1, n + 1)) if known else None
        scores, scatter = random_scores(rng, index, n)
        labels = random_regions(rng, n) if regions else None
        found = decode_segments(
            scores,
            min_size=min_size,
            n_segments=n_segments,
            windows=None if labels is None else labels.windows(n, min_size),
        )
        expected = naive.least(
            n, scatter, scores.penalty, min_size, n_segments,
            lambda cuts, labels=labels: labels is None or labels.errors(cuts) == 0,
        )  # fmt: skip
        if expected is None:
            assert found is None
            continue
        assert found is not None
        feasible += 1
        cuts = found.partition.change_points
        assert (found.scatter if known else found.energy) == pytest.approx(expected, abs=1e-9)
        assert found.scatter == pytest.approx(scatter(tuple(cuts)), abs=1e-9)
        assert scores.energy_of(found.partition) == found.energy
        assert np.all(np.diff([0, *cuts, n]) >= min_size)
        assert labels is None or labels.errors(cuts) == 0
    assert feasible >= N_DRAWS // 20


def test_algorithm_1(seed: int):
    rng = np.random.default_rng(seed)
    for _ in range(50):
        n = int(rng.integers(1, 40))
        gram = rng.normal(size=(n, n))
        gram += gram.T
        penalty = float(rng.choice(PENALTIES))
        found = decode_segments(GramScores(gram, penalty))
        assert np.trace(gram) - found.energy == pytest.approx(
            naive.algorithm_1(gram, penalty), rel=1e-9, abs=1e-9
        )


def with_changes(rng: np.random.Generator, n: int, r: int, changes: int) -> np.ndarray:
    rows = rng.normal(size=(n, r))
    for cut in rng.integers(1, n, size=changes):
        rows[cut:] += rng.normal(size=r) * 2.0
    return rows - rows.mean(axis=0)


def test_pruning_and_skipping_lose_nothing(seed: int):
    """Against the same recursion over all pairs, blocks of any length."""
    rng = np.random.default_rng(seed)
    for index in range(120):
        n, r = int(rng.integers(2, 300)), int(rng.integers(1, 5))
        rows = with_changes(rng, n, r, int(rng.integers(0, 12)))
        if index % 5 == 0:
            rows = np.round(rows)
        penalty = float(rng.choice([0.0, 0.3, 3.0, 30.0])) * r
        min_size = int(rng.integers(1, min(6, n) + 1))
        sums = kernels.cumulative(rows)
        windows = Windows.of(n, min_size)
        slow = kernels.windowed(sums, penalty, 0, windows.low, windows.high, windows.allowed)[0][0]
        for length, most in ((1, 2), (2, 3), (8, 4), (64, 24), (3, 1000)):
            fast = kernels.penalised(sums, penalty, min_size, length, most)[0]
            np.testing.assert_allclose(fast, slow, rtol=1e-8, atol=1e-8)
        if r == 1:
            squares = kernels.cumulative(np.square(rows))[:, 0].copy()
            costs = functional.penalised(sums[:, 0].copy(), squares, penalty, min_size)[0]
            finite = np.isfinite(costs)
            # The first entry is nothing at all; the others are squares less gains.
            np.testing.assert_allclose(costs[finite], (squares - slow)[finite], atol=1e-8)


@pytest.mark.parametrize("value", [0.0, 3.0, 1e300])
def test_constant_rows_are_one_segment(value: float):
    for r in (1, 2):
        found = decode_segments(TraceScores(np.full((50, r), value) - value, 1e-3))
        assert found.n_segments == 1
        assert found.scatter == 0.0


def test_a_path_has_what_is_best_for_every_penalty(seed: int):
    rng = np.random.default_rng(seed)
    for r in (1, 3):
        rows = with_changes(rng, 150, r, 4)
        found = penalty_path(TraceScores(rows, 0.0), 0.5, 80.0)
        counts = [part.n_segments for part in found]
        assert counts == sorted(set(counts), reverse=True)
        for penalty in np.geomspace(0.5, 80.0, 40):
            best = decode_segments(TraceScores(rows, penalty))
            along = min(part.scatter + penalty * part.n_segments for part in found)
            assert along == pytest.approx(best.energy, rel=1e-9)


def test_few_gains_are_computed_for_long_segments():
    """Nine changes in 20,000 rows: far fewer than all pairs, and few more for twice the rows."""
    rng = np.random.default_rng(0)
    counts = []
    for n in (10_000, 20_000):
        rows = rng.normal(size=(n, 4)) + 3.0 * (np.arange(n) * 10 // n % 2)[:, None]
        sums = kernels.cumulative(rows - rows.mean(axis=0))
        counts.append(kernels.penalised(sums, 80.0, 1, YOUNG, blocks_for(n))[2])
    assert counts[1] < 150 * 20_000
    assert counts[1] < 3.2 * counts[0]


def test_few_pieces_are_kept_in_one_dimension():
    rng = np.random.default_rng(0)
    values = rng.normal(size=20_000) + 3.0 * (np.arange(20_000) * 10 // 20_000 % 2)
    values -= values.mean()
    sums = kernels.cumulative(np.c_[values, values**2])
    assert functional.penalised(sums[:, 0].copy(), sums[:, 1].copy(), 30.0, 1)[2] < 60


def test_sums_lose_nothing_to_large_partial_ones():
    # 1 + 1e16 - 1e16 + ...: plain sums would be zero.
    rows = np.array([[1.0], [1e16], [1.0], [-1e16]] * 10)
    np.testing.assert_allclose(kernels.cumulative(rows)[-1], 20.0)


def test_more_than_memory_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(BUDGET_VARIABLE, "1MiB")
    rows = np.zeros((5000, 2))
    with pytest.raises(MemoryBudgetError, match="5000 rows into exactly 100 segments"):
        decode_segments(TraceScores(rows, 1.0), n_segments=100)


def test_change_points_and_labels_are_the_same():
    partition = Partition.from_change_points([2, 5], 7)
    np.testing.assert_array_equal(partition.labels, [0, 0, 1, 1, 1, 2, 2])
    np.testing.assert_array_equal(partition.change_points, [2, 5])
    assert len(Partition.from_change_points([], 3).change_points) == 0

"""Memory: refused before allocating, with sizes and a remedy; what is allowed keeps to its size."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse

import likewise as lw
from likewise.arrays.blocks import MIB
from likewise.errors import CertificateWarning, MemoryBudgetError


def peak_of(call: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.fixture
def budget(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    return lambda size: monkeypatch.setenv("LIKEWISE_MEMORY_BUDGET", str(size))


def rows(n: int, p: int = 2) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, p))


class TestRefused:
    def test_all_pairs_of_rows(self, budget):
        X = rows(3000)
        lw.ExemplarClusterer().fit(X[:50])  # modules that are loaded on first use
        budget(100 * MIB)
        message = (
            r"clustering of 3000 distinct rows over all pairs needs 137\.3 MiB, but the memory "
            r"budget is 100\.0 MiB; pass candidates=20 .*LIKEWISE_MEMORY_BUDGET=138MiB"
        )

        def refused():
            with pytest.raises(MemoryBudgetError, match=message):
                lw.ExemplarClusterer().fit(X)

        # Nothing quadratic: 3000 rows squared are 72 MB.
        assert peak_of(refused) < 2 * MIB

    def test_equal_rows_count_once(self, budget):
        X = np.repeat(rows(300), 10, axis=0)
        budget(100 * MIB)
        assert lw.ExemplarClusterer(solver="fast").fit(X).energy_ > 0

    def test_distances_that_may_be_negative_need_a_copy_more(self, budget):
        X = rows(400)
        budget(20 * 400 * 400)
        assert lw.ExemplarClusterer(solver="fast").fit(X).energy_ > 0
        with pytest.raises(MemoryBudgetError, match=r"needs 3\.7 MiB"):
            lw.ExemplarClusterer(features="columns", weights=[-1.0, 2.0]).fit(X)

    def test_precomputed(self, budget):
        d = np.random.default_rng(1).random((600, 600))
        budget(4 * MIB)
        message = "clustering of 600 items .* needs 5.5 MiB.* SciPy sparse array of the pairs"

        def refused():
            with pytest.raises(MemoryBudgetError, match=message):
                lw.ExemplarClusterer(features="precomputed").fit(d)

        # The hash of all costs is taken in blocks, at most four times as wide as the costs here.
        assert peak_of(refused) < 5 * d.nbytes
        pairs = sparse.csr_array(np.where(d < 0.05, d, 0.0))
        assert lw.ExemplarClusterer(features="precomputed", solver="fast").fit(pairs).energy_ > 0

    def test_in_cluster(self, budget):
        budget(MIB)
        with pytest.raises(MemoryBudgetError, match="1000 distinct rows"):
            lw.ExemplarClusterer(n_jobs=2).cluster([rows(20), rows(1000)])

    def test_candidates_instead(self, budget):
        X = rows(3000)
        budget(100 * MIB)
        found = lw.ExemplarClusterer(candidates=8, gap=1e-2).fit(X)
        assert found.lower_bound_ <= found.energy_
        assert found.status_ in ("converged", "gap")

    def test_a_graph_that_does_not_fit(self, budget):
        budget(40 * MIB)
        message = r"candidate graph of 20000 rows with 100 links each .*lower candidates"
        with pytest.raises(MemoryBudgetError, match=message):
            lw.ExemplarClusterer(candidates=100).fit(rows(20_000))


def plain(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return np.abs(np.subtract.outer(A[:, 0], B[:, 0]))


N = 2500
SQUARE = 8 * N * N

# The copies of n x n numbers that each kind may hold at once, as `require_memory` is told.
HELD: dict[str, tuple[float, dict, dict]] = {
    "rows": (2, {}, {}),
    "weighted rows": (2, {}, {"sample_weight": np.arange(N) % 3 + 1}),
    "a number": (2, {"opening_cost": 1.0}, {}),
    "columns": (2, {"features": "columns"}, {}),
    "a callable": (2, {"features": plain}, {}),
}


@pytest.mark.parametrize("kind", HELD)
def test_fits_keep_to_what_they_asked_for(kind: str):
    copies, options, arguments = HELD[kind]
    X = rows(N)
    clusterer = lw.ExemplarClusterer(solver="fast", **options)
    assert peak_of(lambda: clusterer.fit(X, **arguments)) <= 1.2 * copies * SQUARE


@pytest.mark.parametrize("weight", [None, np.arange(N) % 3 + 1])
def test_precomputed_fits_keep_to_what_they_asked_for(weight):
    X = rows(N)
    d = np.square(X[:, :1] - X[:, 0])
    clusterer = lw.ExemplarClusterer(features="precomputed", solver="fast")
    assert peak_of(lambda: clusterer.fit(d, sample_weight=weight)) <= 1.2 * 2 * SQUARE


def test_candidates_are_not_quadratic():
    X = rows(6000)
    clusterer = lw.ExemplarClusterer(candidates=5, solver="fast")
    # All pairs would be 288 MB; the sample of 2,000 rows holds 32 MB, twice or three times.
    assert peak_of(lambda: clusterer.fit(X)) <= 160 * MIB


def test_predict_works_in_blocks():
    found = lw.ExemplarClusterer(opening_cost=1e-3, solver="fast").fit(rows(1500))
    assert found.n_clusters_ > 500
    X = rows(40_000)
    # All distances at once would be 8 * 40,000 * clusters, 160 MB at least.
    assert peak_of(lambda: found.predict(X)) <= 1.2 * 64 * MIB + 64 * MIB


class TestExactStage:
    """The mixed-integer program needs far more than the costs: it is refused by itself."""

    @pytest.mark.parametrize("kind", ["dense", "sparse"])
    def test_the_best_so_far_is_returned(self, kind: str, budget):
        d = np.random.default_rng(0).random((80, 80))
        X = d if kind == "dense" else sparse.csr_array(np.where(d < 0.6, d, 0.0))
        clusterer = lw.ExemplarClusterer("precomputed", opening_cost=1.0, solver="exact")
        budget(4 * MIB)
        message = r"status 'memory_limit' and a certified gap of .*LIKEWISE_MEMORY_BUDGET"
        with pytest.warns(CertificateWarning, match=message):
            clusterer.fit(X)
        assert clusterer.status_ == "memory_limit"
        assert 0 < clusterer.lower_bound_ < clusterer.energy_
        assert clusterer.gap_ > 1e-6
        energy = clusterer.n_clusters_ + sum(
            d[p, q] for p, q in enumerate(clusterer.exemplars_[clusterer.labels_]) if p != q
        )
        assert clusterer.energy_ == pytest.approx(energy, rel=1e-9)


class TestSequences:
    def test_memory_grows_with_rows_times_columns(self):
        """A matrix of all pairs of 200,000 rows would have 298 GiB."""
        X = rows(200_000, 4)
        lw.ChangePointDetector(penalty=100.0).fit(X[:100])  # compile
        detector = lw.ChangePointDetector(penalty=100.0)
        assert peak_of(lambda: detector.fit(X)) < 10 * X.nbytes
        assert len(detector.change_points_) == 0

    def test_kernels_and_known_numbers_are_refused_where_they_need_too_much(self, budget):
        X = rows(4000)
        budget(100 * MIB)
        with pytest.raises(MemoryBudgetError, match=r"kernel of 4000 rows needs 244\.1 MiB"):
            lw.ChangePointDetector(kernel="rbf").fit(X)

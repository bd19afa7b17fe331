"""Compiled kernels against naive twins, the sparse ones also against the dense ones."""

from __future__ import annotations

import numpy as np
import pytest
from numba.typed import List

from likewise.decoders._kernels import dense, dense_dual, pairs, sparse_dual, steps
from likewise.decoders._kernels import sparse as graphs
from naive import exemplar as naive

N = 8
STRONGEST = 3
everyone = np.arange(N, dtype=np.int32)


def facility_costs(rng: np.random.Generator, n: int = N, *, signed: bool = True):
    """``serve[j, p]`` >= 0, nothing for oneself, and opening costs."""
    serve = rng.random((n, n))
    np.fill_diagonal(serve, 0.0)
    opening = rng.normal(0.3, 0.5, size=n) if signed else rng.random(n)
    return serve, opening


def graph_of(serve: np.ndarray, allowed: np.ndarray | None = None):
    """The six arrays of a candidate graph; every client is its own candidate."""
    n = len(serve)
    allowed = np.ones((n, n), dtype=bool) if allowed is None else allowed | np.eye(n, dtype=bool)
    candidate, client = np.nonzero(allowed)
    cost = serve[allowed]
    itself = candidate == client
    order = np.argsort(~itself, kind="stable")
    candidate, client, cost = candidate[order], client[order], cost[order]
    by_client = pairs.group(client, candidate, cost, n)
    pairs.sort_groups(*by_client)
    return (*by_client, *pairs.group(candidate, client, cost, n))


def some_allowed(rng: np.random.Generator, n: int = N) -> np.ndarray:
    return rng.random((n, n)) < 0.5


def random_open(rng: np.random.Generator, n: int = N) -> np.ndarray:
    is_open = rng.random(n) < 0.4
    is_open[rng.integers(n)] = True
    return is_open


def ranked(serve: np.ndarray, is_open: np.ndarray):
    n = serve.shape[1]
    state = np.empty(n), np.empty(n), np.empty(n, np.int32), np.empty(n, np.int32)
    open_list = np.flatnonzero(is_open).astype(np.int32)
    dense.rank_two(serve, open_list, len(open_list), *state)
    return state


def graph_state(graph, opening: np.ndarray, is_open: np.ndarray):
    n = len(opening)
    state = (
        is_open.copy(), np.empty(n), np.empty(n), np.empty(n, np.int32), np.empty(n, np.int32),
        np.empty(n), np.empty(n, np.int64), np.zeros(4),
    )  # fmt: skip
    graphs.rank_all(graph, opening, state)
    return state


def empty_queue(n: int = N):
    """Nobody waits, everybody is wanted."""
    return (
        np.empty(n, dtype=np.int64), np.zeros(n, dtype=bool), np.zeros(2, dtype=np.int64),
        np.ones(n, dtype=bool),
    )  # fmt: skip


def empty_log() -> List:
    log = List()
    log.append(np.int64(0))
    log.clear()
    return log


def energy(serve: np.ndarray, opening: np.ndarray, is_open: np.ndarray) -> float:
    return naive.energy_of_set(serve.T, opening, set(np.flatnonzero(is_open).tolist()))


def with_forbidden(serve: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    return np.where(allowed | np.eye(len(serve), dtype=bool), serve, np.inf)


class TestBound:
    def test_dense(self, seed: int):
        rng = np.random.default_rng(seed)
        for _ in range(20):
            serve, opening = facility_costs(rng)
            v = rng.random(N)
            some = np.sort(rng.choice(N, 5, replace=False)).astype(np.int32)
            slack, served = np.full(N, np.nan), np.empty(N)
            bound = dense_dual.bound(serve, opening, some, v, slack, served)
            assert bound == pytest.approx(naive.lagrangian(serve, opening, v, some), abs=1e-12)
            expected = np.array(naive.slack(serve, opening, v))
            np.testing.assert_allclose(slack[some], expected[some], atol=1e-12)
            assert served.tolist() == naive.times_served(serve, opening, v, some)

    def test_is_one(self, seed: int):
        """Whatever the multipliers, L(v) stays below the least energy."""
        rng = np.random.default_rng(seed)
        for _ in range(30):
            serve, opening = facility_costs(rng)
            v = 2.0 * rng.random(N)
            bound = dense_dual.bound(serve, opening, everyone, v, np.empty(N), np.empty(N))
            assert bound <= naive.least_energy(serve.T, opening) + 1e-12

    def test_sparse_is_dense_with_missing_pairs_at_infinity(self, seed: int):
        rng = np.random.default_rng(seed)
        for complete in (True, False):
            serve, opening = facility_costs(rng)
            allowed = np.ones((N, N), bool) if complete else some_allowed(rng)
            v = rng.random(N)
            graph = graph_of(serve, allowed)
            found = np.empty(N), np.empty(N)
            expected = np.empty(N), np.empty(N)
            low = sparse_dual.bound(*graph[3:], opening, everyone, v, *found)
            full = with_forbidden(serve, allowed)
            high = dense_dual.bound(full, opening, everyone, v, *expected)
            assert low == pytest.approx(high, abs=1e-12)
            np.testing.assert_allclose(found[0], expected[0], atol=1e-12)
            np.testing.assert_array_equal(found[1], expected[1])


class TestFirstMultipliers:
    def test_water_levels_pay_for_the_open_candidates(self, seed: int):
        rng = np.random.default_rng(seed)
        for _ in range(20):
            serve, opening = facility_costs(rng, signed=False)
            low, _, first, _ = ranked(serve, random_open(rng))
            v = dense_dual.water_levels(opening, first, low)
            assert np.all(v >= low)
            for j in np.unique(first):
                members = first == j
                assert np.sum(v[members] - low[members]) == pytest.approx(opening[j], abs=1e-12)
                # One level for all who pay, below the cost of all who do not.
                paying = v[members] > low[members]
                assert np.ptp(v[members][paying]) == pytest.approx(0.0, abs=1e-12)
                assert np.all(low[members][~paying] >= v[members][paying].max() - 1e-12)

    def test_dual_ascent(self, seed: int):
        rng = np.random.default_rng(seed)
        for index in range(20):
            serve, opening = facility_costs(rng, signed=index % 2 == 0)
            allowed = some_allowed(rng)
            graph = graph_of(serve, allowed)
            v, slack = sparse_dual.dual_ascent(*graph[:3], opening)
            full = with_forbidden(serve, allowed)
            # Nobody pays for what costs less than nothing.
            true_slack = np.array(naive.slack(full, np.maximum(opening, 0.0), v))
            assert np.all(v >= 0.0)
            assert np.all(true_slack >= -1e-12)
            np.testing.assert_allclose(slack, true_slack, atol=1e-12)
            # Maximal: every client reaches a candidate that is paid for.
            for p in range(N):
                reached = full[:, p] <= v[p] + 1e-12
                assert true_slack[reached].min() <= 1e-12
            assert v.sum() <= naive.least_energy(full.T, np.maximum(opening, 0.0)) + 1e-12

    def test_cover_serves_everybody_with_what_is_paid_for(self, seed: int):
        rng = np.random.default_rng(seed)
        for _ in range(20):
            serve, opening = facility_costs(rng, signed=False)
            allowed = some_allowed(rng)
            graph = graph_of(serve, allowed)
            v, slack = sparse_dual.dual_ascent(*graph[:3], opening)
            is_open = sparse_dual.cover(*graph[:3], v, slack, 1e-9)
            full = with_forbidden(serve, allowed)
            assert np.all(full[is_open].min(axis=0) < np.inf)
            assert np.all(slack[is_open] <= 1e-12)


class TestUsefulPairs:
    @staticmethod
    def kept(serve, allowed, opening, v, allowance):
        slack, served = np.empty(N), np.empty(N)
        graph = graph_of(serve, allowed)
        full = with_forbidden(serve, allowed)
        dense_dual.bound(full, opening, everyone, v, slack, served)
        by_matrix = dense_dual.useful_pairs(full, everyone, v, slack, allowance)
        by_graph = sparse_dual.useful_pairs(*graph[3:], everyone, v, slack, allowance)
        return [sorted(zip(*map(np.ndarray.tolist, f), strict=True)) for f in (by_matrix, by_graph)]

    def test_no_pair_of_an_optimal_solution_is_lost(self, seed: int):
        rng = np.random.default_rng(seed)
        removed = 0
        for index in range(40):
            serve, opening = facility_costs(rng)
            if index % 2:
                serve, opening = np.round(serve, 1), np.round(opening, 1)
            allowed = some_allowed(rng) if index % 3 else np.ones((N, N), dtype=bool)
            v = np.array(sparse_dual.dual_ascent(*graph_of(serve, allowed)[:3], opening)[0])
            v += 0.05 * rng.normal(size=N)
            full = with_forbidden(serve, allowed)
            least = naive.least_energy(full.T, opening)
            bound = naive.lagrangian(full, opening, v, range(N))
            by_matrix, by_graph = self.kept(serve, allowed, opening, v, least - bound + 1e-9)
            assert by_matrix == by_graph
            pairs_kept = {(j, p) for j, p, _ in by_matrix}
            removed += np.isfinite(full).sum() - len(pairs_kept)
            for exemplars in naive.optimal_sets(full.T, opening, tolerance=1e-10):
                for p in range(N):
                    cheapest = min(full[j, p] for j in exemplars)
                    server = {j for j in exemplars if full[j, p] <= cheapest + 1e-12}
                    assert all((j, p) in pairs_kept for j in server)
        assert removed > 0

    def test_costs_and_places_refer_to_the_candidates_given(self):
        serve, _ = facility_costs(np.random.default_rng(0))
        some = np.array([2, 5], dtype=np.int32)
        which, client, cost = dense_dual.useful_pairs(serve, some, np.zeros(N), np.zeros(N), 9.0)
        np.testing.assert_array_equal(cost, serve[some[which], client])
        assert len(cost) == 2 * N


class TestRanking:
    def test_two_nearest(self, seed: int):
        rng = np.random.default_rng(seed)
        for _ in range(20):
            serve, _ = facility_costs(rng)
            is_open = random_open(rng)
            low, high, first, second = ranked(serve, is_open)
            for p in range(N):
                best = sorted((serve[j, p], j) for j in np.flatnonzero(is_open))
                assert (low[p], first[p]) == best[0]
                assert (high[p], second[p]) == (best[1] if len(best) > 1 else (np.inf, -1))

    def test_graphs_rank_as_matrices_do(self, seed: int):
        rng = np.random.default_rng(seed)
        for _ in range(20):
            serve, opening = facility_costs(rng)
            is_open = random_open(rng)
            state = graph_state(graph_of(serve), opening, is_open)
            for ours, theirs in zip(state[1:5], ranked(serve, is_open), strict=True):
                np.testing.assert_array_equal(ours, theirs)
            assert state[7][0] == pytest.approx(energy(serve, opening, is_open), abs=1e-12)

    def test_loss_and_sole_clients(self, seed: int):
        rng = np.random.default_rng(seed)
        for _ in range(20):
            serve, opening = facility_costs(rng)
            allowed = some_allowed(rng)
            full = with_forbidden(serve, allowed)
            is_open = random_open(rng)
            is_open |= ~np.isfinite(full[is_open].min(axis=0))
            state = graph_state(graph_of(serve, allowed), opening, is_open)
            for r in np.flatnonzero(is_open):
                left = is_open & (np.arange(N) != r)
                before = full[is_open].min(axis=0)
                after = full[left].min(axis=0, initial=np.inf)
                lost = ~np.isfinite(after)
                assert state[6][r] == lost.sum()
                assert state[5][r] == pytest.approx((after - before)[~lost].sum(), abs=1e-12)


class TestMoves:
    def test_graph_moves_keep_the_state_and_undo_restores_it(self, seed: int):
        rng = np.random.default_rng(seed)
        for _ in range(10):
            serve, opening = facility_costs(rng)
            graph = graph_of(serve, some_allowed(rng))
            state = graph_state(graph, opening, np.ones(N, dtype=bool))
            queue, log = empty_queue(), empty_log()
            before = [part.copy() for part in state]
            for j in rng.integers(N, size=25):
                if not state[0][j]:
                    graphs.open_candidate(graph, opening, state, queue, log, j)
                elif state[6][j] == 0:
                    graphs.close_candidate(graph, opening, state, queue, log, j)
                fresh = graph_state(graph, opening, state[0])
                self.assert_same(state, fresh)
            graphs._undo(graph, opening, state, queue, log, 0)
            assert len(log) == 0
            assert queue[2][0] == queue[2][1]
            assert not queue[1].any()
            self.assert_same(state, before)

    def test_undo_stops_where_it_is_told(self):
        serve, opening = facility_costs(np.random.default_rng(1))
        graph = graph_of(serve)
        state = graph_state(graph, opening, everyone == 0)
        queue, log = empty_queue(), empty_log()
        graphs.open_candidate(graph, opening, state, queue, log, 3)
        graphs.open_candidate(graph, opening, state, queue, log, 5)
        graphs.close_candidate(graph, opening, state, queue, log, 0)
        graphs._undo(graph, opening, state, queue, log, 1)
        assert np.flatnonzero(state[0]).tolist() == [0, 3]
        assert list(log) == [4]

    @staticmethod
    def assert_same(state, other):
        for place in (0, 1, 2, 3, 4, 6):
            np.testing.assert_array_equal(state[place], other[place])
        open_ones = state[0]
        np.testing.assert_allclose(state[5][open_ones], other[5][open_ones], atol=1e-12)
        np.testing.assert_allclose(state[7][[0, 2]], other[7][[0, 2]], atol=1e-12)

    def test_the_queue_holds_everybody_once(self):
        queue = empty_queue(3)
        for j in (2, 0, 2, 1, 0):
            graphs.push(queue, j)
        assert [graphs._pop(queue) for _ in range(3)] == [2, 0, 1]
        graphs.push(queue, 2)
        assert graphs._pop(queue) == 2
        assert queue[2][0] == queue[2][1]

    def test_the_queue_leaves_out_who_is_not_wanted(self):
        queue = empty_queue(3)
        queue[3][1] = False
        for j in (1, 2, 1):
            graphs.push(queue, j)
        assert graphs._pop(queue) == 2
        assert queue[2][0] == queue[2][1]


def is_local_optimum(full: np.ndarray, opening: np.ndarray, is_open: np.ndarray) -> bool:
    exemplars = np.flatnonzero(is_open).tolist()
    own = naive.energy_of_set(full.T, opening, exemplars)
    return all(
        naive.energy_of_set(full.T, opening, other) >= own - 1e-9
        for other in naive.neighbouring_sets(exemplars, len(opening))
    )


class TestDenseSearch:
    def test_a_local_optimum_no_worse_than_the_start(self, seed: int):
        rng = np.random.default_rng(seed)
        for index in range(30):
            serve, opening = facility_costs(rng)
            if index % 2:
                serve, opening = np.round(serve, 1), np.round(opening, 1)
            is_open = random_open(rng)
            before = energy(serve, opening, is_open)
            none = np.empty((0, 3 * STRONGEST + 1))
            found = dense.iterated_search(serve, opening, everyone, is_open, none, 1, 0.0)
            assert found == pytest.approx(energy(serve, opening, is_open), abs=1e-12)
            assert found <= before + 1e-12
            assert is_local_optimum(serve, opening, is_open)

    def test_only_candidates_are_opened(self, seed: int):
        rng = np.random.default_rng(seed)
        serve, opening = facility_costs(rng)
        is_open = everyone == 0
        some = np.array([3, 6], dtype=np.int32)
        draws = rng.random((20, 3 * STRONGEST + 1))
        dense.iterated_search(serve, opening, some, is_open, draws, 1, 0.1)
        assert set(np.flatnonzero(is_open)) <= {0, 3, 6}

    @pytest.mark.parametrize("drift", [0.0, 0.5])
    def test_kicks_never_lose_the_best(self, drift: float, seed: int):
        rng = np.random.default_rng(seed)
        reached = 0
        for _ in range(20):
            serve, opening = facility_costs(rng)
            is_open = random_open(rng)
            local = is_open.copy()
            none = np.empty((0, 3 * STRONGEST + 1))
            before = dense.iterated_search(serve, opening, everyone, local, none, 1, drift)
            draws = rng.random((30, 3 * STRONGEST + 1))
            found = dense.iterated_search(serve, opening, everyone, is_open, draws, 1, drift)
            assert found <= before
            assert found == pytest.approx(energy(serve, opening, is_open), abs=1e-12)
            reached += found <= naive.least_energy(serve.T, opening) + 1e-9
        assert reached >= 18

    def test_a_kick_swaps(self):
        rng = np.random.default_rng(4)
        serve, _ = facility_costs(rng)
        is_open = everyone < 3
        low, high, first, second = ranked(serve, is_open)
        open_list = np.array([0, 1, 2] + [0] * (N - 2), dtype=np.int32)
        n_open = dense.kick(
            serve, everyone, rng.random(10), 3, is_open, open_list, 3, low, high, first, second
        )
        assert n_open == is_open.sum() == 3
        assert sorted(open_list[:3]) == np.flatnonzero(is_open).tolist()
        for ours, theirs in zip((low, high, first, second), ranked(serve, is_open), strict=True):
            np.testing.assert_array_equal(ours, theirs)


class TestGraphSearch:
    @staticmethod
    def search(graph, opening, is_open, draws, drift=0.0, work=1e9):
        state = graph_state(graph, opening, is_open)
        graphs.iterated_search(
            graph, opening, state, empty_queue(), everyone, draws, 1, drift, work
        )
        return state

    @staticmethod
    def start(rng, full):
        is_open = random_open(rng)
        return is_open | ~np.isfinite(full[is_open].min(axis=0))

    def test_a_local_optimum_no_worse_than_the_start(self, seed: int):
        rng = np.random.default_rng(seed)
        none = np.empty((0, 3 * STRONGEST + 1))
        for index in range(30):
            serve, opening = facility_costs(rng)
            if index % 2:
                serve, opening = np.round(serve, 1), np.round(opening, 1)
            allowed = some_allowed(rng) if index % 3 else np.ones((N, N), dtype=bool)
            full = with_forbidden(serve, allowed)
            graph = graph_of(serve, allowed)
            is_open = self.start(rng, full)
            before = energy(full, opening, is_open)
            # A move may make worthwhile a swap that no queued candidate takes part in: as often
            # as something changes, everybody is queued again.
            while True:
                state = self.search(graph, opening, is_open, none)
                if np.array_equal(state[0], is_open):
                    break
                is_open = state[0]
            after = energy(full, opening, is_open)
            assert state[7][0] == pytest.approx(after, abs=1e-12)
            assert after <= before + 1e-12
            assert is_local_optimum(full, opening, is_open)

    @pytest.mark.parametrize("drift", [0.0, 0.5])
    def test_kicks_never_lose_the_best(self, drift: float, seed: int):
        rng = np.random.default_rng(seed)
        reached = 0
        for _ in range(20):
            serve, opening = facility_costs(rng)
            allowed = some_allowed(rng)
            full = with_forbidden(serve, allowed)
            graph = graph_of(serve, allowed)
            is_open = self.start(rng, full)
            draws = rng.random((30, 3 * STRONGEST + 1))
            before = self.search(graph, opening, is_open, draws[:0])[7][0]
            state = self.search(graph, opening, is_open, draws, drift)
            assert state[7][0] <= before + 1e-12
            assert state[7][0] == pytest.approx(energy(full, opening, state[0]), abs=1e-12)
            TestMoves.assert_same(state, graph_state(graph, opening, state[0]))
            reached += state[7][0] <= naive.least_energy(full.T, opening) + 1e-9
        assert reached >= 18

    def test_work_ends_the_search(self):
        rng = np.random.default_rng(5)
        n = 60
        serve = rng.random((n, n))
        np.fill_diagonal(serve, 0.0)
        opening = np.full(n, 1.0)
        graph = graph_of(serve)
        pool = np.arange(n, dtype=np.int32)
        draws = rng.random((40, 3 * STRONGEST + 1))

        def spent(work: float, rounds: int) -> tuple[float, np.ndarray]:
            state = graph_state(graph, opening, pool == 0)
            graphs.iterated_search(
                graph, opening, state, empty_queue(n), pool, draws[:rounds], 1, 0.0, work
            )
            return state[7][1], state[0]

        one, after_one = spent(np.inf, 1)
        everything, _ = spent(np.inf, 40)
        stopped, after_stop = spent(0.0, 40)
        # Nothing is left of no work at all after the first round.
        assert stopped == one < everything
        np.testing.assert_array_equal(after_stop, after_one)
        half, _ = spent(everything / 2, 40)
        assert everything / 2 < half < everything


class TestSteps:
    def test_subgradient_step(self, seed: int):
        rng = np.random.default_rng(seed)
        v, direction = np.maximum(rng.normal(size=N), 0.0), rng.normal(size=N)
        served = rng.integers(0, 3, size=N).astype(float)
        slope = 1.0 - served
        slope[(v <= 0) & (slope < 0)] = 0.0
        expected = 0.7 * direction + slope
        moved = np.maximum(v + 0.5 * expected / np.sum(expected**2), 0.0)
        assert steps.subgradient_step(v, direction, served, 0.7, 0.5)
        np.testing.assert_allclose(direction, expected, rtol=1e-12)
        np.testing.assert_allclose(v, moved, rtol=1e-12)

    def test_no_direction_is_a_maximiser(self):
        v, direction = np.ones(3), np.zeros(3)
        assert not steps.subgradient_step(v, direction, np.ones(3), 0.7, 1.0)
        np.testing.assert_array_equal(v, np.ones(3))
        assert not steps.subgradient_step(v, np.full(3, 0.5), np.ones(3), 0.7, 1.0)
        np.testing.assert_array_equal(v, np.ones(3))
        # A multiplier at zero does not pull down.
        assert not steps.subgradient_step(np.zeros(3), direction, np.full(3, 2.0), 0.7, 1.0)

    def test_least(self, seed: int):
        rng = np.random.default_rng(seed)
        slack = rng.integers(0, 6, size=20).astype(float)
        candidates = np.sort(rng.choice(20, 15, replace=False)).astype(np.int32)
        for count in (1, 4, 14):
            found = steps.least(candidates, slack, count)
            limit = np.sort(slack[candidates])[count - 1]
            assert found.tolist() == [j for j in candidates if slack[j] <= limit]
        np.testing.assert_array_equal(steps.least(candidates, slack, 15), candidates)


class TestPairs:
    def test_groups(self, seed: int):
        rng = np.random.default_rng(seed)
        key, other = rng.integers(0, 5, size=30), rng.integers(0, 9, size=30)
        cost = rng.integers(0, 4, size=30).astype(float)
        start, grouped_other, grouped_cost = pairs.group(key, other, cost, 6)
        for i in range(6):
            own = slice(start[i], start[i + 1])
            assert grouped_other[own].tolist() == other[key == i].tolist()
            assert grouped_cost[own].tolist() == cost[key == i].tolist()
        pairs.sort_groups(start, grouped_other, grouped_cost)
        for i in range(6):
            own = slice(start[i], start[i + 1])
            expected = sorted(zip(cost[key == i], range((key == i).sum()), strict=True))
            assert grouped_cost[own].tolist() == [c for c, _ in expected]
            assert grouped_other[own].tolist() == [other[key == i][t] for _, t in expected]

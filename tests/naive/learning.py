"""Learning to cluster as komodakis2011 writes it down: all assignments, all points of a part, LPs.

``x[p][q]`` is one where q serves p, ``x[q][q]`` where q is an exemplar. Costs ``d[p][q]`` are "p
served by q" with opening costs on the diagonal; features ``f[p][q]`` are a vector for every pair.
Clusters are labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

Floats = NDArray[np.float64]
Labels = Sequence[int] | NDArray[np.intp]


def services(n: int) -> Iterator[tuple[int, ...]]:
    """All ways to serve n items, exemplars serving themselves."""
    for served in product(range(n), repeat=n):
        if all(served[q] == q for q in served):
            yield served


def point_of(served: Sequence[int]) -> Floats:
    """x of a service: eq. (3)-(5) hold."""
    x = np.zeros((len(served), len(served)))
    for p, q in enumerate(served):
        x[p, q] = 1.0
    return x


def point_of_fractional(point: Any) -> Floats:
    """x of a `FractionalPartition`."""
    x = np.diag(np.asarray(point.openness, dtype=float))
    for p, q, amount in zip(point.clients, point.servers, point.amounts, strict=True):
        assert p != q
        x[p, q] += amount
    return x


def members(shown: Labels, cluster: int) -> list[int]:
    return [p for p, label in enumerate(shown) if label == cluster]


def clusters(shown: Labels) -> list[list[int]]:
    return [members(shown, cluster) for cluster in sorted(set(shown))]


def shows(x: Floats, shown: Labels) -> bool:
    """Whether x is in X(C): the clusters of x are the shown ones."""
    served = [int(np.argmax(row)) for row in x]
    n = len(served)
    return all(
        (served[p] == served[q]) == (shown[p] == shown[q]) for p in range(n) for q in range(n)
    )


def energy(x: Floats, d: Floats) -> float:
    """Eq. (2)."""
    n = len(d)
    return float(sum(d[p, q] * x[p, q] for p in range(n) for q in range(n)))


def delta(x: Floats, shown: Labels, alpha: float, beta: float) -> float:
    """Eq. (15)."""
    total = 0.0
    for C in clusters(shown):
        total += alpha * abs(1.0 - sum(x[q, q] for q in C))
        total += beta * sum(1.0 - sum(x[p, q] for q in C) for p in C)
    return float(total)


def augmented_costs(d: Floats, shown: Labels, beta: float) -> Floats:
    """ubar_pq(1), eq. (18): p = q is in one cluster as well."""
    n = len(d)
    return np.array([[d[p, q] + beta * (shown[p] == shown[q]) for q in range(n)] for p in range(n)])


def item_part(ubar: Floats, theta: Floats, p: int) -> Iterator[tuple[float, tuple[int, ...], int]]:
    """All points of eq. (23) without its constant: value, who is open, who serves p."""
    n = len(ubar)
    for opened in product((0, 1), repeat=n):
        for q in range(n):
            # x_pq <= x_qq, and x_pp is one variable: open where p serves itself, and only there.
            if opened[q] and bool(opened[p]) == (q == p):
                paid = 0.0 if q == p else ubar[p, q]
                yield paid + float(np.dot(theta, opened)), opened, q


def cluster_part(theta: Floats, alpha: float) -> Iterator[tuple[float, tuple[int, ...]]]:
    """All points of eq. (24): value, and who is open."""
    for opened in product((0, 1), repeat=len(theta)):
        yield float(np.dot(theta, opened)) - alpha * abs(1.0 - sum(opened)), opened


@dataclass(frozen=True)
class Shares:
    """The opening cost that every part carries with its multipliers: theta of lemma 2."""

    items: Floats
    clusters: Floats


def shares(ubar: Floats, items: Floats, of_clusters: Floats) -> Shares:
    n = len(ubar)
    own = np.diag(ubar) / (n + 1)
    return Shares(own[None, :] + items, own + of_clusters)


def sum_of_parts(x: Floats, ubar: Floats, theta: Shares, shown: Labels, alpha: float) -> float:
    """Eq. (23) and (24) at one x for all parts, the constant -beta n left out."""
    n, total = len(x), 0.0
    for p in range(n):
        total += sum(ubar[p, q] * x[p, q] for q in range(n) if q != p)
        total += sum(theta.items[p, q] * x[q, q] for q in range(n))
    for C in clusters(shown):
        total += sum(theta.clusters[q] * x[q, q] for q in C)
        total -= alpha * abs(1.0 - sum(x[q, q] for q in C))
    return float(total)


def least_of_parts(ubar: Floats, theta: Shares, shown: Labels, alpha: float) -> float:
    """The sum of the minima of the parts, by enumeration, the constant left out."""
    total = 0.0
    for p in range(len(ubar)):
        total += min(value for value, _, _ in item_part(ubar, theta.items[p], p))
    for C in clusters(shown):
        total += min(value for value, _ in cluster_part(theta.clusters[C], alpha))
    return total


def relaxation(d: Floats, shown: Labels, alpha: float, beta: float) -> float:
    """The minimum of E - Delta over the linear relaxation."""
    return relaxation_and_prices(d, shown, alpha, beta)[0]


def relaxation_and_prices(
    d: Floats, shown: Labels, alpha: float, beta: float
) -> tuple[float, Floats]:
    """The LP in x and t, and its multipliers of "every item is served once"."""
    ubar, n, groups = augmented_costs(d, shown, beta), len(d), clusters(shown)
    cost = np.concatenate([ubar.reshape(-1), np.full(len(groups), 2.0 * alpha)])
    cost[[q * n + q for q in range(n)]] -= alpha
    served = np.zeros((n, len(cost)))
    rows = []
    for p in range(n):
        served[p, p * n : (p + 1) * n] = 1.0
        others = (q for q in range(n) if q != p)
        rows += [_row(len(cost), {p * n + q: 1.0, q * n + q: -1.0}) for q in others]
    for c, C in enumerate(groups):
        rows += [_row(len(cost), {q * n + q: 1.0, n * n + c: -1.0}) for q in C]
    found = linprog(
        cost, A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=served, b_eq=np.ones(n)
    )
    assert found.status == 0, found.message
    value = float(found.fun) - beta * n - alpha * len(groups)
    return value, np.asarray(found.eqlin.marginals)


def _row(length: int, entries: dict[int, float]) -> Floats:
    row = np.zeros(length)
    for place, value in entries.items():
        row[place] = value
    return row


@dataclass(frozen=True)
class Shown:
    """One training set: pair features (n, n, F), opening features (n, G), clusters, completion."""

    f: Floats
    g: Floats
    shown: Labels
    served_by: Sequence[int]

    def costs(self, weights: Floats) -> Floats:
        """d with opening costs on the diagonal."""
        F = self.f.shape[2]
        d = self.f @ weights[:F]
        np.fill_diagonal(d, self.g @ weights[F:])
        return d

    def features(self, x: Floats) -> Floats:
        """What the energy of x is a product of with the weights."""
        n = len(x)
        pairs = np.zeros(self.f.shape[2])
        openings = np.zeros(self.g.shape[1])
        for p in range(n):
            openings += x[p, p] * self.g[p]
            for q in range(n):
                if p != q:
                    pairs += x[p, q] * self.f[p, q]
        return np.concatenate([pairs, openings])


def completions(shown: Labels) -> Iterator[list[int]]:
    """All services whose clusters are the shown ones: one exemplar for each."""
    groups = clusters(shown)
    for chosen in product(*groups):
        served = [0] * len(shown)
        for C, q in zip(groups, chosen, strict=True):
            for p in C:
                served[p] = q
        yield served


def objective(
    sets: Sequence[Shown], weights: Floats, alpha: float, beta: float, regulariser: float
) -> float:
    """Eq. (27) at some weights, completions as given."""
    total = regulariser
    for each in sets:
        d = each.costs(weights)
        total += energy(point_of(each.served_by), d) - relaxation(d, each.shown, alpha, beta)
    return total


@dataclass(frozen=True)
class Trained:
    """The minimum of the training problem lies between two values; weights for the upper one."""

    lower: float
    upper: float
    weights: Floats


def train(
    sets: Sequence[Shown],
    alpha: float,
    beta: float,
    lower: Floats,
    upper: Floats,
    value: Callable[[Floats], float],
    gradient: Callable[[Floats], Floats],
    total: float | None = None,
    accuracy: float = 1e-4,
) -> Trained:
    """Minimise (27) exactly, completions as given, for a convex regulariser of all weights.

    For fixed tangents of the regulariser it is one LP in the weights, a value s above the tangents,
    and for every set the multipliers of the dual of the relaxation:

        max  sum v + sum_C m_C - beta n - alpha |C|      v_p: p is served once
        z_pq >= v_p - ubar_pq,  z_pq >= 0
        r_q <= dbar_q - alpha - v_q - sum_p z_pq,  r_q <= 0        dbar_q = d_qq + beta
        m_C <= 2 alpha + sum_{q in C} r_q,  m_C <= 0

    A linear regulariser takes one LP, others are approached by tangents (Kelley).
    """
    program = _Program(sets, alpha, beta, lower, upper, total)
    weights = np.clip(np.zeros(len(lower)), lower, upper)
    best = Trained(-np.inf, np.inf, weights)
    for _ in range(300):
        program.add_tangent(weights, value(weights), gradient(weights))
        lowest, weights, below = program.solve()
        reached = lowest - below + value(weights)
        if reached < best.upper:
            best = Trained(lowest, reached, weights)
        best = Trained(lowest, best.upper, best.weights)
        if best.upper - best.lower <= accuracy * max(abs(best.upper), 1e-3):
            return best
    raise AssertionError(f"the oracle stopped between {best.lower} and {best.upper}")


class _Program:
    """The LP of `train`. Variables: weights, s, then v, z, r, m for every set."""

    def __init__(
        self,
        sets: Sequence[Shown],
        alpha: float,
        beta: float,
        lower: Floats,
        upper: Floats,
        total: float | None,
    ):
        self.n_weights = len(lower)
        F = sets[0].f.shape[2]
        size = self.n_weights + 1
        for each in sets:
            n = len(each.shown)
            size += n + n * n + n + len(clusters(each.shown))
        self.cost, self.constant = np.zeros(size), 0.0
        self.cost[self.n_weights] = 1.0
        self.rows: list[Floats] = []
        self.limits: list[float] = []
        self.bounds: list[tuple[float | None, float | None]] = list(zip(lower, upper, strict=True))
        self.bounds.append((None, None))
        for each in sets:
            self._add_set(each, alpha, beta, F)
        self.equal = None if total is None else _row(size, dict.fromkeys(range(F), 1.0))
        self.total = total

    def _add_set(self, each: Shown, alpha: float, beta: float, F: int) -> None:
        n, groups, size = len(each.shown), clusters(each.shown), len(self.cost)
        v = len(self.bounds)
        z, r, m = v + n, v + n + n * n, v + n + n * n + n
        self.bounds += [(None, None)] * n + [(0.0, None)] * n * n
        self.bounds += [(None, 0.0)] * (n + len(groups))
        self.cost[: self.n_weights] += each.features(point_of(each.served_by))
        self.cost[v : v + n] = -1.0
        self.cost[m : m + len(groups)] = -1.0
        self.constant += beta * n + alpha * len(groups)
        for p in range(n):
            for q in range(n):
                if p == q:
                    continue
                row = _row(size, {v + p: 1.0, z + p * n + q: -1.0})
                row[:F] = -each.f[p, q]
                self._add(row, beta * float(each.shown[p] == each.shown[q]))
        for q in range(n):
            row = _row(size, {r + q: 1.0, v + q: 1.0})
            row[[z + p * n + q for p in range(n) if p != q]] = 1.0
            row[F : self.n_weights] = -each.g[q]
            self._add(row, beta - alpha)
        for c, C in enumerate(groups):
            self._add(_row(size, {m + c: 1.0, **{r + q: -1.0 for q in C}}), 2.0 * alpha)

    def _add(self, row: Floats, limit: float) -> None:
        self.rows.append(row)
        self.limits.append(limit)

    def add_tangent(self, weights: Floats, value: float, gradient: Floats) -> None:
        row = _row(len(self.cost), {self.n_weights: -1.0})
        row[: self.n_weights] = gradient
        self._add(row, float(gradient @ weights) - value)

    def solve(self) -> tuple[float, Floats, float]:
        """The minimum, the weights, and s there."""
        found = linprog(
            self.cost,
            A_ub=np.array(self.rows),
            b_ub=np.array(self.limits),
            A_eq=None if self.equal is None else self.equal[None, :],
            b_eq=None if self.total is None else [self.total],
            bounds=self.bounds,
        )
        assert found.status == 0, found.message
        weights = np.asarray(found.x[: self.n_weights])
        return float(found.fun) + self.constant, weights, float(found.x[self.n_weights])


def shortest_paths(d: Floats, power: float) -> Floats:
    """Path lengths by relaxing every pair through every item until nothing changes."""
    n = len(d)
    lengths = np.array(d, dtype=float) ** power
    np.fill_diagonal(lengths, 0.0)
    for _ in range(n):
        for p in range(n):
            for q in range(n):
                lengths[p, q] = min(lengths[p, q], (lengths[p] + lengths[:, q]).min())
    return lengths


def pair_features(pairs: Any) -> Floats:
    """f of `ColumnPairs` or `StackedPairs` from what they store, by client."""
    if hasattr(pairs, "rows"):
        rows = pairs.rows
        n = len(rows)
        return np.array([[(rows[p] - rows[q]) ** 2 for q in range(n)] for p in range(n)])
    n = pairs.stack.shape[1]
    return np.array([[pairs.stack[:, q, p] for q in range(n)] for p in range(n)])


def shown_of(example: Any, served_by: Sequence[int]) -> Shown:
    """The twin of an `Example` with a completion."""
    return Shown(pair_features(example.pairs), example.openings, example.shown, served_by)

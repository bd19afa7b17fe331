"""Exemplar clustering with the number of clusters chosen, and a proof of how good the answer is."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from likewise.arrays.blocks import map_blocks
from likewise.decoders.base import CUT_SHORT, STATUS_REMEDIES
from likewise.errors import CertificateWarning, InputError
from likewise.estimators.exemplar_costs import summed_features
from likewise.estimators.exemplar_sets import (
    Outcome,
    SearchOptions,
    partition_precomputed,
    partition_rows,
)
from likewise.estimators.new_rows import compare_new, features_of, is_precomputed, label_new
from likewise.estimators.row_links import row_links
from likewise.validation import (
    Precomputed,
    as_sets,
    validate_opening_cost,
    validate_precomputed,
    validate_rows,
    validate_sample_weight,
)

# Attributes that only some fits set.
_PLACES = (
    "exemplar_rows_", "reference_rows_", "waypoints_", "waypoint_rows_", "path_lengths_",
    "path_step_",
)  # fmt: skip

Floats = NDArray[np.float64]


class ExemplarClusterer(
    ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, BaseEstimator
):
    """Partition a set around exemplars, the number of clusters chosen by the optimisation.

    Chooses the set Q of exemplars that minimises eq. (1) of [1]_::

        E(Q) = sum over p not in Q of sample_weight[p] * min over q in Q of d[p, q]
             + sum over q in Q of opening_cost[q]

    with d the weighted sum of the features, and reports a lower bound on the least energy there is.
    Distances may be asymmetric, negative and non-metric.

    Parameters
    ----------
    features : str, callable or list of Compare, default="sqeuclidean"
        How two rows are compared: the name of a distance, a callable ``f(A, B)`` that returns the
        matrix of distances from the rows of A to those of B, ``"columns"`` (one squared difference
        per column), a list of :class:`likewise.Compare`, or ``"precomputed"``: X then is an array
        (n, n) or (n, n, F), entry [p, q] being "p served by q", or a SciPy sparse array (n, n)
        whose missing entries say that p may not be served by q. The diagonal is ignored.
    weights : array-like of shape (F,), default=None
        The weight of every feature in d; None adds the features up.
    opening_cost : float, array-like of shape (n,) or "median", default="median"
        What an exemplar costs: higher means fewer clusters. ``"median"`` is the median of d[p, q]
        over pairs of rows, estimated from 2,000 rows where ``candidates`` is given and there are
        more.
    candidates : int, default=None
        None considers all pairs and needs 16 n^2 bytes. A number k keeps the k nearest neighbours
        of every row, beside global candidates for clusters larger than that, and scales to
        millions of rows.
    paths : float, default=None
        A number from 1 on replaces d by path distances: the least sum of ``d ** paths`` over the
        steps of a path through other rows, divided by its median over pairs of rows. Clusters may
        then have any shape; 2 is a good start. ``opening_cost`` is in these units, ``"median"`` is
        1.0. Takes O(n^3) time, which ``time_limit`` does not cut short, and all pairs, none of them
        negative.
    solver : {"auto", "fast", "exact"}, default="auto"
        ``"fast"`` is a local search with a bound, ``"auto"`` searches until neither the answer nor
        the bound improves, ``"exact"`` then proves the optimum by mixed-integer programming or
        says how far it is.
    gap : float, default=1e-6
        Stop when ``(energy_ - lower_bound_) / abs(energy_)`` is at most this.
    time_limit : float, default=None
        Seconds after which the best answer so far is returned, with its bound.
    n_jobs : int, default=None
        Threads that compute distances and neighbours, or the sets of ``cluster``. Results are the
        same bits for any number.
    random_state : int, RandomState or None, default=None
        Seed of the search. None is a fixed seed: results are reproducible by default.
    callbacks : callable or list of callables, default=None
        Called with a ``Progress`` record (stage, seconds, energy, lower_bound, n_clusters, gap)
        whenever the search advances; ``callbacks=print`` shows them.

    Attributes
    ----------
    labels_ : array of shape (n,)
        Cluster of every row, 0..k-1, the heaviest cluster first. -1 only for a row of weight 0 of
        a sparse X that has no entry at an exemplar.
    exemplars_ : array of shape (k,)
        Rows that are exemplars; ``exemplars_[labels_]`` is each row's exemplar.
    exemplar_rows_ : array of shape (k, p)
        Their features (not for precomputed distances).
    waypoints_ : array of shape (m,)
        With ``paths``: the rows that paths from new rows may go through, those of positive weight
        without repetitions; ``waypoint_rows_`` (m, p) are their features.
    path_lengths_ : array of shape (m, k)
        With ``paths``: path distances from them to the exemplars.
    path_step_ : float
        With ``paths``: the step whose power is 1 in the units of path distances.
    n_clusters_ : int
        The number of clusters.
    energy_ : float
        The energy of the partition.
    lower_bound_ : float
        No partition has a lower energy than this; over the candidate graph where one was used.
    gap_ : float
        ``(energy_ - lower_bound_) / max(abs(energy_), tiny)``.
    bound_scope_ : {"all pairs", "candidate pairs"}
        What ``lower_bound_`` bounds: the problem over all pairs, or only over the stored ones.
    status_ : str
        "converged" when the gap asked for is certified; else "gap", "time_limit", "memory_limit"
        or "interrupted".
    opening_cost_ : float or array of shape (n,)
        The opening cost that was used.
    n_iter_ : int
        Turns of bound and search.
    history_ : dict of lists
        "stage", "seconds", "energy" and "lower_bound" along the search.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of str
        Their names, where X is a frame.

    References
    ----------
    .. [1] N. Komodakis, "Learning to cluster using high order graphical models with latent
       variables", ICCV 2011.

    Examples
    --------
    >>> import likewise as lw
    >>> X = [[0.0], [0.1], [0.2], [9.0], [9.1]]
    >>> clusterer = lw.ExemplarClusterer(opening_cost=1.0).fit(X)
    >>> clusterer.labels_, clusterer.exemplars_, clusterer.status_
    (array([0, 0, 0, 1, 1]), array([1, 3]), 'converged')
    >>> clusterer.predict([[8.0]])
    array([1])
    """

    def __init__(
        self,
        features: Any = "sqeuclidean",
        weights: Any = None,
        opening_cost: Any = "median",
        *,
        candidates: int | None = None,
        paths: float | None = None,
        solver: str = "auto",
        gap: float = 1e-6,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        callbacks: Any = None,
    ) -> None:
        self.features = features
        self.weights = weights
        self.opening_cost = opening_cost
        self.candidates = candidates
        self.paths = paths
        self.solver = solver
        self.gap = gap
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callbacks = callbacks

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        must_link: Any = None,
        cannot_link: Any = None,
        sample_weight: Any = None,
    ) -> ExemplarClusterer:
        """Partition the rows of X.

        Parameters
        ----------
        X : array-like or frame of shape (n, p), or what ``features="precomputed"`` takes
            The set.
        y : None
            Ignored.
        must_link : array-like of shape (m, 2), default=None
            Pairs of row numbers. Rows that are linked, also by way of others, share a cluster.
        cannot_link : array-like of shape (m, 2), default=None
            Pairs of row numbers. Such rows are in different clusters. All links hold without
            exception, in ``energy_`` and ``lower_bound_`` too; an error names contradictions.
        sample_weight : array-like of shape (n,), default=None
            How many rows each row counts for; a row of weight 0 counts as absent and gets the
            label of its nearest exemplar, or of the rows that ``must_link`` joins it with.

        Returns
        -------
        self
        """
        outcome = self._partitioned(
            self, X, self.opening_cost, sample_weight, self._options(), (must_link, cannot_link)
        )
        self.labels_ = outcome.labels
        self.exemplars_ = outcome.exemplars
        self.n_clusters_ = len(outcome.exemplars)
        self.energy_ = outcome.solution.energy
        self.lower_bound_ = outcome.solution.lower_bound
        self.gap_ = outcome.solution.gap
        self.bound_scope_ = outcome.bound_scope
        self.status_ = outcome.solution.status
        self.opening_cost_ = outcome.opening_cost
        self.n_iter_ = outcome.solution.n_iter
        self.history_ = outcome.solution.history
        self._remember_places(outcome, X, sample_weight)
        if self.status_ in CUT_SHORT:
            self._warn(self.status_, self.gap_)
        return self

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Give every new row the label of its nearest exemplar, through fitted rows on `paths`.

        Parameters
        ----------
        X : array-like or frame of shape (m, p)
            New rows; for precomputed distances (m, n), from new items to the n fitted ones.

        Returns
        -------
        labels : array of shape (m,)
            -1 only for a row of a sparse X without entry at an exemplar.
        """
        check_is_fitted(self)
        return label_new(self, X)

    def transform(self, X: Any) -> Floats:
        """Distances from every row to every exemplar, in the order of ``exemplars_``.

        With `paths`, path distances through the fitted rows.

        Parameters
        ----------
        X : array-like or frame of shape (m, p)
            New rows; for precomputed distances (m, n), from new items to the n fitted ones.

        Returns
        -------
        distances : array of shape (m, k)
            Infinite where a sparse X has no entry.
        """
        check_is_fitted(self)
        return compare_new(self, X)

    def cluster(self, X: Any, groups: Any = None) -> Any:
        """Partition one or many new sets, each jointly; the fitted state stays as it is.

        Parameters
        ----------
        X : array-like or frame of shape (n, p), or list of such
            One table, or a list of sets.
        groups : array-like of shape (n,), default=None
            For one table: which set a row belongs to.

        Returns
        -------
        labels : array of shape (n,), or list of arrays
            Labels of every set, from 0 on in each.
        """
        precomputed = is_precomputed(self)
        sets, restore = as_sets(X, groups, square=precomputed)
        costs: list[Any] = [self.opening_cost] * len(sets)
        if groups is not None and np.ndim(self.opening_cost) == 1:
            costs = [part.ravel() for part in as_sets(np.c_[self.opening_cost], groups)[0]]
        # One seed for all sets: a RandomState gives another one whenever it is asked.
        options = self._options()
        if len(sets) > 1:
            # Threads work on different sets, not on one.
            options = replace(options, n_jobs=1)

        def solve(place: int) -> Outcome:
            gate = type(self)(**self.get_params(deep=False))
            return self._partitioned(gate, sets[place], costs[place], None, options)

        # Callables, of the user's own, run in one thread.
        alone = (precomputed or isinstance(self.features, str)) and self.callbacks is None
        outcomes = map_blocks(solve, range(len(sets)), self.n_jobs if alone else 1)
        short = [o.solution for o in outcomes if o.solution.status in CUT_SHORT]
        if short:
            worst = max(short, key=lambda solution: solution.gap)
            self._warn(worst.status, worst.gap)
        return restore([outcome.labels for outcome in outcomes])

    def _partitioned(
        self, gate: ExemplarClusterer, X: Any, opening: Any, weight: Any, options: SearchOptions,
        links: tuple[Any, Any] = (None, None),
    ) -> Outcome:  # fmt: skip
        """Check the input and partition one set; ``gate`` records the columns of X."""
        min_rows = 2 if gate is self else 1
        if is_precomputed(self):
            given = validate_precomputed(gate, X, reset=True)
            n = given.costs.shape[0]
            if n < min_rows:
                raise InputError(
                    f"Found array with n_samples=1 (shape={given.costs.shape}) while a minimum of "
                    f"{min_rows} is required by {type(self).__name__}: one item is no set to "
                    "partition. Pass more rows."
                )
            costs = summed_features(given.costs, self.weights, is_fit=True)
            weights = validate_sample_weight(weight, n)
            return partition_precomputed(
                Precomputed(costs, given.alone), validate_opening_cost(opening, n), weights,
                options, links=row_links(n, *links, weights),
            )  # fmt: skip
        rows = validate_rows(gate, X, reset=True, min_rows=min_rows)
        features = features_of(gate)
        weights = validate_sample_weight(weight, len(rows))
        return partition_rows(
            rows, features, features.resolve_weights(self.weights),
            validate_opening_cost(opening, len(rows)), weights, options,
            links=row_links(len(rows), *links, weights),
        )  # fmt: skip

    def _options(self) -> SearchOptions:
        options = SearchOptions.of(self)
        if options.candidates is not None and is_precomputed(self):
            raise InputError(
                f"candidates={options.candidates!r} picks nearest neighbours of rows, but features="
                "'precomputed' gives the pairs already. Pass a SciPy sparse array of the pairs to "
                "keep instead."
            )
        return options

    def _remember_places(self, outcome: Outcome, X: Any, sample_weight: Any) -> None:
        """What predict compares new rows with."""
        for name in _PLACES:
            if hasattr(self, name):
                delattr(self, name)
        waypoints = outcome.waypoints
        if waypoints is not None:
            self.waypoints_ = waypoints.items
            self.path_lengths_ = waypoints.lengths
            self.path_step_ = waypoints.step
        if is_precomputed(self):
            return
        rows = validate_rows(self, X, reset=False)
        self.exemplar_rows_ = rows[self.exemplars_].copy()
        if waypoints is not None:
            self.waypoint_rows_ = rows[waypoints.items]
        if features_of(self).needs_scales:
            weight = validate_sample_weight(sample_weight, len(rows))
            self.reference_rows_ = (rows if weight is None else rows[weight > 0]).copy()

    def _warn(self, status: str, gap: float) -> None:
        warnings.warn(
            f"{type(self).__name__} stopped with status {status!r} and a certified gap of "
            f"{gap:.3%}: {STATUS_REMEDIES[status]}.",
            CertificateWarning,
            stacklevel=3,
        )

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self)
        tags.input_tags.sparse = is_precomputed(self)
        tags.transformer_tags.preserves_dtype = []
        return tags

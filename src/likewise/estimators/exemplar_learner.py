"""Learning to cluster: a distance and an opening cost from example partitions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from likewise.arrays.interruption import deferred_interrupts
from likewise.errors import InputError
from likewise.estimators import learner_input as given
from likewise.estimators import learner_output as output
from likewise.estimators.examples import shown_rows, split_labels
from likewise.estimators.exemplar import ExemplarClusterer
from likewise.estimators.learner_options import checked, is_precomputed
from likewise.estimators.learner_output import Explanation
from likewise.estimators.learning import Learned, Lesson, learn
from likewise.estimators.opening_features import opening_features_of, profiles_of
from likewise.metrics import pairwise_f1
from likewise.validation import as_sets

Floats = NDArray[np.float64]


class ExemplarLearner(BaseEstimator):
    """Learn how to group from sets that were grouped, then group new sets likewise.

    From example partitions it learns how much each way of comparing two rows counts, and how much a
    cluster must be worth::

        d(p, q) = sum_f weights_[f] * feature_f(x_p, x_q)

    such that, for every set, partitioning around exemplars (eq. (1) of [1]_) with d and the opening
    cost prefers the shown partition over every other one by a margin that grows with how different
    that is. New sets, of new clusters and any number of them, are partitioned the same way.

    Parameters
    ----------
    features : str, callable or list of Compare, default="columns"
        How two rows are compared, as in :class:`ExemplarClusterer`. ``"columns"`` learns one weight
        per column, a list of :class:`likewise.Compare` one per comparison; with ``"precomputed"``
        every set is an array (n, n) or (n, n, F).
    regulariser : {"auto", "l1", "l2"} or object, default="auto"
        What keeps weights from fitting noise. ``"auto"`` pulls them towards a distance that needs
        no training; which one is chosen on held-out clusters. An object has ``value(weights)`` and
        ``gradient(weights)``, of weights of features scaled to mean 1, constant ones left out.
    strength : "auto" or float, default="auto"
        How strong the regulariser is, per shown row. ``"auto"`` tries several, and also not to
        learn any weights, on clusters held out of training; a number skips that.
    alpha, beta : float, default=1.0
        The margin, eq. (15): what a cluster with none or several exemplars counts, and what a row
        served from another cluster counts.
    opening_cost : "learn" or float, default="learn"
        What a cluster must be worth; a number fixes it.
    opening_features : list of array (n, g), or columns, default=None
        Features of rows that their opening costs depend on: one array per set, or the positions or
        names of columns of X.
    constraint : {"nonnegative", "none"} or object, default="nonnegative"
        Which weights are allowed. An object has ``project(weights)``, the nearest point of a convex
        set of weights of scaled features, such as `likewise.learners.regularisers.SumTo`.
    optimiser : {"auto", "subgradient", "stochastic"}, default="auto"
        ``"auto"`` is a proximal bundle of cutting planes, which knows its duality gap;
        ``"subgradient"`` is fig. 1 of [1]_, over all sets or over one at a time.
    step : float, callable or None, default=None
        The step of the subgradient methods: s for s / sqrt(t), or a function of t = 1, 2, ...
    rounds : int, default=1
        T of fig. 1: rounds of ``optimiser="subgradient"`` between completions of the exemplars.
    paths : "auto", None or float, default="auto"
        The power of path distances (see :class:`ExemplarClusterer`); ``"auto"`` tries none and 2.
    local_scale : "auto", None or int, default="auto"
        The neighbour by which every comparison of `features` is scaled locally, for those that do
        not say themselves. ``"auto"`` tries none and half a typical cluster. Columns have none.
    size_exponent : "auto" or float, default="auto"
        Opening costs grow with (rows / clusters) ** size_exponent. ``"auto"`` learns it where the
        shown clusters differ in size, and takes 1 where they do not.
    max_iter : int, default=200
        Passes over the sets at most.
    tol : float, default=0.02
        Relative duality gap at which training stops; the subgradient methods know none.
    n_jobs : int, default=None
        Workers for the sets, through joblib: threads, or what ``joblib.parallel_config`` says. The
        result is the same bits for any number.
    random_state : int, RandomState or None, default=None
        Seed of what is held out and of the stochastic optimiser; None is a fixed seed.
    callbacks : callable or list of callables, default=None
        Called with a ``TrainingProgress`` record after every pass, and before every part that is
        held out; ``callbacks=print`` shows them.
    checkpoint : str or path, default=None
        A file that the state is kept in after passes. A training that was ended goes on from there
        to the same bits; the file stays.

    Attributes
    ----------
    weights_ : array of shape (F,)
        Of the features as given. A typical distance between rows of the training sets is 1.
    feature_names_ : list of str
        The name of every feature.
    feature_means_ : array of shape (F,)
        The mean of every feature over pairs of rows of the training sets. ``weights_`` times these
        say how much each feature counts, whatever its unit.
    opening_cost_ : float
        At the mean size of the training sets.
    opening_weights_ : array of shape (g,)
        How the opening cost depends on `opening_features`: it is multiplied by 1 + their weighted
        sum, counted from their means.
    clusterer_ : ExemplarClusterer
        Not fitted, with the weights and that cost.
    paths_, local_scale_, size_exponent_
        What was chosen of these.
    objective_, lower_bound_, gap_ : float
        The objective (28) that training ended with, a bound no weights are below with the exemplars
        completed last, and the relative difference. NaN where the weights needed no training.
    validation_ : dict of lists
        "candidate", "agreement" (adjusted Rand index with what was held out), "standard_error" and
        "chosen"; empty where nothing was to be chosen.
    held_out_ : str
        What candidates were judged on: "sets"; where there is one, "clusters" (all of the set, half
        of its clusters new to them), with fewer than four clusters "rows" (of known clusters); or
        "nothing".
    history_ : dict of lists
        "objective", "lower_bound", "gap" and "seconds" of every pass.
    status_ : str
        "converged" when the gap is reached; else "max_iter", "stalled", "interrupted", "nonfinite"
        or "collapsed".
    n_iter_ : int
        Passes over the sets.
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
    >>> from likewise.datasets import make_partitioned_sets
    >>> made = make_partitioned_sets(n_sets=8, n_columns=30, noisy=0.5, random_state=0)
    >>> shown, new = made.split(4)
    >>> learner = lw.ExemplarLearner().fit(shown.sets, shown.labels)
    >>> bool(learner.weights_[:15].min() > learner.weights_[15:].max())
    True
    >>> learner.score(new.sets, new.labels)
    1.0
    """

    def __init__(
        self,
        features: Any = "columns",
        *,
        regulariser: Any = "auto",
        strength: Any = "auto",
        alpha: float = 1.0,
        beta: float = 1.0,
        opening_cost: Any = "learn",
        opening_features: Any = None,
        constraint: Any = "nonnegative",
        optimiser: str = "auto",
        step: Any = None,
        rounds: int = 1,
        paths: Any = "auto",
        local_scale: Any = "auto",
        size_exponent: Any = "auto",
        max_iter: int = 200,
        tol: float = 0.02,
        n_jobs: int | None = None,
        random_state: Any = None,
        callbacks: Any = None,
        checkpoint: Any = None,
    ) -> None:
        self.features = features
        self.regulariser = regulariser
        self.strength = strength
        self.alpha = alpha
        self.beta = beta
        self.opening_cost = opening_cost
        self.opening_features = opening_features
        self.constraint = constraint
        self.optimiser = optimiser
        self.step = step
        self.rounds = rounds
        self.paths = paths
        self.local_scale = local_scale
        self.size_exponent = size_exponent
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callbacks = callbacks
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> ExemplarLearner:
        """Learn from sets whose partitions are shown.

        Parameters
        ----------
        X : list of array-like or frames of shape (n, p), or one of them
            The sets: a list, or one table with `groups`.
        y : list of array-like of shape (n,), or one of them
            The cluster of every row; -1 where it is not shown. Labels of different sets have
            nothing to do with each other.
        groups : array-like of shape (n,), default=None
            For one table: which set a row belongs to; None is one set.

        Returns
        -------
        self
        """
        settings, wishes, callbacks = checked(self)
        shown = given.shown_sets(self, X, y, groups)
        checkpoint = given.checkpoint_of(self, shown, settings.seed)
        lesson = Lesson.of(shown.views, shown.names, settings, wishes, callbacks)
        saved = None if checkpoint is None else checkpoint.read()
        with deferred_interrupts():
            learned = learn(lesson, saved, None if checkpoint is None else checkpoint.write)
            self._keep(learned, shown, lesson)
        output.warn_of_status(self)
        return self

    def cluster(self, X: Any, groups: Any = None, opening_features: Any = None) -> Any:
        """Partition new sets like those that were shown.

        The opening cost follows the size of each set and of its clusters: it is chosen such that it
        fits the clusters that it leads to.

        Parameters
        ----------
        X : list of array-like or frames, or one of them
            The sets, as in `fit`.
        groups : array-like of shape (n,), default=None
            For one table: which set a row belongs to.
        opening_features : list of array (n, g), default=None
            Where arrays were given for training: those of the new sets.

        Returns
        -------
        labels : list of arrays, or array of shape (n,)
            Labels 0..k-1 of every set, the largest cluster first.
        """
        labels, restore = self._grouped(X, groups, opening_features)
        return restore(labels)

    def score(self, X: Any, y: Any, groups: Any = None, opening_features: Any = None) -> float:
        """The mean pairwise F-measure of the partitions of `cluster` with the shown ones.

        Parameters are those of `fit` and `cluster`. Rows whose label is -1 are clustered with the
        others and do not count.

        Returns
        -------
        score : float
            Between 0 and 1; 1 where every partition is the shown one.
        """
        found, _ = self._grouped(X, groups, opening_features)
        labels = split_labels(y, X, groups, [len(part) for part in found])
        shown = [shown_rows(own) for own in labels]
        if not any(len(rows) for rows, _ in shown):
            raise InputError("y shows no row of any set (all labels are -1): nothing to judge by.")
        scores = [
            pairwise_f1(truth, part[rows])
            for part, (rows, truth) in zip(found, shown, strict=True)
            if len(rows)
        ]
        return float(np.mean(scores))

    def distances(self, X: Any, Y: Any = None) -> Floats:
        """The learnt distances, usable as ``metric="precomputed"`` elsewhere.

        Parameters
        ----------
        X : array-like or frame of shape (n, p)
            Rows; or one precomputed set.
        Y : array-like or frame of shape (m, p), default=None
            Other rows; None is X. Path distances run through the rows of Y.

        Returns
        -------
        distances : array of shape (n, m)
            Entry [p, q] is "p served by q".
        """
        check_is_fitted(self)
        return output.learnt_distances(self, X, Y)

    def explain(self, X: Any, p: int, q: int) -> Explanation:
        """What every feature contributes to the distance of row p from row q of a set.

        Returns
        -------
        explanation : Explanation
            ``contributions`` maps names to numbers, the largest first; they add up to ``distance``,
            the direct distance (path distances may be shorter). ``print`` shows it.
        """
        check_is_fitted(self)
        return output.explained(self, X, p, q)

    def summary(self) -> str:
        """What was learnt, and how it compares with what one could do without, as text."""
        check_is_fitted(self)
        return output.summarised(self)

    def _grouped(self, X: Any, groups: Any, opening_features: Any) -> tuple[list[Any], Any]:
        """The labels of every set, and how to put them together like X."""
        check_is_fitted(self)
        sets, restore = as_sets(X, groups, square=is_precomputed(self.features))
        tables = given.tables_of(self, sets, reset=False)
        features = opening_features_of(self, tables, groups, opening_features)
        profiles = profiles_of(self, features)
        labels = [
            output.grouped(self, table, profile)
            for table, profile in zip(tables, profiles, strict=True)
        ]
        return labels, restore

    def _keep(self, learned: Learned, shown: given.ShownSets, lesson: Lesson) -> None:
        self.weights_ = learned.weights
        self.feature_means_ = lesson.means_of(learned.candidate)
        self.feature_names_ = list(shown.names)
        self.paths_ = learned.candidate.paths
        self.local_scale_ = learned.local_scale
        self.size_exponent_ = learned.law.exponent
        self.opening_factor_ = learned.law.factor
        self.opening_weights_ = learned.profile / shown.openings.spread
        self.opening_means_ = shown.openings.means
        sizes = np.array([[len(part.shown), part.n_clusters] for part in shown.views[0].sets])
        self.n_rows_seen_ = [int(sizes[:, 0].min()), int(sizes[:, 0].max())]
        self.n_clusters_seen_ = float(sizes[:, 1].mean())
        each = sizes[:, 0] / sizes[:, 1]
        self.cluster_sizes_seen_ = [float(each.min()), float(each.max())]
        self.opening_cost_ = learned.law.cost(float(sizes[:, 0].mean()), self.n_clusters_seen_)
        self.objective_ = learned.objective
        self.lower_bound_ = learned.lower_bound
        self.gap_ = learned.gap
        verdict = learned.verdict
        self.validation_: Mapping[str, list[Any]] = {} if verdict is None else verdict.table()
        self.held_out_ = "nothing" if verdict is None else verdict.held_out
        self.chosen_ = learned.candidate.name
        self.agreement_ = learned.agreement
        self.history_ = learned.history
        self.status_ = learned.status
        self.n_iter_ = learned.n_iter
        self.clusterer_ = ExemplarClusterer(
            features=given.learnt_features(self), weights=self.weights_,
            opening_cost=self.opening_cost_, paths=self.paths_, random_state=0,
        )  # fmt: skip

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.pairwise = is_precomputed(self.features)
        return tags

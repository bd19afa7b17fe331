"""Learning to segment: a metric and a penalty from segmented sequences."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from likewise.arrays.interruption import deferred_interrupts
from likewise.energies.segments import factor_in_any_units
from likewise.errors import InputError
from likewise.estimators import series_output as output
from likewise.estimators.change_points import ChangePointDetector
from likewise.estimators.learner_options import (
    checked_callbacks,
)
from likewise.estimators.series_features import looks_for
from likewise.estimators.series_input import criterion_for, shown_series, tables_of
from likewise.estimators.series_labels import SegmentLabeller, learnt_cost, segment_means
from likewise.estimators.series_learning import (
    Ledger,
    SeriesLearned,
    SeriesLesson,
    learn_series,
)
from likewise.estimators.series_options import checked_series, series_checkpoint
from likewise.estimators.series_regressor import fitted_regressor
from likewise.validation import as_sets

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


class ChangePointLearner(BaseEstimator):
    """Learn from segmented sequences where sequences change, then segment new ones likewise.

    From sequences whose segments are shown it learns how much every column counts, and what a
    segment must be worth, by the large-margin method of [1]_: for every sequence, the shown
    segmentation M_i is to cost less than every other one M by a margin that grows with how
    different they are::

        scatter(M_i) + penalty * segments(M_i) <= scatter(M) + penalty * segments(M) - loss(M, M_i)

    The scatter is that of :class:`ChangePointDetector` under the learnt metric. How much to trust
    few sequences is chosen on sequences held out of training: the least that is learnt is a penalty
    that fits the labels. The penalty is fitted, at last, to what is shown, along the exact path of
    segmentations.

    Parameters
    ----------
    metric : {"diagonal", "full"}, default="diagonal"
        One weight per feature, or a positive semi-definite matrix, for some dozens of features.
    regulariser : {"auto", "l2", "l1", "trace"}, default="auto"
        What keeps the metric from fitting noise. ``"auto"`` tries one weight for all features, one
        for each kind, weights near to one another, and few weights.
    strength : "auto" or float, default="auto"
        How strong the regulariser is; ``"auto"`` chooses on held-out sequences.
    loss : {"projection", "rand"}, default="projection"
        What the margin grows with: the distance of projections, which is about changes missed and
        invented, or the share of pairs of rows.
    n_segments : None or "known", default=None
        ``"known"`` learns for sequences whose number of segments will be given to `cluster`.
    features : None, "windows", "hermite", "auto" or transformer, default=None
        None takes the columns as they are: for changes of the mean. ``"windows"`` adds the local
        variability (`likewise.transformers.WindowFeatures`), for sensor data; ``"hermite"`` sees
        changes of the distribution (`HermiteFeatures`); ``"auto"`` chooses on held-out sequences. A
        transformer is fitted to every sequence anew.
    penalty : {"constant", "features"}, default="constant"
        ``"features"`` learns how the penalty depends on the length and the noise of a sequence, by
        a :class:`PenaltyRegressor`.
    criterion : {"auto", "covering", "projection", "f1"}, default="auto"
        What the penalty is fitted by, and candidates are chosen by: ``"auto"`` is the covering, or
        the loss of projections where not all rows are labelled. With regions it is their errors.
    optimiser : {"auto", "subgradient", "stochastic"}, default="auto"
        ``"auto"`` is a proximal bundle of cutting planes, which knows its duality gap; the others
        are the projected subgradient methods of [1]_, over all sequences or one at a time.
    step : float, callable or None, default=None
        The step of the subgradient methods: s for s / sqrt(t), or a function of t = 1, 2, ...
    completion_start : {"labelled", "pca"}, default="labelled"
        Where not all rows are labelled, they are completed under the metric learnt so far, which
        begins with the labelled stretches alone, or with principal components, as in [1]_.
    max_iter : int, default=200
        Passes over the sequences at most.
    tol : float, default=0.01
        Relative duality gap at which training stops; the subgradient methods know none.
    n_jobs : int, default=None
        Workers for the sequences, through joblib. The result is the same bits for any number.
    random_state : int, RandomState or None, default=None
        Seed of the stochastic optimiser; None is a fixed seed.
    callbacks : callable or list of callables, default=None
        Called with a ``TrainingProgress`` record after every pass and every part that is held out;
        ``callbacks=print`` shows them.
    checkpoint : str or path, default=None
        A file that the state is kept in. A training that was ended goes on from there to the same
        bits; the file stays.

    Attributes
    ----------
    metric_ : array of shape (f, f)
        The metric, of features.
    weights_ : array of shape (f,)
        Its diagonal.
    penalty_ : float
        What a segment costs in a sequence of typical length.
    detector_ : ChangePointDetector
        Not fitted, with that metric and penalty, for features.
    feature_names_ : list of str
        The names of the features.
    look_ : str
        What the features are.
    transformer_ : transformer or None
        What makes them, not fitted.
    rows_per_block_ : int
        Features are averaged over blocks of so many rows, and changes are between blocks.
    penalty_regressor_ : PenaltyRegressor or None
        With ``penalty="features"``.
    criterion_ : str
        The criterion that was used.
    training_loss_, one_segment_loss_ : float
        The criterion, as a loss, on what was shown: of the result, and of no changes at all.
    objective_, lower_bound_, gap_ : float
        Of the last training.
    validation_ : dict of lists
        "candidate", "loss" (on held-out sequences), "standard_error" and "chosen"; empty where
        nothing was to be chosen.
    judged_by_, validated_by_ : str
        In words, what the training loss is, and what the losses of `validation_` are: where not
        all is labelled, of projections against completions.
    features_validation_ : dict of lists
        The same for features: "features", "loss" and "chosen".
    chosen_ : str
        The candidate that was chosen.
    history_ : dict of lists
        "objective", "lower_bound", "gap" and "seconds" of every pass of the last training.
    status_ : str
        "converged" when the gap is reached; else "max_iter", "stalled", "interrupted", "nonfinite",
        or "uninformative" where the labels have nothing to do with the data.
    n_iter_, n_decoder_calls_ : int
        Passes of the last training; and segmentations that all trainings after the selection made,
        those with stronger regularisers on the way included.
    n_blocks_seen_, typical_blocks_
        The fewest and most blocks of the training sequences, and their geometric mean.
    label_cost_ : float
        Segments that are no further apart get the same label with ``share_labels=True``.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of str
        Their names, where X is a frame.

    References
    ----------
    .. [1] R. Lajugie, S. Arlot, F. Bach, "Large-margin metric learning for constrained partitioning
       problems", ICML 2014.

    Examples
    --------
    >>> import likewise as lw
    >>> from likewise.datasets import make_segmented_series
    >>> made = make_segmented_series(12, 200, 20, 4, jump=1.5, random_state=0)
    >>> shown, new = made.split(8)
    >>> learner = lw.ChangePointLearner().fit(shown.series, shown.labels)
    >>> bool(learner.weights_[:4].min() > learner.weights_[4:].max())
    True
    >>> learner.score(new.series, new.labels) > 0.95
    True
    """

    def __init__(
        self,
        metric: str = "diagonal",
        *,
        regulariser: str = "auto",
        strength: Any = "auto",
        loss: str = "projection",
        n_segments: str | None = None,
        features: Any = None,
        penalty: str = "constant",
        criterion: str = "auto",
        optimiser: str = "auto",
        step: Any = None,
        completion_start: str = "labelled",
        max_iter: int = 200,
        tol: float = 0.01,
        n_jobs: int | None = None,
        random_state: Any = None,
        callbacks: Any = None,
        checkpoint: Any = None,
    ) -> None:
        self.metric = metric
        self.regulariser = regulariser
        self.strength = strength
        self.loss = loss
        self.n_segments = n_segments
        self.features = features
        self.penalty = penalty
        self.criterion = criterion
        self.optimiser = optimiser
        self.step = step
        self.completion_start = completion_start
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callbacks = callbacks
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> ChangePointLearner:
        """Learn from sequences whose segments are shown.

        Parameters
        ----------
        X : list of array-like or frames of shape (T, p), or one of them
            The sequences: a list, or one table with `groups`.
        y : list of array-like of shape (T,) or of RegionLabels, or one of them
            The label of every row: consecutive rows of one label are a segment; -1 where it is not
            shown. Or how many changes there are in some regions.
        groups : array-like of shape (T,), default=None
            For one table: which sequence a row belongs to; None is one sequence.

        Returns
        -------
        self
        """
        settings, wishes = checked_series(self)
        callbacks = checked_callbacks(self.callbacks)
        shown = shown_series(self, X, y, groups)
        if settings.known and any(part.annotated for part in shown):
            raise InputError(
                "n_segments='known' needs the label of every row: RegionLabels do not say how many "
                "segments there are. Leave n_segments at None."
            )
        columns = [f"x{k}" for k in range(self.n_features_in_)]
        if hasattr(self, "feature_names_in_"):
            columns = [str(name) for name in self.feature_names_in_]
        self.criterion_ = criterion_for(wishes.criterion, shown)
        wishes = replace(wishes, criterion=self.criterion_)
        looks = looks_for(self.features, shown)
        lesson = SeriesLesson(shown, looks, columns, settings, wishes, callbacks)
        checkpoint = series_checkpoint(self, shown, settings.seed)
        saved = None if checkpoint is None else checkpoint.read()
        ledger = Ledger(saved or {}, None if checkpoint is None else checkpoint.write)
        with deferred_interrupts():
            learned = learn_series(lesson, ledger)
            self._keep(learned, lesson)
        output.warn_of_series_status(self)
        return self

    def cluster(
        self, X: Any, groups: Any = None, n_segments: Any = None, *, share_labels: bool = False
    ) -> Any:
        """Segment new sequences like those that were shown.

        Parameters
        ----------
        X : list of array-like or frames, or one of them
            The sequences, as in `fit`.
        groups : array-like of shape (T,), default=None
            For one table: which sequence a row belongs to.
        n_segments : int or list of int, default=None
            How many segments every sequence has; None leaves it to the penalty.
        share_labels : bool, default=False
            Whether segments that are alike under the learnt metric get the same label, within a
            sequence and between them. Otherwise labels count the segments of each from 0.

        Returns
        -------
        labels : list of arrays, or array of shape (T,)
            The label of every row.
        """
        check_is_fitted(self)
        tables = tables_of(self, X, groups, reset=False)
        _, restore = as_sets(X, groups)
        counts = output.counts_for(n_segments, len(tables), self.n_segments == "known")
        found = [
            output.segmented(self, table, count)
            for table, count in zip(tables, counts, strict=True)
        ]
        labels = [part.partition.labels for part, _, _ in found]
        if share_labels:
            labeller = SegmentLabeller(self.metric_, self.label_cost_)
            labels = labeller.shared([features for _, features, _ in found], labels)
        return restore(
            [
                output.rows_of(own, step, len(table))
                for own, (_, _, step), table in zip(labels, found, tables, strict=True)
            ]
        )

    def score(self, X: Any, y: Any, groups: Any = None) -> float:
        """The mean covering of the shown segments by those of `cluster`; with regions, their share.

        Parameters are those of `fit`. Rows whose label is -1 do not count. With
        ``n_segments="known"`` the number of segments is taken from y.

        Returns
        -------
        score : float
            Between 0 and 1; 1 where every segmentation is the shown one.
        """
        check_is_fitted(self)
        gate = BaseEstimator()
        shown = shown_series(gate, X, y, groups)
        tables_of(self, X, groups, reset=False)
        scores = []
        for part in shown:
            if part.is_silent:
                continue
            known = self.n_segments == "known" and not part.annotated
            count = int(part.segments[-1]) + 1 if known else None
            found, _, step = output.segmented(self, part.rows, count)
            cuts = found.partition.change_points * step
            scores.append(1.0 - part.loss(cuts, "covering"))
        return float(np.mean(scores))

    def features_of(self, X: Any) -> Floats:
        """The features of one sequence, averaged in blocks: what `detector_` segments.

        Parameters
        ----------
        X : array-like or frame of shape (T, p)
            The sequence.

        Returns
        -------
        array of shape (blocks, f)
        """
        check_is_fitted(self)
        return output.features_of(self, tables_of(self, [X], None, reset=False)[0])

    def summary(self) -> str:
        """What was learnt, and how it compares with what one could do without, as text."""
        check_is_fitted(self)
        return output.summarised_series(self)

    def _keep(self, learned: SeriesLearned, lesson: SeriesLesson) -> None:
        metric = learned.metric
        self.metric_ = np.diag(metric) if metric.ndim == 1 else metric
        self.weights_ = np.diag(self.metric_).copy()
        self.penalty_ = learned.penalty
        self.feature_names_ = learned.look.names(lesson.columns)
        self.look_ = learned.look.name
        self.transformer_ = learned.look.transformer
        self.rows_per_block_ = learned.look.step
        sizes = [len(part.rows) for part in learned.pupils.viewed]
        self.n_blocks_seen_ = [min(sizes), max(sizes)]
        self.typical_blocks_ = learned.pupils.typical
        self.penalty_regressor_ = None
        if self.penalty == "features" and learned.status != "uninformative":
            self.penalty_regressor_ = fitted_regressor(learned)
        self.label_cost_ = self._learnt_label_cost(lesson)
        self.detector_ = ChangePointDetector(
            metric if metric.ndim == 1 else self.metric_, penalty=self.penalty_
        )
        regions = all(part.annotated or part.is_silent for part in lesson.shown)
        self.judged_by_ = "share of wrong regions" if regions else self.criterion_
        complete = all(part.is_complete for part in learned.pupils.viewed)
        self.validated_by_ = self.judged_by_ if complete else "projection, against completions"
        self.training_loss_ = learned.loss
        self.one_segment_loss_ = learned.one_segment
        self.objective_ = learned.objective
        self.lower_bound_ = learned.lower_bound
        self.gap_ = learned.gap
        self.validation_ = {} if learned.verdict is None else learned.verdict.table()
        self.features_validation_ = learned.looked
        self.chosen_ = learned.candidate.name
        self.history_ = learned.history
        self.status_ = learned.status
        self.n_iter_ = len(learned.history["seconds"])
        self.n_decoder_calls_ = learned.n_calls

    def _learnt_label_cost(self, lesson: SeriesLesson) -> float:
        """How far segments of one label are apart, as shown."""
        factor, means, classes, sizes = factor_in_any_units(self.metric_), [], [], []
        for part in lesson.shown:
            if not len(part.places):
                continue
            rows = output.features_of(self, part.rows) @ factor
            own = rows[part.places // self.rows_per_block_]
            means.append(segment_means(own, part.segments))
            classes.append(part.classes)
            sizes.append(np.bincount(part.segments))
        if not means:
            return 0.0
        return learnt_cost(np.vstack(means), np.concatenate(classes), np.concatenate(sizes))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

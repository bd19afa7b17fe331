"""What was learnt: the weights of features as bars, the largest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.arrays.sets import as_sets
from likewise.errors import InputError
from likewise.geometry import resolve_features
from likewise.geometry.compare import Compare
from likewise.geometry.pairs import pairs_of_features, pairs_of_stack
from likewise.plots.bars import OTHERS, draw_bars, gathered
from likewise.plots.canvas import INK, PALETTE, axes_to_draw_on, figure_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from numpy.typing import NDArray

# What counts as nearly all, a little less than what is said for rounding.
MOST_OF_IT = 0.99 - 1e-9
# Rows of a set from which shares are computed: means over pairs need no more.
MOST_ROWS = 300


class WeightsDisplay:
    """The weights of a learner, or the shares of features in its distance, as bars.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    names : list of str
        The features.
    values : ndarray of shape (F,)
        Their weights, or shares that add up to 1.
    are_shares : bool, default=False
        Which of the two they are.
    title : str, default=None
        Title of the picture; None describes the weights.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the picture.
    figure_ : matplotlib Figure
        Figure that contains them.
    bars_ : matplotlib BarContainer
        The bars, the largest first; the last one may stand for all other features.

    Examples
    --------
    >>> import likewise as lw
    >>> from likewise.datasets import make_partitioned_sets
    >>> made = make_partitioned_sets(n_sets=3, n_rows=40, n_columns=4, random_state=0)
    >>> learner = lw.ExemplarLearner(strength=0.1).fit(made.sets, made.labels)
    >>> display = lw.plots.WeightsDisplay.from_estimator(learner)
    >>> display.ax_.get_xlabel()
    'share of a typical learnt distance'
    """

    def __init__(
        self,
        names: list[str],
        values: NDArray[np.float64],
        *,
        are_shares: bool = False,
        title: str | None = None,
    ) -> None:
        self.names = names
        self.values = values
        self.are_shares = are_shares
        self.title = title

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        *,
        groups: Any = None,
        most: int = 20,
        ax: Axes | None = None,
    ) -> WeightsDisplay:
        """Draw what a learner has learnt.

        Parameters
        ----------
        estimator : fitted learner
            ``ExemplarLearner`` or ``ChangePointLearner``. Weights themselves are in the units of
            their features and cannot be compared where these differ; what is drawn is the share of
            every feature in a typical learnt distance.
        X : sets or sequences as for ``cluster``, default=None
            A typical distance between rows of these; None takes the training sets. A
            ``ChangePointLearner`` keeps nothing of its training sequences: without X its weights
            are drawn as they are.
        groups : array-like of shape (n,), default=None
            For one table: which set a row belongs to.
        most : int, default=20
            Bars at most; one of them stands for all other features where there are more.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes new ones.

        Returns
        -------
        WeightsDisplay
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(estimator, ["weights_", "feature_names_"])
        are_shares = X is not None or hasattr(estimator, "feature_means_")
        values = shares_of(estimator, X, groups) if are_shares else estimator.weights_
        names = list(estimator.feature_names_)
        return cls(names, values, are_shares=are_shares).plot(ax, most=most)

    def plot(self, ax: Axes | None = None, *, most: int = 20) -> WeightsDisplay:
        """Draw on `ax`, or on new axes.

        Parameters
        ----------
        ax, most
            As for :meth:`from_estimator`.

        Returns
        -------
        WeightsDisplay
            Itself.
        """
        if most < 2:
            raise InputError(f"most must be 2 or more bars; got {most}.")
        self.ax_ = axes_to_draw_on(ax)
        self.figure_ = figure_of(self.ax_)
        names, values = gathered(self.names, self.values, most, drop_zeros=True)
        colours = [
            "#8A8A8A" if name.endswith(OTHERS) else PALETTE[0] if value >= 0 else PALETTE[4]
            for name, value in zip(names, values, strict=True)
        ]
        texts = [f"{100 * v:.1f} %" if self.are_shares else f"{v:.3g}" for v in values]
        self.bars_: BarContainer = draw_bars(self.ax_, names, values, colours, texts)
        if self.are_shares:
            self.ax_.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
        self.ax_.set_xlabel("share of a typical learnt distance" if self.are_shares else "weight")
        self.ax_.set_title(
            describe_weights(self.values, self.are_shares) if self.title is None else self.title,
            loc="left", fontsize="medium", color=INK,
        )  # fmt: skip
        return self


def shares_of(estimator: Any, X: Any = None, groups: Any = None) -> NDArray[np.float64]:
    """Share of every feature in a typical learnt distance between rows of a set, adding up to 1.

    Every weight times the mean of its feature over pairs of rows, sets counting the same; without
    sets, over those of the training sets. Of a matrix as metric, this is the part of its diagonal.
    """
    weights = np.asarray(estimator.weights_, dtype=np.float64)
    if X is None:
        means = np.abs(estimator.feature_means_)
    elif hasattr(estimator, "detector_"):
        means = _spread_of(estimator, X, groups)
    else:
        means = _means_of(estimator, X, groups)
    summands = weights * means
    total = float(np.abs(summands).sum())
    shares: NDArray[np.float64] = summands / total if total > 0 else summands
    return shares


def _spread_of(estimator: Any, X: Any, groups: Any) -> NDArray[np.float64]:
    """Mean squared difference of every feature over pairs of rows of sequences."""
    sequences, _ = as_sets(X, groups)
    spread = [2.0 * np.var(estimator.features_of(own), axis=0) for own in sequences]
    overall: NDArray[np.float64] = np.mean(spread, axis=0)
    return overall


def _means_of(estimator: Any, X: Any, groups: Any) -> NDArray[np.float64]:
    """Mean of every feature over pairs of rows of sets."""
    precomputed = isinstance(estimator.features, str) and estimator.features == "precomputed"
    sets, _ = as_sets(X, groups, square=precomputed)
    # A set of one row has no pairs.
    tables = [table for own in sets if len(table := np.asarray(own, dtype=np.float64)) > 1]
    if not tables:
        raise InputError("X needs a set of two rows or more: shares are those of pairs of rows.")
    means = [
        np.abs(pairs_of_stack(table).means()) if precomputed else _means_of_rows(estimator, table)
        for table in tables
    ]
    overall: NDArray[np.float64] = np.mean(means, axis=0)
    return overall


def _means_of_rows(estimator: Any, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean of every feature over pairs of rows; of every so many rows where there are many."""
    table = table[:: -(-len(table) // MOST_ROWS)]
    compared = estimator.clusterer_.features
    if isinstance(compared, list):
        compared = [_fitting(item, len(table)) for item in compared]
    names = getattr(estimator, "feature_names_in_", None)
    means: NDArray[np.float64] = pairs_of_features(
        resolve_features(compared, table.shape[1], names), table
    ).means()
    return means


def _fitting(item: Compare, n: int) -> Compare:
    """A comparison whose local scale a set of n rows allows."""
    if item.local_scale is None or item.local_scale < n:
        return item
    return Compare(item.name, item.distance, item.columns, local_scale=n - 1)


def describe_weights(values: NDArray[np.float64], are_shares: bool = False) -> str:
    """Say in one line how many features count, or make up nearly all of the distance.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.plots.weights import describe_weights
    >>> describe_weights(np.array([0.5, 0.0, 2.0]))
    '2 of 3 features count'
    >>> describe_weights(np.array([0.695, 0.005, 0.3]), are_shares=True)
    '2 of 3 features make up 99 % of the learnt distance'
    """
    of = f"of {len(values):,} feature{'s' if len(values) != 1 else ''}"
    if not are_shares:
        return f"{np.count_nonzero(values):,} {of} count"
    sizes = np.sort(np.abs(values))[::-1].cumsum()
    enough = 1 + int(np.searchsorted(sizes, MOST_OF_IT * sizes[-1]))
    return f"{enough:,} {of} make up 99 % of the learnt distance"

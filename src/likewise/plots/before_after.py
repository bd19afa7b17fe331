"""Sets grouped in several ways, side by side: the same places, the known clusters marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.arrays.sets import as_sets
from likewise.errors import InputError
from likewise.metrics import pairwise_f1
from likewise.plots.canvas import INK, PALETTE, blank_figure, figure_of
from likewise.plots.projection import project

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Labels = NDArray[np.intp]

# More colours than for neighbours alone: a cluster keeps its colour from panel to panel.
COLOURS = (*PALETTE, "#6A3D9A", "#8C564B", "#7A7A7A", "#B5A000", "#004D40", "#A50026")
NOT_SHOWN = -1
# A longer legend would cover the rows.
MOST_NAMES = 12
# The sign of a row whose cluster is not known.
UNKNOWN = "."
NOTE = "Sign: the known cluster. Colour: the cluster found."


class BeforeAfterDisplay:
    """What came out before and after learning: a panel for every set and way of grouping.

    A row is drawn at the same place in all panels of its set, its sign is its known cluster, its
    colour the cluster found. Make one with :meth:`from_estimator`.

    Parameters
    ----------
    positions : list of ndarray of shape (n, 2)
        Where the rows of every set are drawn.
    partitions : mapping of str to list of ndarray of shape (n,)
        For every way of grouping, the labels of every set.
    truth : list of ndarray of shape (n,), default=None
        The known clusters of every set, numbers or text; -1 or "" where they are not known.
    names : list of str, default=None
        What to call the sets.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        One line per set, one column per way of grouping.
    figure_ : matplotlib Figure
        Figure that contains them.

    Examples
    --------
    >>> import likewise as lw
    >>> from likewise.datasets import make_partitioned_sets
    >>> made = make_partitioned_sets(n_sets=4, n_rows=40, n_columns=4, random_state=0)
    >>> shown, new = made.split(3)
    >>> learner = lw.ExemplarLearner(strength=0.1).fit(shown.sets, shown.labels)
    >>> display = lw.plots.BeforeAfterDisplay.from_estimator(
    ...     learner, new.sets, new.labels, before=lw.ExemplarClusterer()
    ... )
    >>> display.axes_.shape
    (1, 2)
    """

    def __init__(
        self,
        positions: Sequence[Floats],
        partitions: Mapping[str, Sequence[Any]],
        truth: Sequence[Any] | None = None,
        *,
        names: Sequence[str] | None = None,
    ) -> None:
        self.positions = positions
        self.partitions = partitions
        self.truth = truth
        self.names = names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        before: Any = None,
        groups: Any = None,
        names: tuple[str, str] = ("plain distance", "learnt"),
        figure: Figure | SubFigure | None = None,
    ) -> BeforeAfterDisplay:
        """Draw how a learner groups sets, beside what came out before.

        Parameters
        ----------
        estimator : fitted learner
            One with ``cluster`` and ``distances``, such as ``ExemplarLearner``. Rows are placed
            such that their distances are near the learnt ones (classical scaling).
        X : list of array-like of shape (n, p), or one of them
            The sets.
        y : list of array-like of shape (n,), or one of them, default=None
            Their known clusters; None marks and judges nothing.
        before : clusterer or labels, default=None
            What to draw on the left: something with ``cluster``, or labels in the shape of `y`.
            None leaves it out.
        groups : array-like of shape (n,), default=None
            For one table: which set a row belongs to.
        names : tuple of str, default=("plain distance", "learnt")
            What to call the two.
        figure : matplotlib Figure or SubFigure, default=None
            An empty figure to draw on; None makes one, which needs no screen.

        Returns
        -------
        BeforeAfterDisplay
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(estimator, "weights_")
        sets, _ = as_sets(X, groups, square=_is_precomputed(estimator))
        sizes = [np.shape(own)[0] for own in sets]
        partitions = {names[1]: estimator.cluster(sets)}
        if before is not None:
            found = before.cluster(sets) if hasattr(before, "cluster") else before
            partitions = {names[0]: _per_set("before", found, groups, sizes), **partitions}
        truth = None if y is None else _per_set("y", y, groups, sizes)
        return cls(learnt_positions(estimator, sets), partitions, truth).plot(figure)

    def plot(self, figure: Figure | SubFigure | None = None) -> BeforeAfterDisplay:
        """Draw on an empty figure, or on a new one.

        Parameters
        ----------
        figure : matplotlib Figure or SubFigure, default=None
            An empty figure to draw on; None makes one, which needs no screen.

        Returns
        -------
        BeforeAfterDisplay
            Itself.
        """
        n_sets, n_ways = len(self.positions), len(self.partitions)
        if figure is None:
            figure = blank_figure(5.4 * n_ways, 4.4 * n_sets + 0.3)
        self.axes_ = figure.subplots(n_sets, n_ways, squeeze=False)
        self.figure_ = figure_of(self.axes_[0, 0])
        for place, positions in enumerate(self.positions):
            found = {name: np.asarray(sets[place]) for name, sets in self.partitions.items()}
            truth = None if self.truth is None else np.asarray(self.truth[place])
            reference = list(found.values())[-1] if truth is None else numbered(truth)
            for ax, (name, labels) in zip(self.axes_[place], found.items(), strict=True):
                colours = np.array(COLOURS)[matched(labels, reference) % len(COLOURS)]
                _draw_rows(ax, positions, colours, truth)
                title = self._title(place, name, labels, truth)
                ax.set_title(title, loc="left", fontsize="medium")
        if self.truth is not None:
            figure.supxlabel(NOTE, x=0.01, ha="left", fontsize="small", color=INK)
        return self

    def _title(self, place: int, name: str, labels: Labels, truth: Any) -> str:
        k = len(np.unique(labels))
        which = f"{self.names[place]}, " if self.names is not None else ""
        title = f"{which}{name}: {k:,} cluster{'s' if k != 1 else ''}"
        if truth is None:
            return title
        numbers = numbered(truth)
        known = numbers != NOT_SHOWN
        score = pairwise_f1(numbers[known], labels[known])
        return f"{title} of {len(np.unique(numbers[known]))}, pairwise F {score:.2f}"


def learnt_positions(estimator: Any, sets: Sequence[Any]) -> list[Floats]:
    """Places whose distances are near the learnt ones, for the rows of every set."""
    return [
        # Learnt distances add up squares: their roots are what a plane can show.
        project(np.sqrt(np.maximum(estimator.distances(own), 0.0)), precomputed=True)
        for own in sets
    ]


def matched(labels: Labels, reference: Labels) -> Labels:
    """Labels renumbered: a cluster takes the number of the reference cluster it has most rows of.

    No two take the same one; clusters that are left over get numbers of their own.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.plots.before_after import matched
    >>> matched(np.array([0, 0, 1, 1, 2]), np.array([1, 1, 0, 0, 0])).tolist()
    [1, 1, 0, 0, 2]
    """
    from scipy.optimize import linear_sum_assignment

    values, found = np.unique(labels, return_inverse=True)
    known = reference != NOT_SHOWN
    n_known = int(reference.max(initial=-1)) + 1
    shared = np.zeros((len(values), n_known), dtype=np.intp)
    np.add.at(shared, (found[known], reference[known]), 1)
    rows, columns = linear_sum_assignment(-shared)
    numbers = np.full(len(values), NOT_SHOWN, dtype=np.intp)
    overlap = shared[rows, columns] > 0
    numbers[rows[overlap]] = columns[overlap]
    left = np.flatnonzero(numbers == NOT_SHOWN)
    numbers[left] = n_known + np.arange(len(left))
    renumbered: Labels = numbers[found]
    return renumbered


def numbered(truth: Any) -> Labels:
    """Known clusters as 0..k-1, in the order of their names; -1, and an empty name, is -1."""
    values = np.asarray(truth)
    shown = values != (NOT_SHOWN if values.dtype.kind in "iuf" else "")
    numbers = np.full(len(values), NOT_SHOWN, dtype=np.intp)
    numbers[shown] = np.unique(values[shown], return_inverse=True)[1]
    return numbers


def signs_of(names: Sequence[Any]) -> list[str]:
    """A short sign for every known cluster: its name where all are short, a number otherwise.

    Examples
    --------
    >>> from likewise.plots.before_after import signs_of
    >>> signs_of([6, 7]), signs_of(["novel", "atlas"])
    (['6', '7'], ['0', '1'])
    """
    texts = [str(name) for name in names]
    if all(len(text) <= 2 and text.isalnum() and text.isascii() for text in texts):
        return texts
    return [str(number) for number in range(len(texts))]


def _draw_rows(ax: Axes, positions: Floats, colours: Any, truth: Any) -> None:
    n = len(positions)
    # Signs shrink where there are many rows, and stay readable.
    area = float(np.clip(8000.0 / n, 8.0, 46.0))
    if truth is None:
        ax.scatter(positions[:, 0], positions[:, 1], s=area, c=colours, linewidths=0, alpha=0.85)
    else:
        numbers = numbered(truth)
        names = [str(name) for name in np.unique(np.asarray(truth)[numbers != NOT_SHOWN])]
        signs = signs_of(names)
        for number, sign in [*enumerate(signs), (NOT_SHOWN, UNKNOWN)]:
            own = numbers == number
            if own.any():
                marker = sign if sign == UNKNOWN else rf"$\mathbf{{{sign}}}$"
                ax.scatter(
                    positions[own, 0], positions[own, 1], s=area, c=colours[own], marker=marker,
                    linewidths=0, label="not known" if sign == UNKNOWN else names[number],
                )  # fmt: skip
        if signs != names and len(names) <= MOST_NAMES:
            ax.legend(fontsize="small", framealpha=0.85)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_color("#CCCCCC")
    ax.margins(0.04)


def _is_precomputed(estimator: Any) -> bool:
    return isinstance(estimator.features, str) and estimator.features == "precomputed"


def _per_set(name: str, labels: Any, groups: Any, sizes: list[int]) -> list[Any]:
    """One array of labels per set, whatever the shape that they were given in."""
    if groups is not None:
        table = np.asarray(labels).reshape(-1, 1)
        parts = [part[:, 0] for part in as_sets(table, groups)[0]]
    elif isinstance(labels, list) and len(labels) == len(sizes) and np.ndim(labels[0]) == 1:
        parts = [np.asarray(part) for part in labels]
    else:
        parts = [np.asarray(labels)]
    if [part.shape for part in parts] != [(n,) for n in sizes]:
        raise InputError(
            f"{name} must hold one label per row of every set, {sizes}; got shapes "
            f"{[part.shape for part in parts]}."
        )
    return parts

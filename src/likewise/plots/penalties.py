"""How the segments of a series depend on the penalty, and which penalties agree with labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import InputError
from likewise.plots.canvas import INK, PALETTE, blank_figure, figure_of, readable
from likewise.supervision import RegionLabels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure, SubFigure
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Indices = NDArray[np.intp]

# From this many segments, or errors, on, their axis is logarithmic too.
MANY_SEGMENTS = 20
# Penalties that span this ratio or more are labelled at powers of ten only.
WIDE = 1000.0


class PenaltyPathDisplay:
    """Number of segments against the penalty and, where something is known, the errors.

    The penalties with the fewest errors are shaded. Make one with :meth:`from_path`, or with
    :meth:`from_learner`.

    Parameters
    ----------
    penalties : ndarray of shape (m + 1,)
        The i-th of m segmentations is the best one from ``penalties[i]`` to ``penalties[i + 1]``.
    n_segments : ndarray of shape (m,)
        Segments of each.
    errors : ndarray of shape (m,), default=None
        Errors of each.
    error_name : str, default="errors"
        What the errors are.
    chosen : float, default=None
        A penalty to mark.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        Segments, and errors below them where there are any.
    figure_ : matplotlib Figure
        Figure that contains them.
    best_ : list of (low, high)
        The ranges of penalties with the fewest errors; empty without errors.

    Examples
    --------
    >>> import likewise as lw
    >>> X = [[0.0], [0.1], [0.0], [5.0], [5.1], [4.9]]
    >>> path = lw.ChangePointDetector().path(X, 0.001, 100.0)
    >>> display = lw.plots.PenaltyPathDisplay.from_path(path, [3], margin=0)
    >>> [(round(low, 2), round(high, 2)) for low, high in display.best_]
    [(0.01, 37.0)]
    """

    def __init__(
        self,
        penalties: Any,
        n_segments: Any,
        errors: Any = None,
        *,
        error_name: str = "errors",
        chosen: float | None = None,
    ) -> None:
        self.penalties = penalties
        self.n_segments = n_segments
        self.errors = errors
        self.error_name = error_name
        self.chosen = chosen

    @classmethod
    def from_path(
        cls,
        path: Any,
        truth: Any = None,
        *,
        margin: float = 5,
        figure: Figure | SubFigure | None = None,
    ) -> PenaltyPathDisplay:
        """Draw the path of a detector.

        Parameters
        ----------
        path : PenaltyPath
            What ``ChangePointDetector.path`` returns.
        truth : array-like of int, or RegionLabels, default=None
            The true change points: errors are those that are missed and those that are found
            without being true. Or regions: errors are those with another number of changes.
        margin : float, default=5
            How many rows a change point may be away from the true one that it is taken for. Not
            used for regions.
        figure : matplotlib Figure or SubFigure, default=None
            An empty figure to draw on; None makes one, which needs no screen.

        Returns
        -------
        PenaltyPathDisplay
        """
        if truth is None:
            return cls(path.penalties, path.n_segments).plot(figure)
        if isinstance(truth, RegionLabels):
            errors = [truth.errors(cuts) for cuts in path.change_points]
            name = f"wrong regions of {len(truth.rows)}"
        else:
            if not margin >= 0:
                raise InputError(f"margin must be a number of rows from 0 on; got {margin!r}.")
            known = np.unique(np.asarray(truth, dtype=np.float64)).tolist()
            errors = [_errors(known, cuts.tolist(), margin) for cuts in path.change_points]
            name = f"missed + false (within {margin:g} row{'s' if margin != 1 else ''})"
        return cls(path.penalties, path.n_segments, errors, error_name=name).plot(figure)

    @classmethod
    def from_learner(
        cls,
        learner: Any,
        X: Any,
        y: Any,
        groups: Any = None,
        *,
        reach: float = 30.0,
        figure: Figure | SubFigure | None = None,
    ) -> PenaltyPathDisplay:
        """Draw what a learner loses on labelled sequences, by the penalty; what it chose is marked.

        Parameters
        ----------
        learner : fitted ChangePointLearner
            Its metric, its features and its criterion are those that are used. The penalty is one
            for all sequences, also where it was learnt to depend on them.
        X, y, groups
            Labelled sequences, as in ``ChangePointLearner.fit``.
        reach : float, default=30.0
            Penalties up to so many times smaller and larger than the learnt one are looked at.
        figure : matplotlib Figure or SubFigure, default=None
            An empty figure to draw on; None makes one, which needs no screen.

        Returns
        -------
        PenaltyPathDisplay
        """
        from sklearn.utils.validation import check_is_fitted

        from likewise.estimators.series_curves import penalty_curve

        check_is_fitted(learner, ["metric_", "penalty_"])
        curve = penalty_curve(learner, X, y, groups, reach=reach)
        what = "share of wrong regions" if curve.annotated else f"loss ({learner.criterion_})"
        return cls(
            curve.penalties,
            curve.n_segments,
            curve.losses,
            error_name=f"mean {what}",
            chosen=float(learner.penalty_),
        ).plot(figure)

    def plot(self, figure: Figure | SubFigure | None = None) -> PenaltyPathDisplay:
        """Draw on an empty figure, or on a new one.

        Parameters
        ----------
        figure : matplotlib Figure or SubFigure, default=None
            An empty figure to draw on; None makes one, which needs no screen.

        Returns
        -------
        PenaltyPathDisplay
            Itself.
        """
        edges = _on_log_axis(np.asarray(self.penalties, dtype=np.float64))
        counts = np.asarray(self.n_segments)
        panels = 1 if self.errors is None else 2
        if figure is None:
            figure = blank_figure(7.0, 1.4 + 2.2 * panels)
        self.axes_ = figure.subplots(panels, 1, sharex=True, squeeze=False)[:, 0]
        self.figure_ = figure_of(self.axes_[0])
        top, last = self.axes_[0], self.axes_[-1]
        _draw_steps(top, edges, counts, PALETTE[0])
        top.set_ylabel("segments" if _are_whole(counts) else "mean segments")
        if counts.max() >= MANY_SEGMENTS:
            top.set_yscale("log")
            _label_log_axis(top.yaxis, (1.0, 2.0, 5.0))
        self.best_: list[tuple[float, float]] = []
        if self.errors is not None:
            errors = np.asarray(self.errors)
            _draw_steps(last, edges, errors, PALETTE[4])
            last.set_ylabel(self.error_name.replace(" (", "\n("))
            # Some room below, so that a line at no errors is not on the axis.
            bottom = -0.05 * float(max(_are_whole(errors), errors.max()))
            if errors.max() >= MANY_SEGMENTS:
                last.set_yscale("symlog", linthresh=1.0)
                last.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
                bottom = -0.25
            last.set_ylim(bottom=bottom or None)
            self.best_ = _lowest(np.asarray(self.penalties), errors)
            self._shade_best(edges, errors, counts)
        if self.chosen is not None:
            for ax in self.axes_:
                ax.axvline(self.chosen, color=INK, linewidth=1.2, linestyle=(0, (4, 2)))
        last.set_xscale("log")
        last.set_xlim(edges[0], edges[-1])
        last.set_xlabel("penalty")
        _label_log_axis(last.xaxis, (1.0, 2.0, 5.0) if edges[-1] < WIDE * edges[0] else (1.0,))
        return self

    def _shade_best(self, edges: Floats, errors: Indices, counts: Indices) -> None:
        for low, high in _lowest(edges, errors):
            for ax in self.axes_:
                ax.axvspan(low, high, color=PALETTE[2], alpha=0.18, linewidth=0, zorder=0)
        least = errors.min()
        low, high = max(self.best_, key=lambda span: span[1] / max(span[0], edges[0]))
        own = counts[errors == least]
        segments = f"{own.min():,}" if own.min() == own.max() else f"{own.min():,} to {own.max():,}"
        span = f"penalty {_short(low)} to {_short(high)}"
        title = (
            f"fewest errors ({least:g}): {span}, {segments} segment{'s' if own.max() != 1 else ''}"
        )
        if self.chosen is not None:
            place = np.searchsorted(edges[1:-1], self.chosen, side="right")
            title = (
                f"chosen penalty {_short(self.chosen)}: {errors[place]:.3f}; "
                f"least {least:.3f}, {span}"
            )
        self.axes_[0].set_title(title, loc="left", fontsize="medium", color=INK)


def _short(value: float) -> str:
    return readable(float(f"{value:.3g}")).rstrip("0").rstrip(".") if value else "0"


def _draw_steps(ax: Axes, edges: Floats, values: Any, colour: str) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.stairs(values, edges, baseline=None, color=colour, linewidth=1.8)
    ax.yaxis.set_major_locator(MaxNLocator(5, integer=_are_whole(values)))
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(y=0.1)


def _are_whole(values: Any) -> bool:
    """Whether these are counts, and not means of counts."""
    return bool((np.asarray(values) % 1 == 0).all())


def _label_log_axis(axis: Axis, steps: tuple[float, ...]) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=steps))
    axis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axis.set_minor_formatter(NullFormatter())


def _on_log_axis(penalties: Floats) -> Floats:
    """Penalties that a logarithmic axis can show: zero is moved to below the least positive one."""
    positive = penalties[penalties > 0.0]
    if not positive.size:
        raise InputError("the path has the penalty 0 only; ask for a range, such as 0.1 to 100.")
    edges: Floats = np.where(penalties > 0.0, penalties, positive.min() / 10.0)
    if edges[0] == edges[-1]:
        # A path of one penalty would have no width.
        edges[0], edges[-1] = edges[0] / 2.0, edges[-1] * 2.0
    return edges


def _lowest(edges: Floats, errors: Indices) -> list[tuple[float, float]]:
    """The ranges of least errors; neighbouring ones are one."""
    spans: list[tuple[float, float]] = []
    for place in np.flatnonzero(errors == errors.min()):
        low, high = float(edges[place]), float(edges[place + 1])
        if spans and spans[-1][1] == low:
            low = spans.pop()[0]
        spans.append((low, high))
    return spans


def _errors(truth: list[float], found: list[float], margin: float) -> int:
    """True change points without a found one, and the other way round, each taken once at most."""
    i = j = matched = 0
    # The earliest with the earliest that is near is one of the largest matchings.
    while i < len(truth) and j < len(found):
        if abs(truth[i] - found[j]) <= margin:
            matched, i, j = matched + 1, i + 1, j + 1
        elif truth[i] < found[j]:
            i += 1
        else:
            j += 1
    return len(truth) + len(found) - 2 * matched

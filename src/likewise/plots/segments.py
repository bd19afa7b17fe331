"""Series with their segments: a panel for every column, long series as envelopes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import InputError
from likewise.metrics import covering
from likewise.plots.canvas import INK, PALETTE, blank_figure, figure_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Indices = NDArray[np.intp]

# Panels that can be read on one page, and names that a line lists.
MOST_PANELS, LISTED = 8, 6
# Columns of pixels of a page: more points than two for each cannot be seen.
PIXELS = 1500
# Above this many change points, lines would be all that is seen: the bands alone are drawn.
MANY_CUTS = 300
# Characters of a name beside a panel.
NAME_LENGTH = 18
WIDTH = 10.0
BANDS = (PALETTE[5], PALETTE[1])
FOUND, TRUE = INK, PALETTE[4]


class SegmentsDisplay:
    """A series and its segments: bands of alternating colour, change points as lines.

    Every column has a panel, at most eight; the others are named below. A series longer than the
    picture is wide is drawn by the least and the greatest value of each column of pixels, so that
    spikes stay visible. Make one with :meth:`from_estimator`.

    Parameters
    ----------
    series : ndarray of shape (T, p) or (T,)
        The series, rows in the order of time.
    change_points : array-like of int
        The first row of every segment after the first.
    true_change_points : array-like of int, default=None
        The known ones, where there are any.
    names : list of str, default=None
        What to call the columns; None counts them from 0.
    title : str, default=None
        What to call the series.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        One for every column that is shown.
    figure_ : matplotlib Figure
        Figure that contains them.
    left_out_ : list of str
        Names of the columns that are not shown.

    Examples
    --------
    >>> import likewise as lw
    >>> X = [[0.0], [0.1], [0.0], [5.0], [5.1], [4.9]]
    >>> detector = lw.ChangePointDetector(penalty=1.0).fit(X)
    >>> display = lw.plots.SegmentsDisplay.from_estimator(detector, X, [3])
    >>> display.axes_[0].get_title(loc="left")
    '2 segments, true: 2; covering 1.00'
    """

    def __init__(
        self,
        series: Any,
        change_points: Any,
        true_change_points: Any = None,
        *,
        names: Sequence[str] | None = None,
        title: str | None = None,
    ) -> None:
        self.series = series
        self.change_points = change_points
        self.true_change_points = true_change_points
        self.names = names
        self.title = title

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        true_change_points: Any = None,
        *,
        title: str | None = None,
        figure: Figure | SubFigure | None = None,
    ) -> SegmentsDisplay:
        """Draw what a fitted detector has found, or what a learner finds.

        Parameters
        ----------
        estimator : fitted detector or learner
            One with ``change_points_``, such as ``ChangePointDetector``, or a
            ``ChangePointLearner``, which segments the series.
        X : array-like or frame of shape (T, p)
            The series that the detector was fitted on; any one for a learner.
        true_change_points : array-like of int, default=None
            The known ones.
        title : str, default=None
            What to call the series.
        figure : matplotlib Figure or SubFigure, default=None
            An empty figure to draw on; None makes one, which needs no screen.

        Returns
        -------
        SegmentsDisplay
        """
        from sklearn.utils.validation import check_is_fitted

        series = np.asarray(X, dtype=np.float64)
        if hasattr(estimator, "detector_"):
            found = np.flatnonzero(np.diff(estimator.cluster([X])[0])) + 1
        else:
            check_is_fitted(estimator, ["change_points_", "labels_"])
            found = estimator.change_points_
            if len(series) != len(estimator.labels_):
                raise InputError(
                    f"X has {len(series):,} rows, but the detector was fitted on "
                    f"{len(estimator.labels_):,}; pass the series that it was fitted on."
                )
        names = getattr(estimator, "feature_names_in_", None)
        return cls(
            series,
            found,
            true_change_points,
            names=None if names is None else [str(name) for name in names],
            title=title,
        ).plot(figure)

    @property
    def n_panels(self) -> int:
        """How many columns are shown."""
        return min(_as_columns(self.series).shape[1], MOST_PANELS)

    def plot(self, figure: Figure | SubFigure | None = None) -> SegmentsDisplay:
        """Draw on an empty figure, or on a new one.

        Parameters
        ----------
        figure : matplotlib Figure or SubFigure, default=None
            An empty figure to draw on; None makes one, which needs no screen.

        Returns
        -------
        SegmentsDisplay
            Itself.
        """
        series = _as_columns(self.series)
        n, p = series.shape
        found = _checked_cuts("change_points", self.change_points, n)
        true = None
        if self.true_change_points is not None:
            true = _checked_cuts("true_change_points", self.true_change_points, n)
        names = [f"column {k}" for k in range(p)] if self.names is None else list(self.names)
        if len(names) != p:
            raise InputError(f"names must name {p} columns, got {len(names)}.")
        shown = self.n_panels
        if figure is None:
            figure = _close_figure(height_of(shown))
        self.axes_ = figure.subplots(shown, 1, sharex=True, squeeze=False)[:, 0]
        self.figure_ = figure_of(self.axes_[0])
        for place, ax in enumerate(self.axes_):
            _draw_bands(ax, found, n)
            _draw_cuts(ax, found, true)
            rows, values = envelope(series[:, place])
            marker = "." if n <= 100 else ""
            ax.plot(rows, values, color=PALETTE[0], linewidth=1.0, marker=marker, zorder=5)
            _label_panel(ax, names[place])
        figure.align_ylabels(list(self.axes_))
        self.axes_[-1].set_xlabel("row")
        self.axes_[0].set_xlim(-0.5, n - 0.5)
        self.axes_[0].set_title(self._title(found, true, n), loc="left", fontsize="medium")
        if true is not None:
            self._draw_legend()
        self.left_out_ = names[shown:]
        if self.left_out_:
            figure.supxlabel(
                _left_out(self.left_out_), x=0.01, ha="left", fontsize="small", color=INK
            )
        return self

    def _title(self, found: Indices, true: Indices | None, n: int) -> str:
        k = len(found) + 1
        title = f"{k:,} segment{'s' if k != 1 else ''}"
        if true is not None:
            score = covering(_labels(true, n), _labels(found, n))
            title += f", true: {len(true) + 1:,}; covering {score:.2f}"
        return title if self.title is None else f"{_plain(self.title)}: {title}"

    def _draw_legend(self) -> None:
        from matplotlib.lines import Line2D

        handles = [
            Line2D([], [], color=FOUND, linewidth=1.0, label="found"),
            Line2D([], [], color=TRUE, linewidth=1.8, linestyle=(0, (3, 2)), label="true"),
        ]
        # In the line of the title, so that nothing of the series is covered.
        self.axes_[0].legend(
            handles=handles, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False,
            fontsize="small", borderaxespad=0.2,
        )  # fmt: skip


def draw_several(displays: Sequence[SegmentsDisplay]) -> Figure:
    """Draw some series below each other, on one new figure."""
    heights = [height_of(display.n_panels) for display in displays]
    figure = _close_figure(sum(heights))
    if len(displays) == 1:
        displays[0].plot(figure)
        return figure
    parts = figure.subfigures(len(displays), 1, height_ratios=heights, squeeze=False)[:, 0]
    for display, part in zip(displays, parts, strict=True):
        display.plot(part)
    return figure


def _close_figure(height: float) -> Figure:
    """A figure whose panels are near each other, as they share their rows."""
    figure = blank_figure(WIDTH, height)
    figure.set_layout_engine("constrained", w_pad=0.15, h_pad=0.05)
    return figure


def height_of(n_panels: int) -> float:
    """Height of a picture of so many panels, in inches.

    Examples
    --------
    >>> from likewise.plots.segments import height_of
    >>> round(height_of(1), 2), round(height_of(8), 2)
    (2.9, 9.2)
    """
    return 2.9 if n_panels == 1 else 1.05 * n_panels + 0.8


def envelope(values: Floats, pixels: int = PIXELS) -> tuple[Indices, Floats]:
    """Rows and values to draw: the least and the greatest of every column of pixels, in order.

    A series that has no more than two rows for each is drawn as it is.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.plots.segments import envelope
    >>> rows, values = envelope(np.array([0.0, 0, 9, 0, 0, 0, -9, 0]), pixels=2)
    >>> rows.tolist(), values.tolist()
    ([0, 2, 4, 6], [0.0, 9.0, 0.0, -9.0])
    """
    n = len(values)
    if n <= 2 * pixels:
        return np.arange(n), values
    edges = np.linspace(0, n, pixels + 1).astype(np.intp)
    kept = []
    for start, end in pairwise(edges.tolist()):
        part = values[start:end]
        kept += [start + int(part.argmin()), start + int(part.argmax())]
    rows = np.unique(kept)
    return rows, values[rows]


def _as_columns(series: Any) -> Floats:
    values = np.asarray(series, dtype=np.float64)
    values = values[:, None] if values.ndim == 1 else values
    if values.ndim != 2 or values.size == 0:
        raise InputError(
            f"series must be rows of columns, of shape (T, p) and not empty; got {values.shape}."
        )
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise InputError(
            f"series has {values[row, column]} at row {row}, column {column}; fill it in first."
        )
    return values


def _checked_cuts(name: str, cuts: Any, n: int) -> Indices:
    places = np.asarray(cuts)
    if places.size == 0:
        return np.empty(0, dtype=np.intp)
    good = places.ndim == 1 and places.dtype.kind in "iu" and places[0] >= 1 and places[-1] < n
    if not (good and (np.diff(places) > 0).all()):
        raise InputError(
            f"{name} must be row numbers from 1 to {n - 1}, increasing: the first row of every "
            f"segment after the first; got {places!r}."
        )
    return places.astype(np.intp)


def _labels(cuts: Indices, n: int) -> Indices:
    return np.searchsorted(cuts, np.arange(n), side="right")


def _draw_bands(ax: Axes, cuts: Indices, n: int) -> None:
    # Half a row before the first row of a segment, so that every row is inside its own.
    edges = np.concatenate([[0], cuts, [n]]) - 0.5
    spans = np.column_stack([edges[:-1], np.diff(edges)])
    for parity, colour in enumerate(BANDS):
        ax.broken_barh(
            spans[parity::2].tolist(), (0.0, 1.0), transform=ax.get_xaxis_transform(),
            facecolor=colour, alpha=0.2, linewidth=0, zorder=0,
        )  # fmt: skip


def _draw_cuts(ax: Axes, found: Indices, true: Indices | None) -> None:
    # Below the series: a spike that is a segment of its own would be covered by its two lines.
    across = ax.get_xaxis_transform()
    if len(found) <= MANY_CUTS:
        ax.vlines(
            found - 0.5, 0.0, 1.0, transform=across, color=FOUND, linewidth=1.0, zorder=3,
            label="found",
        )  # fmt: skip
    if true is not None:
        # Above the found ones and with gaps: both are seen where they agree.
        ax.vlines(
            true - 0.5, 0.0, 1.0, transform=across, color=TRUE, linewidth=1.8,
            linestyle=(0, (3, 2)), zorder=4, label="true",
        )  # fmt: skip


def _label_panel(ax: Axes, name: str) -> None:
    from matplotlib.ticker import MaxNLocator

    short = name if len(name) <= NAME_LENGTH else name[: NAME_LENGTH - 3] + "..."
    ax.set_ylabel(_plain(short), rotation=0, ha="right", va="center")
    ax.yaxis.set_major_locator(MaxNLocator(3))
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    ax.tick_params(labelsize="small")
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(y=0.08)


def _left_out(names: Sequence[str]) -> str:
    listed = ", ".join(_plain(name[:NAME_LENGTH]) for name in names[:LISTED])
    more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
    return f"Not shown: {listed}{more}."


def _plain(text: str) -> str:
    """Text of users, in which a dollar sign does not start a formula."""
    return text.replace("$", r"\$")

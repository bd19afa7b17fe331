"""A partition in the plane: rows coloured by cluster, exemplars marked, members tied to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import InputError
from likewise.plots.canvas import INK, axes_to_draw_on, cluster_colours, figure_of, readable
from likewise.plots.projection import project

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PathCollection
    from numpy.typing import ArrayLike, NDArray

# Up to here lines from members to exemplars can be followed by eye.
ROWS_WITH_LINES = 600


class PartitionDisplay:
    """A partition in two dimensions, with its exemplars.

    Make one with :meth:`from_estimator` or :meth:`from_partition`.

    Parameters
    ----------
    positions : ndarray of shape (n, 2)
        Where each row is drawn.
    labels : ndarray of shape (n,)
        Cluster of each row; -1 is drawn in grey, without an exemplar.
    exemplars : ndarray of shape (k,)
        Row of the exemplar of each cluster.
    title : str, default=None
        Title of the picture.
    axis_names : tuple of str, default=("", "")
        Names of the two axes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the picture.
    figure_ : matplotlib Figure
        Figure that contains them.
    rows_ : matplotlib PathCollection
        The rows.
    exemplars_ : matplotlib PathCollection
        The exemplars.
    lines_ : matplotlib LineCollection or None
        Lines from members to exemplars, where they are drawn.

    Examples
    --------
    >>> import likewise as lw
    >>> X = [[0.0, 0.0], [0.1, 0.0], [5.0, 5.0], [5.1, 5.0]]
    >>> model = lw.ExemplarClusterer().fit(X)
    >>> display = lw.plots.PartitionDisplay.from_estimator(model, X)
    >>> len(display.exemplars_.get_offsets())
    2
    """

    def __init__(
        self,
        positions: NDArray[np.float64],
        labels: NDArray[np.intp],
        exemplars: NDArray[np.intp],
        *,
        title: str | None = None,
        axis_names: tuple[str, str] = ("", ""),
    ) -> None:
        self.positions = positions
        self.labels = labels
        self.exemplars = exemplars
        self.title = title
        self.axis_names = axis_names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        ax: Axes | None = None,
        projection: Any = "auto",
        lines: bool | None = None,
        legend: bool = True,
    ) -> PartitionDisplay:
        """Draw the partition that a fitted clusterer found.

        Parameters
        ----------
        estimator : fitted clusterer
            One with ``labels_`` and ``exemplars_``, such as ``ExemplarClusterer``.
        X : array-like of shape (n, p), or of shape (n, n) for precomputed distances
            What it was fitted to.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes new ones.
        projection : {"auto", "pca", "mds"} or array of shape (n, 2), default="auto"
            Principal components of rows, classical scaling of precomputed distances, or positions.
            Rows with one or two columns are shown as they are.
        lines : bool, default=None
            Whether to tie members to their exemplar. None does so up to 600 rows.
        legend : bool, default=True
            Whether to explain the signs.

        Returns
        -------
        PartitionDisplay
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(estimator, ["labels_", "exemplars_"])
        names = getattr(estimator, "feature_names_in_", None)
        display = cls.from_partition(
            X,
            estimator.labels_,
            estimator.exemplars_,
            projection=projection,
            precomputed=isinstance(estimator.features, str) and estimator.features == "precomputed",
            feature_names=None if names is None else list(names),
            title=describe(estimator),
            ax=ax,
            lines=lines,
            legend=legend,
        )
        return display

    @classmethod
    def from_partition(
        cls,
        X: Any,
        labels: ArrayLike,
        exemplars: ArrayLike,
        *,
        ax: Axes | None = None,
        projection: Any = "auto",
        precomputed: bool = False,
        feature_names: list[str] | None = None,
        title: str | None = None,
        lines: bool | None = None,
        legend: bool = True,
    ) -> PartitionDisplay:
        """Draw a partition given by labels and exemplars.

        Parameters
        ----------
        X : array-like of shape (n, p), or of shape (n, n) where `precomputed`
            Rows, or distances between them.
        labels : array-like of shape (n,)
            Cluster of each row, 0 to k - 1, or -1.
        exemplars : array-like of shape (k,)
            Row of the exemplar of each cluster.
        ax, projection, lines, legend
            As for :meth:`from_estimator`.
        precomputed : bool, default=False
            Whether X holds distances.
        feature_names : list of str, default=None
            Names of the columns, shown where columns are shown as they are.
        title : str, default=None
            Title of the picture.

        Returns
        -------
        PartitionDisplay
        """
        positions = project(X, projection, precomputed=precomputed)
        labels, exemplars = _checked(labels, exemplars, positions.shape[0])
        axis_names = ("", "")
        if isinstance(projection, str):
            columns = np.shape(X)[1]
            axis_names = _axis_names(precomputed, columns, feature_names)
        display = cls(positions, labels, exemplars, title=title, axis_names=axis_names)
        return display.plot(ax, lines=lines, legend=legend)

    def plot(
        self, ax: Axes | None = None, *, lines: bool | None = None, legend: bool = True
    ) -> PartitionDisplay:
        """Draw on `ax`, or on new axes.

        Parameters
        ----------
        ax, lines, legend
            As for :meth:`from_estimator`.

        Returns
        -------
        PartitionDisplay
            Itself.
        """
        self.ax_ = axes_to_draw_on(ax)
        self.figure_ = figure_of(self.ax_)
        places = self.positions[self.exemplars]
        colours = cluster_colours(places)
        self.lines_ = None
        if lines or (lines is None and len(self.labels) <= ROWS_WITH_LINES):
            self.lines_ = self._draw_lines(colours)
        self.rows_ = self._draw_rows(colours)
        self.exemplars_ = self._draw_exemplars(places, colours)
        self.ax_.set_xlabel(self.axis_names[0])
        self.ax_.set_ylabel(self.axis_names[1])
        self.ax_.spines[["top", "right"]].set_visible(False)
        if self.title is not None:
            self.ax_.set_title(self.title, loc="left", fontsize="medium")
        if legend:
            # Looking for the best place takes long where there are many rows.
            few = len(self.labels) <= ROWS_WITH_LINES
            self.ax_.legend(loc="best" if few else "upper right", framealpha=0.85)
        return self

    def _draw_lines(self, colours: NDArray[np.str_]) -> LineCollection:
        from matplotlib.collections import LineCollection

        members = np.flatnonzero(self.labels >= 0)
        labels = self.labels[members]
        ends = self.positions[self.exemplars[labels]]
        segments = np.stack([self.positions[members], ends], axis=1)
        lines = LineCollection(
            list(segments), colors=list(colours[labels]), linewidths=0.6, alpha=0.5, zorder=1
        )
        self.ax_.add_collection(lines)
        return lines

    def _draw_rows(self, colours: NDArray[np.str_]) -> PathCollection:
        n = len(self.labels)
        drawn = np.where(self.labels >= 0, colours[self.labels], "#999999")
        # Area and opacity fall with the number of rows, so that dense places still show structure.
        share = min(1.0, (200 / n) ** 0.5)
        return self.ax_.scatter(
            self.positions[:, 0],
            self.positions[:, 1],
            s=max(1.5, 26 * share),
            c=drawn,
            alpha=max(0.4, 0.9 * share**0.3),
            linewidths=0,
            rasterized=True,
            label=f"row ({n:,}), coloured by cluster",
            zorder=2,
        )

    def _draw_exemplars(
        self, places: NDArray[np.float64], colours: NDArray[np.str_]
    ) -> PathCollection:
        k = len(places)
        return self.ax_.scatter(
            places[:, 0],
            places[:, 1],
            s=max(2.0, 95 * min(1.0, 30 / k) ** 0.7),
            c=colours,
            edgecolors=INK,
            linewidths=max(0.2, 1.3 * min(1.0, 100 / k) ** 0.5),
            label=f"exemplar ({k:,})",
            zorder=3,
        )


def describe(estimator: Any) -> str:
    """Say in one line what was found: clusters, energy, certified gap."""
    k = int(estimator.n_clusters_)
    gap = float(estimator.gap_)
    certified = f"certified gap {100 * gap:.2g} %" if np.isfinite(gap) else "no certificate"
    energy = readable(float(estimator.energy_))
    return f"{k:,} cluster{'s' if k != 1 else ''}, energy {energy}, {certified}"


def _axis_names(precomputed: bool, columns: int, names: list[str] | None) -> tuple[str, str]:
    if precomputed:
        return "first axis of the distances", "second axis of the distances"
    if columns > 2:
        return "first principal component", "second principal component"
    shown = names or ["column 0", "column 1"]
    return shown[0], shown[1] if columns == 2 else ""


def _checked(
    labels: ArrayLike, exemplars: ArrayLike, n: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    found, rows = np.asarray(labels), np.asarray(exemplars)
    if found.shape != (n,):
        raise InputError(f"labels must have shape ({n},), one per row; got {found.shape}.")
    if rows.ndim != 1 or rows.size == 0 or rows.min() < 0 or rows.max() >= n:
        raise InputError(f"exemplars must be rows of X, 0 to {n - 1}, at least one; got {rows!r}.")
    if found.min() < -1 or found.max() >= rows.size:
        raise InputError(
            f"labels must be -1 to {rows.size - 1} for {rows.size} exemplars; got "
            f"{found.min()} to {found.max()}."
        )
    return found.astype(np.intp), rows.astype(np.intp)

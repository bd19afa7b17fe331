"""How a solution came about: energy and bound over time, the gap between them shaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import InputError
from likewise.plots.canvas import INK, PALETTE, axes_to_draw_on, figure_of
from likewise.plots.partitions import describe

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

# The picture reaches so many times the gap between first energy and last bound below that bound.
SHOWN_SPANS = 3.0


class SolveDisplay:
    """Energy and lower bound over the seconds of a solve.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    seconds, energy, lower_bound : ndarray of shape (m,)
        The record; entries that are not finite are not drawn.
    title : str, default=None
        Title of the picture.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the picture.
    figure_ : matplotlib Figure
        Figure that contains them.
    energy_line_, bound_line_ : matplotlib Line2D
        The two curves.
    gap_ : matplotlib PolyCollection
        The shaded area between them.

    Examples
    --------
    >>> import likewise as lw
    >>> model = lw.ExemplarClusterer().fit([[0.0], [0.1], [5.0], [5.1]])
    >>> display = lw.plots.SolveDisplay.from_estimator(model)
    >>> display.ax_.get_xlabel()
    'seconds'
    """

    def __init__(
        self,
        seconds: NDArray[np.float64],
        energy: NDArray[np.float64],
        lower_bound: NDArray[np.float64],
        *,
        title: str | None = None,
    ) -> None:
        self.seconds = seconds
        self.energy = energy
        self.lower_bound = lower_bound
        self.title = title

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> SolveDisplay:
        """Draw how a fitted clusterer found its partition.

        Parameters
        ----------
        estimator : fitted clusterer
            One with ``history_``, such as ``ExemplarClusterer``.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes new ones.

        Returns
        -------
        SolveDisplay
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(estimator, ["history_", "energy_", "lower_bound_"])
        columns = [
            np.asarray(estimator.history_[name], dtype=np.float64)
            for name in ("seconds", "energy", "lower_bound")
        ]
        if columns[0].size == 0:
            raise InputError("history_ is empty: fit recorded nothing that could be drawn.")
        return cls(*columns, title=describe(estimator)).plot(ax)

    def plot(self, ax: Axes | None = None) -> SolveDisplay:
        """Draw on `ax`, or on new axes.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes new ones.

        Returns
        -------
        SolveDisplay
            Itself.
        """
        self.ax_ = axes_to_draw_on(ax)
        self.figure_ = figure_of(self.ax_)
        energy = np.where(np.isfinite(self.energy), self.energy, np.nan)
        bound = np.where(np.isfinite(self.lower_bound), self.lower_bound, np.nan)
        marker = "o" if len(energy) < 40 else ""
        style: dict[str, Any] = {
            "drawstyle": "steps-post",
            "linewidth": 1.8,
            "marker": marker,
            "markersize": 3,
        }
        (self.energy_line_,) = self.ax_.plot(
            self.seconds, energy, color=PALETTE[4], label="energy of the best partition", **style
        )
        (self.bound_line_,) = self.ax_.plot(
            self.seconds, bound, color=PALETTE[0], label="lower bound on every partition", **style
        )
        self.gap_ = self.ax_.fill_between(
            self.seconds, bound, energy, step="post", color=INK, alpha=0.12, linewidth=0,
            label="gap",
        )  # fmt: skip
        self._focus()
        self.ax_.set_xlabel("seconds")
        self.ax_.set_ylabel("energy")
        self.ax_.spines[["top", "right"]].set_visible(False)
        self.ax_.legend(loc="best")
        if self.title is not None:
            self.ax_.set_title(self.title, loc="left", fontsize="medium")
        return self

    def _focus(self) -> None:
        """Show where the curves meet: the first bounds may lie far below and are cut off."""
        self.ax_.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
        energy = self.energy[np.isfinite(self.energy)]
        bound = self.lower_bound[np.isfinite(self.lower_bound)]
        if energy.size and bound.size:
            span = float(energy.max() - bound.max())
            span = max(span, 1e-3 * abs(float(energy.min())), np.finfo(np.float64).tiny)
            bottom = max(float(bound.min()), float(bound.max()) - SHOWN_SPANS * span)
            self.ax_.set_ylim(bottom - 0.1 * span, float(energy.max()) + 0.1 * span)
